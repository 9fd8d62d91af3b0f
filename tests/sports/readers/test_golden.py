"""The golden notation: what is written is read again, and what cannot be read is said where it stands."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorebox_cricket import SPORT
from scorebox_cricket.commands import INPUTS, CricketOpening, Delivery
from sports.readers.errors import LineFault, ReaderError, UnwritableMatch
from sports.readers.expected import Expected, ExpectedLine
from sports.readers.golden import GoldenMatch, parse_golden, read_golden
from sports.readers.golden_balls import read_ball
from sports.readers.golden_commands import FORMS, PLAYER, RAW, read_command, write_command
from sports.readers.golden_expected import write_expected
from sports.readers.golden_header import FIRST_LINE
from sports.readers.golden_writer import write_golden
from sports.readers.steps import Step
from tests.sports.cricket.generated import Generated
from tests.sports.readers.typed_inputs import NAMES, TEXT, inputs, plain

GOLDEN = Path(__file__).parents[3] / "sports" / "cricket" / "golden"
DELIVERY = "cricket.delivery"
OTHERS = sorted(set(INPUTS) - {DELIVERY})
WORTH = {"wide_runs": 1, "no_ball_runs": 1}
HEAD = f"""{FIRST_LINE}
match Reds v Blues
first day 2024-05-01
format T20, 1 innings a side, 20 overs
side R Reds
  Ash = Ann Ash
  Birch = Bea Birch
  Cedar = Cat Cedar
side B Blues
  Dale = Dan Dale
  Elm = Eve Elm
"""
PLAY = HEAD + "innings R\n1 Dale: @Ash/Birch "
OVERRIDES = st.lists(
    st.one_of(st.sampled_from(["quota", "order", "match_over"]), TEXT), max_size=2, unique=True
)


def read(text: str) -> GoldenMatch:
    return parse_golden(text.encode(), "test.scorebook", id="test")


def refused(text: str) -> str | None:
    """What the reader says against a text."""
    try:
        read(text)
    except ReaderError as error:
        return str(error)
    return None


def typed(step: Step) -> tuple[str, Any, tuple[str, ...]]:
    return step.code, msgspec.convert(step.input, SPORT.commands[step.code].input), step.override


def play(balls: str) -> list[dict[str, Any]]:
    """The deliveries of an over's words."""
    return [step.input for step in read(PLAY + balls).steps if step.code == DELIVERY]


def test_every_command_has_a_form_with_a_place_for_each_field():
    assert set(FORMS) == set(INPUTS) - {DELIVERY, PLAYER}
    for code, form in FORMS.items():
        fields = {slot.field for slot in form.slots} | ({form.text} if form.text else set())
        assert fields == set(INPUTS[code].__struct_fields__), code


@given(st.data(), st.sampled_from(OTHERS), OVERRIDES)
def test_any_command_is_read_as_it_was_written(data: st.DataObject, code: str, override: list[str]):
    command = data.draw(inputs(INPUTS[code]))
    line = write_command(Step(code, plain(command), override=tuple(override)))
    assert "\n" not in line
    assert typed(read_command(line)) == (code, command, tuple(override)), line


@given(st.data(), st.sampled_from(OTHERS))
def test_a_command_with_tame_texts_is_never_raw(data: st.DataObject, code: str):
    command = data.draw(inputs(INPUTS[code], st.sampled_from(["Ash", "sub", "D/L", "Dan Dale"])))
    line = write_command(Step(code, plain(command)))
    lost = {name for name in INPUTS[code].__struct_fields__ if name not in read_command(line).input}
    assert not line.startswith(RAW), line
    assert all(getattr(command, name) in (None, False, [], "") for name in lost), line


@st.composite
def matches(draw: st.DrawFn) -> GoldenMatch:
    """A head with any names and keys, and commands of every kind in any order."""
    keys = draw(st.lists(NAMES, min_size=6, max_size=6, unique=True))
    names = draw(st.lists(NAMES, min_size=8, max_size=8))
    sides = [
        {
            "key": keys[side],
            "name": names[side],
            "players": [{"key": keys[2 + 2 * side + n], "name": names[2 + 2 * side + n]} for n in (0, 1)],
        }
        for side in (0, 1)
    ]
    playing = draw(inputs(CricketOpening)).format
    opening = {"sides": sides, "first_day": "2024-05-01", "format": plain(playing)}
    players = st.sampled_from(keys[2:])
    steps = []
    for _ in range(draw(st.integers(0, 12))):
        code = draw(st.sampled_from([*[DELIVERY] * 6, "cricket.over", "cricket.over", *OTHERS]))
        command = draw(inputs(INPUTS[code], players))
        steps.append(Step(code, plain(command), override=tuple(draw(OVERRIDES))))
    competition = draw(st.one_of(st.none(), NAMES))
    return GoldenMatch("test", names[6], competition, opening, tuple(steps), Expected())


@settings(max_examples=120, deadline=None)
@given(matches())
def test_any_match_is_read_as_it_was_written(match: GoldenMatch):
    text = write_golden(match, remarks=("A remark.",))
    again = read(text)
    assert [typed(step) for step in again.steps] == [typed(step) for step in match.steps], text
    assert msgspec.convert(again.opening, CricketOpening) == msgspec.convert(match.opening, CricketOpening)
    assert (again.name, again.competition) == (match.name, match.competition)
    assert write_golden(again, remarks=("A remark.",)) == text


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 400))
def test_a_scored_match_is_exported_and_read_again(seed: int, commands: int):
    scored = Generated(seed)
    for _ in range(commands):
        scored.act()
    steps = tuple(
        Step(event.code, plain(event.input), override=tuple(sorted(event.override))) for event in scored.log
    )
    match = GoldenMatch("test", "A v B", None, plain(scored.opening), steps, Expected())
    text = write_golden(match)
    assert [typed(step) for step in read(text).steps] == [typed(step) for step in steps]
    assert f"{RAW} {DELIVERY}" not in text


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        (".", {}),
        ("1", {"bat": 1}),
        ("4r", {"bat": 4, "all_run": True}),
        ("wd", {"wides": 1}),
        ("wd5", {"wides": 5}),
        ("nb", {"no_balls": 1}),
        ("nb2+4", {"no_balls": 2, "bat": 4}),
        ("nb+lb2", {"no_balls": 1, "leg_byes": 2}),
        ("b4", {"byes": 4}),
        ("1+p5", {"bat": 1, "penalty": 5}),
        ("pf5", {"penalty_fielding": 5}),
        ("dead+p5", {"dead": True, "penalty": 5}),
        ("W(b)", {"wickets": [{"kind": "bowled"}]}),
        ("W(c Elm)", {"wickets": [{"kind": "caught", "fielders": [{"player": "Elm"}]}]}),
        ("W(c&b)", {"wickets": [{"kind": "caught_and_bowled"}]}),
        (
            "1+W(run out Elm/Dale, out Birch, not crossed)",
            {
                "bat": 1,
                "wickets": [
                    {
                        "kind": "run_out",
                        "fielders": [{"player": "Elm"}, {"player": "Dale"}],
                        "out": "Birch",
                        "crossed": False,
                    }
                ],
            },
        ),
        ("W(c sub)", {"wickets": [{"kind": "caught", "fielders": [{"substitute": True}]}]}),
        (
            'W(st sub "Flo Fir")',
            {"wickets": [{"kind": "stumped", "fielders": [{"substitute": True, "name": "Flo Fir"}]}]},
        ),
        ("W(lbw)+W(run out)", {"wickets": [{"kind": "lbw"}, {"kind": "run_out"}]}),
    ],
)
def test_a_ball_is_a_word(word: str, fields: dict[str, Any]):
    assert read_ball(word, WORTH) == fields


def test_extras_without_a_number_are_worth_what_the_format_says():
    worth = {"wide_runs": 2, "no_ball_runs": 3}
    assert read_ball("wd", worth) == {"wides": 2}
    assert read_ball("nb+1", worth) == {"no_balls": 3, "bat": 1}


SET = "set score runs 40 wickets 2 overs {}: the tablet was lost"


def test_overs_are_numbered_on_from_the_score_that_was_set():
    text = PLAY + "1 .\n" + SET.format("7.3") + "\n8 Elm: @Cedar/Birch . . . /\n9 Dale: . .\n"
    match = read(text)
    balls = [step.input for step in match.steps if step.code == DELIVERY]
    assert [ball["striker"] for ball in balls] == ["Ash", "Birch", *["Cedar"] * 3, *["Birch"] * 2]
    assert write_golden(match).endswith(text.removeprefix(HEAD))


def test_who_is_in_after_a_set_score_is_written_again():
    after = PLAY + "1 [" + SET.format("7.3") + "]\n8 Elm: . .\n"
    assert "it is not said who faces" in (refused(after) or "")


@pytest.mark.parametrize("overs", ["7.3 innings 1", "seven", "7.3.1"])
def test_a_set_score_of_another_innings_or_without_overs_moves_no_over(overs):
    first = "innings R\n1 Dale: @Ash/Birch . /\ninnings B\n1 Ash: @Dale/Elm 1"
    text = HEAD + f"{first} [{SET.format(overs)}]"
    again = " @Dale/Elm" if overs in ("seven", "7.3.1") else ""
    assert read(f"{text}{again} 2 /\n2 Birch: .\n").steps[-1].input["bowler"] == "Birch"


def test_batters_change_ends_as_they_run_and_as_overs_end():
    balls = play(". 1 2 wd2 lb1 nb+1 /\n2 Elm: . W(b) >Cedar .")
    assert [ball["striker"] for ball in balls] == [
        *("Ash", "Ash", "Birch", "Birch", "Ash", "Birch"),
        *("Birch", "Birch", "Cedar"),
    ]
    assert {ball["bowler"] for ball in balls[:6]} == {"Dale"}
    assert [ball["non_striker"] for ball in balls[-2:]] == ["Ash", "Ash"]


def test_who_bats_is_said_where_it_changes_otherwise():
    balls = play(". @Birch . @Cedar/Ash . @Ash/- 1 @Birch/Ash W(run out, out Ash, crossed) @Birch >Cedar .")
    crease = [(ball["striker"], ball.get("non_striker")) for ball in balls]
    assert crease == [
        ("Ash", "Birch"),
        ("Birch", "Ash"),
        ("Cedar", "Ash"),
        ("Ash", None),
        ("Birch", "Ash"),
        ("Birch", "Cedar"),
    ]


def test_commands_and_overrides_stand_between_balls():
    match = read(PLAY + '1 !quota 4 [retire Ash hurt: "hit, [on] the hand"] !a!"b c" /\n!order over\n')
    assert match.steps[1:] == (
        Step(DELIVERY, {"striker": "Ash", "non_striker": "Birch", "bowler": "Dale", "bat": 1}),
        Step(
            DELIVERY,
            {"striker": "Birch", "non_striker": "Ash", "bowler": "Dale", "bat": 4},
            override=("quota",),
        ),
        Step("cricket.retire", {"batter": "Ash", "kind": "hurt", "reason": "hit, [on] the hand"}),
        Step("cricket.over", {}, override=("a", "b c")),
        Step("cricket.over", {}, override=("order",)),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PLAY + ". x", "line 13: 'x' is no ball; write runs"),
        (PLAY + ". 4+4", "line 13: '4+4' has bat twice"),
        (PLAY + ". lb", "line 13: 'lb' has no runs; write how many: lb1"),
        (PLAY + ". W(q)", "line 13: W(q) does not begin with a way out; write one of: b, c, c&b"),
        (PLAY + ". W(c Elm, often)", "line 13: 'often' is not expected"),
        (PLAY + ". W(c Elm", "line 13: 'W(c Elm' is not closed"),
        (PLAY + ". W(b) 1", "line 13: it is not said who faces '1'; write who comes in"),
        (PLAY + ". >Cedar 1", "line 13: Cedar comes in, but nobody is out"),
        (PLAY + ". @Cedar 1", "line 13: Cedar is not at the crease; write who bats with him: @Cedar/OTHER"),
        (PLAY + ". @/ 1", "line 13: '@/' names nobody"),
        (PLAY + ". W(c Elms)", "line 13: nobody has the key 'Elms'; write Elm?"),
        (PLAY + ". !quota", "line 13: nothing follows the !code"),
        (PLAY + ".\n2 Elm: .", "line 14: this is over 1, not 2; write / where the umpire called over"),
        (PLAY + ".\n1 Fir: .", "line 14: nobody has the key 'Fir'"),
        (
            PLAY + "[retire]",
            "line 13: batter is missing; write it as: retire BATTER hurt|not out|out [: reason]",
        ),
        (HEAD + "toss R bowl", "line 12: 'bowl' is none of bat, field; write it as: toss WINNER bat|field"),
        (HEAD + "penalty R five", "line 12: 'five' is no whole number"),
        (HEAD + "penalty R 5 runs", "line 12: 'runs' is not expected here; write it as: penalty SIDE RUNS"),
        (HEAD + "officials umpires", "line 12: nobody stands behind 'umpires'"),
        (HEAD + "over: late", "line 12: no text belongs behind this line"),
        (HEAD + "dance", "line 12: no line begins with 'dance'; begin it with an over's number or one of"),
        (HEAD + "command cricket.over 5", "line 12: the input of cricket.over is no object"),
        (HEAD + "command cricket.over {", "line 12: { is no JSON"),
        (HEAD + "join R Gum", "line 12: who joins is missing; write it as: join SIDE KEY = NAME"),
        (HEAD + 'toss "R bat', "line 12: '\"R bat' cannot be read"),
        (HEAD + "expect innings-1 R 10", "line 12: the score cannot be read; write runs/wickets"),
        (HEAD + "bat Ash 4", "line 12: it is not said of which innings"),
        (HEAD + "expect innings-1 R 1/0\nbat Ash 4: ran away", "line 13: 'ran away' is no way out"),
        (HEAD + "expect innings-1 R 1/0\nbat Ash 4: c Elm b", "line 13: the bowler in 'c Elm b'"),
        (HEAD + "expect innings-1 R 1/0\nbowl Dale 4-0-3", "line 13: the bowling figures cannot be read"),
        (HEAD + "expect innings-1 R 1/0\ntoss R bat", "line 13: play goes on behind what is expected"),
        (
            HEAD.replace("T20, ", "T20, sunny, "),
            "line 4: 'sunny' is no playing condition; write one of: N innings",
        ),
        (HEAD.replace("match Reds v Blues\n", ""), "line 10: the line 'match' is missing in the head"),
        (HEAD.replace("side R Reds\n", ""), "line 5: Ash is of no side"),
        (HEAD.replace("side R Reds", "side R"), "line 5: a side needs a key and a name"),
        ("", f"the file is no golden match; begin it with the line: {FIRST_LINE}"),
        ('{"info": {}}', "the file is no golden match"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line_and_what_to_do(text: str, says: str):
    with pytest.raises(ReaderError) as raised:
        read(text)
    assert str(raised.value).startswith(f"test.scorebook: {says}")


def test_a_file_that_is_not_text_or_not_there_is_said(tmp_path: Path):
    with pytest.raises(ReaderError, match="is not text"):
        parse_golden(b"\xff\xfe", "x", id="x")
    with pytest.raises(ReaderError, match="cannot be read"):
        read_golden(tmp_path / "none.scorebook")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(data: st.DataObject):
    text = (GOLDEN / "2016-gloucestershire-v-sussex.scorebook").read_text()
    place = data.draw(st.integers(len(FIRST_LINE), len(text)))
    count = data.draw(st.integers(0, 40))
    put = data.draw(st.one_of(st.text(max_size=6), st.sampled_from(list('!@>/[](){}":,=+-\\'))))
    said = refused(text[:place] + put + text[place + count :])
    assert said is None or re.search(r"line \d+: .+; .+|no golden match", said)


@settings(max_examples=200)
@given(st.text())
def test_no_line_breaks_the_reader(line: str):
    said = refused(HEAD + line)
    assert said is None or "test.scorebook: line " in said


def test_every_command_of_the_readme_can_be_read():
    text = (GOLDEN / "README.md").read_text()
    block = text.split("Commands:\n\n")[1].split("\n\n")[0]
    lines = [line for row in block.splitlines() for line in re.split(r"\s{3,}", row.strip())]
    codes = {read_command(line).code for line in lines}
    assert codes >= set(FORMS) - {"cricket.over"}
    for line in lines:
        typed(read_command(line))


def test_every_word_of_the_readme_can_be_read():
    table = (GOLDEN / "README.md").read_text().split("| word | says |")[1].split("\n\n")[0]
    words = re.findall(r"`([^`]+)`", "\n".join(row.split("|")[1] for row in table.splitlines() if "|" in row))
    assert len(words) > 20
    for word in words:
        if word[0] not in "@>/[!":
            read_ball(word, WORTH)


LINES = (
    ExpectedLine("innings-1", "side", "R", {"runs": 10, "wickets": 1, "overs": "1.2", "byes": 1}),
    ExpectedLine("innings-1", "batting", "Ash", {"runs": 9, "out_kind": None, "out_bowler": None}),
    ExpectedLine("innings-1", "bowling", "Dale", {"overs": "1.2", "maidens": 0, "runs": 9, "wickets": 1}),
)
RESULT = {"kind": "won", "winner": "R", "margin": {"runs": 3}, "method": None}


def document(**changes: Any) -> dict[str, Any]:
    """A document in which everything is as expected, but for the changes of Ash's line."""
    ash = {"runs": 9, "balls": 7, "status": "batting"} | changes
    lines = [
        {"subject": "R", "role": "side", "values": LINES[0].values},
        {"subject": "Ash", "role": "batting", "values": ash},
        {"subject": "Dale", "role": "bowling", "values": LINES[2].values},
    ]
    return {"head": {"result": dict(RESULT)}, "parts": {"innings-1": {"lines": lines}}}


def test_only_what_is_expected_is_compared():
    expected = Expected(LINES, RESULT)
    assert expected.figures == 15
    assert expected.differences(document()) == []
    assert expected.differences(document(runs=8)) == ["innings-1, Ash batting: runs 8 as scored, 9 expected"]
    assert expected.differences(document(balls=8)) == []


def test_strangers_and_other_innings_are_differences():
    scored = document()
    scored["parts"]["innings-1"]["lines"].append({"subject": "Elm", "role": "bowling", "values": {"runs": 4}})
    scored["parts"]["innings-2"] = {"lines": [{"subject": "B", "role": "side", "values": {"runs": 0}}]}
    assert Expected(LINES).differences(scored) == [
        "innings-1: Elm has bowling figures, but none are expected",
        "innings-2: B has side figures, but none are expected",
    ]


def test_another_result_is_a_difference():
    scored = document()
    scored["head"]["result"] = None
    assert "result: kind None as scored, won expected" in Expected((), RESULT).differences(scored)


def test_a_figure_without_words_is_not_written():
    with pytest.raises(UnwritableMatch, match="follows no total"):
        write_expected(Expected((LINES[1],)))
    ran = ExpectedLine("innings-1", "batting", "Ash", {"runs": 1, "out_kind": "ran_away"})
    with pytest.raises(UnwritableMatch, match="ran_away"):
        write_expected(Expected((LINES[0], ran)))
    opening = read(HEAD).opening | {"weather": "sunny"}
    with pytest.raises(UnwritableMatch, match="opening"):
        write_golden(GoldenMatch("test", "R v B", None, opening, (), Expected()))


def test_a_delivery_that_fits_no_word_is_raw():
    fielder = {"player": "Elm", "name": "Eve Elm", "substitute": True}
    ball = {
        "striker": "Ash",
        "bowler": "Dale",
        "wickets": [{"kind": "caught", "out": "Ash", "fielders": [fielder]}],
    }
    match = GoldenMatch("test", "R v B", None, read(HEAD).opening, (Step(DELIVERY, ball),), Expected())
    text = write_golden(match)
    assert f"{RAW} {DELIVERY} " in text
    assert msgspec.convert(read(text).steps[0].input, Delivery) == msgspec.convert(ball, Delivery)


def test_a_fault_of_a_line_says_what_to_do():
    fault = LineFault("it is odd", "mend it")
    assert str(fault) == "it is odd; mend it"
