"""Which steps are still due, and where a match scored in part goes on."""

from hypothesis import given
from hypothesis import strategies as st

from sports.readers.resuming import Agreement, Parting, Row, align
from sports.readers.steps import Heard, Step

BALL = Step("cricket.delivery", {"bat": 1})
END = Step("cricket.innings_end", {"reason": "overs"}, unless_emitted="innings_end")
RESULT = Step("cricket.result", {"kind": "tie"}, unless_emitted="match_end")
INNINGS = Step("cricket.innings", {"batting": "A"})
STEPS = [INNINGS, BALL, BALL, END, INNINGS, BALL, END, RESULT]


def test_a_step_is_due_until_its_word_was_emitted():
    heard = Heard()
    assert heard.due(BALL)
    assert heard.due(END)
    heard.answered(BALL, ["innings_end"])
    assert heard.due(BALL)
    assert not heard.due(END)
    assert heard.due(RESULT)


def test_the_end_of_an_innings_is_forgotten_with_the_next_one_and_the_end_of_the_match_is_not():
    heard = Heard()
    heard.answered(BALL, ["innings_end", "match_end"])
    heard.answered(INNINGS, [])
    assert heard.due(END)
    assert not heard.due(RESULT)


def rows(emits_end: list[bool]) -> list[Row]:
    """A whole log of STEPS in which the last ball of an innings ended it, or did not."""
    heard = Heard()
    log: list[Row] = []
    ends = iter(emits_end)
    for index, step in enumerate(STEPS):
        if heard.due(step):
            last_ball = step is BALL and STEPS[index + 1] is END
            emits = ["innings_end"] if last_ball and next(ends) else []
            heard.answered(step, emits)
            log.append(Row(len(log) + 2, step.code, step.input, emits))
    return log


@given(st.lists(st.booleans(), min_size=2, max_size=2), st.integers(0, 8))
def test_a_match_goes_on_where_its_log_stops(emits_end, length):
    whole = rows(emits_end)
    found = align(STEPS, whole[:length])
    assert isinstance(found, Agreement)
    sent: list[tuple[str, object]] = []
    for step in STEPS[found.done :]:
        if found.heard.due(step):
            row = whole[length + len(sent)]
            found.heard.answered(step, row.emits)
            sent.append((step.code, step.input))
    assert sent == [(row.code, row.input) for row in whole[length:]]


def test_a_match_scored_otherwise_is_seen_with_its_place():
    log = rows([True, True])
    other = [log[0], Row(3, "cricket.delivery", {"bat": 2}, []), *log[2:]]
    assert align(STEPS, other) == Parting(3)
    assert align(STEPS, [*log, Row(99, "match.undo", {}, [])]) == Parting(99)
