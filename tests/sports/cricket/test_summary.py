"""What a board and a scorer's screen show."""

from scorebox_contract import SideScore
from scorebox_cricket import SPORT
from tests.sports.cricket.play import Scorer


def test_before_play() -> None:
    summary = SPORT.summary(Scorer().state)
    assert summary.phase == "before"
    assert summary.sides == (SideScore("A", ""), SideScore("B", ""))
    assert (summary.segment, summary.result) == (None, None)
    assert summary.show == {"innings": []}


def test_an_innings_in_progress() -> None:
    scorer = Scorer(overs=20).innings("A").play("4 1 W 0 0 0 2 /")
    scorer.play("wkt")
    show = scorer.show
    assert SPORT.summary(scorer.state).segment == "innings-1"
    assert scorer.scores == ["8/1", ""]
    assert show["innings"] == [
        {"segment": "innings-1", "side": "A", "score": "8/1", "overs": "1.1", "closed": None}
    ]
    assert (show["batting"], show["bowling"]) == ("A", "B")
    assert show["striker"] is None
    assert show["non_striker"] == {"key": "A2", "runs": 2, "balls": 4}
    assert show["bowler"] == {"key": "B2", "overs": "0.1", "maidens": 0, "runs": 0, "wickets": 1}
    assert show["last_over_bowlers"] == ["B1"]
    assert show["over"] == {"balls": ["W"], "legal": 1, "runs": 0}
    assert show["balls_left"] == 113
    assert show["target"] is show["needed"] is None
    assert show["partnership"] is None
    assert show["last_wicket"]["batter"] == "A1"


def test_a_bowler_who_is_named_before_his_first_ball() -> None:
    scorer = Scorer().innings("A")
    scorer.send("bowler_change", bowler="B5")
    assert scorer.show["bowler"] == {"key": "B5", "overs": "0", "maidens": 0, "runs": 0, "wickets": 0}


def test_ranks_follow_the_result() -> None:
    scorer = Scorer(overs=1).innings("A").play("6 0 0 0 0 0 /").innings("B").play("0 0 0 0 0 0 /")
    assert [side.rank for side in SPORT.summary(scorer.state).sides] == [1, 2]
    scorer.send("result", kind="draw")
    assert [side.rank for side in SPORT.summary(scorer.state).sides] == [1, 1]
    scorer.send("result", kind="no_result")
    assert [side.rank for side in SPORT.summary(scorer.state).sides] == [None, None]
