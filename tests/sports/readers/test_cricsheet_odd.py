"""Odd Cricsheet files: what is missing, rare or wrong in real ones."""

import json
from typing import Any

import pytest

from sports.readers.cricsheet import parse_cricsheet, read_cricsheet
from sports.readers.cricsheet_tally import tally
from sports.readers.errors import NotThisFormat, ReaderError, UnreadableMatch
from tests.sports.readers.small_match import AWAY, HOME, ball, codes, dots, over, read, sent, small


def first_over(*deliveries, **innings):
    return small(
        [{"team": HOME, "overs": [over(0, *deliveries)], **innings}], outcome={"result": "no result"}
    )


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"\x89PNG\r\n\xff\xfe", "not text"),
        (b"meta:\n  data_version: 0.92\n", "not JSON"),
        (b"[1, 2]", "not an object"),
        (b'{"name": "x"}', 'has no "info"'),
        (b'{"info": {}}', 'has no "innings"'),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_a_file_of_something_else_is_told_so(data, says):
    with pytest.raises(NotThisFormat) as caught:
        parse_cricsheet(data, "some.json", id="x")
    text = str(caught.value)
    assert text.startswith("some.json: ")
    assert says in text
    assert "cricsheet.org" in text


def test_a_file_that_is_not_there_is_told_so(tmp_path):
    with pytest.raises(ReaderError, match="cannot be read"):
        read_cricsheet(tmp_path / "none.json")
    with pytest.raises(ReaderError, match="cannot be read"):
        read_cricsheet(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda plain: plain["info"].pop("teams"), "teams"),
        (lambda plain: plain["info"].update(teams=["Reds"]), "two teams"),
        (lambda plain: plain["info"].update(teams=["Reds", "Reds"]), "two teams"),
        (lambda plain: plain["innings"][1].update(team="Greens"), "Greens"),
        (lambda plain: plain["innings"][0]["overs"][0]["deliveries"][2].pop("batter"), "deliveries[2]"),
        (
            lambda plain: plain["innings"][0]["overs"][0]["deliveries"][2].update(batter=7),
            "deliveries[2].batter",
        ),
        (
            lambda plain: plain["innings"][0]["overs"][0]["deliveries"][2].update(extras={"lost": 1}),
            "delivery 3",
        ),
        (lambda plain: plain["innings"][0].update(overs=5), "innings[0].overs"),
        (lambda plain: plain["innings"][1]["target"].update(overs="many"), "innings[1].target.overs"),
        (
            lambda plain: plain["innings"][0]["overs"][0]["deliveries"][2].update(
                wickets=[{"kind": "eaten by a bear", "player_out": "R2"}]
            ),
            "eaten by a bear",
        ),
    ],
)
def test_what_cannot_be_understood_is_named_with_its_place(change, says):
    plain = small()
    change(plain)
    with pytest.raises(UnreadableMatch) as caught:
        read(plain)
    assert says in str(caught.value)


def test_only_teams_type_and_innings_are_needed():
    plain = small()
    plain["info"] = {"teams": [HOME, AWAY], "match_type": "ODI", "dates": ["2006-01-02"]}
    match = read(plain)
    assert match.opening["format"]["overs"] == 50
    assert match.opening["sides"][0]["players"] == []
    assert match.people == {}
    assert [joined["name"] for joined in sent(match, "cricket.player")] == ["R1", "R2", "B1", "B2", "R11"]
    assert "cricket.toss" not in codes(match.steps)


def test_the_day_the_file_was_made_stands_in_for_a_missing_date():
    assert read(small(dates=None)).opening["first_day"] == "2021-05-02"
    plain = small(dates=None)
    del plain["meta"]
    with pytest.raises(UnreadableMatch, match="dates"):
        read(plain)


def test_players_have_short_keys_and_registry_ids():
    match = read(small())
    reds = match.opening["sides"][0]["players"]
    assert [player["key"] for player in reds] == [f"A{number}" for number in range(1, 12)]
    assert match.people["A1"] == "id-R1"
    assert match.people["B11"] == "id-B11"


def test_one_registry_id_is_given_to_one_player():
    plain = small()
    plain["info"]["registry"]["people"]["B1"] = "id-R1"
    people = read(plain).people
    assert list(people.values()).count("id-R1") == 1


def test_the_same_name_in_both_teams_is_two_players():
    plain = small()
    plain["info"]["players"][AWAY][0] = "R1"
    plain["innings"][0]["overs"][0]["deliveries"] = [ball("R1", "R2", "R1")]
    delivery = sent(read(plain), "cricket.delivery")[0]
    assert (delivery["striker"], delivery["bowler"]) == ("A1", "B1")


def test_somebody_not_on_the_sheet_joins_before_he_is_needed():
    match = read(first_over(ball("R1", "Newcomer", "Stranger")))
    place = codes(match.steps).index("cricket.delivery")
    assert codes(match.steps)[place - 2 : place] == ["cricket.player", "cricket.player"]
    assert sent(match, "cricket.player") == [
        {"side": "A", "key": "A12", "name": "Newcomer"},
        {"side": "B", "key": "B12", "name": "Stranger"},
    ]


def test_a_substitute_fields_by_name_and_may_have_none():
    wicket = {
        "kind": "run out",
        "player_out": "R1",
        "fielders": [{"name": "Twelfth", "substitute": True}, {"substitute": True}, {}, {"name": "B3"}],
    }
    match = read(first_over(ball("R1", "R2", "B1", wickets=[wicket])))
    assert sent(match, "cricket.substitute") == [{"side": "B", "name": "Twelfth"}]
    assert sent(match, "cricket.delivery")[0]["wickets"][0]["fielders"] == [
        {"substitute": True, "name": "Twelfth"},
        {"substitute": True},
        {"player": "B3"},
    ]


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("retired hurt", ("cricket.retire", {"batter": "A2", "kind": "hurt"})),
        ("retired not out", ("cricket.retire", {"batter": "A2", "kind": "not_out"})),
        ("retired", ("cricket.retire", {"batter": "A2", "kind": "not_out"})),
        ("retired out", ("cricket.retire", {"batter": "A2", "kind": "out"})),
        ("timed out", ("cricket.timed_out", {"batter": "A2"})),
    ],
)
def test_who_leaves_without_a_ball_leaves_after_it(kind, command):
    delivery = ball("R1", "R2", "B1", 1, wickets=[{"kind": kind, "player_out": "R2"}])
    match = read(first_over(delivery))
    place = codes(match.steps).index("cricket.delivery")
    assert "wickets" not in match.steps[place].input
    assert (match.steps[place + 1].code, match.steps[place + 1].input) == command


def test_two_on_one_ball_are_a_wicket_and_a_leaving():
    wickets = [{"kind": "bowled", "player_out": "R1"}, {"kind": "retired hurt", "player_out": "R2"}]
    match = read(first_over(ball("R1", "R2", "B1", wickets=wickets)))
    assert sent(match, "cricket.delivery")[0]["wickets"] == [{"kind": "bowled", "out": "A1"}]
    assert sent(match, "cricket.retire") == [{"batter": "A2", "kind": "hurt"}]


def test_handled_the_ball_is_a_way_out():
    out = {"kind": "handled the ball", "player_out": "R1"}
    match = read(first_over(ball("R1", "R2", "B1", wickets=[out])))
    assert sent(match, "cricket.delivery")[0]["wickets"][0]["kind"] == "handled_the_ball"


def test_an_over_the_umpire_miscounted_is_over_and_one_cut_short_is_not():
    deliveries = dots("B1", count=5)
    assert "cricket.over" not in codes(read(first_over(*deliveries)).steps)
    miscounted = first_over(*deliveries, miscounted_overs={"0": {"balls": "5", "umpire": "X"}})
    assert codes(read(miscounted).steps).count("cricket.over") == 1
    assert tally(miscounted).innings[0].overs == "1"
    assert tally(miscounted).innings[0].bowlers["B1"].maidens == 1
    assert tally(first_over(*deliveries)).innings[0].overs == "0.5"


def test_overs_the_file_leaves_out_were_bowled():
    plain = small([{"team": HOME, "overs": [over(1, *dots("B1")), over(4, *dots("B2"))]}], overs=20)
    assert codes(read(plain).steps).count("cricket.over") == 5
    assert tally(plain).innings[0].overs == "5"


def test_overs_without_numbers_count_from_the_first():
    plain = small(
        [{"team": HOME, "overs": [{"deliveries": dots("B1")}, {"deliveries": dots("B2")}]}], overs=20
    )
    assert codes(read(plain).steps).count("cricket.over") == 2
    assert tally(plain).innings[0].overs == "2"


def test_eight_balls_an_over():
    plain = first_over(*dots("B1", count=8))
    plain["info"]["balls_per_over"] = 8
    assert read(plain).opening["format"]["balls_an_over"] == 8
    assert codes(read(plain).steps).count("cricket.over") == 1
    assert tally(plain).innings[0].overs == "1"


def test_a_bowler_changes_within_an_over_with_and_without_a_word():
    told = {"role": [{"in": "B2", "reason": "injury", "role": "bowler"}]}
    with_word = read(first_over(*dots("B1", count=2), ball("R1", "R2", "B2", replacements=told)))
    assert sent(with_word, "cricket.role_replacement") == [
        {"role": "bowler", "player_in": "B2", "reason": "injury"}
    ]
    assert sent(with_word, "cricket.bowler_change") == []
    without = read(first_over(*dots("B1", count=2), *dots("B2", count=2)))
    assert sent(without, "cricket.bowler_change") == [{"bowler": "B2"}]


def test_replacements_of_every_sort_come_before_the_delivery():
    told = {
        "match": [
            {"in": "Twelfth", "out": "R9", "team": HOME, "reason": "concussion_substitute"},
            {"in": "B12", "team": AWAY},
        ],
        "role": [{"in": "R3", "out": "R1", "role": "batter"}],
    }
    match = read(first_over(ball("R3", "R2", "B1", replacements=told)))
    assert codes(match.steps)[-8:] == [
        "cricket.innings",
        "cricket.player",
        "cricket.replacement",
        "cricket.player",
        "cricket.replacement",
        "cricket.role_replacement",
        "cricket.delivery",
        "cricket.result",
    ]
    assert sent(match, "cricket.replacement") == [
        {"side": "A", "player_in": "A12", "player_out": "A9", "reason": "concussion_substitute"},
        {"side": "B", "player_in": "B12", "reason": "unknown"},
    ]
    assert sent(match, "cricket.role_replacement")[0]["player_out"] == "A1"


def test_penalties_before_and_after_an_innings_belong_to_it():
    plain = small()
    plain["innings"][0]["penalty_runs"] = {"pre": 5, "post": 10}
    match = read(plain)
    pre, post = sent(match, "cricket.penalty")
    assert (pre["runs"], post["runs"], post["innings"], post["side"]) == (5, 10, 1, "A")
    assert tally(plain).innings[0].runs == 16
    assert tally(plain).innings[0].penalty == 15


def test_a_target_in_overs_is_text_and_no_fraction():
    plain = small(outcome={"winner": HOME, "by": {"runs": 1}, "method": "D/L"}, overs=50)
    plain["innings"][1]["target"] = {"runs": 9, "overs": 48.5}
    assert sent(read(plain), "cricket.revise") == [{"target": 9, "overs": "48.5", "method": "D/L"}]


def test_a_target_that_follows_from_the_totals_is_not_sent():
    assert "cricket.revise" not in codes(read(small()).steps)


def test_a_powerplay_ends_with_a_legal_ball_also_after_ten_deliveries():
    wides = [ball("R1", "R2", "B1", extras={"wides": 1}) for _ in range(4)]
    plain = small([{"team": HOME, "overs": [over(0, *wides, *dots("B1"))]}])
    plain["innings"][0]["powerplays"] = [{"from": 0.1, "to": "TEN", "type": "mandatory"}]
    data = json.dumps(plain).replace('"TEN"', "0.10")
    match = parse_cricsheet(data.encode(), "small.json", id="small")
    assert sent(match, "cricket.powerplay") == [{"kind": "mandatory", "start": "0.1", "end": "0.6"}]


def test_a_powerplay_longer_than_the_innings_keeps_its_end():
    plain = small()
    plain["innings"][0]["powerplays"] = [{"from": 0.1, "to": 5.6, "type": "mandatory"}]
    assert sent(read(plain), "cricket.powerplay")[0]["end"] == "5.6"


def test_a_forfeited_innings_is_an_end_without_a_beginning():
    innings: list[dict[str, Any]] = [
        {"team": HOME, "overs": [over(0, *dots("B1"))], "declared": True},
        {"team": AWAY, "forfeited": True},
        {"team": HOME, "forfeited": True},
        {"team": AWAY, "overs": [over(0, *dots("R11", "B1", "B2"))]},
    ]
    match = read(small(innings, match_type="MDM", overs=None, outcome={"result": "draw"}))
    ends = [(step.input, step.unless_emitted) for step in match.steps if step.code == "cricket.innings_end"]
    assert ends == [
        ({"reason": "declared"}, "innings_end"),
        ({"reason": "forfeited", "batting": "B"}, None),
        ({"reason": "forfeited", "batting": "A"}, None),
    ]
    assert len(sent(match, "cricket.innings")) == 2
    assert [innings.segment for innings in tally(match.plain).innings][-1] == "innings-4"


def test_the_follow_on_is_seen_from_who_bats():
    innings = [{"team": team, "overs": [over(0, *dots("B1"))]} for team in (HOME, AWAY, AWAY, HOME)]
    match = read(small(innings, match_type="Test", overs=None, outcome={"result": "draw"}))
    assert [begun.get("follow_on", False) for begun in sent(match, "cricket.innings")] == [
        False,
        False,
        True,
        False,
    ]


def test_absent_batters_and_nine_down_are_all_out():
    wickets = [
        ball(f"R{number}", f"R{number + 1}", "B1", wickets=[{"kind": "bowled", "player_out": f"R{number}"}])
        for number in range(1, 10)
    ]
    innings: list[dict[str, Any]] = [
        {"team": HOME, "overs": [over(0, *wickets)], "absent_hurt": ["R11"]},
        {"team": AWAY, "overs": [over(0, *dots("R11", "B1", "B2"))]},
    ]
    match = read(small(innings, match_type="Test", overs=None, outcome={"result": "draw"}))
    assert sent(match, "cricket.absent") == [{"batter": "A11", "reason": "absent hurt"}]
    assert sent(match, "cricket.innings_end")[0] == {"reason": "all_out"}
    assert tally(match.plain).innings[0].wickets == 9


def test_a_bowl_out_names_its_bowlers_and_keeps_the_tie():
    bowled = [{"bowler": "R1", "outcome": "hit"}, {"bowler": "B4", "outcome": "miss"}]
    match = read(small(outcome={"result": "tie", "bowl_out": HOME}, bowl_out=bowled))
    assert sent(match, "cricket.bowl_out") == [{"bowler": "A1", "hit": True}, {"bowler": "B4", "hit": False}]
    assert sent(match, "cricket.result")[0] == {"kind": "tie", "winner": "A", "method": "bowl-out"}


@pytest.mark.parametrize(
    ("outcome", "given", "only_if_needed"),
    [
        ({"winner": HOME, "by": {"wickets": 3}}, {"kind": "won", "winner": "A", "wickets": 3}, True),
        (
            {"winner": AWAY, "by": {"innings": 1, "runs": 4}},
            {"kind": "won", "winner": "B", "innings": 1, "runs": 4},
            True,
        ),
        (
            {"winner": HOME, "by": {"runs": 1}, "method": "D/L"},
            {"kind": "won", "winner": "A", "runs": 1, "method": "D/L"},
            True,
        ),
        (
            {"winner": AWAY, "by": {"runs": 4}, "method": "D/L"},
            {"kind": "won", "winner": "B", "runs": 4, "method": "D/L"},
            False,
        ),
        ({"winner": AWAY, "method": "Awarded"}, {"kind": "won", "winner": "B", "method": "Awarded"}, False),
        ({"result": "no result"}, {"kind": "no_result"}, False),
        ({"result": "draw"}, {"kind": "draw"}, False),
        ({"result": "tie"}, {"kind": "tie"}, True),
        ({"result": "tie", "eliminator": AWAY}, {"kind": "tie", "winner": "B", "method": "super over"}, True),
    ],
)
def test_the_result_is_given_where_the_figures_do_not_decide(outcome, given, only_if_needed):
    step = read(small(outcome=outcome)).steps[-1]
    assert step.code == "cricket.result"
    assert {key: value for key, value in step.input.items() if key != "reason"} == given
    assert (step.unless_emitted == "match_end") is only_if_needed


def test_a_match_without_play_has_its_result():
    match = read(small([], outcome={"result": "no result"}))
    assert codes(match.steps) == ["cricket.toss", "cricket.result"]


def test_names_are_made_fit_for_the_contract():
    plain = first_over(ball("R1", "R2\u0000\n", "B1"))
    joined = sent(read(plain), "cricket.player")
    assert joined == [{"side": "A", "key": "A12", "name": "R2"}]


def test_one_batter_alone_has_no_partner():
    assert "non_striker" not in sent(read(first_over(ball("R1", None, "B1"))), "cricket.delivery")[0]


def test_a_side_that_was_ahead_when_rain_came_got_its_target_then():
    chase = [ball("B1", "B2", "R11", 4), ball("B1", "B2", "R11", 4), ball("B1", "B2", "R11")]
    plain = small(outcome={"winner": AWAY, "by": {"runs": 3}, "method": "D/L"}, overs=20)
    plain["innings"][0]["overs"].append(over(1, *[ball("R1", "R2", "B2", 6) for _ in range(6)]))
    plain["innings"][1] = {"team": AWAY, "overs": [over(0, *chase)], "target": {"runs": 6, "overs": 0.3}}
    match = read(plain)
    assert codes(match.steps)[-2:] == ["cricket.delivery", "cricket.result"]
    assert "cricket.revise" not in codes(match.steps)
    assert match.steps[-1].unless_emitted is None
    assert match.steps[-1].input["reason"] == "target 6 in 0.3 overs"


def test_what_no_command_can_say_is_left_out_and_noted():
    plain = first_over(ball("R1", "R2", "B1", review={"by": "R1", "decision": "upheld"}))
    plain["innings"][0]["powerplays"] = [{"from": 10.1, "to": 9.6, "type": "batting"}]
    match = read(plain)
    assert "cricket.review" not in codes(match.steps)
    assert "cricket.powerplay" not in codes(match.steps)
    assert len(match.notes) == 2
    assert "innings 1, over 0, delivery 1" in match.notes[1]


def test_more_overs_than_the_limit_are_the_limit():
    overs = [over(number, *dots(f"B{number % 2 + 1}")) for number in range(3)]
    plain = small([{"team": HOME, "overs": overs}], overs=2)
    assert read(plain).opening["format"]["overs"] == 3
