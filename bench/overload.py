"""Far more load than the machine can take, for minutes: what happens to answers, memory and speed.

    python -m bench.overload [--minutes 5] [--scorers 1500] [--rude 50]

Three stretches on one server: as many scorers as it can well take (for comparison), then the flood
(`bench/flood.py`), then one scorer alone. Prints a line in ten seconds, and a table at the end.
"""

from dataclasses import dataclass
from statistics import median
from typing import Any

import click
import psutil
import trio
from rich.console import Console
from rich.table import Table

from bench.process import partner

EVERY_S = 10.0
CALM_S = 20.0
CALM_SCORERS = 50
AFTER_S = 20.0
AFTER_EVERY_S = 1.0
BYTES_PER_MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """What `bench/flood.py` told of some seconds, and the server's memory at their end."""

    told: dict[str, Any]
    seconds: float
    memory_mb: float

    @property
    def accepted_s(self) -> float:
        """Accepted commands a second."""
        return float(self.told["answers"].get("accepted", 0) / self.seconds)

    @property
    def turned_away_s(self) -> float:
        """Others."""
        rest = sum(self.told["answers"].values()) - self.told["answers"].get("accepted", 0)
        return float(rest / self.seconds)

    def text(self) -> str:
        """A line of the screen."""
        told = self.told
        return (
            f"{told['at']:5.0f} s  {self.accepted_s:6,.0f}/s accepted  {self.turned_away_s:6,.0f}/s away  "
            f"p50 {told['p50_ms']:5.0f}  p99 {told['p99_ms']:5.0f}  worst {told['worst_ms']:5.0f} ms  "
            f"silent {told['silent_s']:4.1f} s  {self.memory_mb:5.0f} MB  rude {told['rude']:,}"
        )


async def stretch(plan: dict[str, Any], server: psutil.Process, *, show: bool) -> list[Line]:
    """One flood, told line by line."""
    lines: list[Line] = []
    async with partner("bench.flood") as flood:
        told: Any = await flood.ask(plan)
        while "over" not in told:
            line = Line(told, plan["every"], server.memory_info().rss / BYTES_PER_MB)
            lines.append(line)
            if show:
                click.echo(line.text())
            told = await flood.line()
    return lines


async def measure(minutes: float, scorers: int, rude: int) -> list[tuple[str, str]]:
    """The three stretches; rows of the table."""
    count = str(scorers + rude + CALM_SCORERS + 1)
    async with partner("bench.host", count, count) as host:
        ready = await host.line()
        server = psutil.Process(ready["pid"])
        who = [[*match, token] for match, token in zip(ready["matches"], ready["accounts"], strict=True)]
        alone, calmer, rest = who[0], who[1 : 1 + CALM_SCORERS], who[1 + CALM_SCORERS :]
        base = {"port": ready["port"], "rude": [], "every": EVERY_S}
        calm = await stretch(
            base | {"scorers": calmer, "seconds": CALM_S, "every": CALM_S / 2},
            server,
            show=True,
        )
        flood = await stretch(
            base | {"scorers": rest[:scorers], "rude": rest[scorers:], "seconds": minutes * 60},
            server,
            show=True,
        )
        after = await stretch(
            base | {"scorers": [alone], "seconds": AFTER_S, "every": AFTER_EVERY_S}, server, show=False
        )
    speed = median(line.accepted_s for line in after[-10:])
    back = next(line.told["at"] for line in after if line.accepted_s > 0.9 * speed)
    answers = sum(sum(line.told["answers"].values()) for line in flood)
    return [
        ("accepted, calm", f"{calm[-1].accepted_s:,.0f}/s"),
        ("accepted, flooded", f"{median(line.accepted_s for line in flood):,.0f}/s"),
        ("turned away", f"{median(line.turned_away_s for line in flood):,.0f}/s"),
        ("answers in all", f"{answers:,}"),
        ("an answer, p50", f"{median(line.told['p50_ms'] for line in flood):,.0f} ms"),
        ("an answer, p99, worst 10 s", f"{max(line.told['p99_ms'] for line in flood):,.0f} ms"),
        ("longest wait for an answer", f"{max(line.told['worst_ms'] for line in flood) / 1e3:,.1f} s"),
        ("memory of the server, calm", f"{calm[-1].memory_mb:,.0f} MB"),
        ("memory, after the first minute", f"{flood[min(6, len(flood) - 1)].memory_mb:,.0f} MB"),
        ("memory, most", f"{max(line.memory_mb for line in flood):,.0f} MB"),
        ("full speed of one scorer after", f"{back:,.0f} s ({speed:,.0f}/s)"),
    ]


@click.command()
@click.option("--minutes", default=5.0, show_default=True)
@click.option("--scorers", default=1_500, show_default=True)
@click.option("--rude", default=50, show_default=True, help="Who never wait for an answer.")
def main(minutes: float, scorers: int, rude: int) -> None:
    """Flood a server of its own."""
    rows = trio.run(measure, minutes, scorers, rude)
    table = Table(title=f"{scorers:,} scorers who never rest, {rude} who never wait, {minutes:g} minutes")
    for heading in ("what", "figure"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
