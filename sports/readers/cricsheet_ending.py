"""How an innings and the match ended, as a Cricsheet file tells it.

Ends that the figures tell come from the engine by themselves; those steps are sent only where they did
not.
"""

from typing import Any

from sports.readers.cricsheet_file import InningsEntry, MarginEntry, MatchEntry, OutcomeEntry, TargetEntry
from sports.readers.cricsheet_format import NO_DISMISSAL
from sports.readers.cricsheet_overs import balls_bowled, balls_of
from sports.readers.cricsheet_script import Script

REVISING_METHODS = frozenset({"D/L", "DLS", "VJD"})
"""Methods that set the side batting last another target."""
TIE = "tie"
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
    out, away = wickets_lost(innings), unavailable(innings)
    allowed = conditions["super_over"]["wickets"] if innings.super_over else conditions["players"] - 1
    if out >= allowed or (away and out + len(away) >= allowed):
        return "all_out"
    if limit is not None and balls_bowled(innings, conditions) >= balls_of(
        limit, conditions["balls_an_over"]
    ):
        return "overs"
    return None


def wickets_lost(innings: InningsEntry) -> int:
    """Wickets that fell; retired out is one, retired hurt and not out are none."""
    return sum(
        wicket.kind not in NO_DISMISSAL for ball in innings.deliveries() for wicket in ball.wickets or ()
    )


def unavailable(innings: InningsEntry) -> set[str]:
    """Batters who were absent, or had retired and not come back."""
    away = set(innings.absent_hurt or ())
    for ball in innings.deliveries():
        away -= {ball.batter, ball.non_striker}
        away |= {wicket.player_out for wicket in ball.wickets or () if wicket.kind in NO_DISMISSAL}
    return away


def revised_in_time(
    innings: InningsEntry, conditions: dict[str, Any], target: TargetEntry, outcome: OutcomeEntry | None
) -> bool:
    """True when the innings can have been played under this target from its start.

    Where play was cut off, the file gives what was needed by then: a side that was ahead had passed it
    before its last ball, and won by runs. Such a target was never played to; the result tells of it.
    """
    if outcome and outcome.winner == innings.team and outcome.by and outcome.by.runs is not None:
        return False
    deliveries = list(innings.deliveries())
    before_last = innings.total() - (deliveries[-1].runs.total if deliveries else 0)
    in_runs = target.runs is None or before_last < target.runs
    limit = None if target.overs is None else balls_of(str(target.overs), conditions["balls_an_over"])
    return in_runs and (limit is None or balls_bowled(innings, conditions) <= limit)


def figures_say(
    innings: InningsEntry, other: str, conditions: dict[str, Any], *, goal: int | None, reason: str | None
) -> tuple[str, dict[str, int]] | None:
    """What the figures of the innings that was last make of the match: winner (or "tie") and margin."""
    if goal is None:
        return None
    if innings.total() >= goal:
        return innings.team, {"wickets": conditions["players"] - 1 - wickets_lost(innings)}
    if reason is None:
        return None
    short = goal - 1 - innings.total()
    return (other, {"runs": short}) if short else (TIE, {})


def write_bowl_out(script: Script, match: MatchEntry) -> None:
    """Every ball of a bowl-out."""
    for ball in match.info.bowl_out or ():
        team = next((team for team in script.sides if (team, ball.bowler) in script.keys), None)
        if team is None:
            script.leave_out(f"a ball of the bowl-out: {ball.bowler!r} plays for neither team")
        else:
            script.add("cricket.bowl_out", bowler=script.keys[team, ball.bowler], hit=ball.outcome == "hit")


def write_result(script: Script, match: MatchEntry, figures: tuple[str, dict[str, int]] | None) -> None:
    """The result as the umpires gave it.

    Where it follows from the figures it is sent only if the engine did not find it. `figures` is what
    they say of a chase; by a method that sets targets, the umpires' word counts wherever it differs.
    """
    outcome = match.info.outcome
    if outcome is None or outcome == OutcomeEntry():
        return
    if outcome.method is not None:
        follows = outcome.method in REVISING_METHODS and figures == _stated(outcome)
    else:
        follows = outcome.result in (None, TIE)
    needed = None if follows else _needed(match)
    script.add(
        "cricket.result", unless_emitted="match_end" if follows else None, **_given(script, outcome, needed)
    )


def _needed(match: MatchEntry) -> str | None:
    """The target of the innings that was last, as a reason for the result."""
    target = match.innings[-1].target if match.innings else None
    if target is None or target.runs is None:
        return None
    return f"target {target.runs}" + (f" in {target.overs} overs" if target.overs is not None else "")


def _stated(outcome: OutcomeEntry) -> tuple[str, dict[str, int]]:
    by = outcome.by or MarginEntry()
    numbers = {"runs": by.runs, "wickets": by.wickets, "innings": by.innings}
    return outcome.winner or outcome.result or "", {
        name: number for name, number in numbers.items() if number is not None
    }


def _given(script: Script, outcome: OutcomeEntry, reason: str | None) -> dict[str, Any]:
    tie_break = SUPER_OVER if outcome.eliminator else BOWL_OUT if outcome.bowl_out else None
    fields: dict[str, Any] = {"method": outcome.method or tie_break, "reason": reason}
    winner = outcome.winner or outcome.eliminator or outcome.bowl_out
    fields["winner"] = script.sides.get(winner) if winner else None
    if outcome.result is not None:
        return fields | {"kind": outcome.result.replace(" ", "_")}
    if outcome.by is not None:
        fields |= {"runs": outcome.by.runs, "wickets": outcome.by.wickets, "innings": outcome.by.innings}
    return fields | {"kind": "won"}
