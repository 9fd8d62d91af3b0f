"""How an innings and the match ended, as a Cricsheet file tells it.

Ends that the figures tell come from the engine by themselves; those steps are sent only where they did
not.
"""

from typing import Any

from sports.readers.cricsheet_file import InningsEntry, MatchEntry, OutcomeEntry
from sports.readers.cricsheet_format import NO_DISMISSAL
from sports.readers.cricsheet_innings import numbered_overs, over_is_complete
from sports.readers.cricsheet_script import Script

REVISING_METHODS = frozenset({"D/L", "DLS", "DL", "VJD"})
"""Methods that give a target before play ends; their result follows from the figures."""
SUPER_OVER = "super over"
BOWL_OUT = "bowl-out"
"""What broke a tie, as a scorecard prints it."""


def end_reason(
    innings: InningsEntry, conditions: dict[str, Any], *, limit: str | None, goal: int | None
) -> str | None:
    """Why an innings ended, by what the file shows: declared, all_out, overs or target, else None.

    `limit` are its overs as text, `goal` the runs that won.
    """
    if innings.declared:
        return "declared"
    if goal is not None and innings.total() >= goal:
        return "target"
    out, away = 0, set(innings.absent_hurt or ())
    for ball in innings.deliveries():
        away -= {ball.batter, ball.non_striker}
        for wicket in ball.wickets or ():
            if wicket.kind in NO_DISMISSAL:
                away.add(wicket.player_out)
            else:
                out += 1
    allowed = conditions["super_over"]["wickets"] if innings.super_over else conditions["players"] - 1
    if out >= allowed or (away and out + len(away) >= allowed):
        return "all_out"
    if limit is not None and balls_bowled(innings, conditions) >= balls_of(
        limit, conditions["balls_an_over"]
    ):
        return "overs"
    return None


def balls_of(overs: str, balls_an_over: int) -> int:
    """Balls of an amount of overs as written: "48.5" is 48 overs and 5 balls."""
    whole, _, part = overs.partition(".")
    return int(whole) * balls_an_over + int(part or 0)


def balls_bowled(innings: InningsEntry, conditions: dict[str, Any]) -> int:
    """Balls of an innings with every completed over counted as a full one."""
    overs = numbered_overs(innings)
    if not overs:
        return 0
    number, last = overs[-1]
    balls: int = conditions["balls_an_over"]
    if over_is_complete(innings, number, last, number, balls):
        return (number + 1) * balls
    legal = sum(ball.is_legal for ball in last.deliveries)
    return number * balls + legal


def write_bowl_out(script: Script, match: MatchEntry) -> None:
    """Every ball of a bowl-out."""
    for ball in match.info.bowl_out or ():
        team = next((team for team in script.sides if (team, ball.bowler) in script.keys), None)
        if team is not None:
            script.add("cricket.bowl_out", bowler=script.keys[team, ball.bowler], hit=ball.outcome == "hit")


def write_result(script: Script, match: MatchEntry) -> None:
    """The result as the umpires gave it; for a result that the figures decide, only if they did not."""
    outcome = match.info.outcome
    if outcome is None:
        return
    decided = outcome.result is None or outcome.result == "tie"
    by_figures = decided and (
        outcome.method is None or (outcome.method in REVISING_METHODS and _has_target(match))
    )
    script.add(
        "cricket.result", unless_emitted="match_end" if by_figures else None, **_given(script, outcome)
    )


def _has_target(match: MatchEntry) -> bool:
    return any(innings.target is not None for innings in match.innings)


def _given(script: Script, outcome: OutcomeEntry) -> dict[str, Any]:
    tie_break = SUPER_OVER if outcome.eliminator else BOWL_OUT if outcome.bowl_out else None
    fields: dict[str, Any] = {"method": outcome.method or tie_break}
    winner = outcome.winner or outcome.eliminator or outcome.bowl_out
    fields["winner"] = script.sides.get(winner) if winner else None
    if outcome.result is not None:
        return fields | {"kind": outcome.result.replace(" ", "_")}
    if outcome.by is not None:
        fields |= {"runs": outcome.by.runs, "wickets": outcome.by.wickets, "innings": outcome.by.innings}
    return fields | {"kind": "won"}
