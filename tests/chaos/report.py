"""A run's report as text."""

from tests.chaos.kinds import KINDS
from tests.chaos.run import Report


def table(report: Report) -> str:
    """The faults by kind, as a table that docs/reliability.md takes as it is."""
    lines = ["| fault | | times |", "|---|---|---|"]
    for kind in KINDS:
        times = str(report.happened[kind.name]) if kind.name not in report.missing else "not here"
        lines.append(f"| {kind.name} | {kind.sentence} | {times} |")
    total, kinds = sum(report.happened.values()), sum(1 for times in report.happened.values() if times)
    lines.append(f"| **in all** | {kinds} kinds | **{total}** |")
    return "\n".join(lines)


def summary(report: Report) -> str:
    """What went on beside the faults."""
    tallies = report.tallies
    answers = ", ".join(
        f"{tallies[word]} {word.replace('_', ' ')}"
        for word in ("accepted", "refused", "conflict", "try_again")
    )
    lines = [
        f"{report.matches} matches, {report.events} rows of the log, {report.watchers} watchers, "
        f"{tallies['frames']} frames to them, {report.seconds:.0f} s",
        f"answers: {answers}; {tallies['lost']} connections lost under a command",
    ]
    if report.base and report.end:
        before, after = report.base, report.end
        lines.append(
            f"the quiet server before and after: {before.descriptors} and {after.descriptors} descriptors, "
            f"{before.memory_bytes // 2**20} and {after.memory_bytes // 2**20} MB, "
            f"{before.workers} and {after.workers} workers"
        )
    lines += [f"not here: {name}: {why}" for name, why in report.missing.items()]
    return "\n".join(lines)
