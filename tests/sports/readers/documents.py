"""The document a match would have if it was scored as its file adds up."""

from typing import Any

from sports.readers.cricsheet import CricsheetMatch
from sports.readers.cricsheet_tally import InningsTally, tally


def document_of(match: CricsheetMatch) -> dict[str, Any]:
    """The document, made from the tally."""
    added = tally(match.plain)
    assert added.result is not None
    winner = added.result.winner
    return {
        "head": {
            "result": {
                "kind": added.result.kind,
                "winner": None if winner is None else match.sides[winner],
                "margin": added.result.margin,
                "method": added.result.method,
            }
        },
        "parts": {innings.segment: {"lines": _lines(match, innings)} for innings in added.innings},
    }


def _lines(match: CricsheetMatch, innings: InningsTally) -> list[dict[str, Any]]:
    side_figures = ("runs", "wickets", "overs", "byes", "leg_byes", "wides", "no_balls", "penalty")
    lines: list[dict[str, Any]] = [
        {
            "subject": match.sides[innings.team],
            "role": "side",
            "values": {figure: getattr(innings, figure) for figure in side_figures},
        }
    ]
    for name, batter in innings.batters.items():
        values = {figure: getattr(batter, figure) for figure in ("runs", "balls", "fours", "sixes")}
        values["out_kind"] = batter.out and batter.out.replace(" ", "_")
        values["out_bowler"] = batter.bowler and match.keys[innings.bowling, batter.bowler]
        values["out_fielders"] = [
            None if fielder is None else match.keys.get((innings.bowling, fielder), fielder)
            for fielder in batter.fielders
        ]
        lines.append({"subject": match.keys[innings.team, name], "role": "batting", "values": values})
    for name, bowler in innings.bowlers.items():
        figures = ("balls", "runs", "wickets", "maidens", "wides", "no_balls", "overs")
        values = {figure: getattr(bowler, figure) for figure in figures}
        lines.append({"subject": match.keys[innings.bowling, name], "role": "bowling", "values": values})
    return lines
