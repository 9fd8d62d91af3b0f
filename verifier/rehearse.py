"""A rehearsal: a stored match played on a candidate version, event by event beside the code it is pinned to.

Both replay the same effective log from nothing. The first event where they part is named, and in what:
state, lines, warnings, emits, or a refusal of what the log holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from gateway.effective import OPENING_SEQ, CannotEdit, Entry, effective, shown, standing
from gateway.ledger import Ref
from runtime.database import Database
from runtime.pool import Pools
from runtime.versions import SportVersion
from verifier.errors import NotReplayed
from verifier.replay import RULES_FAILED, Opened, Replay, Stop, Stretch, items, stretches
from verifier.saved import Saved, read_match


@dataclass(frozen=True, slots=True)
class Parting:
    """The first event where two versions part. `what`: state, lines, warnings, emits, refusal, opening."""

    what: str
    seq: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What became of one match. Without a parting the candidate scores it as its own code does."""

    match: UUID
    code: str
    sport: str
    version: str
    """The version the match is pinned to."""
    events: int
    parting: Parting | None


async def rehearse(
    database: Database, own: Pools, candidates: Pools, candidate: SportVersion, ref: Ref
) -> Rehearsal:
    """Plays one match on a candidate, from `candidates`, beside its own code, from `own`.

    Raises:
        NoSuchMatch: there is no match of that id or code.
        NotReplayed: code is missing, no worker could do it, or the match's own code does not take its log.
        DatabaseAway: the database cannot be reached.
    """
    saved = await read_match(database, ref)
    if saved.sport != candidate.sport:
        raise NotReplayed(f"{saved.code} is a match of {saved.sport}, not of {candidate.sport}")
    try:
        events = standing(effective(row.row for row in saved.rows))
    except CannotEdit as error:
        raise NotReplayed(f"the log of {saved.code} cannot be read: {error}") from error
    parting = await _parting(
        saved, events, Replay(own, saved.code_sha), Replay(candidates, candidate.code_sha)
    )
    return Rehearsal(saved.match, saved.code, saved.sport, saved.version, len(events), parting)


async def _parting(saved: Saved, events: Sequence[Entry], left: Replay, right: Replay) -> Parting | None:
    old, new = await left.open(saved.opening), await right.open(saved.opening)
    if isinstance(old, Stop):
        raise NotReplayed(f"the own code of {saved.code} does not take its opening: {old.sentence}")
    if (parting := part_of_openings(old, new)) is not None:
        return parting
    done = 0
    for stretch in stretches(items(events)):
        was, now = await left.play(stretch), await right.play(stretch)
        if (found := part_of_stretches(was, now)) is not None:
            index, what, sentence = found
            event = events[done + index]
            return Parting(what, event.name.seq, f"event {shown(event.name)} ({event.code}): {sentence}")
        if was.stop is not None:
            name = shown(events[done + was.stop.index].name)
            raise NotReplayed(
                f"the own code of {saved.code} does not take its event {name}: {was.stop.sentence}"
            )
        done += len(stretch)
    return None


def part_of_openings(old: Opened, new: Opened | Stop) -> Parting | None:
    """Where the first states part."""
    if isinstance(new, Stop):
        return Parting("opening", OPENING_SEQ, f"the candidate does not take the opening: {new.sentence}")
    if new.state_hash != old.state_hash:
        return Parting("state", OPENING_SEQ, "the first state is another one")
    if new.lines != old.lines:
        return Parting("lines", OPENING_SEQ, "the first lines are others")
    return None


def part_of_stretches(old: Stretch, new: Stretch) -> tuple[int, str, str] | None:
    """Where two replays of the same events first part: index, what, and a sentence about it."""
    played = list(_facts(new))
    for index, was in enumerate(_facts(old)):
        if index == len(played):
            stop = new.stop
            assert stop is not None, "a replay that ends early says why"
            if stop.code == RULES_FAILED:
                return index, "refusal", f"the candidate's rules failed: {stop.sentence}"
            return index, "refusal", f"the candidate refuses it ({stop.code}): {stop.sentence}"
        now = played[index]
        for what in ("state", "lines", "warnings", "emits"):
            if was[what] != now[what]:
                return index, what, _sentence(what, was[what], now[what])
    return None


def _facts(stretch: Stretch) -> Iterator[dict[str, object]]:
    for state, lines, warnings, emits in zip(
        stretch.hashes, stretch.line_hashes, stretch.warnings, stretch.emits, strict=True
    ):
        yield {
            "state": state,
            "lines": lines,
            "warnings": [(warning["code"], warning["sentence"], warning["field"]) for warning in warnings],
            "emits": emits,
        }


def _sentence(what: str, was: object, now: object) -> str:
    if what == "state":
        return "the state after it is another one"
    if what == "lines":
        return "it writes other lines"
    return f"the {what} were {_words(was)}, the candidate's are {_words(now)}"


def _words(values: object) -> str:
    assert isinstance(values, list), "warnings and emits are lists"
    words = [value[0] if isinstance(value, tuple) else str(value) for value in values]
    return ", ".join(words) or "none"
