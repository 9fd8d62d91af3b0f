"""The playing conditions of a match that a Cricsheet file does not state: told from what it shows.

They are hints, since play is scored as typed; a condition that the play in the file contradicts is not
assumed.
"""

from collections import Counter
from typing import Any

from sports.readers.cricsheet_file import InfoEntry, InningsEntry, MatchEntry
from sports.readers.cricsheet_strike import faces_after

CROSSING_LAW_ENDS = "2022-10-01"
"""From this day on the new batter faces after a catch (Law 18.11 of the 2022 edition)."""
ONE_DAY_FREE_HIT_BEGINS = "2007-07-01"
"""One-day internationals have free hits from here; twenty-over cricket always had."""
BOWLERS_AN_INNINGS = 5
"""A limited innings is shared by at least so many bowlers."""
FOLLOW_ON_LEADS = ((5, 200), (3, 150), (2, 100), (1, 75))
"""Law 14.1: days of the match at least, and the lead."""
TIMELESS_TYPES = frozenset({"Test", "MDM"})
USUAL_OVERS = {"T20": 20, "IT20": 20, "ODI": 50, "ODM": 50}
PLAYERS_A_SIDE = 11
PLAYERS_LIMIT = 20
NOT_OUT_ON_FREE_HIT = frozenset({"bowled", "caught", "caught and bowled", "lbw", "stumped", "hit wicket"})
"""Dismissals that cannot be on a free hit (Law 21 as the playing conditions have it)."""
NO_DISMISSAL = frozenset({"retired hurt", "retired not out", "retired"})


def first_day(info: InfoEntry) -> str | None:
    """The first date of the match (YYYY-MM-DD), if the file has one."""
    return min(info.dates) if info.dates else None


def is_hundred(info: InfoEntry) -> bool:
    """The Hundred is given as twenty-over cricket with five balls an over."""
    return info.balls_per_over == 5 and info.match_type in {"T20", "IT20"}


def innings_a_side(match: MatchEntry) -> int:
    """1 or 2: by the match type, or because the file has more than two innings."""
    played = sum(1 for innings in match.innings if not innings.super_over)
    return 2 if match.info.match_type in TIMELESS_TYPES or played > 2 else 1


def overs_limit(match: MatchEntry) -> int | None:
    """Overs of an innings, None where time is the limit; as many as were bowled where those are more."""
    given = match.info.overs
    if innings_a_side(match) == 1:
        given = given or USUAL_OVERS.get(match.info.match_type)
    if given is None:
        return None
    return max(given, *(len(innings.overs or ()) for innings in match.innings), 0)


def read_format(match: MatchEntry) -> dict[str, Any]:
    """The `format` of the opening."""
    info = match.info
    overs = overs_limit(match)
    hundred = is_hundred(info)
    conditions: dict[str, Any] = {
        "name": "The Hundred" if hundred else info.match_type,
        "innings_a_side": innings_a_side(match),
        "balls_an_over": info.balls_per_over,
        "no_ball_runs": _no_ball_runs(match),
        "free_hit": _free_hit(match),
        "crossing_on_catch": _crossing_on_catch(match),
        "players": _players(match),
    }
    if hundred:
        conditions |= {"overs_an_end": 2, "overs_in_a_row": 2}
    if overs:
        quota = -(-overs // BOWLERS_AN_INNINGS)
        conditions |= {"overs": overs, "bowler_overs": max(quota, _most_overs_of_one_bowler(match))}
    if conditions["innings_a_side"] == 2:
        conditions["follow_on_lead"] = _follow_on_lead(match)
    if any(innings.super_over for innings in match.innings):
        conditions["super_over"] = {"overs": 1, "wickets": 2}
    return conditions


def _no_ball_runs(match: MatchEntry) -> int:
    """2 where every no-ball of the match is worth at least that, as in English domestic cricket."""
    given = [ball.extras_of("noballs") for innings in match.innings for ball in innings.deliveries()]
    return 2 if min((runs for runs in given if runs), default=1) == 2 else 1


def _free_hit(match: MatchEntry) -> bool:
    day = first_day(match.info) or ""
    kind = match.info.match_type
    usual = kind in {"T20", "IT20"} or (kind in {"ODI", "ODM"} and day >= ONE_DAY_FREE_HIT_BEGINS)
    return usual and not any(_out_on_free_hit(innings) for innings in match.innings)


def _out_on_free_hit(innings: InningsEntry) -> bool:
    free = False
    for ball in innings.deliveries():
        if free and any(wicket.kind in NOT_OUT_ON_FREE_HIT for wicket in ball.wickets or ()):
            return True
        free = bool(ball.extras_of("noballs")) or (free and bool(ball.extras_of("wides")))
    return False


def _crossing_on_catch(match: MatchEntry) -> bool:
    """By the day, unless the play shows the other law: some competitions changed on days of their own."""
    old = (first_day(match.info) or "") < CROSSING_LAW_ENDS and not is_hundred(match.info)
    catches = crossed = 0
    for innings in match.innings:
        for over in innings.overs or ():
            for ball, following in zip(over.deliveries, over.deliveries[1:], strict=False):
                kinds = {wicket.kind for wicket in ball.wickets or ()}
                if kinds & {"caught", "caught and bowled"} and len(ball.wickets or ()) == 1:
                    catches += 1
                    crossed += faces_after(following, ends_changed=False) == ball.non_striker
    return old or (crossed >= 2 and crossed * 4 >= catches)


def _players(match: MatchEntry) -> int:
    """11, or more where an innings went on after the tenth wicket."""
    needed = PLAYERS_A_SIDE
    for innings in match.innings:
        wickets = 0
        for ball in innings.deliveries():
            needed = max(needed, wickets + 2)
            wickets += sum(1 for wicket in ball.wickets or () if wicket.kind not in NO_DISMISSAL)
    return min(needed, PLAYERS_LIMIT)


def _most_overs_of_one_bowler(match: MatchEntry) -> int:
    """Overs of an innings that one bowler had a part in, at most."""
    most = 0
    for innings in match.innings:
        if not innings.super_over:
            overs = Counter(
                bowler for over in innings.overs or () for bowler in {ball.bowler for ball in over.deliveries}
            )
            most = max(most, *overs.values(), 0)
    return most


def _follow_on_lead(match: MatchEntry) -> int:
    """By the days of the match; less where a side followed on with less (a day was lost, Law 14.3)."""
    info = match.info
    days = len(info.dates or ())
    if info.match_type == "Test" and info.gender != "female":
        days = max(days, 5)  # a match that ended early lists only the days played
    lead = next((lead for least, lead in FOLLOW_ON_LEADS if days >= least), FOLLOW_ON_LEADS[-1][1])
    played = [innings for innings in match.innings if not innings.super_over]
    if follows_on(played[:3]):
        lead = max(min(lead, played[0].total() - played[1].total()), 1)
    return lead


def follows_on(played: list[InningsEntry]) -> bool:
    """True when the third and last of these innings is a follow-on."""
    return len(played) == 3 and played[0].team != played[1].team == played[2].team
