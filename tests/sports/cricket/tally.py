"""Figures added up from the events alone, apart from the engine: what its lines are compared with."""

from collections import defaultdict
from typing import Any

from scorebox_contract import Event
from scorebox_cricket.commands import Delivery

EXTRAS = ("wides", "no_balls", "byes", "leg_byes", "penalty")
CREDITED = {"bowled", "caught", "caught_and_bowled", "lbw", "stumped", "hit_wicket"}


class Innings:
    """One innings added up; figures by player key."""

    def __init__(self, number: int, segment: str, side: str, super_over: bool) -> None:
        self.number = number
        self.segment = segment
        self.side = side
        self.super_over = super_over
        self.total: dict[str, int] = defaultdict(int)
        self.batting: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.bowling: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.fielding: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.retired_out: set[str] = set()
        self.times_set = 0


class Tally:
    """A match added up, event by event."""

    def __init__(self, sides: dict[str, set[str]], balls_an_over: int = 6) -> None:
        self.players = sides
        self.balls_an_over = balls_an_over
        self.innings: list[Innings] = []
        self.pending: dict[str, int] = defaultdict(int)

    def take(self, event: Event, warned: list[str], *, was_open: bool) -> None:
        """Adds one event that was accepted with these warnings; `was_open`: an innings was in progress."""
        given = event.input
        match event.code.removeprefix("cricket."):
            case "innings":
                self._begin(given.batting, given.super_over)
            case "innings_end" if given.reason == "forfeited" and given.batting is not None and not was_open:
                self._begin(given.batting, False)
            case "player":
                self.players[given.side].add(given.key)
            case "substitute" if given.player is not None:
                self.players[given.side].add(given.player)
            case "delivery":
                self._deliver(given)
            case "retire" if given.kind == "out":
                self._retire_out(given.batter)
            case "timed_out":
                self._back(given.batter)
                self.innings[-1].total["wickets"] += 1
            case "resume" if "no_open_place" not in warned:
                self._back(given.batter)
            case "role_replacement" if given.role == "batter" and "no_open_place" not in warned:
                self._back(given.player_in)
            case "set_score":
                self._set(given)
            case "penalty":
                self._penalty(given.side, given.runs, given.innings)

    def _begin(self, side: str, super_over: bool) -> None:
        turns = sum(1 for innings in self.innings if innings.super_over)
        number = len(self.innings) + 1
        segment = f"super-over-{turns + 1}" if super_over else f"innings-{number}"
        innings = Innings(number, segment, side, super_over)
        innings.total["penalty"] = self.pending.pop(side, 0)
        self.innings.append(innings)

    def _back(self, batter: str) -> None:
        """Whoever retired out and bats again was no wicket."""
        innings = self.innings[-1]
        if batter in innings.retired_out:
            innings.retired_out.discard(batter)
            innings.total["wickets"] = max(innings.total["wickets"] - 1, 0)

    def _retire_out(self, batter: str) -> None:
        self.innings[-1].retired_out.add(batter)
        self.innings[-1].total["wickets"] += 1

    def _deliver(self, ball: Delivery) -> None:
        innings = self.innings[-1]
        self._back(ball.striker)
        if ball.non_striker is not None:
            self._back(ball.non_striker)
        total, batter, bowler = innings.total, innings.batting[ball.striker], innings.bowling[ball.bowler]
        legal = ball.wides == 0 and ball.no_balls == 0 and not ball.dead
        total["bat"] += ball.bat
        for extra in EXTRAS:
            total[extra] += getattr(ball, extra)
        total["balls"] += legal
        batter["runs"] += ball.bat
        batter["balls"] += ball.wides == 0 and not ball.dead
        for name, runs in (("fours", 4), ("sixes", 6)):
            boundary = ball.bat == runs and not ball.all_run
            batter[name] += boundary
            bowler[name] += boundary
        bowler["balls"] += legal
        bowler["runs"] += ball.bat + ball.wides + ball.no_balls
        bowler["wides"] += ball.wides
        bowler["no_balls"] += ball.no_balls
        for wicket in ball.wickets:
            total["wickets"] += 1
            bowler["wickets"] += wicket.kind in CREDITED
            self._field(innings, ball, wicket)
        if ball.penalty_fielding:
            self._penalty(self._other(innings.side), ball.penalty_fielding, None)

    def _field(self, innings: Innings, ball: Delivery, wicket: Any) -> None:
        known = self.players[self._other(innings.side)]
        names = [fielder.player for fielder in wicket.fielders]
        credit = {"caught": ("catches", names[:1]), "stumped": ("stumpings", names[:1])}.get(
            wicket.kind, ("run_outs", names if wicket.kind == "run_out" else [])
        )
        if wicket.kind == "caught_and_bowled":
            credit = ("catches", [ball.bowler])
        figure, fielders = credit
        for fielder in dict.fromkeys(fielders):
            if fielder in known:
                innings.fielding[fielder][figure] += 1

    def _set(self, given: Any) -> None:
        innings = self.innings[-1 if given.innings is None else given.innings - 1]
        total = innings.total
        total["unaccounted"] = given.runs - sum(total[name] for name in ("bat", *EXTRAS))
        overs, _, balls = given.overs.partition(".")
        total["balls"] = int(overs) * self.balls_an_over + int(balls or 0)
        total["wickets"] = given.wickets
        innings.times_set += 1

    def _other(self, side: str) -> str:
        return next(other for other in self.players if other != side)

    def _penalty(self, side: str, runs: int, number: int | None) -> None:
        if number is not None:
            self.innings[number - 1].total["penalty"] += runs
            return
        candidates = self.innings
        if candidates and candidates[-1].super_over:
            turns = [innings for innings in self.innings if innings.super_over]
            candidates = turns[-2:] if len(turns) % 2 == 0 else turns[-1:]
        for innings in reversed(candidates):
            if innings.side == side:
                innings.total["penalty"] += runs
                return
        self.pending[side] += runs

    def differences(self, lines: dict[tuple[str, str, str], dict[str, Any]]) -> list[str]:
        """Where the engine's lines and the sums part."""
        found: list[str] = []
        for innings in self.innings:
            total = innings.total
            figures = {name: total[name] for name in (*EXTRAS, "wickets", "balls")}
            figures["runs"] = total["bat"] + sum(total[name] for name in EXTRAS) + total["unaccounted"]
            if innings.times_set:
                figures |= {"unaccounted": total["unaccounted"], "set": innings.times_set}
            self._compare(found, lines, innings, "side", innings.side, figures)
            for role, players, names in (
                ("batting", innings.batting, ("runs", "balls", "fours", "sixes")),
                (
                    "bowling",
                    innings.bowling,
                    ("balls", "runs", "wickets", "wides", "no_balls", "fours", "sixes"),
                ),
                ("fielding", innings.fielding, ("catches", "stumpings", "run_outs")),
            ):
                for key, summed in players.items():
                    self._compare(found, lines, innings, role, key, {name: summed[name] for name in names})
            for (segment, role, key), values in lines.items():
                counted = {"bowling": innings.bowling, "fielding": innings.fielding}.get(role)
                if segment == innings.segment and counted is not None and key not in counted:
                    found.append(f"{segment} {role} {key}: {values}, but no event of his")
        return found

    def _compare(
        self,
        found: list[str],
        lines: dict[tuple[str, str, str], dict[str, Any]],
        innings: Innings,
        role: str,
        key: str,
        figures: dict[str, int],
    ) -> None:
        line = lines.get((innings.segment, role, key), {})
        for name, figure in figures.items():
            if line.get(name) != figure:
                found.append(f"{innings.segment} {role} {key} {name}: {line.get(name)}, summed {figure}")
