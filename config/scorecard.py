"""A scorecard on a console, from a match's document alone: cricket's own, and every other sport's figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from config.figures import print_figures, print_sides
from gateway.flags import SHOWN

Document = Mapping[str, Any]
Values = Mapping[str, Any]

EXTRAS = (("b", "byes"), ("lb", "leg_byes"), ("w", "wides"), ("nb", "no_balls"), ("p", "penalty"))
"""As a card abbreviates them."""
CRICKET = "cricket"
AT_THE_CREASE = ("", "batting")
FALLS_CHARACTERS = 90
"""A line of the fall of wickets at most, however wide the terminal is."""
FALLS_INDENT = "  "


def print_scorecard(console: Console, document: Document) -> None:
    """The whole card: every innings with batting, bowling, extras and fall of wickets, then the result.

    Another sport's has the sides' scores and a table for every role instead of innings.
    Beside the result stands whether it is provisional, official or reopened; below it the flags that are up.
    """
    head = document["head"]
    console.print(Text(str(head.get("name") or ""), style="bold"))
    if head["sport"] == CRICKET:
        for segment in segments(document):
            _print_innings(console, document, segment)
    else:
        print_sides(console, head)
        print_figures(console, document)
    console.print(
        Text.assemble((result_text(document), "bold"), (f"  {standing_text(head)}".rstrip(), "dim"))
    )
    print_flags(console, head)
    console.print()


def segments(document: Document) -> list[str]:
    """The segments with innings in the order they were played: innings, then super overs."""

    def place(segment: str) -> tuple[bool, int]:
        kind, _, number = segment.rpartition("-")
        return kind != "innings", int(number)

    return sorted((s for s in document["parts"] if s.rpartition("-")[2].isdigit()), key=place)


def side_scores(document: Document) -> dict[str, str]:
    """Side's name → its score as a board shows it."""
    return {side["name"]: side["score"] for side in document["head"]["sides"]}


def result_text(document: Document) -> str:
    """How the match ended, or where it stands."""
    result = document["head"].get("result")
    if result:
        return str(result["text"])
    return {"before": "not begun", "interval": "interval"}.get(document["head"].get("phase", ""), "in play")


def standing_text(head: Document) -> str:
    """How the score stands: "official, revision 2", "reopened: a late no-ball"; empty before the end."""
    reason = f": {head['ruling']['reason']}" if head.get("standing") == "reopened" else ""
    return standing_word(head) + reason


def standing_word(head: Document) -> str:
    """The standing without its reason."""
    standing, revision = str(head.get("standing") or ""), head.get("revision", 0)
    return f"official, revision {revision}" if standing == "official" and revision > 1 else standing


def flag_names(head: Document) -> list[str]:
    """The flags that are up, as readers know them."""
    return [SHOWN.get(name, name) for name in head.get("flags") or {}]


def print_flags(console: Console, head: Document) -> None:
    """Every flag that is up, with its reason and who gave it."""
    for name, raised in (head.get("flags") or {}).items():
        said = f": {raised['reason']} ({raised['by']})"
        console.print(Text.assemble((f"! {SHOWN.get(name, name)}", "bold yellow"), said))


def _overs(bowled: str) -> str:
    return "1 over" if bowled == "1" else f"{bowled} overs"


def _print_innings(console: Console, document: Document, segment: str) -> None:
    lines = document["parts"][segment]["lines"]
    names: Mapping[str, str] = document["head"]["names"]
    side, total = next(_of(lines, "side"), ("", {}))
    title = Text.assemble(
        (f"{names.get(side, side)}  ", "bold"),
        (f"{_total(total)} ", "bold"),
        f"({_overs(str(total.get('overs', '0')))})  ",
        (segment.replace("-", " "), "dim"),
    )
    console.print(title)
    batters = sorted(_of(lines, "batting"), key=lambda line: (line[1].get("position") or 99, line[0]))
    batted = [(subject, values) for subject, values in batters if values.get("position") is not None]
    if batted:
        console.print(_batting(batted, names))
    console.print(f"  Extras {_extras(total)}", highlight=False)
    # A comma may follow.
    for line in _falls(batted, names, min(FALLS_CHARACTERS, console.width - len(FALLS_INDENT) - 1)):
        console.print(f"{FALLS_INDENT}{escape(line)}", highlight=False)
    if bowlers := list(_of(lines, "bowling")):
        console.print(_bowling(bowlers, names))
    console.print()


def _of(lines: Sequence[Mapping[str, Any]], role: str) -> Iterator[tuple[str, Values]]:
    return ((line["subject"], line["values"]) for line in lines if line["role"] == role)


def _total(side: Values) -> str:
    """As a board shows it: the wickets only if the side was not all out, "d" when it declared."""
    runs, wickets, closed = side.get("runs", 0), side.get("wickets", 0), side.get("closed")
    return f"{runs}" if closed == "all_out" else f"{runs}/{wickets}{'d' if closed == 'declared' else ''}"


def _extras(side: Values) -> str:
    parts = [(short, side.get(name) or 0) for short, name in EXTRAS]
    shown = ", ".join(f"{short} {runs}" for short, runs in parts if runs)
    return f"{sum(runs for _, runs in parts)}" + (f" ({shown})" if shown else "")


def _batting(batted: Sequence[tuple[str, Values]], names: Mapping[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("  ")
    table.add_column("")
    for heading in ("R", "B", "4s", "6s", "SR"):
        table.add_column(heading, justify="right")
    for subject, values in batted:
        runs, balls = values.get("runs", 0), values.get("balls", 0)
        table.add_row(
            f"  {escape(names.get(subject, subject))}",
            escape(_how_out(values, names)),
            f"[bold]{runs}[/bold]",
            str(balls),
            str(values.get("fours", 0)),
            str(values.get("sixes", 0)),
            f"{100 * runs / balls:.1f}" if balls else "-",
        )
    return table


def _how_out(values: Values, names: Mapping[str, str]) -> str:
    kind = values.get("out_kind")
    if not kind:
        status = str(values.get("status") or "")
        return "not out" if status in AT_THE_CREASE else status
    bowler = values.get("out_bowler")
    by = f"b {names.get(bowler, bowler)}" if bowler else ""
    fielders = [names.get(fielder, fielder) or "sub" for fielder in values.get("out_fielders") or ()]
    return {
        "bowled": by,
        "caught": f"c {fielders[0] if fielders else '?'} {by}",
        "caught_and_bowled": f"c & {by}",
        "lbw": f"lbw {by}",
        "stumped": f"st {fielders[0] if fielders else '?'} {by}",
        "hit_wicket": f"hit wicket {by}",
        "run_out": f"run out ({'/'.join(fielders)})" if fielders else "run out",
    }.get(kind, str(kind).replace("_", " "))


def _falls(
    batted: Sequence[tuple[str, Values]], names: Mapping[str, str], limit_characters: int
) -> list[str]:
    """The fall of wickets, on lines of at most so many characters; a wicket is never parted."""
    fallen = sorted(
        (values["fall_wicket"], values["fall_runs"], values.get("fall_over"), names.get(subject, subject))
        for subject, values in batted
        if values.get("fall_wicket")
    )
    lines: list[str] = []
    for wicket, runs, over, name in fallen:
        fall = f"{wicket}-{runs} ({name}{f', {over}' if over else ''})"
        if not lines:
            lines = [f"Fall of wickets: {fall}"]
        elif len(lines[-1]) + len(fall) + 2 <= limit_characters:
            lines[-1] += f", {fall}"
        else:
            lines = [*lines[:-1], f"{lines[-1]},", f"  {fall}"]
    return lines


def _bowling(bowlers: Sequence[tuple[str, Values]], names: Mapping[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("  ")
    for heading in ("O", "M", "R", "W", "Wd", "Nb"):
        table.add_column(heading, justify="right")
    for subject, values in bowlers:
        figures = (values.get(f, 0) for f in ("overs", "maidens", "runs", "wickets", "wides", "no_balls"))
        table.add_row(f"  {escape(names.get(subject, subject))}", *(str(figure) for figure in figures))
    return table
