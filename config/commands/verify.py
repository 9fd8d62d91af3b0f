"""`scorebox verify`: what is saved of matches against what their logs say."""

import json
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from config.commands.options import json_option
from config.commands.progress import progress_of
from config.database import reach_database
from config.installed import installed_versions
from config.logs import configure_logs
from config.running import FAULT_EXIT_CODE, run
from config.settings import read_settings
from gateway.ledger import Ref
from runtime.database import Database
from runtime.groups import sole_error
from runtime.pool import Pools
from verifier.compare import Finding
from verifier.errors import NoSuchMatch, NotReplayed
from verifier.replay import open_verifier_pools
from verifier.saved import all_matches
from verifier.verify import Verdict, verify

DIFFERENCE_EXIT_CODE = 1
LOG_LEVEL = "error"

Outcome = Verdict | NoSuchMatch | NotReplayed


@click.command("verify")
@click.argument("refs", nargs=-1, metavar="[MATCH…]")
@click.option("--all", "every", is_flag=True, help="Every match there is.")
@json_option
def verify_command(*, refs: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Check matches against their logs: state, rows, lines, document and checkpoints.

    Works on the database of the settings directly, also while a server runs on it, and changes nothing.
    Each log is replayed from nothing by the match's own code, under another hash seed. MATCH is a code or id.

    Exit code 1: something differs. 2: a match could not be checked.
    """
    if every == bool(refs):
        raise click.UsageError("name matches, or give --all")
    configure_logs(level=LOG_LEVEL)

    async def work() -> list[tuple[str, Outcome]]:
        settings = read_settings()
        versions = await installed_versions(settings)
        outcomes: list[tuple[str, Outcome]] = []
        with sole_error():
            async with reach_database(settings) as database, open_verifier_pools(versions) as pools:
                asked: list[Ref] = [*await all_matches(database)] if every else [*refs]
                with progress_of("verifying", len(asked), "matches") as advance:
                    for ref in asked:
                        outcomes.append((str(ref), await outcome_of(database, pools, ref)))
                        advance(1)
        return outcomes

    outcomes = run(work)
    if as_json:
        click.echo(json.dumps(_for_machines(outcomes), ensure_ascii=False, indent=2))
    else:
        _print(outcomes)
    if any(not isinstance(outcome, Verdict) for _, outcome in outcomes):
        raise click.exceptions.Exit(FAULT_EXIT_CODE)
    if any(isinstance(outcome, Verdict) and outcome.findings for _, outcome in outcomes):
        raise click.exceptions.Exit(DIFFERENCE_EXIT_CODE)


async def outcome_of(database: Database, pools: Pools, ref: Ref) -> Outcome:
    """A match's verdict, or why there is none."""
    try:
        return await verify(database, pools, ref)
    except (NoSuchMatch, NotReplayed) as error:
        return error


def _for_machines(outcomes: list[tuple[str, Outcome]]) -> dict[str, Any]:
    matches: list[dict[str, Any]] = []
    for ref, outcome in outcomes:
        if not isinstance(outcome, Verdict):
            matches.append({"match": ref, "status": "unchecked", "error": str(outcome)})
            continue
        matches.append(
            {
                "match": str(outcome.match),
                "code": outcome.code,
                "sport": outcome.sport,
                "version": outcome.version,
                "status": "differs" if outcome.findings else "sound",
                "last_seq": outcome.last_seq,
                "events": outcome.events,
                "findings": [
                    {"what": finding.what, "seq": finding.seq, "sentence": finding.sentence}
                    for finding in outcome.findings
                ],
            }
        )
    counts = {
        status: sum(match["status"] == status for match in matches)
        for status in ("sound", "differs", "unchecked")
    }
    return {"matches": matches, **counts}


def _print(outcomes: list[tuple[str, Outcome]]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    events = 0
    for ref, outcome in outcomes:
        if not isinstance(outcome, Verdict):
            console.print(Text.assemble((ref, "bold"), f"  could not be checked: {outcome}"))
            continue
        events += outcome.events
        if outcome.findings:
            console.print(Text.assemble((outcome.code, "bold"), f"  {outcome.match}"))
            console.print(_table(outcome.findings))
    counts = _for_machines(outcomes)
    console.print(
        f"{counts['sound']} of {len(outcomes)} matches are as their logs say ({events} events replayed)"
        + (f"; {counts['differs']} differ" if counts["differs"] else "")
        + (f"; {counts['unchecked']} could not be checked" if counts["unchecked"] else "")
    )


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("event", justify="right", no_wrap=True)
    table.add_column("what", no_wrap=True)
    table.add_column("finding", overflow="fold")
    for finding in findings:
        table.add_row(str(finding.seq), finding.what, Text(finding.sentence))
    return table
