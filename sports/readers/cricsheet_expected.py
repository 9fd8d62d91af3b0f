"""What a Cricsheet file itself adds up to, under the keys of the match that was read from it."""

from typing import Any

from sports.readers.cricsheet import CricsheetMatch
from sports.readers.cricsheet_script import clean_name
from sports.readers.cricsheet_tally import BatterTally, InningsTally, ResultTally, tally
from sports.readers.expected import Expected, ExpectedLine

SIDE_FIGURES = ("runs", "wickets", "overs", "byes", "leg_byes", "wides", "no_balls", "penalty")
BATTING_FIGURES = ("runs", "balls", "fours", "sixes")
BOWLING_FIGURES = ("overs", "maidens", "runs", "wickets", "balls", "wides", "no_balls")
WITHOUT_FIELDERS = frozenset({"bowled", "caught and bowled"})
"""The bowler alone, or he is the fielder."""


def expected_of(match: CricsheetMatch) -> Expected:
    """Every total, every batter's and bowler's figures, and the result where the file states one."""
    added = tally(match.plain)
    lines = tuple(line for innings in added.innings for line in _lines(match, innings))
    return Expected(lines, None if added.result is None else _result(match, added.result))


def _lines(match: CricsheetMatch, innings: InningsTally) -> list[ExpectedLine]:
    segment, keys = innings.segment, match.keys
    lines = [ExpectedLine(segment, "side", match.sides[innings.team], _figures(innings, SIDE_FIGURES))]
    for name, batter in innings.batters.items():
        values = _figures(batter, BATTING_FIGURES) | _how_out(match, innings.bowling, batter)
        lines.append(ExpectedLine(segment, "batting", keys[innings.team, name], values))
    for name, bowler in innings.bowlers.items():
        figures = _figures(bowler, BOWLING_FIGURES)
        lines.append(ExpectedLine(segment, "bowling", keys[innings.bowling, name], figures))
    return lines


def _figures(tally: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(tally, name) for name in names}


def _how_out(match: CricsheetMatch, bowling: str, batter: BatterTally) -> dict[str, Any]:
    how: dict[str, Any] = {
        "out_kind": batter.out and batter.out.replace(" ", "_"),
        "out_bowler": batter.bowler and match.keys[bowling, batter.bowler],
    }
    if batter.out not in WITHOUT_FIELDERS:
        how["out_fielders"] = [
            None if name is None else match.keys.get((bowling, name)) or clean_name(name)
            for name in batter.fielders
        ]
    return how


def _result(match: CricsheetMatch, result: ResultTally) -> dict[str, Any]:
    return {
        "kind": result.kind,
        "winner": result.winner and match.sides.get(result.winner),
        "margin": result.margin,
        "method": result.method,
    }
