"""What a Cricsheet file itself adds up to, straight from its JSON and apart from any scoring code.

The usual conventions of a scorecard: balls faced count no-balls and not wides; a bowler's runs are bat
runs, wides and no-balls; bowled, caught, lbw, stumped and hit wicket are the bowler's; retired hurt and
retired not out are no wickets; overs are the number of the last over and the legal balls in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

BOWLERS_WICKETS = ("bowled", "caught", "caught and bowled", "lbw", "stumped", "hit wicket")
WICKETS = 10
"""Wickets of an innings."""
NOT_WICKETS = ("retired hurt", "retired not out", "retired")


@dataclass(slots=True)
class BatterTally:
    """A batter's innings. `out` is Cricsheet's word, None while not out; fielders by name, None unnamed."""

    runs: int = 0
    balls: int = 0
    fours: int = 0
    sixes: int = 0
    out: str | None = None
    bowler: str | None = None
    fielders: list[str | None] = field(default_factory=list)


@dataclass(slots=True)
class BowlerTally:
    """A bowler's figures; `balls` are the legal ones, `overs` as on a card."""

    balls: int = 0
    runs: int = 0
    wickets: int = 0
    maidens: int = 0
    wides: int = 0
    no_balls: int = 0
    overs: str = "0"


@dataclass(slots=True)
class InningsTally:
    """One innings; batters and bowlers by name."""

    segment: str
    team: str
    bowling: str
    runs: int = 0
    wickets: int = 0
    overs: str = "0"
    byes: int = 0
    leg_byes: int = 0
    wides: int = 0
    no_balls: int = 0
    penalty: int = 0
    batters: dict[str, BatterTally] = field(default_factory=dict)
    bowlers: dict[str, BowlerTally] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultTally:
    """The outcome the file states.

    `kind` is won, tie, draw or no_result; `winner` a team, also the one that won a super over or bowl-out,
    which is then the `method`.
    """

    kind: str
    winner: str | None
    margin: dict[str, int]
    method: str | None


@dataclass(frozen=True, slots=True)
class MatchTally:
    """A whole file added up."""

    innings: tuple[InningsTally, ...]
    result: ResultTally | None


def tally(plain: dict[str, Any]) -> MatchTally:
    """Adds up a file that `read_cricsheet` could read; `plain` is its JSON."""
    teams = plain["info"]["teams"]
    balls_an_over = plain["info"].get("balls_per_over", 6)
    counts = {"innings": 0, "super-over": 0}
    added: list[InningsTally] = []
    outcome = plain["info"].get("outcome") or {}
    for innings in plain["innings"]:
        part = "super-over" if innings.get("super_over") else "innings"
        counts[part] += 1
        bowling = teams[1] if innings["team"] == teams[0] else teams[0]
        last = len(added) + 1 == len(plain["innings"])
        won = last and "wickets" in (outcome.get("by") or {}) and outcome.get("winner") == innings["team"]
        added.append(_add_up(innings, f"{part}-{counts[part]}", bowling, balls_an_over, won=won))
    return MatchTally(tuple(added), _result(outcome))


def _add_up(
    innings: dict[str, Any], segment: str, bowling: str, balls_an_over: int, *, won: bool
) -> InningsTally:
    """One innings; `won` when it ended with the winning hit."""
    card = InningsTally(segment, innings["team"], bowling)
    for ball in _balls(innings):
        _add_ball(card, ball)
    penalty = sum(runs or 0 for runs in (innings.get("penalty_runs") or {}).values())
    card.penalty += penalty
    card.runs += penalty
    all_out = card.wickets + len(innings.get("absent_hurt") or ()) >= WICKETS
    _add_overs(card, innings, balls_an_over, cut_short=won or all_out)
    return card


def _balls(innings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for over in innings.get("overs") or ():
        yield from over["deliveries"]


def _add_ball(card: InningsTally, ball: dict[str, Any]) -> None:
    runs = ball["runs"]
    extras = ball.get("extras") or {}
    wides, no_balls = extras.get("wides", 0), extras.get("noballs", 0)
    card.runs += runs["total"]
    card.byes += extras.get("byes", 0)
    card.leg_byes += extras.get("legbyes", 0)
    card.wides += wides
    card.no_balls += no_balls
    card.penalty += extras.get("penalty", 0)

    batter = card.batters.setdefault(ball["batter"], BatterTally())
    if ball.get("non_striker"):
        card.batters.setdefault(ball["non_striker"], BatterTally())
    batter.runs += runs["batter"]
    batter.balls += not wides
    batter.fours += runs["batter"] == 4 and not runs.get("non_boundary")
    batter.sixes += runs["batter"] == 6 and not runs.get("non_boundary")

    bowler = card.bowlers.setdefault(ball["bowler"], BowlerTally())
    bowler.balls += not (wides or no_balls)
    bowler.runs += runs["batter"] + wides + no_balls
    bowler.wides += wides
    bowler.no_balls += no_balls

    for wicket in ball.get("wickets") or ():
        if wicket["kind"] in NOT_WICKETS:
            continue
        card.wickets += 1
        out = card.batters.setdefault(wicket["player_out"], BatterTally())
        out.out = wicket["kind"]
        out.fielders = [_name(fielder) for fielder in wicket.get("fielders") or () if fielder]
        if wicket["kind"] in BOWLERS_WICKETS:
            out.bowler = ball["bowler"]
            bowler.wickets += 1


def _name(fielder: Any) -> str | None:
    return fielder if isinstance(fielder, str) else fielder.get("name")


def _add_overs(card: InningsTally, innings: dict[str, Any], balls_an_over: int, *, cut_short: bool) -> None:
    """Overs of the innings and of each bowler, and maidens.

    A last over with too few balls was called all the same where the file says that it was miscounted,
    unless a wicket or the winning hit ended the innings with it (`cut_short`).
    """
    overs = innings.get("overs") or []
    miscounted = innings.get("miscounted_overs") or {}
    whole: dict[str, int] = {}
    spare: dict[str, int] = {}
    for index, over in enumerate(overs):
        number = index if over.get("over") is None else over["over"]
        legal = dict.fromkeys((ball["bowler"] for ball in over["deliveries"]), 0)
        conceded = 0
        for ball in over["deliveries"]:
            extras = ball.get("extras") or {}
            charged = extras.get("wides", 0) + extras.get("noballs", 0)
            conceded += ball["runs"]["batter"] + charged
            legal[ball["bowler"]] += not charged
        balls = sum(legal.values())
        last = index == len(overs) - 1
        called = str(number) in miscounted and not cut_short
        complete = not last or balls >= balls_an_over or called
        if last:
            card.overs = str(number + 1) if complete else _overs_text(number, balls)
        if complete and len(legal) == 1:
            (name,) = legal
            whole[name] = whole.get(name, 0) + 1
            card.bowlers[name].maidens += conceded == 0
        else:
            for name, bowled in legal.items():
                spare[name] = spare.get(name, 0) + bowled
    for name, bowler in card.bowlers.items():
        more, rest = divmod(spare.get(name, 0), balls_an_over)
        bowler.overs = _overs_text(whole.get(name, 0) + more, rest)


def _overs_text(whole: int, balls: int) -> str:
    return f"{whole}.{balls}" if balls else str(whole)


def _result(outcome: dict[str, Any]) -> ResultTally | None:
    if not outcome:
        return None
    winner = outcome.get("winner") or outcome.get("eliminator") or outcome.get("bowl_out")
    kind = outcome["result"].replace(" ", "_") if outcome.get("result") else "won"
    tie_break = "super over" if outcome.get("eliminator") else "bowl-out" if outcome.get("bowl_out") else None
    return ResultTally(kind, winner, dict(outcome.get("by") or {}), outcome.get("method") or tie_break)
