"""The state of a match: its shape, and a draft of the next one.

The state is plain JSON data without floats. It holds what the next event needs and what screens show now:
the innings in progress in full (`play`), every innings as totals (`innings`).

    format    the playing conditions of the opening
    sides     [side, side], see sheet.py; a player is his number there, as text
    toss      null or [side, "bat" or "field"]
    interval  null, or the kind of the interval play is stopped for
    innings   totals of every innings begun or forfeited, in order, see new_totals
    play      null, or the latest innings in full, see new_play
    pending   [runs, runs]: penalty runs waiting for each side's next innings (Law 41.18)
    limit     null, or [overs, balls]: the limit of a further innings
    quota     null, or overs a bowler may bowl
    target    null, or {"runs", "method"}: as revised; a target that the figures give is not stored
    bowl_out  null, or [[hits, balls], [hits, balls]]
    replaced  [[numbers], [numbers]]: players who were replaced for the rest of the match
    spent     {"out": [[…], […]], "bowlers": [[…], […]]}: dismissed, or bowled last, in a super over
    result    null, or {"kind", "winner", "margin", "method", "given"}; winner is 0 or 1
"""

from typing import Any

from scorebox_contract import Caution, Joined, State
from scorebox_cricket.sheet import name_of

Record = dict[str, Any]


BATTING = "batting"
NOT_OUT = "not out"
OUT = "out"
RETIRED_HURT = "retired hurt"
RETIRED_NOT_OUT = "retired not out"
RETIRED_OUT = "retired out"
ABSENT = "absent"
"""How a batter stands."""

INCOMPLETE = frozenset({"time", "conceded", "result"})
"""Reasons after which an innings is not completed: its figures alone decide nothing."""


def new_totals(number: int, side: int, segment: str, *, super_over: bool, penalty: int) -> Record:
    """The totals of an innings. `overs` are those called, `part` the legal balls of the over in progress.

    `set` counts how often the score was set by hand; `unaccounted` are the runs that are in nobody's figures
    since then.
    """
    return {
        "number": number,
        "side": side,
        "segment": segment,
        "super_over": super_over,
        "follow_on": False,
        "runs": penalty,
        "wickets": 0,
        "balls": 0,
        "overs": 0,
        "part": 0,
        "byes": 0,
        "leg_byes": 0,
        "wides": 0,
        "no_balls": 0,
        "penalty": penalty,
        "unaccounted": 0,
        "set": 0,
        "closed": None,
    }


def new_play(limit: list[int] | None) -> Record:
    """The innings in progress in full. `unsure`: who faces; `unknown`: who is in, after the score was set."""
    return {
        "batters": {},
        "bowlers": {},
        "fielders": {},
        "crease": [None, None],
        "unsure": False,
        "unknown": False,
        "over": new_over(),
        "streaks": {},
        "free_hit": False,
        "pair": None,
        "pairs": 0,
        "last_wicket": None,
        "reopened": None,
        "limit": limit,
        "powerplays": [],
        "reviews": [0, 0],
    }


def new_over() -> Record:
    """An over before its first ball. `bowler` is who is to bowl the next ball, where that is known.

    `whole` is false where the score was set in its middle.
    """
    return {
        "bowler": None,
        "bowlers": [],
        "deliveries": 0,
        "charged": 0,
        "runs": 0,
        "texts": [],
        "whole": True,
    }


def new_batter(position: int | None, status: str) -> Record:
    """A batter's figures."""
    return {
        "position": position,
        "runs": 0,
        "balls": 0,
        "fours": 0,
        "sixes": 0,
        "dots": 0,
        "status": status,
    }


def new_bowler() -> Record:
    """A bowler's figures.

    `overs` are the whole overs he bowled alone, `part` his legal balls outside them, `begun` the overs he
    bowled any part of (what counts toward the quota).
    """
    return {
        "balls": 0,
        "overs": 0,
        "part": 0,
        "begun": 0,
        "maidens": 0,
        "runs": 0,
        "wickets": 0,
        "wides": 0,
        "no_balls": 0,
        "dots": 0,
        "fours": 0,
        "sixes": 0,
    }


class Draft:
    """The next state while an event is applied: a shallow copy, of which only what changes is copied deeper.

    `lines` collects the changed lines as (role, number) in order: a player's number, or an innings' number
    for a side. `how` tells by number how a batter got out in this event, `pairs` holds changed partnerships,
    `result` is the result before the event.
    """

    __slots__ = ("emits", "how", "joined", "lines", "pairs", "play", "result", "state", "totals", "warnings")

    def __init__(self, state: State) -> None:
        self.state: State = dict(state)
        self.result: Record | None = state["result"]
        self.play: Record = {}
        self.totals: Record = {}
        self.lines: dict[tuple[str, str], None] = {}
        self.how: dict[str, Record] = {}
        self.pairs: dict[int, Record] = {}
        self.emits: list[str] = []
        self.warnings: list[Caution] = []
        self.joined: list[Joined] = []

    def open(self) -> None:
        """Takes own copies of the latest innings' parts. Records inside are copied when they change."""
        if self.play:
            return
        innings = self.state["innings"] = list(self.state["innings"])
        self.totals = innings[-1] = dict(innings[-1])
        play = self.play = self.state["play"] = dict(self.state["play"])
        play["batters"] = dict(play["batters"])
        play["bowlers"] = dict(play["bowlers"])
        play["fielders"] = dict(play["fielders"])
        play["over"] = dict(play["over"])

    def begin(self, totals: Record, play: Record) -> None:
        """Adds an innings and makes it the latest."""
        self.state["innings"] = [*self.state["innings"], totals]
        self.state["play"] = play
        self.totals, self.play = totals, play
        self.touch("side", str(totals["number"]))

    def earlier(self, number: int) -> Record:
        """An own copy of the totals of innings `number`."""
        if self.totals and self.totals["number"] == number:
            return self.totals
        innings = self.state["innings"] = list(self.state["innings"])
        place = next(i for i, totals in enumerate(innings) if totals["number"] == number)
        copy: Record = dict(innings[place])
        innings[place] = copy
        if self.totals:
            self.totals = innings[-1]
        return copy

    def batter(self, number: str) -> Record:
        """An own copy of a batter's record; his line is one that changes."""
        batters = self.play["batters"]
        copy: Record = dict(batters[number])
        batters[number] = copy
        self.lines["batting", number] = None
        return copy

    def bowler(self, number: str) -> Record:
        """An own copy of a bowler's record, new if he has none; his line is one that changes."""
        bowlers = self.play["bowlers"]
        old = bowlers.get(number)
        copy: Record = new_bowler() if old is None else dict(old)
        bowlers[number] = copy
        self.lines["bowling", number] = None
        return copy

    def touch(self, role: str, number: str) -> None:
        """Marks a line as changed."""
        self.lines[role, number] = None

    def touch_side(self) -> None:
        """The line of the side that bats changes."""
        self.lines["side", str(self.totals["number"])] = None

    def warn(self, code: str, sentence: str, field: str | None = None) -> None:
        """Adds a warning to the answer."""
        self.warnings.append(Caution(code, sentence, field))

    @property
    def batting(self) -> int:
        """The side that bats."""
        side: int = self.totals["side"]
        return side

    def name(self, side: int, number: str) -> str:
        """A player's name for a sentence."""
        return name_of(self.state, side, number)


def in_progress(state: State) -> bool:
    """True while an innings is open."""
    innings = state["innings"]
    return bool(innings) and innings[-1]["closed"] is None
