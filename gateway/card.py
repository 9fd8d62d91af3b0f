"""A match as memory has it: what the next command needs, and the document's parts ready to send.

Plain data and pure functions: `advance` turns a worker's reply into what is to be saved and the card
that holds once it is.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from gateway.corrections import REBUILD
from gateway.document import compose_head
from gateway.effective import MOVE
from gateway.errors import SportMisbehaved
from gateway.fanout import Snapshot
from gateway.marks import Marks, mark
from gateway.protocol import CommandFrame, Unfit
from gateway.quiet import QuietRow
from gateway.records import (
    CommitItem,
    Correction,
    LineRow,
    LogRow,
    NewCompetitor,
    Rewritten,
    Source,
    StoredMatch,
)
from gateway.ruling import is_official
from gateway.segments import LineValues, Segment, without, write_lines
from gateway.summary import NOTHING_KNOWN, Summary, read_summary

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Target(msgspec.Struct, frozen=True):
    """What a match comes to once a correction is taken in."""

    state: bytes
    state_hash: bytes
    summary: bytes
    lines: LineValues
    joined: list[tuple[str, str, str]]
    changed_from: int | None
    """Events that are as they were; with `position` None of an undo of the newest event."""
    position: int | None
    """Events that stand now."""
    resolved: dict[str, Any]
    emits: tuple[str, ...]
    unfit: list[Unfit] = []
    code_sha: str | None = None
    """Of a move: the code that the match goes on with."""
    checkpoints: Sequence[Rewritten] = ()
    """On the way to it."""


class Card(msgspec.Struct, frozen=True):
    """One match at one seq."""

    match: UUID
    code: str
    name: str
    sport: str
    code_sha: str
    sides: tuple[dict[str, str], ...]
    names: msgspec.Raw
    """Key → name of everybody in the match, as JSON."""
    keys: dict[str, UUID]
    status: str
    last_seq: int
    events_seq: int
    epoch: int
    events: int
    """Events that stand."""
    state: bytes
    state_hash: bytes
    summary: bytes | None
    """None where the head of the document, which holds it, is lost: `with_summary` puts it in."""
    marks: Marks
    head: bytes
    segments: dict[str, Segment]
    touched: tuple[str, ...]
    tail: tuple[LogRow, ...]

    @staticmethod
    def of(stored: StoredMatch) -> "Card":
        """The card of a match as read from the database."""
        names = msgspec.Raw(_encode(stored.names))
        sides = tuple({"key": side["key"], "name": side["name"]} for side in stored.opening["sides"])
        return Card(
            match=stored.match,
            code=stored.code,
            name=stored.name,
            sport=stored.sport,
            code_sha=stored.code_sha,
            sides=sides,
            names=names,
            keys=stored.keys,
            status=stored.status,
            last_seq=stored.last_seq,
            events_seq=stored.events_seq,
            epoch=stored.epoch,
            events=stored.position,
            state=stored.state,
            state_hash=stored.state_hash,
            summary=stored.summary,
            marks=stored.marks,
            head=compose_head(
                match=str(stored.match),
                code=stored.code,
                name=stored.name,
                sport=stored.sport,
                status=stored.status,
                sides=sides,
                names=names,
                summary=NOTHING_KNOWN if stored.summary is None else read_summary(stored.summary),
                marks=stored.marks,
            ),
            segments=write_lines(
                {}, ((line.key, line.role, line.segment, line.values) for line in stored.lines)
            ),
            touched=(),
            tail=stored.tail,
        )

    def snapshot(self) -> Snapshot:
        """The whole document."""
        return Snapshot(
            str(self.match), self.epoch, self.last_seq, self.state_hash.hex(), self.head, self.all_parts()
        )

    def touched_parts(self) -> dict[str, bytes]:
        """The parts that the newest event changed."""
        return {name: self.segments[name].part for name in self.touched}

    def all_parts(self) -> dict[str, bytes]:
        """Every part of the document."""
        return {name: segment.part for name, segment in self.segments.items()}

    def advance(
        self,
        reply: dict[str, Any],
        *,
        id: UUID,
        frame: CommandFrame,
        body: bytes,
        source: Source,
        received_at: datetime,
        events: int | None = None,
    ) -> "tuple[CommitItem, Card]":
        """What a step's reply means: the item to save, and the card once it is saved.

        `events` are those that stand then: one more, unless it is said.

        Raises:
            SportMisbehaved: the step wrote a line of somebody who is not in the match, or no summary.
        """
        # A key that is known was taken back before: it stays the same participant.
        newest = {key: (side, name) for side, key, name in reply["joined"]}
        joined = tuple(
            NewCompetitor(key=key, name=name, side=side, participant=self.keys.get(key) or uuid7())
            for key, (side, name) in newest.items()
        )
        names, keys = self.names, self.keys
        if joined:
            everybody = _decode(names) | {player.key: player.name for player in joined}
            names = msgspec.Raw(_encode(everybody))
            keys = keys | {player.key: player.participant for player in joined if player.participant}
        segments = write_lines(self.segments, reply["lines"])
        rows = []
        for subject, role, name, values in reply["lines"]:
            participant = keys.get(subject)
            if participant is None:
                raise SportMisbehaved(f"a line of {subject!r} ({role}, {name}), who is not in the match")
            segment = self.segments.get(name)
            before = segment.values.get((role, subject)) if segment else None
            rows.append(
                LineRow(participant, role, name, values.decode(), before.decode() if before else None)
            )
        touched = tuple(dict.fromkeys(name for _, _, name, _ in reply["lines"]))
        summary = read_summary(reply["summary"])
        events = self.events + 1 if events is None else events
        status = summary.status(events=events)
        head = self._head(status=status, names=names, summary=summary, marks=self.marks)
        seq = self.last_seq + 1
        item = CommitItem(
            match=self.match,
            id=id,
            expect_seq=self.last_seq,
            code_sha=self.code_sha,
            code=frame.code,
            input=body.decode(),
            override=tuple(frame.override),
            source=source,
            sent_at=frame.sent_at,
            received_at=received_at,
            state=reply["state"].decode(),
            state_hash=reply["state_hash"],
            lines=tuple(rows),
            head=head.decode(),
            parts={name: segments[name].part.decode() for name in touched},
            emits=tuple(reply["emits"]),
            warnings=_encode(reply["warnings"]).decode(),
            status=status,
            result=summary.result_text,
            ranks=summary.ranks,
            joined=joined,
            official=is_official(self.marks.ruling),
        )
        after = msgspec.structs.replace(
            self,
            names=names,
            keys=keys,
            status=status,
            last_seq=seq,
            events_seq=seq,
            events=events,
            state=reply["state"],
            state_hash=reply["state_hash"],
            summary=reply["summary"],
            head=head,
            segments=segments,
            touched=touched,
            tail=(),
        )
        return item, after

    def mark(
        self, *, id: UUID, frame: CommandFrame, body: bytes, source: Source, received_at: datetime
    ) -> "tuple[CommitItem, Card]":
        """What a flag or a ruling means: the item to save, and the card once it is saved. All else stays.

        Raises:
            CannotMark: it cannot be.
        """
        assert self.summary is not None, "it was put in"
        seq = self.last_seq + 1
        summary = read_summary(self.summary)
        row = QuietRow(seq, source.account, frame.code, frame.input)
        marks, word = mark(self.marks, row, over=summary.is_over)
        head = self._head(status=self.status, names=self.names, summary=summary, marks=marks)
        item = CommitItem(
            match=self.match,
            id=id,
            expect_seq=self.last_seq,
            code_sha=self.code_sha,
            code=frame.code,
            input=body.decode(),
            override=tuple(frame.override),
            source=source,
            sent_at=frame.sent_at,
            received_at=received_at,
            state=self.state.decode(),
            state_hash=self.state_hash,
            lines=(),
            head=head.decode(),
            parts={},
            emits=(word,),
            warnings="[]",
            status=self.status,
            result=summary.result_text,
            quiet=True,
            official=is_official(marks.ruling),
        )
        return item, msgspec.structs.replace(self, last_seq=seq, marks=marks, head=head, touched=(), tail=())

    def with_summary(self, summary: bytes) -> "Card":
        """The card of a match whose head was lost, once the sport's code said what its state comes to.

        Raises:
            SportMisbehaved: it is no summary.
        """
        typed = read_summary(summary)
        head = self._head(status=self.status, names=self.names, summary=typed, marks=self.marks)
        return msgspec.structs.replace(self, summary=summary, head=head)

    def _head(self, *, status: str, names: msgspec.Raw, summary: Summary, marks: Marks) -> bytes:
        return compose_head(
            match=str(self.match),
            code=self.code,
            name=self.name,
            sport=self.sport,
            status=status,
            sides=self.sides,
            names=names,
            summary=summary,
            marks=marks,
        )

    def line_values(self) -> LineValues:
        """Every line by segment, role and subject."""
        return {
            (name, role, subject): values
            for name, segment in self.segments.items()
            for (role, subject), values in segment.values.items()
        }

    def correct(
        self,
        target: Target,
        *,
        id: UUID,
        frame: CommandFrame,
        body: bytes,
        source: Source,
        received_at: datetime,
    ) -> "tuple[CommitItem, Card]":
        """What a correction means: the item to save, and the card once it is saved, in a new epoch.

        Raises:
            SportMisbehaved: as `advance`.
        """
        now = self.line_values()
        # A rebuild writes everything: what is stored may differ from memory, and is in doubt. So does a move.
        anew = frame.code in (REBUILD, MOVE)
        names = _decode(self.names) if target.joined else {}
        reply = {
            "joined": [player for player in target.joined if names.get(player[1]) != player[2]],
            "lines": [
                (subject, role, segment, values)
                for (segment, role, subject), values in target.lines.items()
                if anew or now.get((segment, role, subject)) != values
            ],
            "state": target.state,
            "state_hash": target.state_hash,
            "summary": target.summary,
            "emits": target.emits,
            "warnings": [],
        }
        item, after = self.advance(
            reply,
            id=id,
            frame=frame,
            body=body,
            source=source,
            received_at=received_at,
            events=self.events - 1 if target.position is None else target.position,
        )
        gone = [key for key in now if key not in target.lines]
        segments = dict(after.segments)
        for segment, role, subject in gone:
            segments[segment] = without(segment, segments[segment], (role, subject))
        gone_parts = tuple(name for name, segment in segments.items() if not segment.lines)
        for name in gone_parts:
            del segments[name]
        touched = tuple(
            dict.fromkeys(
                name for name in (*after.touched, *(segment for segment, _, _ in gone)) if name in segments
            )
        )
        correction = Correction(
            target.changed_from,
            target.position,
            tuple(
                LineRow(self.keys[subject], role, segment, "null", now[segment, role, subject].decode())
                for segment, role, subject in gone
            ),
            None if anew else gone_parts,
            tuple(target.checkpoints),
            None if target.code_sha is None else self.code_sha,
        )
        code_sha = target.code_sha or self.code_sha
        item = msgspec.structs.replace(
            item,
            code_sha=code_sha,
            parts={name: segments[name].part.decode() for name in touched},
            resolved=_encode(target.resolved).decode(),
            correction=correction,
        )
        return item, msgspec.structs.replace(
            after, code_sha=code_sha, epoch=self.epoch + 1, segments=segments, touched=touched
        )
