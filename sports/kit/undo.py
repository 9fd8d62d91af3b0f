"""Undo after do is the identity: over state, lines and summary, after every command of every golden match.

As the engine does it: the command is played, then what was before it is made anew by replay from a
checkpoint. Where the command ended or began a part of the match, the replay is from the opening.
"""

from scorebox_contract import EventSport, decode
from sports.kit.golden import Golden
from sports.kit.play import Moment, Play
from sports.kit.report import Check

CHECKPOINT_COMMANDS = 8
"""The replay of an undo has at most so many commands, but across a boundary."""
BOUNDARIES_MOST = 12
"""So many boundaries of a match are crossed from its opening; the others from a checkpoint."""


def check_undo(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """Every prefix of every golden match, across every boundary."""
    boundaries = 0
    for golden in goldens:
        play = Play(sport, golden)
        checkpoint = play.moment()
        crossed = 0
        for step in golden.steps:
            if play.done - checkpoint.done >= CHECKPOINT_COMMANDS:
                checkpoint = play.moment()
            where = play.where(step)
            before, summary = play.moment(), play.summary()
            play.next()
            after = play.moment()
            check.count += 1
            boundary = part_of(play.summary()) != part_of(summary)
            boundaries += boundary
            whole = boundary and crossed < BOUNDARIES_MOST
            crossed += boundary
            again = Play(sport, golden, None if whole else checkpoint)
            while again.done < before.done:
                again.next()
            _compare(check, f"{where}: undone", before, summary, again)
            again.next()
            _compare(check, f"{where}: done again", after, play.summary(), again)
    check.remark = f"{boundaries} of them across a boundary"


def part_of(summary: bytes) -> tuple[object, object]:
    """Phase and segment: where they change is a boundary."""
    shown = decode(summary)
    return shown["phase"], shown["segment"]


def _compare(check: Check, where: str, wanted: Moment, summary: bytes, again: Play) -> None:
    for what, one, other in (
        ("the state", wanted.state, again.state),
        ("the lines", wanted.lines, again.lines),
        ("the summary", summary, again.summary()),
    ):
        if one != other:
            check.fail(f"{where}, {what} differs from before; keep nothing outside the state")
