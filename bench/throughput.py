"""Accepted commands per second with many matches at once, beside pgbench on the same function.

Server, workers, scorers and database share the machine, as do pgbench and the database.
"""

from dataclasses import dataclass
from typing import Any

from bench.pgbench import newest_item, rate
from bench.process import Partner, partner

MATCHES = (1, 8, 32, 100)
CLIENTS = (8, 32)
WARM_BALLS = 60
"""Commands of each match before the clock starts."""
COMMANDS = 8_000
"""Commands of one measurement, over all matches."""
COMMANDS_EACH_LIMIT = 2_500


@dataclass(frozen=True, slots=True)
class Rates:
    """Commands per second by matches at once, and of pgbench by clients; bytes of the item pgbench saves."""

    server: dict[int, float]
    pgbench: dict[int, float]
    item_bytes: int


async def measure(matches: tuple[int, ...] = MATCHES, clients: tuple[int, ...] = CLIENTS) -> Rates:
    """Measure all of it against one server, the server and pgbench in turn."""
    found = Rates({}, {}, 0)
    async with partner("bench.host", str(max((*matches, *clients)))) as host:
        ready = await host.line()
        places = {match: [match, saw, 0] for match, saw in ready["matches"]}
        async with partner("bench.scorers", str(ready["port"]), ready["token"]) as scorers:
            for count in matches:
                chosen = list(places.values())[-count:]
                await _score(scorers, chosen, WARM_BALLS)
                found.server[count] = await _score(
                    scorers, chosen, min(COMMANDS // count, COMMANDS_EACH_LIMIT)
                )
        item = await newest_item(ready["database_url"], next(reversed(places)))
        for count in clients:
            found.pgbench[count] = await rate(ready["database_url"], item, list(places), count)
    return Rates(found.server, found.pgbench, item.size_bytes)


async def _score(scorers: Partner, places: list[list[Any]], balls: int) -> float:
    """Score so many commands in each of these matches, which stand at [match, saw, commands so far]."""
    answer = await scorers.ask({"matches": places, "balls": balls})
    for place in places:
        place[1] += balls
        place[2] += balls
    return float(answer["accepted"] / answer["seconds"])
