"""Moving a match to another version of its sport: rehearsed first, then worked out anew (design section 9).

The effective log is played on the code the match is pinned to and on the new one. Where they part, the
move is refused and the first event is named, unless it is forced. A match whose own code is gone cannot be
rehearsed: only force moves it.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
import trio
from msgspec import Meta

from gateway.card import Card, Target
from gateway.correcting import target_of
from gateway.corrections import Plan, Reason, told
from gateway.effective import Entry, Name, effective, shown, standing
from gateway.errors import CorrectionRefused, VersionRetired
from gateway.ledger import Ledger
from gateway.misfit import misfit
from gateway.protocol import Unfit
from gateway.replaying import Replayed, opened, read_rows, replay
from runtime.errors import ManifestMissing, RuleFailed
from runtime.pool import Pools
from runtime.versions import SportVersion

BUDGET_S = 10.0
"""Wall time of a whole move, rehearsal included; past it trio.TooSlowError."""
FORCE = "Force it to move the match all the same."


class Move(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A match goes on in another version. `code_sha` is there for who wants to be sure which code it is."""

    version: Annotated[str, Meta(min_length=1, max_length=64)]
    code_sha: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | None = None
    reason: Reason
    preview: bool = False
    force: bool = False


class Played(msgspec.Struct, frozen=True):
    """What code made of one event."""

    state: bytes
    lines: bytes
    warnings: list[dict[str, Any]]
    emits: list[str]


class Run(msgspec.Struct):
    """A whole log played on one code."""

    replayed: Replayed
    first_state: bytes
    played: dict[Name, Played] = {}
    refused: dict[Name, Unfit] = {}


class Mover:
    """Works moves out. Keeps nothing between them."""

    def __init__(self, ledger: Ledger, pools: Pools) -> None:
        self._ledger = ledger
        self._pools = pools

    async def work_out(self, card: Card, given: dict[str, Any]) -> Target:
        """What a move makes of a match.

        Raises:
            CorrectionRefused: it cannot be, or the versions part and it is not forced.
            trio.TooSlowError: it took longer than BUDGET_S.
            RuntimeFault: the database or the workers could not do it.
        """
        move = read_move(given)
        version = self._version(card, move)
        try:
            manifest = self._pools.versions.manifest(version)
            await self._ledger.ensure_version(version, manifest)
        except (VersionRetired, ManifestMissing) as error:
            raise _refused("unknown_version", str(error), "version") from error
        history = await self._ledger.history(card.match)
        events = standing(effective(read_rows(history)))
        with trio.fail_after(BUDGET_S):
            new = await self._run_on(version, history[0].input, events)
            if not (move.force or move.preview):
                old = await self._run(card.code_sha, history[0].input, events)
                if (sentence := parting(events, old, new)) is not None:
                    raise _refused("would_part", f"{sentence}. {FORCE}")
        plan = Plan(tuple(events), tuple(events), 0, {"code_sha": version.code_sha, "from": card.code_sha})
        target = target_of(plan, new.replayed, new.refused, told(history))
        return msgspec.structs.replace(target, code_sha=version.code_sha)

    def _version(self, card: Card, move: Move) -> SportVersion:
        """The version that is asked for."""
        versions = self._pools.versions
        found = versions.current(card.sport, move.version)
        if found is None:
            versions.refresh()
            found = versions.current(card.sport, move.version)
        if found is None:
            there = ", ".join(each.version for each in versions.versions(card.sport)) or "none"
            sentence = f"{card.sport} {move.version} is not installed (installed: {there})"
            raise _refused("unknown_version", sentence, "version")
        if move.code_sha not in (None, found.code_sha):
            sentence = f"{card.sport} {move.version} has the code_sha {found.code_sha}, not {move.code_sha}"
            raise _refused("unknown_version", sentence, "code_sha")
        if found.code_sha == card.code_sha:
            raise _refused("same_version", f"the match is in {card.sport} {move.version} already", "version")
        return found

    async def _run_on(self, version: SportVersion, opening: bytes, events: Sequence[Entry]) -> Run:
        """The log on the new code."""
        try:
            return await self._run(version.code_sha, opening, events)
        except RuleFailed as error:
            sentence = f"the rules of {version.sport} {version.version} fail on this match: {error}"
            raise _refused("would_part", sentence) from error

    async def _run(self, code_sha: str, opening: bytes, events: Sequence[Entry]) -> Run:
        replayed = await opened(self._pools, code_sha, opening)
        run = Run(replayed, replayed.state)

        def refused(entry: Entry, refusal: dict[str, Any]) -> bool:
            run.refused[entry.name] = Unfit(shown(entry.name), entry.code, refusal["sentence"])
            return True

        def heard(played: Sequence[Entry], reply: Mapping[str, Any]) -> None:
            facts = zip(
                reply["hashes"],
                reply["line_hashes"],
                reply["warnings_by_event"],
                reply["emits_by_event"],
                strict=True,
            )
            for entry, fact in zip(played, facts, strict=False):
                run.played[entry.name] = Played(*fact)

        await replay(self._pools, code_sha, events, replayed, refused, heard=heard)
        return run


def read_move(given: dict[str, Any]) -> Move:
    """The typed input of a move.

    Raises:
        CorrectionRefused: a value that cannot be; names the field.
    """
    try:
        return msgspec.convert(given, Move)
    except msgspec.ValidationError as error:
        field, sentence = misfit(str(error))
        raise _refused("cannot_move", sentence, field or "input") from error


def parting(events: Sequence[Entry], old: Run, new: Run) -> str | None:
    """The first event where two runs of the same log part, as a sentence; None where they are alike."""
    if old.first_state != new.first_state:
        return "the first state is another one"
    for entry in events:
        what = f"event {shown(entry.name)} ({entry.code})"
        if (unfit := new.refused.get(entry.name)) is not None:
            return f"{what} is refused: {unfit.sentence.rstrip('.')}"
        was, now = old.played.get(entry.name), new.played[entry.name]
        if was is None:
            return f"{what} is refused by the match's own code"
        if was.state != now.state:
            return f"{what} leads to another state"
        if was.lines != now.lines:
            return f"{what} writes other lines"
        if was.warnings != now.warnings:
            return f"{what} has other warnings"
        if was.emits != now.emits:
            return f"{what} emits {_words(now.emits)}, until now it was {_words(was.emits)}"
    return None


def _words(words: Sequence[str]) -> str:
    return ", ".join(words) or "nothing"


def _refused(code: str, sentence: str, field: str = "") -> CorrectionRefused:
    return CorrectionRefused(code, sentence, field)
