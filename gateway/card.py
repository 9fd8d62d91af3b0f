"""A match as memory has it: what the next command needs, and the document's parts ready to send.

Plain data and pure functions: `advance` turns a worker's reply into what is to be saved and the card
that holds once it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from gateway.document import LineKey, compose_head, compose_part, encode_line, status_of
from gateway.errors import SportMisbehaved
from gateway.protocol import CommandFrame
from gateway.records import CommitItem, LineRow, LogRow, NewCompetitor, Source, StoredMatch

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Written(NamedTuple):
    """A line: its values as JSON, and the whole line as a part shows it."""

    values: bytes
    line: bytes


Lines = dict[str, dict[LineKey, Written]]
"""Segment → (role, subject) → line."""


def write_lines(lines: Lines, changed: Iterable[tuple[str, str, str, bytes]]) -> Lines:
    """New lines with the changed ones in place; segments that did not change are shared.

    `changed` are (subject, role, segment, values as JSON).
    """
    after = dict(lines)
    fresh: set[str] = set()
    for subject, role, segment, values in changed:
        if segment not in fresh:
            after[segment] = dict(after.get(segment, {}))
            fresh.add(segment)
        after[segment][role, subject] = Written(values, encode_line(subject, role, values))
    return after


@dataclass(frozen=True, slots=True)
class Card:
    """One match at one seq."""

    match: UUID
    code: str
    name: str
    sport: str
    code_sha: str
    sides: tuple[dict[str, str], ...]
    names: dict[str, str]
    keys: dict[str, UUID]
    status: str
    last_seq: int
    events_seq: int
    epoch: int
    state: bytes
    state_hash: bytes
    head: bytes
    lines: Lines
    parts: dict[str, bytes]
    touched: tuple[str, ...]
    tail: tuple[LogRow, ...]

    @staticmethod
    def of(stored: StoredMatch) -> "Card":
        """The card of a match as read from the database."""
        lines = write_lines({}, ((line.key, line.role, line.segment, line.values) for line in stored.lines))
        sides = tuple({"key": side["key"], "name": side["name"]} for side in stored.opening["sides"])
        return Card(
            match=stored.match,
            code=stored.code,
            name=stored.name,
            sport=stored.sport,
            code_sha=stored.code_sha,
            sides=sides,
            names=stored.names,
            keys=stored.keys,
            status=stored.status,
            last_seq=stored.last_seq,
            events_seq=stored.events_seq,
            epoch=stored.epoch,
            state=stored.state,
            state_hash=stored.state_hash,
            head=compose_head(
                match=str(stored.match),
                code=stored.code,
                name=stored.name,
                sport=stored.sport,
                status=stored.status,
                sides=sides,
                names=stored.names,
                summary=stored.summary,
            ),
            lines=lines,
            parts={segment: compose_part(segment, _shown(written)) for segment, written in lines.items()},
            touched=(),
            tail=stored.tail,
        )

    def touched_parts(self) -> dict[str, bytes]:
        """The parts that the newest event changed."""
        return {segment: self.parts[segment] for segment in self.touched}

    def advance(
        self,
        reply: dict[str, Any],
        *,
        id: UUID,
        frame: CommandFrame,
        body: bytes,
        source: Source,
        received_at: datetime,
    ) -> "tuple[CommitItem, Card]":
        """What a step's reply means: the item to save, and the card once it is saved.

        Raises:
            SportMisbehaved: the step wrote a line of somebody who is not in the match.
        """
        joined = tuple(
            NewCompetitor(key=key, name=name, side=side, participant=uuid7())
            for side, key, name in reply["joined"]
        )
        names, keys = self.names, self.keys
        if joined:
            names = names | {player.key: player.name for player in joined}
            keys = keys | {player.key: player.participant for player in joined if player.participant}
        lines = write_lines(self.lines, reply["lines"])
        rows = []
        for subject, role, segment, values in reply["lines"]:
            participant = keys.get(subject)
            if participant is None:
                raise SportMisbehaved(f"a line of {subject!r} ({role}, {segment}), who is not in the match")
            before = self.lines.get(segment, {}).get((role, subject))
            rows.append(
                LineRow(
                    participant, role, segment, values.decode(), before.values.decode() if before else None
                )
            )
        touched = tuple(dict.fromkeys(segment for _, _, segment, _ in reply["lines"]))
        parts = dict(self.parts)
        for segment in touched:
            parts[segment] = compose_part(segment, _shown(lines[segment]))
        summary = _decode(reply["summary"])
        status = status_of(summary, events=self.last_seq)
        head = compose_head(
            match=str(self.match),
            code=self.code,
            name=self.name,
            sport=self.sport,
            status=status,
            sides=self.sides,
            names=names,
            summary=summary,
        )
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
            summary=reply["summary"].decode(),
            lines=tuple(rows),
            head=head.decode(),
            parts={segment: parts[segment].decode() for segment in touched},
            emits=tuple(reply["emits"]),
            warnings=_encode(reply["warnings"]).decode(),
            status=status,
            result=_encode(summary["result"]).decode() if summary["result"] else None,
            ranks={
                score["side"]: score["rank"]
                for score in (summary["sides"] if summary["result"] else ())
                if score["rank"] is not None
            },
            joined=joined,
        )
        after = replace(
            self,
            names=names,
            keys=keys,
            status=status,
            last_seq=seq,
            events_seq=seq,
            state=reply["state"],
            state_hash=reply["state_hash"],
            head=head,
            lines=lines,
            parts=parts,
            touched=touched,
            tail=(),
        )
        return item, after


def _shown(written: dict[LineKey, Written]) -> dict[LineKey, bytes]:
    return {key: line.line for key, line in written.items()}
