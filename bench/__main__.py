"""`make bench`: every row of docs/performance.md, measured now, on this machine.

Compare ratios within one run; absolute times of a shared machine tell little. Nothing is asserted.
"""

import os
import platform
from collections.abc import Awaitable, Callable
from statistics import median, quantiles

import click
import trio
from rich.console import Console
from rich.table import Table

from bench import ball, beside, corrections, fanout, sockets, throughput, workers
from config.logs import configure_logs

Row = tuple[str, str, str]
"""What was measured, the figure, and what it is set beside."""


def milliseconds(seconds: float) -> str:
    """A time as the table shows it."""
    return f"{seconds * 1e3:.2f} ms"


async def ball_rows() -> list[Row]:
    """Server time per ball beside the bare commit call."""
    found = await ball.measure()
    bare = median(found.bare)
    late, early = median(found.grown), median(found.young)
    return [
        (
            "server time per ball, p50",
            milliseconds(median(found.server)),
            f"{median(found.server) / bare:.2f} × the commit call",
        ),
        (
            "server time per ball, p99",
            milliseconds(found.p99_server),
            f"{found.p99_server / found.p99_bare:.2f} × the commit call's p99",
        ),
        ("bare commit call, p50 / p99", f"{milliseconds(bare)} / {milliseconds(found.p99_bare)}", ""),
        (
            f"ball {ball.BALLS:,} beside ball {ball.YOUNG_BALL}",
            milliseconds(late),
            f"{late / early:.2f} × as long",
        ),
        ("as the tablet sees it, p50", milliseconds(median(found.tablet)), ""),
    ]


async def beside_rows() -> list[Row]:
    """A ball while another match is verified, beside a ball without."""
    found = await beside.measure()
    return [
        (
            "ball beside a verification, p50",
            milliseconds(median(found.beside)),
            f"{median(found.beside) / median(found.alone):.2f} × a ball without",
        ),
        (
            "ball beside a verification, p99",
            milliseconds(quantiles(found.beside, n=100)[98]),
            f"{quantiles(found.beside, n=100)[98] / quantiles(found.alone, n=100)[98]:.2f} × p99 without",
        ),
        (f"verification of {beside.VERIFIED_BALLS:,} balls", milliseconds(median(found.verifications)), ""),
    ]


async def correction_rows() -> list[Row]:
    """Corrections, and an undo beside a ball."""
    found = await corrections.measure()
    beside = f"{corrections.undo_beside_ball(found):.2f} × a ball"
    return [
        (
            f"correction at event {corrections.OLD_EVENT} of {corrections.SHORT}",
            milliseconds(median(found.old)),
            "",
        ),
        (
            f"correction at the first ball of {corrections.LONG:,}",
            milliseconds(median(found.first)),
            "",
        ),
        ("undo of the newest event", milliseconds(median(found.undo)), beside),
    ]


async def throughput_rows() -> list[Row]:
    """Commands per second beside pgbench."""
    found = await throughput.measure()
    most = found.pgbench[max(found.pgbench)]
    rows = [
        (
            f"{count} match{'es' if count > 1 else ''} at once",
            f"{rate:,.0f} commands/s",
            f"{rate / most:.2f} × pgbench at {max(found.pgbench)}",
        )
        for count, rate in found.server.items()
    ]
    rows += [
        (f"pgbench, {count} clients, {found.item_bytes / 1024:.0f} KB items", f"{rate:,.0f} items/s", "")
        for count, rate in found.pgbench.items()
    ]
    return rows


async def socket_rows() -> list[Row]:
    """Fan-out and the socket layer alone."""
    frames, commands = await fanout.measure(), await sockets.measure()
    return [
        (
            f"fan-out to {frames.sockets:,} sockets, {frames.frame_bytes} byte frames",
            f"{frames.per_second:,.0f} frames/s",
            f"{frames.per_cpu_second:,.0f} per second of CPU",
        ),
        (
            f"socket layer alone, {commands.tablets} tablets",
            f"{commands.per_second:,.0f} commands/s",
            f"{commands.cpu_us:.0f} µs of CPU each",
        ),
    ]


async def worker_rows() -> list[Row]:
    """Round trips, starts, replacements, memory."""
    found = await workers.measure()
    rows = [
        (
            f"worker round trip, {size} KB state",
            milliseconds(median(legs)),
            f"p99 {milliseconds(quantiles(legs, n=100)[98])}",
        )
        for size, legs in found.legs.items()
    ]
    return [
        *rows,
        ("worker, start to ready", milliseconds(median(found.start)), ""),
        (
            "kill -9 to replacement ready",
            milliseconds(median(found.replace)),
            f"at most {milliseconds(max(found.replace))}",
        ),
        (
            "memory per worker",
            f"{found.rss_bytes / 2**20:.0f} MB",
            f"{found.unique_bytes / 2**20:.0f} MB its own",
        ),
    ]


SECTIONS: dict[str, Callable[[], Awaitable[list[Row]]]] = {
    "ball": ball_rows,
    "verification": beside_rows,
    "corrections": correction_rows,
    "throughput": throughput_rows,
    "sockets": socket_rows,
    "workers": worker_rows,
}


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(list(SECTIONS)))
def main(sections: tuple[str, ...]) -> None:
    """Measure SECTIONS (all by default) and print the table."""
    configure_logs(level="error")
    console = Console(width=None if os.isatty(1) else 120)
    table = Table(title=f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for heading in ("what", "figure", "beside"):
        table.add_column(heading)
    for name in sections or SECTIONS:
        with console.status(f"measuring: {name}"):
            rows = trio.run(SECTIONS[name])
        for row in rows:
            table.add_row(*row)
        table.add_section()
    console.print(table)


if __name__ == "__main__":
    main()
