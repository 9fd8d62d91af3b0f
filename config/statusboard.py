"""A server's status on a console, from what `GET /status` says."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

Status = Mapping[str, Any]

MATCHES_SHOWN = 20
ALERTS_SHOWN = 10
BYTES_PER_MB = 1_000_000
SECONDS_PER_MINUTE, SECONDS_PER_HOUR, SECONDS_PER_DAY = 60, 3600, 86_400


def status_board(url: str, status: Status) -> Group:
    """Everything a supervisor looks at: readiness, pools and workers, matches, database, alerts."""
    return Group(*_parts(url, status))


def _parts(url: str, status: Status) -> Iterator[RenderableType]:
    ready = status.get("ready")
    yield Text.assemble(
        (url, "bold"),
        f"  version {status.get('version', '?')}, up {_duration(status.get('uptime_s', 0))}  ",
        ("ready", "bold green") if ready else ("not ready", "bold red"),
    )
    for missing in status.get("missing") or ():
        yield Text(f"  {missing}", style="red")
    sports = ", ".join(
        f"{name} {' '.join(versions)}" for name, versions in (status.get("sports") or {}).items()
    )
    yield Text(f"sports: {sports or 'none'}")
    if "node" not in status:
        yield Text("(details need a token that may see them: --token or SCOREBOX_TOKEN)", style="dim")
        return
    node, database, commits = status["node"], status.get("database") or {}, status.get("commits") or {}
    edge, matches = status.get("edge") or {}, status.get("matches") or {}
    yield Text(
        f"node {node.get('host')} pid {node.get('pid')}, {_megabytes(node.get('memory_bytes'))}; "
        f"{edge.get('connections', 0)} connections, {edge.get('sockets', 0)} sockets, "
        f"loop {edge.get('loop_lag_ms', 0)} ms late"
    )
    away = database.get("away")
    yield Text.assemble(
        "database ",
        (f"away: {away}", "red") if away else ("there", "green"),
        f", {database.get('open', 0)} connections, {database.get('lost', 0)} lost; "
        f"{commits.get('items', 0)} commits in {commits.get('calls', 0)} calls, "
        f"the last took {commits.get('last_call_ms') or 0:.1f} ms",
    )
    yield from _workers(status.get("pools") or ())
    yield from _matches(matches)
    yield from _actors(status.get("actors") or ())
    yield from _alerts(status.get("alerts") or ())


def _workers(pools: Sequence[Status]) -> Iterator[RenderableType]:
    for pool in pools:
        lost = ", ".join(f"{number} {reason}" for reason, number in (pool.get("lost") or {}).items())
        yield Text.assemble(
            (f"\npool {pool.get('sport')} {pool.get('version')}", "bold"),
            f"  {pool.get('matches', 0)} matches, {pool.get('calls', 0)} calls",
            (f", lost: {lost}" if lost else "", "red"),
            (", resting" if pool.get("resting") else "", "red"),
        )
        table = _table("worker", "state", "guard", "calls", "slow", "cpu ms", "memory", "last answer")
        for worker in pool.get("workers") or ():
            age = worker.get("last_answer_age_s")
            table.add_row(
                str(worker.get("pid")),
                str(worker.get("state")),
                str(worker.get("guard")),
                str(worker.get("calls", 0)),
                str(worker.get("slow_calls", 0)),
                f"{(worker.get('cpu_us') or 0) / 1000:.0f}",
                _megabytes(worker.get("rss_bytes")),
                "never" if age is None else f"{_duration(age)} ago",
            )
        yield table
        workers = pool.get("workers") or ()
        for lacks in sorted({worker["guard_lacks"] for worker in workers if worker.get("guard_lacks")}):
            yield Text(f"  the guard is not full: {lacks}", style="yellow")
        if pool.get("trouble"):
            yield Text(f"  {pool['trouble']}", style="red")


def _matches(matches: Status) -> Iterator[RenderableType]:
    actors = matches.get("actors") or ()
    yield Text.assemble(
        ("\nmatches", "bold"), f"  {matches.get('live', 0)} in memory, {matches.get('commands', 0)} commands"
    )
    if not actors:
        return
    table = _table("match", "seq", "watchers", "handled", "failed", "waiting", "peak")
    for actor in actors[:MATCHES_SHOWN]:
        table.add_row(
            escape(str(actor.get("name", "")).removeprefix("match ")),
            *(
                str(actor.get(figure, 0))
                for figure in ("seq", "watchers", "handled", "failed", "waiting", "waiting_peak")
            ),
        )
    yield table
    if len(actors) > MATCHES_SHOWN:
        yield Text(f"  and {len(actors) - MATCHES_SHOWN} more", style="dim")


def _actors(actors: Sequence[Status]) -> Iterator[RenderableType]:
    for actor in actors:
        if actor.get("state") != "running" or actor.get("restarts"):
            yield Text(
                f"actor {actor.get('name')}: {actor.get('state')}, {actor.get('restarts', 0)} restarts"
                + (f" ({actor['last_error']})" if actor.get("last_error") else ""),
                style="yellow",
            )


def _alerts(alerts: Sequence[Status]) -> Iterator[RenderableType]:
    yield Text.assemble(("\nalerts", "bold"), "" if alerts else "  none")
    for alert in alerts[:ALERTS_SHOWN]:
        event = f", event {alert['event']}" if alert.get("event") is not None else ""
        yield Text.assemble(
            (f"  {alert.get('kind')}", "bold red"),
            f"  {alert.get('where')}{event}  ",
            (_times(alert), "dim"),
            f"\n    {alert.get('sentence')}",
        )
    if len(alerts) > ALERTS_SHOWN:
        yield Text(f"  and {len(alerts) - ALERTS_SHOWN} more", style="dim")


def _times(alert: Status) -> str:
    """Since when, how often, and whether it is over."""
    times, over = alert.get("times", 1), alert.get("over_at")
    return (
        f"since {_moment(alert.get('since'))}"
        + (f", {times} times, last {_moment(alert.get('raised_at'))}" if times > 1 else "")
        + (f", over {_moment(over)}" if over else "")
    )


def _moment(text: str | None) -> str:
    """A time to the second, as the server says it."""
    return "?" if text is None else f"{text[:19].replace('T', ' ')} UTC"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    return table


def _megabytes(size: int | None) -> str:
    return f"{(size or 0) / BYTES_PER_MB:.0f} MB"


def _duration(seconds: float) -> str:
    for unit, name in ((SECONDS_PER_DAY, "d"), (SECONDS_PER_HOUR, "h"), (SECONDS_PER_MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"
