"""Playing conditions told from a Cricsheet file."""

from typing import Any

import pytest

from tests.sports.readers.small_match import AWAY, HOME, ball, dots, over, read, small


def conditions(*deliveries, **info):
    innings = [{"team": HOME, "overs": [over(0, *deliveries)]}] if deliveries else None
    return read(small(innings, **info)).opening["format"]


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (
            {"match_type": "T20", "overs": 20},
            {"innings_a_side": 1, "overs": 20, "bowler_overs": 4, "free_hit": True},
        ),
        ({"match_type": "ODI", "overs": 50}, {"innings_a_side": 1, "overs": 50, "bowler_overs": 10}),
        ({"match_type": "ODM", "overs": 43}, {"overs": 43, "bowler_overs": 9}),
        ({"match_type": "IT20", "overs": None}, {"overs": 20, "free_hit": True}),
        (
            {"match_type": "T20", "balls_per_over": 5},
            {"name": "The Hundred", "overs_an_end": 2, "overs_in_a_row": 2},
        ),
        ({"match_type": "ODI", "dates": ["2006-01-22"]}, {"free_hit": False}),
        ({"match_type": "ODI", "dates": ["2011-09-11"]}, {"free_hit": True}),
        (
            {"match_type": "Test", "overs": None, "gender": "male"},
            {"innings_a_side": 2, "follow_on_lead": 200},
        ),
        (
            {"match_type": "MDM", "overs": None, "dates": ["2019-09-2" + d for d in "3456"]},
            {"follow_on_lead": 150},
        ),
        (
            {
                "match_type": "Test",
                "overs": None,
                "gender": "female",
                "dates": ["2019-09-2" + d for d in "3456"],
            },
            {"follow_on_lead": 150},
        ),
        (
            {"match_type": "MDM", "overs": None, "dates": ["2019-09-23", "2019-09-24"]},
            {"follow_on_lead": 100},
        ),
    ],
)
def test_the_format_follows_type_overs_and_days(info, expected):
    found = conditions(**info)
    assert {key: found.get(key) for key in expected} == expected


def test_time_limits_a_test_and_no_overs():
    assert "overs" not in conditions(match_type="Test", overs=None)


def test_no_balls_are_worth_two_where_every_one_is():
    two, one = ball("R1", "R2", "B1", extras={"noballs": 2}), ball("R1", "R2", "B1", extras={"noballs": 1})
    assert conditions(two, two)["no_ball_runs"] == 2
    assert conditions(two, one)["no_ball_runs"] == 1
    assert conditions(ball("R1", "R2", "B1", extras={"noballs": 5}))["no_ball_runs"] == 1
    assert conditions(*dots("B1"))["no_ball_runs"] == 1


def test_no_free_hit_where_somebody_was_bowled_on_it():
    no_ball = ball("R1", "R2", "B1", extras={"noballs": 1})
    wide = ball("R1", "R2", "B1", extras={"wides": 1})
    bowled = ball("R1", "R2", "B1", wickets=[{"kind": "bowled", "player_out": "R1"}])
    run_out = ball("R1", "R2", "B1", wickets=[{"kind": "run out", "player_out": "R1"}])
    assert conditions(no_ball, wide, bowled)["free_hit"] is False
    assert conditions(no_ball, wide, run_out)["free_hit"] is True
    assert conditions(no_ball, *dots("B1", count=1), bowled)["free_hit"] is True


def test_an_innings_that_goes_on_after_ten_wickets_has_more_players():
    wickets = [ball("R1", "R2", "B1", wickets=[{"kind": "run out", "player_out": "R1"}]) for _ in range(11)]
    assert conditions(*wickets[:10])["players"] == 11
    assert conditions(*wickets)["players"] == 12


def test_super_overs_are_played_where_the_file_has_them():
    innings: list[dict[str, Any]] = [
        {"team": HOME, "overs": [over(0, *dots("B1"))]},
        {"team": AWAY, "overs": [over(0, *dots("R11", "B1", "B2"))]},
        {"team": AWAY, "super_over": True, "overs": [over(0, *dots("R11", "B1", "B2"))]},
    ]
    assert read(small(innings)).opening["format"]["super_over"] == {"overs": 1, "wickets": 2}
    assert "super_over" not in conditions()
