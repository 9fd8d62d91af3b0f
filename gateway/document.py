"""The document: what readers read. Pure: composed from the opening, the summary and the lines.

It is stored and sent in parts, a head and one part per segment, so that an event writes only the parts it
touched (design 11). All bytes here are JSON.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gateway.marks import Marks
from gateway.ruling import shown

_encoder = msgspec.json.Encoder()

LineKey = tuple[str, str]
"""(role, subject): the order of lines within a part."""


def compose_head(
    *,
    match: str,
    code: str,
    name: str,
    sport: str,
    status: str,
    sides: Iterable[Mapping[str, Any]],
    names: msgspec.Raw,
    summary: Mapping[str, Any],
    marks: Marks,
) -> bytes:
    """The head: which match it is, the score of each side, the result, and what screens show now.

    `sides` are the opening's, of which key and name count; `names` is JSON, key → name of everybody in the
    match; `summary` is the sport's summary as plain data; `marks` are what stands on the match.
    """
    scores = {score["side"]: score for score in summary["sides"]}
    return _encoder.encode(
        {
            "match": match,
            "code": code,
            "name": name,
            "sport": sport,
            "status": status,
            "phase": summary["phase"],
            "segment": summary["segment"],
            "sides": [
                {
                    "key": side["key"],
                    "name": side["name"],
                    "score": scores.get(side["key"], {}).get("score", ""),
                    "rank": scores.get(side["key"], {}).get("rank"),
                }
                for side in sides
            ],
            "result": summary["result"],
            "flags": marks.flags,
            **shown(marks.ruling, over=is_over(summary)),
            "show": summary["show"],
            "names": names,
        }
    )


def encode_line(subject: str, role: str, values: bytes) -> bytes:
    """One line of a part; `values` is the line's JSON object."""
    return b'{"subject":%b,"role":%b,"values":%b}' % (_encoder.encode(subject), _encoder.encode(role), values)


def compose_part(segment: str, lines: Iterable[bytes]) -> bytes:
    """One segment's part: its lines in the order of `LineKey`, each as `encode_line` made it."""
    return b'{"segment":%b,"lines":[%b]}' % (_encoder.encode(segment), b",".join(lines))


def status_of(summary: Mapping[str, Any], *, events: int) -> str:
    """The fixture's status that a summary stands for; `events` counts events after the opening."""
    if is_over(summary):
        result = summary["result"]
        return "ABANDONED" if result is not None and result["kind"] == "abandoned" else "COMPLETED"
    return "LIVE" if events else "SCHEDULED"


def is_over(summary: Mapping[str, Any]) -> bool:
    """Whether a summary says that the match is over."""
    over: bool = summary["phase"] == "over"
    return over
