"""The past of a match: as it was at any seq, and the history of one event. Read from the log, never written.

A match at a seq is its effective log up to that row, played again from the opening: rows of older epochs
are read as they were read then. What comes out has the very state hash that the row was answered with.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec
import trio

from gateway.document import compose_head
from gateway.effective import MOVE, CannotEdit, Entry, Name, effective, standing
from gateway.errors import CorrectionRefused, SportMisbehaved
from gateway.fanout import Snapshot
from gateway.ledger import Ledger, Ref
from gateway.marks import QUIET, Marks, marks_of
from gateway.protocol import EventHistory, Problem
from gateway.quiet import QuietRow
from gateway.records import HistoryRow, StoredMatch
from gateway.replaying import Replayed, opened, read_rows, replay
from gateway.revisions import changes, history, newest_event
from gateway.segments import segments_of
from gateway.summary import read_summary
from runtime.errors import CodeMissing, RuleFailed, RuntimeFault
from runtime.pool import Pools

LOOKS_AT_ONCE = 1
"""Logs read or played again at the same time for readers: live commands have the rest of the server."""
LOOK_LIMIT_S = 20.0
"""Wall time of one such look, its turn included."""
NEWEST = "newest"
"""In place of an event's name: the one that an undo would take."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class Past:
    """Looks into the past of matches. Keeps nothing between them."""

    def __init__(self, ledger: Ledger, pools: Pools) -> None:
        self._ledger = ledger
        self._pools = pools
        self._turn = trio.CapacityLimiter(LOOKS_AT_ONCE)

    async def document(self, ref: Ref, seq: int) -> Snapshot | Problem:
        """The document as it stood right after the row `seq`.

        The problems are unknown_match, unknown_seq, other_code (the version that the match was on then is not
        installed, or does not give its score again) and try_again.
        """
        try:
            with trio.fail_after(LOOK_LIMIT_S):
                async with self._turn:
                    return await self._document(ref, seq)
        except trio.TooSlowError:
            return Problem("try_again", "too many look into the past just now; try again", "at")
        except RuntimeFault as error:
            return Problem(
                "try_again", f"the match cannot be played again just now ({error}); try again", "at"
            )

    async def _document(self, ref: Ref, seq: int) -> Snapshot | Problem:
        match = await self._ledger.load(ref)
        if match is None:
            return _no_match(ref)
        if seq > match.last_seq:
            return Problem("unknown_seq", f"there is no row {seq}; the newest is {match.last_seq}", "at")
        logged = await self._ledger.history(match.match)
        code_sha = code_then(logged, seq, match.code_sha)
        rows = [row for row in logged if row.seq <= seq]
        (row,) = await self._ledger.log_rows(match.match, [seq])
        events = standing(effective(read_rows(rows)))
        try:
            played = await opened(self._pools, code_sha, rows[0].input)
            await replay(self._pools, code_sha, events, played, lambda entry, refusal: False)
        except CodeMissing:
            return _code_gone(match, seq, code_sha)
        except (CorrectionRefused, RuleFailed):
            return _plays_differently(match, seq)
        if played.state_hash != row.state_hash:
            return _plays_differently(match, seq)
        marks = await self._marks(match.match, rows)
        try:
            return snapshot(match, events, played, marks, seq=seq, epoch=row.epoch)
        except SportMisbehaved:
            return _plays_differently(match, seq)

    async def _marks(self, match: UUID, rows: Sequence[HistoryRow]) -> Marks:
        """What stood on the match after these rows."""
        seqs = [row.seq for row in rows if row.code in QUIET]
        told = await self._ledger.log_rows(match, seqs) if seqs else []
        return marks_of(QuietRow(row.seq, row.source.account, row.code, _decode(row.input)) for row in told)

    async def event(self, ref: Ref, name: Name | None) -> EventHistory | Problem:
        """The history of one event, None for the newest that stands.

        The problems are unknown_match, unknown_event and try_again.
        """
        try:
            with trio.fail_after(LOOK_LIMIT_S):
                async with self._turn:
                    return await self._event(ref, name)
        except CannotEdit as error:
            return Problem("unknown_event", error.sentence, "event")
        except trio.TooSlowError:
            return Problem("try_again", "too many look into the past just now; try again", "event")
        except RuntimeFault as error:
            return Problem("try_again", f"the log cannot be read just now ({error}); try again", "event")

    async def _event(self, ref: Ref, name: Name | None) -> EventHistory | Problem:
        match = await self._ledger.resolve(ref)
        logged = [] if match is None else await self._ledger.history(match)
        if match is None or not logged:
            return _no_match(ref)
        rows = read_rows(logged)
        name = newest_event(rows) if name is None else name
        found = changes(rows, name)
        told = await self._ledger.log_rows(match, [change.row.seq for change in found])
        return history(found, name, {row.seq: row for row in told})


def code_then(logged: Sequence[HistoryRow], seq: int, now: str) -> str:
    """The code_sha a match was on at a row: what the first move after it took it from, else that of now."""
    for row in logged:
        if row.seq > seq and row.code == MOVE and row.resolved is not None:
            before: str = row.resolved["from"]
            return before
    return now


def _code_gone(match: StoredMatch, seq: int, code_sha: str) -> Problem:
    return Problem(
        "other_code",
        f"row {seq} was scored by {match.sport} code {code_sha[:12]}, which is not installed any more; "
        "install it again, or read the log instead",
        "at",
    )


def _plays_differently(match: StoredMatch, seq: int) -> Problem:
    return Problem(
        "other_code",
        f"the code that row {seq} was scored by does not give its score again, which is a fault: see what "
        f"`scorebox verify {match.code}` says, and read the log instead",
        "at",
    )


def snapshot(
    match: StoredMatch, events: Sequence[Entry], played: Replayed, marks: Marks, *, seq: int, epoch: int
) -> Snapshot:
    """The document that a replay of a match comes to.

    Raises:
        SportMisbehaved: the code gives no summary of it.
    """
    summary = read_summary(played.summary)
    segments = segments_of(played.lines)
    head = compose_head(
        match=str(match.match),
        code=match.code,
        name=match.name,
        sport=match.sport,
        status=summary.status(events=len(events)),
        sides=match.opening["sides"],
        names=msgspec.Raw(_encode(names_then(match, played))),
        summary=summary,
        marks=marks,
    )
    parts = {name: segment.part for name, segment in segments.items()}
    return Snapshot(str(match.match), epoch, seq, played.state_hash.hex(), head, parts)


def names_then(match: StoredMatch, played: Replayed) -> Mapping[str, str]:
    """Who was in the match: those of the opening, and those who had joined."""
    sides = match.opening["sides"]
    there = {side["key"] for side in sides} | {player["key"] for side in sides for player in side["players"]}
    there |= {key for _, key, _ in played.joined}
    return {key: name for key, name in match.names.items() if key in there}


def _no_match(ref: Ref) -> Problem:
    return Problem(
        "unknown_match", f"there is no match {str(ref)[:64]!r}; look it up in the list of matches", "match"
    )
