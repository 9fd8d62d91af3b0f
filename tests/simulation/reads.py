"""The reads that the gateway and the verifier make, by their SQL: each a function over tables in memory."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from gateway.queries import load_blocks
from tests.simulation import tables
from tests.simulation.tables import Match, Row

SQL = load_blocks("matches.sql")
SAVED = load_blocks("verifier.sql")


class UnknownStatement(BaseException):
    """SQL that this stand-in does not know: teach it. Not to be caught by the code under test."""


def reader(sql: str) -> Callable[..., list[Row]]:
    if sql not in READS:
        raise UnknownStatement(sql)
    return READS[sql]


Find = Callable[[UUID], "Match | None"]


def _of(pick: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
    """A read of one match: no rows where there is none."""

    def read(find: Find, id: UUID, *args: Any) -> list[Row]:
        match = find(id)
        return [] if match is None else pick(match, *args)

    return read


def _checkpoint(match: Match, code_sha: str, position: int) -> list[Row]:
    fit = [
        (at, each)
        for at, each in match.checkpoints.items()
        if at <= position and each.epoch == match.epoch and each.code_sha == code_sha
    ]
    if not fit:
        return []
    at, each = max(fit, key=lambda found: found[0])
    return [{"position": at, "seq": each.seq, "state": each.state, "lines": each.lines}]


def _document(match: Match) -> list[Row]:
    return [
        {
            "epoch": match.epoch,
            "last_seq": match.last_seq,
            "state_hash": match.state_hash,
            "segment": segment,
            "body": body,
        }
        for segment, (body, _) in match.parts.items()
    ]


def _newest_seqs(find: Find, ids: list[UUID]) -> list[Row]:
    found = [match for match in map(find, ids) if match is not None]
    return [{"id": match.id, "last_seq": match.last_seq} for match in found]


READS: dict[str, Callable[..., list[Row]]] = {
    "SELECT 1": lambda find: [{"one": 1}],
    SQL["match_head"]: _of(lambda match: [tables.head(match)]),
    SQL["match_competitors"]: _of(lambda match: match.competitors),
    SQL["match_lines"]: _of(tables.lines),
    SQL["log_tail"]: _of(lambda match, limit: match.log[::-1][:limit]),
    SQL["log_after"]: _of(lambda match, after, limit: match.log[after : after + limit]),
    SQL["log_row_of_id"]: _of(lambda match, id: [match.ids[id]] if id in match.ids else []),
    SQL["match_exists"]: _of(lambda match: [{"exists": True}]),
    SQL["document"]: _of(_document),
    SQL["newest_seqs"]: _newest_seqs,
    SQL["history"]: _of(lambda match: list(match.log)),
    SQL["checkpoint"]: _of(_checkpoint),
    SQL["before_images"]: _of(
        lambda match, after: [{"lines_before": row["lines_before"]} for row in match.log[after:][::-1]]
    ),
    SAVED["saved_match"]: _of(lambda match: [tables.head(match)]),
    SAVED["saved_rows"]: _of(lambda match, after, limit: match.log[after : after + limit]),
    SAVED["saved_lines"]: _of(lambda match, day: tables.lines(match)),
    SAVED["saved_parts"]: _of(
        lambda match: [
            {"segment": segment, "body": body, "last_seq": seq}
            for segment, (body, seq) in match.parts.items()
        ]
    ),
    SAVED["saved_checkpoints"]: _of(
        lambda match, epoch: [
            {
                "position": position,
                "seq": each.seq,
                "code_sha": each.code_sha,
                "state": each.state,
                "state_hash": each.state_hash,
                "lines": each.lines,
            }
            for position, each in sorted(match.checkpoints.items())
            if each.epoch == epoch
        ]
    ),
}
