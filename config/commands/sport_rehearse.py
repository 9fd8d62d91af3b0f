"""`scorebox sport rehearse`: stored matches on a candidate version."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import click
import trio
from rich.console import Console
from rich.text import Text

from config.commands.options import json_option
from config.commands.progress import progress_of
from config.database import reach_database
from config.installed import installed_versions
from config.logs import configure_logs
from config.running import FAULT_EXIT_CODE, Fault, run
from config.settings import Settings, read_settings
from gateway.ledger import Ref
from runtime.database import Database
from runtime.groups import sole_error
from runtime.pool import Pools, open_pools
from runtime.staffing import PoolLimits
from runtime.versions import SportVersion, VersionStore
from runtime.wheels import read_wheel
from verifier.errors import NoSuchMatch, NotReplayed
from verifier.rehearse import Rehearsal, rehearse
from verifier.saved import all_matches

DIFFERENCE_EXIT_CODE = 1
LOG_LEVEL = "error"
WHEEL_SUFFIX = ".whl"

Outcome = Rehearsal | NoSuchMatch | NotReplayed


@click.command("rehearse")
@click.argument("sport")
@click.argument("candidate", metavar="VERSION|WHEEL")
@click.argument("refs", nargs=-1, metavar="[MATCH…]")
@click.option("--all", "every", is_flag=True, help="Every match of the sport.")
@json_option
def rehearse_command(
    *, sport: str, candidate: str, refs: tuple[str, ...], every: bool, as_json: bool
) -> None:
    """Replay stored matches of SPORT on an installed VERSION, or on a WHEEL that is not installed.

    Each match is played beside the code it is pinned to, and the first event is named where state, lines,
    warnings, emits or refusals part. Works on the database and the data folder of the settings, also while a
    server runs; changes nothing. MATCH is a code or an id.

    Exit code 1: a match parts. 2: one could not be rehearsed.
    """
    if every == bool(refs):
        raise click.UsageError("name matches, or give --all")
    configure_logs(level=LOG_LEVEL)

    async def work() -> list[tuple[str, Outcome]]:
        settings = read_settings()
        versions = await installed_versions(settings)
        with sole_error():
            async with (
                reach_database(settings) as database,
                _candidate(versions, sport, candidate, settings) as (version, candidates),
                open_pools(versions, limits=_limits(settings)) as own,
            ):
                asked: list[Ref] = [*await all_matches(database, sport)] if every else [*refs]
                return await _rehearse(
                    database, own, candidates, version, asked, at_once=settings.workers_most
                )

    outcomes = run(work)
    if as_json:
        click.echo(json.dumps(_for_machines(outcomes), ensure_ascii=False, indent=2))
    else:
        _print(outcomes)
    if any(not isinstance(outcome, Rehearsal) for _, outcome in outcomes):
        raise click.exceptions.Exit(FAULT_EXIT_CODE)
    if any(isinstance(outcome, Rehearsal) and outcome.parting for _, outcome in outcomes):
        raise click.exceptions.Exit(DIFFERENCE_EXIT_CODE)


def _limits(settings: Settings) -> PoolLimits:
    """All the workers that a version may have, from the start."""
    return PoolLimits(warm=settings.workers_most, most=settings.workers_most)


@asynccontextmanager
async def _candidate(
    versions: VersionStore, sport: str, named: str, settings: Settings
) -> AsyncIterator[tuple[SportVersion, Pools]]:
    """The candidate, and workers that run it. A wheel is unpacked beside the store and gone afterwards."""
    if named.endswith(WHEEL_SUFFIX):
        wheel = read_wheel(await trio.Path(Path(named)).read_bytes())
        if wheel.sport != sport:
            raise Fault(f"{named} is a wheel of {wheel.sport}, not of {sport}")
        # Blocking, for milliseconds: nobody else waits in this process.
        with versions.staging() as store:
            version = store.place(wheel.files, wheel.package, wheel.sport, wheel.version)
            async with open_pools(store, limits=_limits(settings)) as pools:
                yield version, pools
        return
    found = versions.current(sport, named)
    if found is None:
        installed = ", ".join(each.version for each in versions.versions(sport)) or "none"
        raise Fault(
            f"{sport} {named} is not installed (installed: {installed}); or name a {WHEEL_SUFFIX} file"
        )
    async with open_pools(versions, limits=_limits(settings)) as pools:
        yield found, pools


async def _rehearse(
    database: Database,
    own: Pools,
    candidates: Pools,
    version: SportVersion,
    asked: Sequence[Ref],
    *,
    at_once: int,
) -> list[tuple[str, Outcome]]:
    """The matches' outcomes in the order they were asked for; so many are rehearsed side by side."""
    outcomes: dict[int, Outcome] = {}
    limiter = trio.CapacityLimiter(at_once)
    with progress_of("rehearsing", len(asked), "matches") as advance:

        async def one(index: int, ref: Ref) -> None:
            async with limiter:
                try:
                    outcomes[index] = await rehearse(database, own, candidates, version, ref)
                except (NoSuchMatch, NotReplayed) as error:
                    outcomes[index] = error
            advance(1)

        async with trio.open_nursery() as nursery:
            for index, ref in enumerate(asked):
                nursery.start_soon(one, index, ref)
    return [(str(ref), outcomes[index]) for index, ref in enumerate(asked)]


def _for_machines(outcomes: Sequence[tuple[str, Outcome]]) -> dict[str, Any]:
    matches: list[dict[str, Any]] = []
    for ref, outcome in outcomes:
        if not isinstance(outcome, Rehearsal):
            matches.append({"match": ref, "status": "unrehearsed", "error": str(outcome)})
            continue
        parting = outcome.parting
        matches.append(
            {
                "match": str(outcome.match),
                "code": outcome.code,
                "version": outcome.version,
                "status": "parts" if parting else "alike",
                "events": outcome.events,
                "parting": None
                if parting is None
                else {"what": parting.what, "seq": parting.seq, "sentence": parting.sentence},
            }
        )
    counts = {
        status: sum(match["status"] == status for match in matches)
        for status in ("alike", "parts", "unrehearsed")
    }
    return {"matches": matches, **counts}


def _print(outcomes: Sequence[tuple[str, Outcome]]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    events = 0
    for ref, outcome in outcomes:
        if not isinstance(outcome, Rehearsal):
            console.print(Text.assemble((ref, "bold"), f"  could not be rehearsed: {outcome}"))
            continue
        events += outcome.events
        if (parting := outcome.parting) is not None:
            first = f"  ({outcome.version}) parts in {parting.what}: {parting.sentence}"
            console.print(Text.assemble((outcome.code, "bold"), first))
    counts = _for_machines(outcomes)
    console.print(
        f"{counts['alike']} of {len(outcomes)} matches come out alike ({events} events replayed)"
        + (f"; {counts['parts']} part" if counts["parts"] else "")
        + (f"; {counts['unrehearsed']} could not be rehearsed" if counts["unrehearsed"] else "")
    )
