"""Made-up matches in Cricsheet's JSON: whole ones, by a seed, with everything real files have.

The batters stand where the Laws put them, unless the seed says that the file has the wrong one facing.
"""

import random
from dataclasses import dataclass, field
from typing import Any

TEAMS = ("Reds", "Blues")
FORMATS = (
    {"match_type": "T20", "balls_per_over": 6, "overs": 5},
    {"match_type": "T20", "balls_per_over": 5, "overs": 8},
    {"match_type": "ODI", "balls_per_over": 6, "overs": 10},
    {"match_type": "ODM", "balls_per_over": 8, "overs": 6},
    {"match_type": "Test", "balls_per_over": 6},
    {"match_type": "MDM", "balls_per_over": 4},
)
WICKETS = 10
MOST_OF_A_BALL = 15
"""Runs of one ball, at most."""
KEEPS_RUNNING = 0.06
"""Chance of a rare event where it can be."""


@dataclass(slots=True)
class Side:
    """One team: its eleven, and whoever joins."""

    name: str
    players: list[str]

    def bowlers(self) -> list[str]:
        """Who bowls."""
        return self.players[5:]


@dataclass(slots=True)
class Crease:
    """Who bats, and who may come in. `away` are retired and may come back."""

    striker: str
    non_striker: str
    waiting: list[str]
    away: list[str] = field(default_factory=list)
    wickets: int = 0

    def swap(self) -> None:
        """The batters change ends."""
        self.striker, self.non_striker = self.non_striker, self.striker

    def next_in(self, chance: random.Random) -> str | None:
        """The next batter, at times one who had retired; None when nobody is left."""
        if self.away and (not self.waiting or chance.random() < 0.3):
            return self.away.pop(0)
        return self.waiting.pop(0) if self.waiting else None


class Innings:
    """One innings while it is made up."""

    def __init__(
        self,
        chance: random.Random,
        batting: Side,
        fielding: Side,
        *,
        balls: int,
        overs: int | None,
        goal: int | None,
        wickets: int = WICKETS,
        old_law: bool,
        free_hits: bool,
        no_ball_runs: int,
        orderly: bool,
    ) -> None:
        self.chance = chance
        self.batting, self.fielding = batting, fielding
        self.balls, self.overs, self.goal, self.wickets = balls, overs, goal, wickets
        self.old_law, self.free_hits, self.no_ball_runs = old_law, free_hits, no_ball_runs
        self.crease = Crease(batting.players[0], batting.players[1], batting.players[2:11])
        self.orderly = orderly
        self.runs = 0
        self.free_hit = False
        self.done = False
        self.entry: dict[str, Any] = {"team": batting.name, "overs": []}

    def rare(self, odds: float = KEEPS_RUNNING) -> bool:
        """True now and then."""
        return self.chance.random() < odds

    def play(self, *, stop_after: int | None = None, miscounts: bool = True) -> dict[str, Any]:
        """The innings, to its end or for `stop_after` overs and a bit."""
        if self.rare() and (self.goal is None or self.goal > 10):
            self.entry["penalty_runs"] = {"pre": 5}
            self.runs += 5
        number, last_bowlers = 0, set[str]()
        while not self.done and (self.overs is None or number < self.overs):
            bowler = self.chance.choice(
                [name for name in self.fielding.bowlers() if name not in last_bowlers]
            )
            cut = self.chance.randrange(1, self.balls) if stop_after == number else None
            last_bowlers = self._over(number, bowler, last_bowlers, cut, miscounts)
            number += 1
            if cut is not None:
                break
        return self.entry

    def _over(self, number: int, bowler: str, rested: set[str], cut: int | None, miscounts: bool) -> set[str]:
        count = self.balls
        if miscounts and self.rare(0.03):
            count += self.chance.choice((-1, 1))
            self.entry.setdefault("miscounted_overs", {})[str(number)] = {"balls": str(count), "umpire": "X"}
        deliveries: list[dict[str, Any]] = []
        self.entry["overs"].append({"over": number, "deliveries": deliveries})
        legal = 0
        while legal < count and not self.done:
            replacements: dict[str, Any] = {}
            if deliveries and self.rare(0.02):
                others = [name for name in self.fielding.bowlers() if name not in {bowler} | rested]
                other = self.chance.choice(others)
                if self.rare(0.7):
                    replacements["role"] = [
                        {"in": other, "out": bowler, "reason": "injury", "role": "bowler"}
                    ]
                bowler = other
            if self.rare(0.01):
                self._replace(replacements)
            ball = self._ball(bowler)
            if replacements:
                ball["replacements"] = replacements
            deliveries.append(ball)
            legal += not {"wides", "noballs"} & ball.get("extras", {}).keys()
            self._settle()
            if cut is not None and legal >= cut:
                break
        if legal < count and str(number) in self.entry.get("miscounted_overs", {}):
            del self.entry["miscounted_overs"][str(number)]
            if not self.entry["miscounted_overs"]:
                del self.entry["miscounted_overs"]
        hundred = self.balls == 5
        if not hundred or number % 2:
            self.crease.swap()
        return {ball["bowler"] for ball in deliveries}

    def _replace(self, replacements: dict[str, Any]) -> None:
        """A substitute for the rest of the match comes into the fielding side."""
        name = f"{self.fielding.name} sub {len(self.fielding.players)}"
        out = self.fielding.players[-1]
        self.fielding.players.append(name)
        replacements["match"] = [
            {"in": name, "out": out, "team": self.fielding.name, "reason": "concussion_substitute"}
        ]

    def _ball(self, bowler: str) -> dict[str, Any]:
        chance, crease = self.chance, self.crease
        if not self.orderly and self.rare(0.01):
            crease.swap()  # the wrong batter faces
        entry: dict[str, Any] = {
            "batter": crease.striker,
            "bowler": bowler,
            "non_striker": crease.non_striker,
        }
        bat, extras, run = 0, {}, 0
        sort = chance.random()
        if sort < 0.06:
            run = chance.choice((0, 0, 0, 1, 2, 4))
            extras["wides"] = 1 + run
        elif sort < 0.1:
            extras["noballs"] = self.no_ball_runs
            run = chance.choice((0, 1, 2, 4, 6))
            kind = chance.choice(("bat", "byes", "legbyes"))
            if kind == "bat":
                bat = run
            elif run:
                extras[kind] = run
        elif sort < 0.16:
            run = chance.choice((1, 2, 3, 4, 5))
            extras[chance.choice(("byes", "legbyes"))] = run
        else:
            bat = run = chance.choice((0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7))
        wickets = self._wickets(entry, bowler, extras, run)
        if wickets:
            bat_out = wickets[0]["kind"] not in ("run out", "obstructing the field", "retired hurt")
            if bat_out and wickets[0]["kind"] not in ("retired not out", "retired out", "timed out"):
                extras = {kind: 1 for kind in extras if kind == "wides"}
                bat = run = 0
        if self.rare(0.01):
            extras["penalty"] = 5
        runs = {"batter": bat, "extras": sum(extras.values()), "total": bat + sum(extras.values())}
        if bat in (4, 6) and self.rare():
            runs["non_boundary"] = True
        entry["runs"] = runs
        if extras:
            entry["extras"] = extras
        if wickets:
            entry["wickets"] = wickets
        self.runs += runs["total"]
        if run % 2:
            crease.swap()
        self._leave(wickets)
        if "noballs" in extras:
            self.free_hit = self.free_hits
        elif "wides" not in extras:
            self.free_hit = False
        if self.rare(0.02):
            entry["review"] = {
                "by": chance.choice(TEAMS),
                "batter": entry["batter"],
                "decision": chance.choice(("struck down", "upheld")),
                "type": "wicket",
            }
        return entry

    def _wickets(
        self, entry: dict[str, Any], bowler: str, extras: dict[str, int], run: int
    ) -> list[dict[str, Any]]:
        """What falls on the ball: a dismissal, a retirement, or both."""
        chance = self.chance
        wickets: list[dict[str, Any]] = []
        if self.goal is not None and self.runs + MOST_OF_A_BALL >= self.goal:
            return []  # nobody is out once the winning run is made
        fielder: dict[str, Any] = {"name": chance.choice(self.fielding.players)}
        if self.rare(0.1):
            fielder = {"name": "Somebody Else", "substitute": True}
        if self.rare(0.12):
            kinds = ["run out", "obstructing the field"]
            if not extras and not self.free_hit:
                kinds += ["bowled", "caught", "caught", "lbw", "stumped", "hit wicket", "caught and bowled"]
                kinds += ["hit the ball twice", "handled the ball"]
            elif "wides" in extras and not self.free_hit:
                kinds += ["stumped"]
            kind = chance.choice(kinds)
            pair = (entry["batter"], entry["non_striker"])
            out = chance.choice(pair) if kind == "run out" else entry["batter"]
            wicket: dict[str, Any] = {"kind": kind, "player_out": out}
            if kind in ("run out", "caught", "stumped"):
                wicket["fielders"] = [fielder] if not self.rare() else []
            wickets.append(wicket)
        if self.rare(0.02):
            left = [
                name
                for name in (entry["batter"], entry["non_striker"])
                if not wickets or name != wickets[0]["player_out"]
            ]
            kind = chance.choice(("retired hurt", "retired not out", "retired out"))
            wickets.append({"kind": kind, "player_out": chance.choice(left)})
        elif wickets and self.crease.waiting and self.crease.wickets < self.wickets - 2 and self.rare(0.05):
            wickets.append({"kind": "timed out", "player_out": self.crease.waiting[0]})
        return wickets

    def _leave(self, wickets: list[dict[str, Any]]) -> None:
        """Who is out or retired goes, and the next one stands where the Laws put him."""
        chance, crease = self.chance, self.crease
        for wicket in wickets:
            kind, out = wicket["kind"], wicket["player_out"]
            crease.wickets += kind not in ("retired hurt", "retired not out")
            if kind == "timed out":
                continue
            if kind in ("retired hurt", "retired not out"):
                crease.away.append(out)
        for wicket in wickets:
            kind, out = wicket["kind"], wicket["player_out"]
            if kind == "timed out":
                self._timed_out(out)
                continue
            crosses = kind in ("run out", "obstructing the field", "handled the ball")
            crosses |= kind in ("caught", "caught and bowled") and self.old_law
            if crosses and chance.random() < 0.5:
                crease.swap()
            self._come_in(out)

    def _timed_out(self, out: str) -> None:
        """Who was to come in is out: the next after him comes."""
        for end in ("striker", "non_striker"):
            if getattr(self.crease, end) == out:
                self._come_in(out)
        if out in self.crease.waiting:
            self.crease.waiting.remove(out)

    def _come_in(self, out: str) -> None:
        crease = self.crease
        if crease.wickets >= self.wickets:
            self.done = True
            return
        away = [name for name in crease.away if name == out]
        others = [name for name in crease.away if name != out]
        if not crease.waiting and not others:
            self.done = True
            return
        crease.away = others
        following = crease.next_in(self.chance)
        crease.away += away
        assert following is not None
        if crease.striker == out:
            crease.striker = following
        else:
            crease.non_striker = following

    def _settle(self) -> None:
        if self.crease.wickets >= self.wickets or (self.goal is not None and self.runs >= self.goal):
            self.done = True


def made_up(seed: int, *, orderly: bool = False) -> dict[str, Any]:
    """A whole match by its seed; an orderly one has nobody facing who should not."""
    chance = random.Random(seed)
    chosen = dict(chance.choice(FORMATS))
    sides = [Side(name, [f"{name[0]}{number}" for number in range(1, 12)]) for name in TEAMS]
    day = chance.choice(("2006-06-01", "2015-06-01", "2021-06-01", "2024-06-01"))
    timeless = "overs" not in chosen
    hundred = chosen["balls_per_over"] == 5
    conditions = {
        "balls": chosen["balls_per_over"],
        "old_law": day < "2022-10-01" and not hundred,
        "free_hits": chosen["match_type"] == "T20" or (not timeless and day >= "2007-07-01"),
        "no_ball_runs": chance.choice((1, 1, 2)),
        "orderly": orderly,
    }
    info: dict[str, Any] = {
        **chosen,
        "teams": list(TEAMS),
        "gender": "male",
        "dates": [day],
        "players": {side.name: list(side.players) for side in sides},
        "toss": {"winner": TEAMS[0], "decision": "bat"},
    }
    play = _timeless if timeless else _limited
    innings, outcome = play(chance, sides, chosen.get("overs"), conditions, info)
    info["outcome"] = outcome
    return {
        "meta": {"data_version": "1.1.0", "created": day, "revision": 1},
        "info": info,
        "innings": innings,
    }


def _limited(
    chance: random.Random, sides: list[Side], overs: Any, conditions: dict[str, Any], info: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A match of one innings a side."""
    one, other = sides
    first = Innings(chance, one, other, overs=overs, goal=None, **conditions)
    entries = [first.play()]
    if chance.random() < 0.1:
        entries[0].setdefault("penalty_runs", {})["post"] = 5
        first.runs += 5
    goal, limit, method = first.runs + 1, overs, None
    if chance.random() < 0.2:
        goal, limit, method = max(goal - chance.randrange(20), 1), overs - 1, "D/L"
    second = Innings(chance, other, one, overs=limit, goal=goal, **conditions)
    rain = chance.random() < 0.1
    entries.append(second.play(stop_after=chance.randrange(1, 3) if rain else None))
    entries[1]["target"] = {"runs": goal, "overs": limit}
    if rain and not second.done:
        return entries, _rained_off(chance, sides, second, entries[1])
    named = {"method": method} if method else {}
    if second.runs >= goal:
        return entries, {"winner": other.name, "by": {"wickets": WICKETS - second.crease.wickets}, **named}
    if second.runs < goal - 1:
        return entries, {"winner": one.name, "by": {"runs": goal - 1 - second.runs}, **named}
    return entries, _break_tie(chance, sides, entries, conditions, info, named)


def _rained_off(
    chance: random.Random, sides: list[Side], second: Innings, entry: dict[str, Any]
) -> dict[str, Any]:
    """A chase cut off by rain: no result, or a target for the overs that were bowled."""
    if chance.random() < 0.3:
        return {"result": "no result"}
    last = entry["overs"][-1]
    legal = sum(not {"wides", "noballs"} & ball.get("extras", {}).keys() for ball in last["deliveries"])
    par = max(second.runs + chance.randrange(-15, 15), 0)
    entry["target"] = {"runs": par + 1, "overs": float(f"{last['over']}.{legal}")}
    ahead = second.runs - par
    if ahead == 0:
        return {"result": "tie", "method": "D/L"}
    return {"winner": sides[ahead > 0].name, "by": {"runs": abs(ahead)}, "method": "D/L"}


def _break_tie(
    chance: random.Random,
    sides: list[Side],
    entries: list[dict[str, Any]],
    conditions: dict[str, Any],
    info: dict[str, Any],
    named: dict[str, str],
) -> dict[str, Any]:
    """What a tie comes to: nothing, super overs until one side is ahead, or a bowl-out."""
    sort = chance.random()
    if sort < 0.3 or named:
        return {"result": "tie", **named}
    if sort < 0.4:
        info["bowl_out"] = [
            {"bowler": side.players[9 - turn], "outcome": "hit" if side is sides[0] else "miss"}
            for turn in range(3)
            for side in sides
        ]
        return {"result": "tie", "bowl_out": sides[0].name}
    first, second = sides[1], sides[0]
    for _ in range(3):
        turn = Innings(chance, first, second, overs=1, goal=None, wickets=2, **conditions)
        entries.append({**turn.play(miscounts=False), "super_over": True})
        reply = Innings(chance, second, first, overs=1, goal=turn.runs + 1, wickets=2, **conditions)
        entries.append({**reply.play(miscounts=False), "super_over": True})
        if reply.runs != turn.runs:
            winner = second if reply.runs > turn.runs else first
            return {"result": "tie", "eliminator": winner.name}
        first, second = second, first
    return {"result": "tie", "eliminator": chance.choice(TEAMS)}


def _timeless(
    chance: random.Random, sides: list[Side], overs: Any, conditions: dict[str, Any], info: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A match of two innings a side; it may be drawn, declared, forfeited, followed on."""
    one, other = sides
    totals = {one.name: 0, other.name: 0}
    order = [one, other, one, other]
    entries: list[dict[str, Any]] = []
    for number in range(4):
        if number == 2 and totals[one.name] > totals[other.name] and chance.random() < 0.6:
            order = [one, other, other, one]
        batting = order[number]
        fielding = other if batting is one else one
        last = number == 3
        if number in (1, 2) and chance.random() < 0.05 and totals[batting.name] >= totals[fielding.name]:
            entries.append({"team": batting.name, "forfeited": True})
            continue
        goal = max(totals[fielding.name] - totals[batting.name] + 1, 1) if last else None
        stop = chance.randrange(2, 12) if chance.random() < 0.4 else None
        innings = Innings(chance, batting, fielding, overs=stop or 60, goal=goal, **conditions)
        entries.append(innings.play())
        totals[batting.name] += innings.runs
        if last:
            if goal is not None and innings.runs >= goal:
                return entries, {"winner": batting.name, "by": {"wickets": WICKETS - innings.crease.wickets}}
            if not innings.done:
                return entries, {"result": "draw"}
            if goal is not None and innings.runs == goal - 1:
                return entries, {"result": "tie"}
            return entries, {"winner": fielding.name, "by": {"runs": (goal or 0) - 1 - innings.runs}}
        if not innings.done:
            if chance.random() < 0.2:
                return entries, {"result": "draw"}
            entries[-1]["declared"] = True
        ahead = totals[fielding.name] - totals[batting.name]
        played = [entry["team"] for entry in entries]
        if number == 2 and played.count(batting.name) == 2 and ahead > 0 and played.count(fielding.name) == 1:
            return entries, {"winner": fielding.name, "by": {"innings": 1, "runs": ahead}}
    return entries, {"result": "draw"}
