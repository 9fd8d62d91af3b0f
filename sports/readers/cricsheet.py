"""Reads a match in Cricsheet's JSON format into the commands a scorer would have sent.

The commands are plain data in the shape of cricket's command set; nothing of a sport is imported. See
https://cricsheet.org/format/json/ for the format; data_version 1.0.0 and 1.1.0 are read alike.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sports.readers.cricsheet_ending import (
    REVISING_METHODS,
    end_reason,
    figures_say,
    revised_in_time,
    write_bowl_out,
    write_result,
)
from sports.readers.cricsheet_file import InningsEntry, MatchEntry, TargetEntry, decode_match, decode_plain
from sports.readers.cricsheet_format import first_day, follows_on, read_format
from sports.readers.cricsheet_innings import InningsScript
from sports.readers.cricsheet_script import Script, clean_name
from sports.readers.errors import UnreadableMatch
from sports.readers.file import read_file
from sports.readers.steps import Step, count_deliveries

SOURCE = "cricsheet"
"""The name of the outside source in a match's and its people's ids."""


@dataclass(frozen=True, slots=True)
class CricsheetMatch:
    """A match as read.

    `opening` is the input of `match.open`; `steps` the commands in order. `people` gives the registry id
    of each match-local key that has one, `keys` the key of (team, name), `plain` the file itself.
    """

    id: str
    name: str
    competition: str | None
    opening: dict[str, Any]
    people: dict[str, str]
    steps: tuple[Step, ...]
    sides: dict[str, str]
    """Team → side key."""
    keys: dict[tuple[str, str], str]
    plain: dict[str, Any]
    notes: tuple[str, ...] = ()
    """What the file says that no command can, such as a review by nobody known; no figure depends on it."""

    @property
    def deliveries(self) -> int:
        """How many deliveries the match has."""
        return count_deliveries(self.steps)


def read_cricsheet(path: Path) -> CricsheetMatch:
    """Reads a file; the match's id is the file's name without its ending, as Cricsheet names files.

    Raises:
        ReaderError: the file cannot be read, or is not a match; says what, where, and what to do.
    """
    return parse_cricsheet(read_file(path), str(path), id=path.stem)


def parse_cricsheet(data: bytes, file: str, *, id: str) -> CricsheetMatch:
    """Reads a file's bytes; `file` is its name in errors, `id` the match's id at the source.

    Raises:
        ReaderError: see `read_cricsheet`.
    """
    plain = decode_plain(data, file)
    match = decode_match(plain, file)
    meta = plain.get("meta")
    day = first_day(match.info) or (meta.get("created") if isinstance(meta, dict) else None)
    if not isinstance(day, str):
        raise UnreadableMatch(file, "info.dates is empty", "give the first day there")
    strangers = [innings.team for innings in match.innings if innings.team not in match.info.teams]
    if strangers:
        raise UnreadableMatch(file, f"an innings is of {strangers[0]!r}, who do not play", "mend its team")
    conditions = read_format(match)
    script = Script(match.info)
    _write_match(script, match, conditions, file)
    names = {key: clean_name(name) for (_, name), key in script.sheet.items()}
    opening = {
        "sides": [
            {
                "key": side,
                "name": clean_name(team),
                "players": [
                    {"key": key, "name": names[key]} for (of, _), key in script.sheet.items() if of == team
                ],
            }
            for team, side in script.sides.items()
        ],
        "first_day": day,
        "format": conditions,
    }
    first, second = (clean_name(team) for team in match.info.teams)
    event = match.info.event.name if match.info.event else None
    return CricsheetMatch(
        id=id,
        name=f"{first} v {second}",
        competition=event,
        opening=opening,
        people=_people(script, match),
        steps=tuple(script.steps),
        sides=dict(script.sides),
        keys=dict(script.keys),
        plain=plain,
        notes=tuple(script.notes),
    )


def _write_match(script: Script, match: MatchEntry, conditions: dict[str, Any], file: str) -> None:
    _write_before_play(script, match)
    played: list[InningsEntry] = []
    turns: list[InningsEntry] = []
    figures: tuple[str, dict[str, int]] | None = None
    for number, innings in enumerate(match.innings, 1):
        earlier = turns if innings.super_over else played
        last = number == len(match.innings)
        earlier.append(innings)
        if innings.forfeited and not innings.overs:
            script.add("cricket.innings_end", reason="forfeited", batting=script.sides[innings.team])
            continue
        goal = _goal(earlier, conditions, super_over=innings.super_over)
        limit = str(conditions["overs"]) if "overs" in conditions else None
        if innings.super_over:
            limit = str(conditions["super_over"]["overs"])
        target = None if innings.super_over else innings.target
        in_time = target is not None and revised_in_time(innings, conditions, target, match.info.outcome)
        if target is not None and in_time:
            _write_revision(script, match, target, goal=goal, limit=limit)
            limit = limit if target.overs is None else str(target.overs)
        follow_on = not innings.super_over and follows_on(played)
        InningsScript(script, innings, number, conditions, file).write(follow_on=follow_on)
        if target is not None and in_time:
            goal = target.runs or goal
        reason = end_reason(innings, conditions, limit=limit, goal=goal)
        if reason is not None or not last:
            script.add("cricket.innings_end", unless_emitted="innings_end", reason=reason or "closed")
        if innings.penalty_runs and innings.penalty_runs.post:
            script.add(
                "cricket.penalty",
                side=script.sides[innings.team],
                runs=innings.penalty_runs.post,
                innings=number,
                reason="after the innings",
            )
        figures = figures_say(innings, script.other(innings.team), conditions, goal=goal, reason=reason)
    write_bowl_out(script, match)
    write_result(script, match, figures)


def _write_before_play(script: Script, match: MatchEntry) -> None:
    toss = match.info.toss
    if toss and toss.winner in script.sides and toss.decision in ("bat", "field"):
        script.add("cricket.toss", winner=script.sides[toss.winner], decision=toss.decision)
    officials = match.info.officials
    if officials:
        named = {
            "umpires": officials.umpires,
            "tv_umpire": officials.tv_umpires,
            "reserve_umpire": officials.reserve_umpires,
            "referee": officials.match_referees,
        }
        fields: dict[str, Any] = {
            post: [clean_name(name) for name in names] for post, names in named.items() if names
        }
        script.add("cricket.officials", **fields)


def _goal(played: list[InningsEntry], conditions: dict[str, Any], *, super_over: bool) -> int | None:
    """Runs that win the innings last in `played` by the totals alone, None where no innings can chase."""
    batting = played[-1].team
    if super_over:
        chasing = len(played) % 2 == 0
        return played[-2].total() + 1 if chasing else None
    if len(played) != 2 * conditions["innings_a_side"]:
        return None
    others = sum(innings.total() for innings in played if innings.team != batting)
    own = sum(innings.total() for innings in played[:-1] if innings.team == batting)
    return max(others - own + 1, 1)


def _method(match: MatchEntry) -> str | None:
    """The method by which the target was set, where the file names one."""
    method = match.info.outcome.method if match.info.outcome else None
    return method if method in REVISING_METHODS else None


def _write_revision(
    script: Script, match: MatchEntry, target: TargetEntry, *, goal: int | None, limit: str | None
) -> None:
    """Target and overs where the file gives others than the totals and the format, or names a method."""
    overs = None if target.overs is None or str(target.overs) == limit else str(target.overs)
    method = _method(match)
    if target.runs != goal or overs is not None or method is not None:
        script.add("cricket.revise", target=target.runs, overs=overs, method=method)


def _people(script: Script, match: MatchEntry) -> dict[str, str]:
    """Registry ids by key, of the players on the sheet; one id is given to one key only."""
    registry = (match.info.registry and match.info.registry.people) or {}
    people: dict[str, str] = {}
    for (_, name), key in script.sheet.items():
        id = registry.get(name)
        if id and id not in people.values():
            people[key] = id
    return people
