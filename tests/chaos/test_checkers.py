"""Checkers say nothing of a sound match, and name each thing that can be wrong with one."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.checkers import check_match, check_so_far
from tests.chaos.records import History, Sent

MATCH = "m"


def accepted(seq: int) -> dict[str, Any]:
    return {"outcome": "accepted", "seq": seq, "epoch": 1, "state_hash": f"h{seq}"}


class Sound:
    """A match that is right: its rows, what was sent, what was heard."""

    def __init__(self, commands: int) -> None:
        history = History()
        self.rows: list[dict[str, Any]] = [
            {"seq": 1, "code": "match.open", "input": {}, "state_hash": "h1"},
        ]
        self.sent: list[Sent] = []
        self.heard = {(1, 1): "h1"}
        for number in range(commands):
            seq = number + 2
            sent = history.compose(f"scorer {number % 2}", MATCH, "x.add", {"amount": number}, seq - 1)
            sent.answers += [{"outcome": "try_again", "reason": "busy"}, accepted(seq), accepted(seq)]
            self.sent.append(sent)
            row = {"seq": seq, "code": sent.code, "input": sent.input, "id": sent.id, "state_hash": f"h{seq}"}
            self.rows.append(row)
            self.heard[1, seq] = f"h{seq}"

    def wrong(self) -> list[str]:
        return check_match(MATCH, self.rows, self.sent, self.heard)


@given(commands=st.integers(0, 20))
def test_a_sound_match(commands: int) -> None:
    assert Sound(commands).wrong() == []


def lose(match: Sound) -> None:
    del match.rows[3]


def lose_the_newest(match: Sound) -> None:
    del match.rows[-1]


def double(match: Sound) -> None:
    match.rows.append(match.rows[-1] | {"seq": len(match.rows) + 1})


def open_twice(match: Sound) -> None:
    match.rows.append(match.rows[0] | {"seq": len(match.rows) + 1})


def change(match: Sound) -> None:
    match.rows[2]["input"] = {"amount": 77}


def write_of_its_own(match: Sound) -> None:
    match.rows.append({"seq": 7, "code": "match.rebuild", "input": {}, "id": "none", "state_hash": "h7"})


def swap(match: Sound) -> None:
    for name in ("id", "input"):
        match.rows[1][name], match.rows[3][name] = match.rows[3][name], match.rows[1][name]


def answer_wrongly(match: Sound) -> None:
    match.sent[1].answers = [accepted(5)]


def answer_differently(match: Sound) -> None:
    match.sent[1].answers.append(accepted(4))


def answer_conflict_for_what_is_saved(match: Sound) -> None:
    match.sent[1].answers = [{"outcome": "conflict"}]


def answer_conflict_after_accepted(match: Sound) -> None:
    match.sent[1].answers.append({"outcome": "conflict"})


def answer_refused_before_accepted(match: Sound) -> None:
    match.sent[1].answers.insert(0, {"outcome": "refused"})


def never_answer(match: Sound) -> None:
    match.sent[1].answers = []


def tell_of_another_state(match: Sound) -> None:
    match.heard[1, 3] = "h9"


def tell_of_what_is_not_there(match: Sound) -> None:
    match.heard[1, 9] = "h9"


def lower_the_epoch(match: Sound) -> None:
    match.heard[2, 3] = "h3"


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lose, "has the seq"),
        (lose_the_newest, "is not in the log"),
        (double, "stands in rows"),
        (open_twice, "its opening first, and once"),
        (change, "other content"),
        (write_of_its_own, "sent by nobody"),
        (swap, "the other way round"),
        (answer_wrongly, "was accepted as seq 5 and stands in row 3"),
        (answer_differently, "different answers"),
        (answer_conflict_for_what_is_saved, "was answered conflict and stands in row"),
        (answer_conflict_after_accepted, "also answered conflict"),
        (answer_refused_before_accepted, "also answered refused"),
        (never_answer, "never answered"),
        (tell_of_another_state, "another state at seq 3"),
        (tell_of_what_is_not_there, "another state at seq 9"),
        (lower_the_epoch, "after epoch 2"),
    ],
)
def test_what_is_wrong_is_named(spoil: Callable[[Sound], None], word: str) -> None:
    match = Sound(5)
    spoil(match)
    assert any(word in sentence for sentence in match.wrong()), match.wrong()


def test_a_log_that_grows_holds_what_was_accepted_before_it_was_read() -> None:
    match = Sound(5)
    assert check_so_far(match.rows, match.sent[:3]) == []
    lose_the_newest(match)
    assert check_so_far(match.rows, match.sent[:3]) == []
    assert any("is not in the log" in sentence for sentence in check_so_far(match.rows, match.sent))


def test_two_hashes_of_one_state_are_a_violation() -> None:
    history = History()
    history.hear(MATCH, 1, 2, "a")
    history.hear(MATCH, 1, 2, "a")
    assert history.violations == []
    history.hear(MATCH, 1, 2, "b")
    assert len(history.violations) == 1
