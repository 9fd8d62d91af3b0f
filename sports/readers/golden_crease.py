"""Who stands where, as a scorer follows it: so a book names batters only where they change otherwise.

It need not be right about the Laws: where it differs from who was typed, the book says who faces.
"""

import re
from collections.abc import Mapping
from typing import Any

from sports.readers.errors import LineFault
from sports.readers.golden_text import BARE, STRING, key_text, read_key

NOBODY = "-"
RUNNING = frozenset({"run_out", "obstructing_the_field", "handled_the_ball"})
CATCHES = frozenset({"caught", "caught_and_bowled"})

_bowled = re.compile(r"(\d{1,6})(?:\.\d{1,6})?", re.ASCII)
_facing = re.compile(rf"({STRING}|{BARE})(?:/({STRING}|{BARE}|{NOBODY}))?")

Ends = tuple[str | None, str | None]
"""The batters at the striker's and the bowler's end; None for an open place."""


class Crease:
    """The two batters and the overs called, from the start of an innings on."""

    def __init__(self, conditions: Mapping[str, Any]) -> None:
        self.ends: Ends = (None, None)
        self.overs = 0
        self._innings = 0
        self._conditions = conditions

    def worth(self, extra: str) -> int:
        """Runs of a wide or no-ball with nothing run: `extra` is wide_runs or no_ball_runs."""
        runs = self._conditions.get(extra)
        return runs if isinstance(runs, int) else 1

    def after(self, code: str, given: Mapping[str, Any]) -> None:
        """Takes in a command."""
        match code:
            case "cricket.innings":
                self.ends, self.overs = (None, None), 0
                self._innings += 1
            case "cricket.innings_end" if given.get("batting") is not None:
                # Forfeited: it is an innings without having begun.
                self._innings += 1
            case "cricket.set_score" if given.get("innings") in (None, self._innings):
                # Who is in is asked anew.
                self.ends, self.overs = (None, None), _whole_overs(given.get("overs"), self.overs)
            case "cricket.delivery":
                self._after_delivery(given)
            case "cricket.over":
                self.overs += 1
                if self.overs % (self._conditions.get("overs_an_end") or 1) == 0:
                    self._swap()
            case "cricket.retire":
                self._replace(given.get("batter"), None)
            case "cricket.replacement":
                self._replace(given.get("player_out"), None)
            case "cricket.role_replacement" if given.get("role") == "batter":
                self._replace(given.get("player_out"), given.get("player_in"))

    def change_words(self, striker: str, non_striker: str | None) -> list[str]:
        """The words that say who bats now; none where it is who stood there."""
        wanted = (striker, non_striker)
        swapped = (self.ends[1], self.ends[0])
        if self.ends == wanted:
            return []
        if swapped == wanted:
            return [f"@{key_text(striker)}"]
        if (incoming := _filled(self.ends, wanted)) is not None:
            return [f">{key_text(incoming)}"]
        if (incoming := _filled(swapped, wanted)) is not None and incoming != striker:
            return [f"@{key_text(striker)}", f">{key_text(incoming)}"]
        other = NOBODY if non_striker is None else key_text(non_striker)
        return [f"@{key_text(striker)}/{other}"]

    def change(self, word: str) -> None:
        """Takes in one of those words.

        Raises:
            LineFault: there is no open place, or nobody of that key at the crease.
        """
        sign, rest = word[0], word[1:]
        if sign == ">":
            self._come_in(read_key(rest))
            return
        found = _facing.fullmatch(rest)
        if found is None:
            raise LineFault(f"{word!r} names nobody", "write who faces: @KEY, or @KEY/OTHER")
        first, second = found.groups()
        if second is not None:
            self.ends = (read_key(first), None if second == NOBODY else read_key(second))
            return
        key = read_key(first)
        if key not in self.ends:
            raise LineFault(f"{key} is not at the crease", f"write who bats with him: @{first}/OTHER")
        if key != self.ends[0]:
            self._swap()

    def _come_in(self, key: str) -> None:
        if self.ends.count(None) != 1:
            state = "nobody is out" if None not in self.ends else "both places are open"
            raise LineFault(f"{key} comes in, but {state}", f"write who faces: @{key_text(key)}/OTHER")
        self.ends = (self.ends[0] or key, self.ends[1] or key)

    def _after_delivery(self, ball: Mapping[str, Any]) -> None:
        self.ends = (ball.get("striker"), ball.get("non_striker"))
        run = sum(ball.get(kind) or 0 for kind in ("bat", "byes", "leg_byes"))
        for extra, worth in (("wides", "wide_runs"), ("no_balls", "no_ball_runs")):
            run += max((ball.get(extra) or 0) - self.worth(worth), 0)
        wickets = ball.get("wickets") or ()
        catch_crosses = self._conditions.get("crossing_on_catch")
        for wicket in wickets:
            crosses = wicket["kind"] in RUNNING or (catch_crosses and wicket["kind"] in CATCHES)
            run += bool(crosses and wicket.get("crossed"))
        if run % 2:
            self._swap()
        for wicket in wickets:
            self._replace(wicket["out"], None)

    def _swap(self) -> None:
        self.ends = (self.ends[1], self.ends[0])

    def _replace(self, leaving: str | None, incoming: str | None) -> None:
        if leaving is not None and leaving in self.ends:
            first, second = self.ends
            self.ends = (incoming if first == leaving else first, incoming if second == leaving else second)


def _whole_overs(bowled: Any, otherwise: int) -> int:
    """The overs that were called of "7.3"; what is no amount of overs says nothing."""
    found = _bowled.fullmatch(bowled) if isinstance(bowled, str) else None
    return int(found[1]) if found else otherwise


def _filled(ends: Ends, wanted: Ends) -> str | None:
    """Who fills the one open place so that the wanted stand there."""
    if ends.count(None) != 1 or None in wanted:
        return None
    place = ends.index(None)
    return wanted[place] if ends[1 - place] == wanted[1 - place] else None
