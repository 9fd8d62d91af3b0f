"""Whether batters crossed, told from who faces next."""

from hypothesis import given
from hypothesis import strategies as st

from sports.readers.cricsheet_file import DeliveryEntry, RunsEntry
from sports.readers.cricsheet_strike import crossed, runs_run
from tests.sports.readers.small_match import HOME, ball, dots, over, read, sent, small

STRIKER, PARTNER, NEWCOMER = "striker", "partner", "newcomer"


@given(
    runs=st.integers(0, 7),
    did_cross=st.booleans(),
    striker_out=st.booleans(),
    ends_changed=st.booleans(),
)
def test_the_laws_are_read_backwards(runs, did_cross, striker_out, ends_changed):
    at_striker_end, at_bowler_end = STRIKER, PARTNER
    if (runs + did_cross) % 2:
        at_striker_end, at_bowler_end = at_bowler_end, at_striker_end
    out = STRIKER if striker_out else PARTNER
    ends = [NEWCOMER if batter == out else batter for batter in (at_striker_end, at_bowler_end)]
    if ends_changed:
        ends.reverse()
    delivery = DeliveryEntry(STRIKER, "bowler", PARTNER, RunsEntry(batter=runs, total=runs))
    following = DeliveryEntry(ends[0], "bowler", ends[1])
    assert crossed(delivery, out, following, runs=runs, ends_changed=ends_changed) is did_cross


def test_nothing_is_told_without_a_next_ball_or_with_two_new_batters():
    delivery = DeliveryEntry(STRIKER, "bowler", PARTNER)
    assert crossed(delivery, STRIKER, None, runs=0, ends_changed=False) is None
    strangers = DeliveryEntry(NEWCOMER, "bowler", "another")
    assert crossed(delivery, STRIKER, strangers, runs=0, ends_changed=False) is None
    assert crossed(delivery, NEWCOMER, strangers, runs=0, ends_changed=False) is None


def test_penalties_for_a_wide_or_no_ball_are_not_run():
    wide = DeliveryEntry(STRIKER, "bowler", PARTNER, extras={"wides": 3})
    assert runs_run(wide, wide_runs=1, no_ball_runs=1) == 2
    no_ball = DeliveryEntry(
        STRIKER, "bowler", PARTNER, RunsEntry(batter=1), extras={"noballs": 2, "legbyes": 1}
    )
    assert runs_run(no_ball, wide_runs=1, no_ball_runs=2) == 2


def caught(day, facing, match_type="T20", balls_per_over=6):
    """The one wicket of a match in which `facing` faces after a catch."""
    other = "R3" if facing == "R2" else "R2"
    out = {"kind": "caught", "player_out": "R1", "fielders": [{"name": "B5"}]}
    deliveries = [ball("R1", "R2", "B1", wickets=[out]), *dots("B1", facing, other, 3)]
    innings = [{"team": HOME, "overs": [over(0, *deliveries)]}]
    plain = small(innings, dates=[day], match_type=match_type, balls_per_over=balls_per_over)
    match = read(plain)
    return match.opening["format"]["crossing_on_catch"], sent(match, "cricket.delivery")[0]["wickets"][0]


def test_crossing_at_a_catch_follows_the_law_of_the_day():
    law, wicket = caught("2019-07-14", "R2")
    assert law is True
    assert wicket["crossed"] is True
    law, wicket = caught("2019-07-14", "R3")
    assert law is True
    assert wicket["crossed"] is False
    law, wicket = caught("2023-07-14", "R3")
    assert law is False
    assert "crossed" not in wicket


def test_the_hundred_had_the_new_law_from_its_start():
    law, wicket = caught("2021-08-01", "R3", balls_per_over=5)
    assert law is False
    assert "crossed" not in wicket


def test_a_competition_that_kept_the_old_law_is_seen_from_its_play():
    out = {"kind": "caught", "player_out": "R1", "fielders": [{"name": "B5"}]}
    again = {"kind": "caught", "player_out": "R3", "fielders": [{"name": "B5"}]}
    deliveries = [
        ball("R1", "R2", "B1", wickets=[out]),
        ball("R2", "R3", "B1", 1),
        ball("R3", "R2", "B1", wickets=[again]),
        ball("R2", "R4", "B1"),
    ]
    match = read(small([{"team": HOME, "overs": [over(0, *deliveries)]}], dates=["2022-11-01"]))
    assert match.opening["format"]["crossing_on_catch"] is True
    assert [d["wickets"][0]["crossed"] for d in sent(match, "cricket.delivery") if "wickets" in d] == [
        True,
        True,
    ]
