"""What must hold of a match whatever happened. Pure: sentences about what does not hold, from plain data."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.chaos.records import TRY_AGAIN, Sent

Row = Mapping[str, Any]
"""A row of the log as HTTP gives it."""
OPENING = "match.open"


def check_so_far(rows: Sequence[Row], accepted: Iterable[Sent]) -> list[str]:
    """All that is wrong with a log while it grows; `accepted` was accepted before it was read."""
    return [*check_log(rows), *check_answers(rows, list(accepted))]


def check_match(
    match: str, rows: Sequence[Row], sent: Iterable[Sent], heard: Mapping[tuple[int, int], str]
) -> list[str]:
    """All that is wrong with a match: its log, what was sent to it, what watchers heard of it."""
    commands = [each for each in sent if each.match == match]
    found = [
        *check_log(rows),
        *check_answers(rows, commands),
        *check_origin(rows, commands),
        *check_order(rows, commands),
        *check_heard(rows, heard),
    ]
    return [f"match {match}: {sentence}" for sentence in found]


def check_log(rows: Sequence[Row]) -> Iterator[str]:
    """Seqs from 1 without a gap; the opening first and once; one row per id."""
    for place, row in enumerate(rows, 1):
        if row["seq"] != place:
            yield f"row {place} of the log has the seq {row['seq']}"
            return
    if not rows or [row["seq"] for row in rows if row["code"] == OPENING] != [1]:
        yield "the log does not have its opening first, and once"
    seqs = defaultdict(list)
    for row in rows:
        if "id" in row:
            seqs[row["id"]].append(row["seq"])
    for id, places in seqs.items():
        if len(places) > 1:
            yield f"the id {id} stands in rows {places}"


def check_answers(rows: Sequence[Row], commands: Sequence[Sent]) -> Iterator[str]:
    """What was accepted is in the log as it was answered; what was refused is not; all were answered."""
    by_id = {row.get("id"): row for row in rows}
    for sent in commands:
        row, name = by_id.get(sent.id), f"{sent.code} {sent.id} of {sent.by}"
        if sent.final is None:
            yield f"{name} was never answered"
        if len({(answer["seq"], answer["state_hash"]) for answer in sent.accepted}) > 1:
            yield f"{name} was accepted with different answers: {sent.accepted}"
        if sent.accepted and row is None:
            yield f"{name} was accepted as seq {sent.accepted[0]['seq']} and is not in the log"
        elif sent.accepted and row is not None:
            answer = sent.accepted[0]
            if (answer["seq"], answer["state_hash"]) != (row["seq"], row.get("state_hash")):
                yield f"{name} was accepted as seq {answer['seq']} and stands in row {row['seq']}"
            if (sent.code, sent.input) != (row["code"], row["input"]):
                yield f"{name} stands in row {row['seq']} with other content"
        elif row is not None and sent.final is not None:
            yield f"{name} was answered {sent.final['outcome']} and stands in row {row['seq']}"
        for other in {answer["outcome"] for answer in sent.answers} - {"accepted", TRY_AGAIN}:
            if sent.accepted:
                yield f"{name} was accepted, and also answered {other}"


def check_origin(rows: Sequence[Row], commands: Sequence[Sent]) -> Iterator[str]:
    """Every row but the opening was sent by somebody: the server wrote nothing of its own."""
    ids = {sent.id for sent in commands}
    for row in rows[1:]:
        if row.get("id") not in ids:
            yield f"row {row['seq']} ({row['code']}) was sent by nobody"


def check_order(rows: Sequence[Row], commands: Sequence[Sent]) -> Iterator[str]:
    """The commands of one sender, who waits for each answer, stand in the order in which they were sent."""
    seqs = {row.get("id"): row["seq"] for row in rows}
    newest: dict[str, Sent] = {}
    for sent in sorted(commands, key=lambda each: each.place):
        if sent.id not in seqs:
            continue
        before = newest.get(sent.by)
        if before is not None and seqs[before.id] > seqs[sent.id]:
            yield f"{sent.by} sent {before.id} before {sent.id}; the log has them the other way round"
        newest[sent.by] = sent


def check_heard(rows: Sequence[Row], heard: Mapping[tuple[int, int], str]) -> Iterator[str]:
    """Watchers heard of states that the log has, and of no others; epochs rise with the seqs."""
    hashes = {row["seq"]: row.get("state_hash") for row in rows}
    newest = 0
    for (epoch, seq), state_hash in sorted(heard.items(), key=lambda item: (item[0][1], item[0][0])):
        if hashes.get(seq) != state_hash:
            yield f"watchers heard of another state at seq {seq} than the log has"
        if epoch < newest:
            yield f"watchers heard of epoch {epoch} at seq {seq}, after epoch {newest}"
        newest = max(newest, epoch)
