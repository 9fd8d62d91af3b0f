"""The document: what readers read. Pure: composed from the opening, the summary and the lines.

It is stored and sent in parts, a head and one part per segment, so that an event writes only the parts it
touched (design 11). All bytes here are JSON.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gateway.marks import Marks
from gateway.ruling import shown
from gateway.summary import SideScore, Summary

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
    summary: Summary,
    marks: Marks,
) -> bytes:
    """The head: which match it is, the score of each side, the result, and what screens show now.

    `sides` are the opening's, of which key and name count; `names` is JSON, key → name of everybody in the
    match; `marks` are what stands on the match.
    """
    scores = {score.side: score for score in summary.sides}
    return _encoder.encode(
        {
            "match": match,
            "code": code,
            "name": name,
            "sport": sport,
            "status": status,
            "phase": summary.phase,
            "segment": summary.segment,
            "sides": [_side(side["key"], side["name"], scores.get(side["key"])) for side in sides],
            "result": summary.result,
            "flags": marks.flags,
            **shown(marks.ruling, over=summary.is_over),
            "show": summary.show,
            "names": names,
        }
    )


def _side(key: str, name: str, score: SideScore | None) -> dict[str, Any]:
    if score is None:
        return {"key": key, "name": name, "score": "", "rank": None}
    return {"key": key, "name": name, "score": score.score, "rank": score.rank}


def encode_line(subject: str, role: str, values: bytes) -> bytes:
    """One line of a part; `values` is the line's JSON object."""
    return b'{"subject":%b,"role":%b,"values":%b}' % (_encoder.encode(subject), _encoder.encode(role), values)


def compose_part(segment: str, lines: Iterable[bytes]) -> bytes:
    """One segment's part: its lines in the order of `LineKey`, each as `encode_line` made it."""
    return b'{"segment":%b,"lines":[%b]}' % (_encoder.encode(segment), b",".join(lines))
