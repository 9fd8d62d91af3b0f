"""One innings of a Cricsheet file as a scorer would have sent it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sports.readers.cricsheet_file import (
    DeliveryEntry,
    FielderEntry,
    InningsEntry,
    OverEntry,
    PowerplayEntry,
    ReplacementEntry,
    ReviewEntry,
    WicketEntry,
)
from sports.readers.cricsheet_overs import balls_of, numbered_overs, over_is_complete
from sports.readers.cricsheet_script import Script, clean_name
from sports.readers.cricsheet_strike import crossed, runs_run
from sports.readers.errors import UnreadableMatch

KINDS = {
    "bowled": "bowled",
    "caught": "caught",
    "caught and bowled": "caught_and_bowled",
    "lbw": "lbw",
    "stumped": "stumped",
    "run out": "run_out",
    "hit wicket": "hit_wicket",
    "hit the ball twice": "hit_the_ball_twice",
    "obstructing the field": "obstructing_the_field",
    "handled the ball": "handled_the_ball",
}
"""Ways out on a delivery: Cricsheet's word → the command's."""
RETIREMENTS = {
    "retired hurt": "hurt",
    "retired not out": "not_out",
    "retired": "not_out",
    "retired out": "out",
}
TIMED_OUT = "timed out"
RUNNING = frozenset({"run out", "obstructing the field", "handled the ball"})
CATCHES = frozenset({"caught", "caught and bowled"})
EXTRAS = frozenset({"wides", "noballs", "byes", "legbyes", "penalty"})
DECISIONS = frozenset({"upheld", "struck_down"})
REASON_LIMIT_CHARACTERS = 64
KIND_LIMIT_CHARACTERS = 32
BOUNDARIES = frozenset({4, 6})


@dataclass(frozen=True, slots=True)
class Ball:
    """A delivery, where it stands in the file (counted as there), and what follows it in the innings."""

    innings: int
    over: int
    number: int
    entry: DeliveryEntry
    following: DeliveryEntry | None
    ends_changed: bool

    @property
    def place(self) -> str:
        """Where a reader of the file finds it."""
        return f"innings {self.innings}, over {self.over}, delivery {self.number}"


class InningsScript:
    """Writes one innings into the script of its match."""

    def __init__(
        self, script: Script, innings: InningsEntry, number: int, conditions: dict[str, Any], file: str
    ) -> None:
        self._script = script
        self._innings = innings
        self._number = number
        self._conditions = conditions
        self._file = file
        self._batting = innings.team
        self._fielding = script.other(innings.team)
        self._overs = numbered_overs(innings)

    def write(self, *, follow_on: bool) -> None:
        """Everything from the start of the innings to its last delivery and over."""
        script, innings = self._script, self._innings
        script.add(
            "cricket.innings",
            batting=script.sides[self._batting],
            follow_on=True if follow_on else None,
            super_over=True if innings.super_over else None,
        )
        if innings.penalty_runs and innings.penalty_runs.pre:
            script.add(
                "cricket.penalty",
                side=script.sides[self._batting],
                runs=innings.penalty_runs.pre,
                reason="before the innings",
            )
        for powerplay in innings.powerplays or ():
            self._write_powerplay(powerplay)
        for name in innings.absent_hurt or ():
            script.add("cricket.absent", batter=script.player(self._batting, name), reason="absent hurt")
        called = 0
        for number, over in self._overs:
            for _ in range(number - called):
                script.add("cricket.over", unless_emitted="innings_end")  # an over the file leaves out
            called = number
            self._write_over(number, over)
            if over_is_complete(innings, number, over, self._overs[-1][0], self._conditions["balls_an_over"]):
                script.add("cricket.over", unless_emitted="innings_end")
                called += 1

    def _write_powerplay(self, powerplay: PowerplayEntry) -> None:
        start, end = str(powerplay.start), str(powerplay.end)
        balls = self._conditions["balls_an_over"]
        if balls_of(end, balls) < balls_of(start, balls):
            self._script.leave_out(f"innings {self._number}: a powerplay from {start} to {end}")
            return
        self._script.add(
            "cricket.powerplay",
            kind=(powerplay.type or "mandatory")[:KIND_LIMIT_CHARACTERS],
            start=self._printed(start),
            end=self._printed(end),
        )

    def _printed(self, place: str) -> str:
        """A place as a card prints it: the file counts every delivery of the over, a card the legal ones."""
        whole, _, part = place.partition(".")
        balls: int = self._conditions["balls_an_over"]
        over = next((over for number, over in self._overs if number == int(whole)), None)
        deliveries = int(part or 0)
        legal = sum(ball.is_legal for ball in over.deliveries[:deliveries]) if over else deliveries
        return f"{whole}.{min(max(legal, 1), balls)}"

    def _write_over(self, number: int, over: OverEntry) -> None:
        bowler: str | None = None
        for ball in self._balls(number, over):
            replacements = ball.entry.replacements
            for entry in (replacements and replacements.match) or ():
                self._write_replacement(entry, ball)
            replaced = False
            for entry in (replacements and replacements.role) or ():
                replaced |= self._write_role_replacement(entry, ball)
            if bowler not in (None, ball.entry.bowler) and not replaced:
                self._script.add(
                    "cricket.bowler_change", bowler=self._script.player(self._fielding, ball.entry.bowler)
                )
            bowler = ball.entry.bowler
            self._write_ball(ball)

    def _balls(self, number: int, over: OverEntry) -> Iterator[Ball]:
        entries = over.deliveries
        after = next(
            (later.deliveries[0] for n, later in self._overs if n > number and later.deliveries), None
        )
        ends_change = (number + 1) % self._conditions.get("overs_an_end", 1) == 0
        for index, entry in enumerate(entries):
            last = index + 1 == len(entries)
            following = after if last else entries[index + 1]
            yield Ball(self._number, number, index + 1, entry, following, last and ends_change)

    def _write_ball(self, ball: Ball) -> None:
        script, entry = self._script, ball.entry
        if entry.extras and (odd := set(entry.extras) - EXTRAS):
            raise self._unreadable(ball, f"the extra {min(odd)!r} is not known")
        striker = script.player(self._batting, entry.batter)
        alone = entry.non_striker is None or entry.non_striker == entry.batter
        fields: dict[str, Any] = {
            "striker": striker,
            "non_striker": None if alone else script.player(self._batting, entry.non_striker or ""),
            "bowler": script.player(self._fielding, entry.bowler),
        }
        runs = {
            "bat": entry.runs.batter,
            "wides": entry.extras_of("wides"),
            "no_balls": entry.extras_of("noballs"),
            "byes": entry.extras_of("byes"),
            "leg_byes": entry.extras_of("legbyes"),
            "penalty": entry.extras_of("penalty"),
        }
        fields |= {name: amount for name, amount in runs.items() if amount}
        if entry.runs.non_boundary and entry.runs.batter in BOUNDARIES:
            fields["all_run"] = True
        afterwards = []
        wickets = []
        for wicket in entry.wickets or ():
            if wicket.kind in KINDS:
                wickets.append(self._wicket(wicket, ball))
            else:
                afterwards.append(self._leaving(wicket, ball))
        if wickets:
            fields["wickets"] = wickets
        script.add("cricket.delivery", **fields)
        if entry.review:
            self._write_review(entry.review, ball)
        for code, leaving in afterwards:
            script.add(code, **leaving)

    def _wicket(self, wicket: WicketEntry, ball: Ball) -> dict[str, Any]:
        script = self._script
        fields: dict[str, Any] = {
            "kind": KINDS[wicket.kind],
            "out": script.player(self._batting, wicket.player_out),
        }
        fielders = [found for fielder in wicket.fielders or () if (found := self._fielder(fielder))]
        if fielders:
            fields["fielders"] = fielders
        old_law = self._conditions["crossing_on_catch"]
        if wicket.kind in RUNNING or (wicket.kind in CATCHES and old_law):
            run = runs_run(ball.entry, wide_runs=1, no_ball_runs=self._conditions["no_ball_runs"])
            told = crossed(
                ball.entry, wicket.player_out, ball.following, runs=run, ends_changed=ball.ends_changed
            )
            if told is not None:
                fields["crossed"] = told
        return fields

    def _fielder(self, fielder: FielderEntry | str) -> dict[str, Any] | None:
        script = self._script
        if isinstance(fielder, str):
            fielder = FielderEntry(fielder)
        if fielder.substitute:
            script.substitute(self._fielding, fielder.name)
            named = {} if fielder.name is None else {"name": clean_name(fielder.name)}
            return {"substitute": True, **named}
        if fielder.name is None:
            return None
        return {"player": script.player(self._fielding, fielder.name)}

    def _leaving(self, wicket: WicketEntry, ball: Ball) -> tuple[str, dict[str, Any]]:
        batter = self._script.player(self._batting, wicket.player_out)
        if wicket.kind in RETIREMENTS:
            return "cricket.retire", {"batter": batter, "kind": RETIREMENTS[wicket.kind]}
        if wicket.kind == TIMED_OUT:
            return "cricket.timed_out", {"batter": batter}
        raise self._unreadable(ball, f"the wicket kind {wicket.kind!r} is not known")

    def _write_review(self, review: ReviewEntry, ball: Ball) -> None:
        script = self._script
        by = script.sides.get(review.by or "")
        decision = (review.decision or "").replace(" ", "_")
        if by is None or decision not in DECISIONS:
            script.leave_out(f"{ball.place}: a review by {review.by!r}, {review.decision!r}")
            return
        script.add(
            "cricket.review",
            by=by,
            batter=None if review.batter is None else script.player(self._batting, review.batter),
            umpire=clean_name(review.umpire) if review.umpire else None,
            decision=decision,
            umpires_call=True if review.umpires_call else None,
            type=None if review.type is None else review.type[:REASON_LIMIT_CHARACTERS],
        )

    def _write_replacement(self, entry: ReplacementEntry, ball: Ball) -> None:
        script = self._script
        team = entry.team or self._team_of(entry)
        if team not in script.sides or entry.player_in is None:
            raise self._unreadable(ball, "a replacement names no team of the match or nobody who comes in")
        player_in = script.player(team, entry.player_in)
        script.add(
            "cricket.replacement",
            side=script.sides[team],
            player_in=player_in,
            player_out=None if entry.player_out is None else script.player(team, entry.player_out),
            reason=_reason(entry),
        )

    def _write_role_replacement(self, entry: ReplacementEntry, ball: Ball) -> bool:
        """Writes a replacement in a role; true for one of the bowler."""
        script = self._script
        if entry.role not in ("bowler", "batter"):
            raise self._unreadable(ball, f"the role {entry.role!r} of a replacement is not known")
        bowler = entry.role == "bowler"
        team = self._fielding if bowler else self._batting
        name_in = entry.player_in or (ball.entry.bowler if bowler else ball.entry.batter)
        script.add(
            "cricket.role_replacement",
            role=entry.role,
            player_in=script.player(team, name_in),
            player_out=None if entry.player_out is None else script.player(team, entry.player_out),
            reason=_reason(entry),
        )
        return bowler

    def _team_of(self, entry: ReplacementEntry) -> str:
        known = [team for team in self._script.sides if (team, entry.player_out) in self._script.keys]
        return known[0] if len(known) == 1 else ""

    def _unreadable(self, ball: Ball, problem: str) -> UnreadableMatch:
        return UnreadableMatch(self._file, f"{ball.place}: {problem}", "mend the file there")


def _reason(entry: ReplacementEntry) -> str:
    return (entry.reason or "unknown")[:REASON_LIMIT_CHARACTERS]
