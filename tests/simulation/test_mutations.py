"""Bugs planted on purpose, each in one place: the simulation finds every one within a few seeds.

A planted bug that is not found means that a checker sleeps.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
import trio

from gateway import correcting, corrections, effective, fanout, road
from gateway.effective import Entry
from gateway.fanout import Topic, Update
from gateway.match import CommandMessage, MatchActor
from gateway.protocol import Answer
from gateway.sink import Sink
from runtime.crew import Crew
from runtime.stepping import Stepper
from tests.simulation.history import run_history

SEEDS_MOST = 120
"""Within so many seeds a planted bug is found."""

Plant = Callable[[pytest.MonkeyPatch], None]


def old_commands_are_not_stale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(road, "is_stale", lambda saw, *, events_seq, last_seq: False)


def one_old_event_is_not_stale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        road, "is_stale", lambda saw, *, events_seq, last_seq: saw < events_seq - 1 or saw > last_seq
    )


def what_is_new_is_stale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(road, "is_stale", lambda saw, *, events_seq, last_seq: saw < last_seq or saw > last_seq)


def ids_are_not_looked_up(patch: pytest.MonkeyPatch) -> None:
    async def command(self: MatchActor, message: CommandMessage) -> Answer:
        return await self._score(message, UUID(message.frame.id))

    patch.setattr(MatchActor, "_command", command)


def an_id_answers_for_any_content(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(road, "same_command", lambda frame, row: True)


def missed_events_begin_one_too_late(patch: pytest.MonkeyPatch) -> None:
    real = road.conflict

    def conflict(*args: Any, **named: Any) -> Any:
        found = real(*args, **named)
        found.missed[:1] = []
        return found

    patch.setattr(road, "conflict", conflict)


def a_worker_stays_idle_when_it_is_taken(patch: pytest.MonkeyPatch) -> None:
    def take(self: Crew, priority: Any) -> Any:
        if not self._idle:
            return None
        return self._assign(self._idle[-1], priority)

    patch.setattr(Crew, "_take", take)


def a_dead_worker_is_given_back(patch: pytest.MonkeyPatch) -> None:
    def give_back(self: Crew, worker: Any) -> None:
        worker.call = None
        worker.since = trio.current_time()
        self._idle.append(worker)
        self._serve_line()

    patch.setattr(Crew, "_give_back", give_back)


def a_worker_is_never_given_back(patch: pytest.MonkeyPatch) -> None:
    real = Crew._give_back

    def give_back(self: Crew, worker: Any) -> None:
        if worker.process.alive and worker.process.calls % 4 == 0:
            return
        real(self, worker)

    patch.setattr(Crew, "_give_back", give_back)


def no_late_call_is_ended(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Crew, "_end_late_calls", lambda self, now: None)


def replies_of_a_batch_are_mixed_up(patch: pytest.MonkeyPatch) -> None:
    real = Stepper._call

    async def call(self: Stepper, code_sha: str, batch: list[Any]) -> None:
        await real(self, code_sha, batch[::-1])
        replies = [step.reply for step in batch]
        for step, reply in zip(batch, replies[::-1], strict=True):
            step.reply = reply

    patch.setattr(Stepper, "_call", call)


def an_undo_takes_the_one_before(patch: pytest.MonkeyPatch) -> None:
    real = effective.newest

    def newest(entries: Sequence[Entry]) -> Entry:
        found = real(entries)
        standing = [entry for entry in entries if not entry.voided and not entry.skipped]
        return standing[-2] if len(standing) > 1 else found

    patch.setattr(corrections, "newest", newest)


def an_insert_goes_one_too_early(patch: pytest.MonkeyPatch) -> None:
    real = effective.find

    def find(entries: Sequence[Entry], name: Any, field: str) -> int:
        index = real(entries, name, field)
        return max(index - 1, 0) if field.endswith("after") else index

    patch.setattr(effective, "find", find)


def a_corrected_event_moves_to_the_end(patch: pytest.MonkeyPatch) -> None:
    real = effective._one_edit

    def one_edit(entries: list[Entry], code: str, *args: Any, **named: Any) -> tuple[list[Entry], int]:
        after, place = real(entries, code, *args, **named)
        if code == effective.CORRECT:
            index = next(n for n, (old, new) in enumerate(zip(entries, after, strict=True)) if old != new)
            after.append(after.pop(index))
        return after, place

    patch.setattr(effective, "_one_edit", one_edit)


def a_reverted_revert_stays_reverted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        effective,
        "reverted",
        lambda rows: frozenset(row.input["seq"] for row in rows if row.code == effective.REVERT),
    )


def lines_of_the_old_path_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(correcting, "rolled_back", lambda lines, keys, images: dict(lines))


def words_that_no_longer_hold_are_not_retracted(patch: pytest.MonkeyPatch) -> None:
    real = corrections.told_anew
    patch.setattr(
        correcting,
        "told_anew",
        lambda before, after: tuple(word for word in real(before, after) if not word.startswith("retract")),
    )


def an_event_is_not_sent(patch: pytest.MonkeyPatch) -> None:
    real = Topic.publish

    def publish(self: Topic, update: Update) -> None:
        real(self, update)
        if update.seq % 3 == 0 and self._undelivered:
            self._undelivered.pop()

    patch.setattr(Topic, "publish", publish)


def newer_parts_go_under_an_older_seq(patch: pytest.MonkeyPatch) -> None:
    real = fanout.merge

    def merge(updates: Iterable[Update]) -> Update:
        given = list(updates)
        return replace(given[0], parts=real(given).parts, head=given[-1].head)

    patch.setattr(fanout, "merge", merge)


def older_parts_win(patch: pytest.MonkeyPatch) -> None:
    real = fanout.merge

    def merge(updates: Iterable[Update]) -> Update:
        given = list(updates)
        return replace(given[-1], parts=real(given[::-1]).parts)

    patch.setattr(fanout, "merge", merge)


def a_new_epoch_brings_no_document(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Topic, "renew", lambda self: None)


def who_resumes_misses_the_first_event(patch: pytest.MonkeyPatch) -> None:
    real = Topic._missed

    def missed(self: Topic, after: Any) -> list[Update] | None:
        found = real(self, after)
        return found[1:] if found else found

    patch.setattr(Topic, "_missed", missed)


def who_is_behind_loses_frames(patch: pytest.MonkeyPatch) -> None:
    real = Sink._keep

    def keep(self: Sink, frame: bytes, position: Any) -> None:
        real(self, frame, position)
        self._wants_document = False

    patch.setattr(Sink, "_keep", keep)


PLANTED: dict[str, tuple[Plant, ...]] = {
    "road": (
        old_commands_are_not_stale,
        one_old_event_is_not_stale,
        what_is_new_is_stale,
        ids_are_not_looked_up,
        an_id_answers_for_any_content,
        missed_events_begin_one_too_late,
    ),
    "pool": (
        a_worker_stays_idle_when_it_is_taken,
        a_dead_worker_is_given_back,
        a_worker_is_never_given_back,
        no_late_call_is_ended,
        replies_of_a_batch_are_mixed_up,
    ),
    "effective log": (
        an_undo_takes_the_one_before,
        an_insert_goes_one_too_early,
        a_corrected_event_moves_to_the_end,
        a_reverted_revert_stays_reverted,
        lines_of_the_old_path_stay,
        words_that_no_longer_hold_are_not_retracted,
    ),
    "fan-out": (
        an_event_is_not_sent,
        newer_parts_go_under_an_older_seq,
        older_parts_win,
        a_new_epoch_brings_no_document,
        who_resumes_misses_the_first_event,
        who_is_behind_loses_frames,
    ),
}


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(plant, id=f"{where}: {plant.__name__}")
        for where, plants in PLANTED.items()
        for plant in plants
    ],
)
def test_a_planted_bug_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    for seed in range(SEEDS_MOST):
        if run_history(seed).violations:
            return
    pytest.fail(f"{plant.__name__} was not found in {SEEDS_MOST} seeds")
