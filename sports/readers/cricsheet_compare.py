"""Compares what a Cricsheet file adds up to with the document of the match as it was scored.

The document is plain data: {"head": {"result": …}, "parts": {segment: {"lines": [{"subject", "role",
"values"}, …]}}}. Every difference is one plain sentence.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sports.readers.cricsheet import CricsheetMatch
from sports.readers.cricsheet_tally import BatterTally, BowlerTally, InningsTally, MatchTally, ResultTally

Values = Mapping[str, Any]
Lines = dict[tuple[str, str], Values]
"""(role, subject) → values."""

SIDE_FIGURES = ("runs", "wickets", "overs", "byes", "leg_byes", "wides", "no_balls", "penalty")
BATTING_FIGURES = ("runs", "balls", "fours", "sixes")
BOWLING_FIGURES = ("balls", "runs", "wickets", "maidens", "wides", "no_balls", "overs")


def compare(match: CricsheetMatch, added: MatchTally, document: Mapping[str, Any]) -> list[str]:
    """Every figure in which the document differs from the file; empty where they agree."""
    return list(_differences(match, added, document))


def count_figures(added: MatchTally) -> int:
    """How many figures a comparison looks at, for its report."""
    figures = 4 if added.result else 0
    for innings in added.innings:
        figures += len(SIDE_FIGURES) + len(innings.bowlers) * len(BOWLING_FIGURES)
        figures += len(innings.batters) * (len(BATTING_FIGURES) + 3)
    return figures


def _differences(match: CricsheetMatch, added: MatchTally, document: Mapping[str, Any]) -> Iterator[str]:
    parts = document["parts"]
    for innings in added.innings:
        part = parts.get(innings.segment, {"lines": []})
        lines: Lines = {(line["role"], line["subject"]): line["values"] for line in part["lines"]}
        yield from _innings(match, innings, lines)
    known = {innings.segment for innings in added.innings}
    for segment in parts:
        if segment.startswith(("innings-", "super-over-")) and segment not in known:
            yield f"{segment}: scored, but the file has no such innings"
    yield from _result(match, added.result, document["head"].get("result"))


def _innings(match: CricsheetMatch, innings: InningsTally, lines: Lines) -> Iterator[str]:
    where = f"{innings.segment} ({innings.team})"
    side = lines.get(("side", match.sides[innings.team]), {})
    for figure in SIDE_FIGURES:
        yield from _figure(where, figure, getattr(innings, figure), side.get(figure, _nothing(figure)))
    names = {key: name for (_, name), key in match.keys.items()}
    for name, batter in innings.batters.items():
        values = lines.get(("batting", match.keys[innings.team, name]), {})
        yield from _batter(f"{where}, {name} batting", names, batter, values)
    for name, bowler in innings.bowlers.items():
        values = lines.get(("bowling", match.keys[innings.bowling, name]), {})
        yield from _bowler(f"{where}, {name} bowling", bowler, values)
    yield from _strangers(where, match, innings, lines, names)


def _batter(where: str, names: Mapping[str, str], batter: BatterTally, values: Values) -> Iterator[str]:
    for figure in BATTING_FIGURES:
        yield from _figure(where, figure, getattr(batter, figure), values.get(figure, 0))
    out = None if batter.out is None else batter.out.replace(" ", "_")
    yield from _figure(where, "out", out, values.get("out_kind"))
    bowler = values.get("out_bowler")
    yield from _figure(
        where, "out to the bowler", batter.bowler, names.get(bowler, bowler) if bowler else None
    )
    if batter.out != "caught and bowled":  # the bowler is the fielder
        scored = [names.get(fielder, fielder) for fielder in values.get("out_fielders") or ()]
        yield from _figure(where, "fielders", batter.fielders, scored)


def _bowler(where: str, bowler: BowlerTally, values: Values) -> Iterator[str]:
    for figure in BOWLING_FIGURES:
        yield from _figure(where, figure, getattr(bowler, figure), values.get(figure, _nothing(figure)))


def _strangers(
    where: str, match: CricsheetMatch, innings: InningsTally, lines: Lines, names: Mapping[str, str]
) -> Iterator[str]:
    """Figures of players who have none in the file."""
    batters = {match.keys[innings.team, name] for name in innings.batters}
    bowlers = {match.keys[innings.bowling, name] for name in innings.bowlers}
    for (role, subject), values in lines.items():
        known = {"batting": batters, "bowling": bowlers}.get(role)
        figures = BATTING_FIGURES if role == "batting" else BOWLING_FIGURES
        if (
            known is not None
            and subject not in known
            and any(values.get(f) not in (None, 0, "0") for f in figures)
        ):
            yield f"{where}: {names.get(subject, subject)} has {role} figures, but none in the file"


def _result(match: CricsheetMatch, stated: ResultTally | None, result: Values | None) -> Iterator[str]:
    if stated is None:
        return
    if result is None:
        yield f"result: the file says {stated.kind}, the match has none"
        return
    winner = None if stated.winner is None else match.sides.get(stated.winner)
    yield from _figure("result", "kind", stated.kind, result.get("kind"))
    yield from _figure("result", "winner", winner, result.get("winner"))
    yield from _figure("result", "margin", stated.margin, dict(result.get("margin") or {}))
    yield from _figure("result", "method", stated.method, result.get("method"))


def _figure(where: str, figure: str, file: Any, scored: Any) -> Iterator[str]:
    if file != scored:
        yield f"{where}: {figure.replace('_', ' ')} {scored} as scored, {file} in the file"


def _nothing(figure: str) -> Any:
    return "0" if figure == "overs" else 0
