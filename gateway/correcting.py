"""Working a correction out: replay what changed in a worker, and see what that makes of the match.

The replay starts at the newest checkpoint before the change, where the lines are those of now with the
before-images of all later rows put back; without one it starts from the opening. It runs `check` as well as
`step`, in calls of at most 250 events, so that live commands of other matches go between.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
import trio

from gateway.card import Card, LineValues, Target
from gateway.corrections import REBUILD, Emitted, Plan, plan, read, told, told_anew
from gateway.effective import CannotEdit, Name, Row, shown
from gateway.errors import CorrectionRefused
from gateway.ledger import Ledger
from gateway.protocol import Unfit
from gateway.records import BeforeImage, HistoryRow
from runtime.pool import Pools
from scorebox_contract import canonical

REPLAY_EVENTS = 250
"""Events in one call."""
REPLAY_CALL_S = 2.0
"""Wall time of one such call."""
BUDGET_S = 5.0
"""Wall time of a whole correction; past it trio.TooSlowError."""

_decode = msgspec.json.Decoder().decode


class Corrector:
    """Works corrections out. Keeps nothing between them."""

    def __init__(self, ledger: Ledger, pools: Pools) -> None:
        self._ledger = ledger
        self._pools = pools

    async def work_out(self, card: Card, code: str, given: dict[str, Any]) -> Target:
        """What a correction makes of a match.

        Raises:
            CorrectionRefused: it cannot be, or a later event no longer fits and it is not forced.
            trio.TooSlowError: it took longer than BUDGET_S.
            RuntimeFault: the database or the workers could not do it.
        """
        try:
            typed = read(code, given)
            history = await self._ledger.history(card.match)
            rows = [
                Row(row.seq, row.code, _decode(row.input), row.override, row.resolved) for row in history[1:]
            ]
            planned = plan(rows, code, given, card.last_seq + 1)
        except CannotEdit as error:
            raise CorrectionRefused("cannot_correct", error.sentence, error.field) from error
        with trio.fail_after(BUDGET_S):
            state, lines, position = await self._base(card, planned, history, anew=code == REBUILD)
            replayed = await self._replay(
                card, planned, state, lines, position, tolerant=typed.force or typed.preview
            )
        if replayed.unfit and not typed.force and not typed.preview:
            worst = replayed.unfit[0]
            raise CorrectionRefused(
                "does_not_fit",
                f"event {worst.event} ({worst.code}) would no longer fit: {worst.sentence} "
                "Correct that too, or force it to be passed over.",
                "",
            )
        return self._target(planned, replayed, told(history))

    async def _base(
        self, card: Card, planned: Plan, history: Sequence[HistoryRow], *, anew: bool
    ) -> tuple[bytes, LineValues, int]:
        """Where the replay starts: state, lines, and how many events are in them."""
        checkpoint = None
        if not anew and planned.changed_from > 0:
            checkpoint = await self._ledger.checkpoint(card.match, card.code_sha, planned.changed_from)
        if checkpoint is None:
            reply = await self._pools.call(
                card.code_sha, "initial_state", {"opening": history[0].input}, deadline_s=REPLAY_CALL_S
            )
            return reply["state"], {}, 0
        images = await self._ledger.before_images(card.match, checkpoint.seq)
        return checkpoint.state, rolled_back(card.line_values(), card.keys, images), checkpoint.position

    async def _replay(
        self, card: Card, planned: Plan, state: bytes, lines: LineValues, position: int, *, tolerant: bool
    ) -> "_Replayed":
        changed = changed_events(planned)
        found = _Replayed(state, b"", b"", dict(lines), position)
        todo = planned.after
        while True:
            chunk = todo[found.done : found.done + REPLAY_EVENTS]
            events = [[entry.code, canonical(entry.input), list(entry.override)] for entry in chunk]
            reply = await self._pools.call(
                card.code_sha, "replay", {"state": found.state, "events": events}, deadline_s=REPLAY_CALL_S
            )
            found.state, found.state_hash = reply["state"], reply["state_hash"]
            found.summary = reply["summary"]
            for subject, role, segment, values in reply["lines"]:
                found.lines[segment, role, subject] = values
            found.joined += reply["joined"]
            for entry, words in zip(chunk, reply["emits_by_event"], strict=False):
                found.emitted[entry.name] = tuple(words)
            refusal = reply["refusal"]
            if refusal is None:
                found.done += len(chunk)
                if found.done >= len(todo):
                    return found
                continue
            entry = chunk[refusal["index"]]
            if entry.name in changed:
                raise CorrectionRefused(
                    refusal["code"],
                    refusal["sentence"],
                    f"input.{refusal['field']}" if refusal["field"] else "input",
                    overridable=refusal["overridable"],
                )
            found.unfit.append(Unfit(shown(entry.name), entry.code, refusal["sentence"]))
            found.skipped.append(entry.name)
            if not tolerant:
                return found
            found.done += refusal["index"] + 1
            if found.done >= len(todo):
                return found

    def _target(self, planned: Plan, replayed: "_Replayed", before: Emitted) -> Target:
        changed = {entry.name for entry in planned.before[planned.changed_from :]}
        # Not replayed and not changed: what stands before the checkpoint.
        after: Emitted = dict.fromkeys(changed, ()) | replayed.emitted
        old = {name: before.get(name, ()) for name in after}
        resolved = dict(planned.resolved)
        if replayed.skipped:
            resolved["skipped"] = [[name.seq, name.place] for name in replayed.skipped]
        changes = [[name.seq, name.place, list(words)] for name, words in after.items() if words != old[name]]
        if changes:
            resolved["emits"] = changes
        return Target(
            replayed.state,
            replayed.state_hash,
            replayed.summary,
            replayed.lines,
            replayed.joined,
            planned.changed_from,
            len(planned.after) - len(replayed.skipped),
            resolved,
            ("corrected", *told_anew(old, after)),
            replayed.unfit,
        )


@dataclass(slots=True)
class _Replayed:
    """How far a replay is, and what came of it so far."""

    state: bytes
    state_hash: bytes
    summary: bytes
    lines: LineValues
    done: int
    joined: list[tuple[str, str, str]] = field(default_factory=list)
    emitted: Emitted = field(default_factory=dict)
    skipped: list[Name] = field(default_factory=list)
    unfit: list[Unfit] = field(default_factory=list)


def changed_events(planned: Plan) -> set[Name]:
    """The events that the correction itself brings or changes: those must fit."""
    before = {entry.name: entry for entry in planned.before}
    return {entry.name for entry in planned.after if before.get(entry.name) != entry}


def rolled_back(lines: LineValues, keys: dict[str, UUID], images: list[list[BeforeImage]]) -> LineValues:
    """Lines as they were before some rows, given the rows' before-images, newest row first."""
    subjects = {participant: key for key, participant in keys.items()}
    back = dict(lines)
    for row in images:
        for image in row:
            key = (image.segment, image.role, subjects[image.participant])
            if bytes(image.values) == b"null":
                back.pop(key, None)
            else:
                back[key] = bytes(image.values)
    return back
