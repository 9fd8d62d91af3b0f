"""Working a correction out: replay what changed in a worker, and see what that makes of the match.

The replay starts at the newest checkpoint before the change, where the lines are those of now with the
before-images of all later rows put back; without one it starts from the opening.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec
import trio

from gateway.card import Card, Target
from gateway.corrections import REBUILD, Emitted, Plan, plan, read, told, told_anew
from gateway.effective import CannotEdit, Entry, Name, shown
from gateway.errors import CorrectionRefused, Overtaken
from gateway.ledger import Ledger
from gateway.protocol import Unfit
from gateway.records import BeforeImage, HistoryRow, LogRow, Rewritten
from gateway.replaying import Replayed, opened, read_rows, replay
from gateway.segments import LineValues
from runtime.errors import RuntimeFault
from runtime.groups import sole_error
from runtime.pool import Pools

_encode = msgspec.json.Encoder().encode
_decode_lines = msgspec.json.Decoder(list[tuple[str, str, str, msgspec.Raw]]).decode

BUDGET_S = 5.0
"""Wall time of a whole correction; past it trio.TooSlowError."""


class Corrector:
    """Works corrections out. Keeps nothing between them."""

    def __init__(self, ledger: Ledger, pools: Pools) -> None:
        self._ledger = ledger
        self._pools = pools

    async def work_out(self, card: Card, code: str, given: dict[str, Any]) -> Target:
        """What a correction makes of a match.

        Raises:
            CorrectionRefused: it cannot be, or a later event no longer fits and it is not forced.
            Overtaken: as `rolled_back`.
            trio.TooSlowError: it took longer than BUDGET_S.
            RuntimeFault: the database or the workers could not do it.
        """
        try:
            typed = read(code, given)
            history = await self._ledger.history(card.match)
            planned = plan(read_rows(history), code, given, card.last_seq + 1)
        except CannotEdit as error:
            raise CorrectionRefused("cannot_correct", error.sentence, error.field) from error
        tolerant = typed.force or typed.preview
        with trio.fail_after(BUDGET_S):
            replayed, unfit = await self._played(card, planned, history, code == REBUILD, tolerant)
        if unfit and not tolerant:
            worst = next(iter(unfit.values()))
            raise CorrectionRefused(
                "does_not_fit",
                f"event {worst.event} ({worst.code}) would no longer fit: {worst.sentence} "
                "Correct that too, or force it to be passed over.",
                "",
            )
        return target_of(planned, replayed, unfit, told(history))

    async def _played(
        self, card: Card, planned: Plan, history: Sequence[HistoryRow], anew: bool, tolerant: bool
    ) -> tuple[Replayed, dict[Name, Unfit]]:
        """The match with the change in it, and the events that do not fit, in their order."""
        checkpoint = None
        if not anew and planned.changed_from > 0:
            checkpoint = await self._ledger.checkpoint(card.match, card.code_sha, planned.changed_from)
        if checkpoint is None:
            replayed = await opened(self._pools, card.code_sha, history[0].input)
            return replayed, await self._replay(card, planned, replayed, tolerant=tolerant)
        if checkpoint.lines is not None:
            replayed = Replayed(checkpoint.state, read_lines(checkpoint.lines), checkpoint.position)
            return replayed, await self._replay(card, planned, replayed, tolerant=tolerant)
        images = _Images(self._ledger)
        replayed = Replayed(checkpoint.state, {}, checkpoint.position)
        with sole_error():
            async with trio.open_nursery() as reading:
                # The replay needs the state alone: what the lines were is read meanwhile.
                reading.start_soon(images.read, card.match, checkpoint.seq)
                unfit = await self._replay(card, planned, replayed, tolerant=tolerant)
        before = rolled_back(card.line_values(), card.keys, images.found())
        replayed.lines = before | replayed.lines
        replayed.milestones = [replace(each, lines=before | each.lines) for each in replayed.milestones]
        return replayed, unfit

    async def _replay(
        self, card: Card, planned: Plan, replayed: Replayed, *, tolerant: bool
    ) -> dict[Name, Unfit]:
        """Play what is to stand from `replayed` on; the events that do not fit, in their order."""
        changed = changed_events(planned)
        unfit: dict[Name, Unfit] = {}

        def refused(entry: Entry, refusal: dict[str, Any]) -> bool:
            if entry.name in changed:
                raise CorrectionRefused(
                    refusal["code"],
                    refusal["sentence"],
                    f"input.{refusal['field']}" if refusal["field"] else "input",
                    overridable=refusal["overridable"],
                )
            unfit[entry.name] = Unfit(shown(entry.name), entry.code, refusal["sentence"])
            return tolerant

        await replay(self._pools, card.code_sha, planned.after, replayed, refused)
        return unfit


class _Images:
    """Before-images that are read beside other work, whose own failure is then told first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: list[list[BeforeImage]] = []
        self._fault: RuntimeFault | None = None

    async def read(self, match: UUID, after: int) -> None:
        """Read those of the rows after a seq."""
        try:
            self._found = await self._ledger.before_images(match, after)
        except RuntimeFault as fault:
            self._fault = fault

    def found(self) -> list[list[BeforeImage]]:
        """What was read, newest row first.

        Raises:
            RuntimeFault: the database could not do it.
        """
        if self._fault is not None:
            raise self._fault
        return self._found


def target_of(planned: Plan, replayed: Replayed, unfit: dict[Name, Unfit], before: Emitted) -> Target:
    """What a match comes to: of a plan that was replayed, and of what feeds were told before."""
    changed = {entry.name for entry in planned.before[planned.changed_from :]}
    # Not replayed and not changed: what stands before the checkpoint.
    after: Emitted = dict.fromkeys(changed, ()) | replayed.emitted
    old = {name: before.get(name, ()) for name in after}
    standing = len(planned.after) - len(unfit)
    resolved = dict(planned.resolved)
    if unfit:
        resolved["skipped"] = [[name.seq, name.place] for name in unfit]
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
        standing,
        resolved,
        ("corrected", *told_anew(old, after)),
        list(unfit.values()),
        checkpoints=[
            Rewritten(each.position, each.state.decode(), each.state_hash, lines_text(each.lines))
            for each in replayed.milestones
            if each.position < standing
        ],
    )


def undone(newest: LogRow, before: Card) -> Target:
    """What a match comes to when its newest event, and no other, is taken back: the match before it."""
    assert before.summary is not None, "one whose head was lost is worked out"
    name = Name(newest.seq)
    resolved: dict[str, Any] = {"event": [name.seq, name.place]}
    if newest.emits:
        resolved["emits"] = [[name.seq, name.place, []]]
    return Target(
        state=before.state,
        state_hash=before.state_hash,
        summary=before.summary,
        lines=before.line_values(),
        joined=[],
        changed_from=None,
        position=None,
        resolved=resolved,
        emits=("corrected", *told_anew({name: newest.emits}, {})),
    )


def lines_text(lines: LineValues) -> str:
    """Lines as a checkpoint keeps them: JSON [[segment, role, subject, values], …]."""
    return _encode([(*key, msgspec.Raw(values)) for key, values in lines.items()]).decode()


def read_lines(text: str) -> LineValues:
    """Lines as a checkpoint kept them."""
    return {(segment, role, subject): bytes(values) for segment, role, subject, values in _decode_lines(text)}


def changed_events(planned: Plan) -> set[Name]:
    """The events that the correction itself brings or changes: those must fit."""
    before = {entry.name: entry for entry in planned.before}
    return {entry.name for entry in planned.after if before.get(entry.name) != entry}


def rolled_back(lines: LineValues, keys: dict[str, UUID], images: list[list[BeforeImage]]) -> LineValues:
    """Lines as they were before some rows, given the rows' before-images, newest row first.

    Raises:
        Overtaken: a row is of somebody who joined after the match was read.
    """
    subjects = {participant: key for key, participant in keys.items()}
    back = dict(lines)
    for row in images:
        for image in row:
            if image.participant not in subjects:
                raise Overtaken("somebody joined who is not known here yet")
            key = (image.segment, image.role, subjects[image.participant])
            if bytes(image.values) == b"null":
                back.pop(key, None)
            else:
                back[key] = bytes(image.values)
    return back
