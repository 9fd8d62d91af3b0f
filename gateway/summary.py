"""The sport's summary as the gateway reads it: what others compare is typed, the rest stays JSON. Pure."""

from typing import Literal

import msgspec

from gateway.errors import SportMisbehaved

Phase = Literal["before", "play", "interval", "over"]


class SideScore(msgspec.Struct, frozen=True):
    """How a side stands."""

    side: str
    score: str
    rank: int | None


class _Result(msgspec.Struct, frozen=True):
    kind: str


class _HeadSide(msgspec.Struct, frozen=True):
    key: str
    score: str
    rank: int | None


class _Head(msgspec.Struct, frozen=True):
    phase: Phase
    sides: list[_HeadSide]
    result: msgspec.Raw
    segment: str | None
    show: msgspec.Raw


class Summary(msgspec.Struct, frozen=True):
    """The score of a match at one moment; the contract's `Summary` says what each field is."""

    phase: Phase
    sides: tuple[SideScore, ...]
    result: msgspec.Raw
    segment: str | None
    show: msgspec.Raw

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return self.phase == "over"

    @property
    def result_text(self) -> str | None:
        """The result as JSON, once there is one."""
        text = bytes(self.result).decode()
        return None if text == "null" else text

    @property
    def ranks(self) -> dict[str, int]:
        """Side → its rank, once there is a result."""
        if self.result_text is None:
            return {}
        return {score.side: score.rank for score in self.sides if score.rank is not None}

    def status(self, *, events: int) -> str:
        """The fixture's status that it stands for; `events` counts events after the opening."""
        if not self.is_over:
            return "LIVE" if events else "SCHEDULED"
        text = self.result_text
        abandoned = text is not None and _result.decode(text).kind == "abandoned"
        return "ABANDONED" if abandoned else "COMPLETED"


_encode = msgspec.json.Encoder().encode
_anything = msgspec.json.Decoder()
_summary = msgspec.json.Decoder(Summary)
_result = msgspec.json.Decoder(_Result)
_head = msgspec.json.Decoder(_Head)
_MALFORMED = (msgspec.DecodeError, ValueError, RecursionError)
NOTHING_KNOWN = Summary("before", (), msgspec.Raw(b"null"), None, msgspec.Raw(b"{}"))
"""What is shown where the summary is not known, until the next row of the log writes it anew."""


def read_summary(data: bytes) -> Summary:
    """The summary that a worker handed back.

    Raises:
        SportMisbehaved: it is none.
    """
    try:
        summary = _summary.decode(data)
        # What passes through as it came was only skipped, and is read by others later.
        _anything.decode(summary.show)
        if summary.result_text is not None:
            _anything.decode(summary.result)
            _result.decode(summary.result)
    except _MALFORMED as error:
        raise SportMisbehaved(f"a summary that is none: {error}") from error
    return summary


def summary_of_head(head: str | None) -> bytes | None:
    """The summary that the head of a document was composed from, which is not saved besides.

    None where the head is lost or damaged: then only the sport's code can say, from the state.
    """
    try:
        shown = _head.decode(head or "")
        found = _encode(
            {
                "phase": shown.phase,
                "result": shown.result,
                "segment": shown.segment,
                "show": shown.show,
                "sides": [{"rank": side.rank, "score": side.score, "side": side.key} for side in shown.sides],
            }
        )
        read_summary(found)
    except (*_MALFORMED, SportMisbehaved):
        return None
    return found
