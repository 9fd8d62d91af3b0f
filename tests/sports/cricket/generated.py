"""Generated matches: legal and odd play through the sport's public interface, told by a seed.

Run as a program it plays some of them and prints a digest of everything that came out, to be compared between
two hash seeds.
"""

import hashlib
import random
import sys
from typing import Any

import msgspec

from scorebox_contract import Event, canonical, canonical_state
from scorebox_cricket import SPORT
from tests.sports.cricket.play import Scorer
from tests.sports.cricket.tally import Tally

FORMATS: tuple[dict[str, Any], ...] = (
    {"overs": 5, "bowler_overs": 2, "free_hit": True, "super_over": {}},
    {"overs": 3, "balls_an_over": 5, "overs_an_end": 2, "overs_in_a_row": 2, "no_ball_runs": 2},
    {"innings_a_side": 2, "follow_on_lead": 10, "players": 5, "crossing_on_catch": True},
    {"overs": 4, "players": 12, "free_hit": True, "super_over": {"overs": 1, "wickets": 2}},
)
KINDS = (
    "bowled",
    "caught",
    "caught_and_bowled",
    "lbw",
    "stumped",
    "run_out",
    "hit_wicket",
    "hit_the_ball_twice",
    "obstructing_the_field",
    "handled_the_ball",
)
ODD_ONE_IN = 12
"""How often a scorer types something unexpected."""


class Generated(Scorer):
    """A match that plays itself: a seed decides everything."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        super().__init__(**FORMATS[self.pick(len(FORMATS))])
        self.tally = Tally(
            {"A": set(self.sheet(0)), "B": set(self.sheet(1))}, self.state["format"]["balls_an_over"]
        )
        self.answers: list[Any] = []
        self.ended = (True, True)
        """Whether there was no result before the last command, and none after it."""

    def pick(self, count: int) -> int:
        """A number below `count`."""
        return self.source.randrange(count)

    def one_of(self, *choices: Any) -> Any:
        """One of the choices."""
        return choices[self.pick(len(choices))]

    def odd(self) -> bool:
        """True now and then."""
        return self.pick(ODD_ONE_IN) == ODD_ONE_IN - 1

    def sheet(self, side: int) -> list[str]:
        """The keys of a side's players."""
        keys: list[str] = self.state["sides"][side]["keys"]
        return keys

    @property
    def open(self) -> bool:
        """True while an innings is in progress."""
        innings = self.state["innings"]
        return bool(innings) and innings[-1]["closed"] is None

    def try_command(self, code: str, **given: Any) -> bool:
        """Sends a command, overrides what may be (mostly), and reports whether it was accepted."""
        override: list[str] = []
        while (refusal := self.check(code, override=tuple(override), **given)) is not None:
            self.answers.append([code, refusal.code, refusal.sentence])
            if not refusal.overridable or self.pick(4) == 0:
                return False
            assert refusal.code not in override, f"{refusal.code} was passed over and refused again"
            override.append(refusal.code)
        was_open, before = self.open, self.result
        step = self.send(code, override=tuple(override), **given)
        self.tally.take(self.log[-1], self.warnings, was_open=was_open)
        self.ended = (before is None, self.result is None)
        self.answers.append([code, [msgspec.structs.asdict(self.log[-1].input)]])
        self.answers.append([list(step.emits), [[w.code, w.sentence] for w in step.warnings]])
        self.answers.append([[line.subject, line.role, line.segment, line.values] for line in step.lines])
        return True

    def act(self) -> None:
        """One command of a scorer."""
        if not self.open:
            self.between_innings()
            return
        what = self.pick(40)
        if what < 26:
            self.delivery()
        elif what < 30:
            self.try_command("over")
            self.bowler = self.one_of(*self.sheet(self.fielding)[:5])
        else:
            self.rare(what)

    @property
    def fielding(self) -> int:
        """The side that fields."""
        side: int = self.state["innings"][-1]["side"]
        return 1 - side

    def between_innings(self) -> None:
        """Usually the next innings, in any order the sport allows."""
        what = self.pick(12)
        side = self.one_of("A", "B")
        if what < 8:
            tied = bool(self.state["innings"]) and self.pick(3) == 0
            given = {"super_over": True} if tied else {"follow_on": True} if self.odd() else {}
            if self.try_command("innings", batting=side, **given):
                self.bowler = self.sheet(self.fielding)[0]
        elif what == 8:
            self.try_command("innings_end", reason="forfeited", batting=side)
        elif what == 9 and self.state["innings"]:
            self.delivery()
        elif what == 10:
            self.try_command("bowl_out", bowler=self.one_of("A1", "B1"), hit=self.pick(2) == 0)
        else:
            self.penalty()

    def delivery(self) -> None:
        """A ball: mostly by whom the state expects, of any kind."""
        batting = self.sheet(1 - self.fielding)
        try:
            striker, non_striker = self.crease()
        except StopIteration:
            striker, non_striker = self.one_of(*batting), self.one_of(*batting)
        if self.odd():
            striker, non_striker = non_striker, striker
        if self.odd():
            striker = self.one_of(*batting)
        if self.odd():
            self.bowler = self.one_of(*self.sheet(self.fielding), batting[0])
        given: dict[str, Any] = {
            "striker": striker,
            "non_striker": non_striker,
            "bowler": self.bowler or "A1",
        }
        if self.odd() and self.odd():
            del given["non_striker"]
        given |= self.runs()
        if self.pick(6) == 0:
            given["wickets"] = [self.wicket(given)]
            if self.odd():
                given["wickets"].append(self.wicket(given))
        self.try_command("delivery", **given)

    def runs(self) -> dict[str, Any]:
        """Runs of a ball: every combination now and then, possible or not."""
        given: dict[str, Any] = {}
        match self.pick(16):
            case 10:
                given["wides"] = 1 + self.pick(5)
            case 11:
                given |= {"no_balls": 1 + self.pick(2), self.one_of("bat", "byes", "leg_byes"): self.pick(7)}
            case 12:
                given["byes"] = self.pick(5)
            case 13:
                given["leg_byes"] = self.pick(5)
            case 14:
                given |= {"bat": self.pick(8), self.one_of("penalty", "penalty_fielding"): 5}
            case 15:
                given |= {"dead": True, "penalty": self.one_of(0, 5)}
            case runs:
                given["bat"] = runs % 8
        if self.odd():
            given["all_run"] = True
        if self.odd():
            given[self.one_of("bat", "wides", "byes")] = 1
        return given

    def wicket(self, given: dict[str, Any]) -> dict[str, Any]:
        """A dismissal of any kind, mostly of the striker."""
        who = given.get("non_striker", given["striker"]) if self.pick(4) == 0 else given["striker"]
        fielder = self.one_of(*self.sheet(self.fielding))
        return {
            "kind": self.one_of(*KINDS),
            "out": who,
            "fielders": self.one_of(
                [], [{"player": fielder}], [{"player": fielder}, {"player": "B3"}], [{"substitute": True}]
            ),
            "crossed": self.one_of(None, True, False),
        }

    def rare(self, what: int) -> None:
        """What happens a few times a match."""
        batting = self.sheet(1 - self.fielding)
        batter = self.one_of(*batting)
        at_crease = self.show["striker"]
        if at_crease is not None and self.pick(2):
            batter = at_crease["key"]
        match what:
            case 30:
                self.try_command("retire", batter=batter, kind=self.one_of("hurt", "not_out", "out"))
            case 31:
                self.try_command("resume", batter=batter)
            case 32:
                self.try_command("timed_out", batter=batter)
            case 33 if self.odd():
                self.try_command("absent", batter=batter)
            case 34:
                self.penalty()
            case 35:
                self.try_command("bowler_change", bowler=self.one_of(*self.sheet(self.fielding)))
            case 36:
                self.replacement(batter)
            case 37 if self.odd():
                reason = self.one_of("declared", "closed", "time", "all_out", "overs")
                self.try_command("innings_end", reason=reason)
            case 38 if self.odd():
                self.try_command("revise", target=1 + self.pick(60), overs=self.one_of("2", "3.2", "5"))
            case _:
                self.facts()

    def penalty(self) -> None:
        """Penalty runs to either side, sometimes to an innings by its number, sometimes taken back."""
        number = self.one_of(None, None, 1, 2, 3)
        given = {} if number is None else {"innings": number}
        self.try_command("penalty", side=self.one_of("A", "B"), runs=self.one_of(5, 5, 10, -5), **given)

    def replacement(self, batter: str) -> None:
        """Somebody takes another's place, for good or in his role."""
        batting = self.sheet(1 - self.fielding)
        if self.pick(2):
            role = {"role": "batter", "player_in": self.one_of(*batting), "player_out": batter}
            self.try_command("role_replacement", **role, reason="injury")
        else:
            side = self.state["sides"][1 - self.fielding]["key"]
            players = {"player_in": self.one_of(*batting), "player_out": batter}
            self.try_command("replacement", side=side, **players, reason="concussion_substitute")

    def facts(self) -> None:
        """What only goes into the log, or hardly changes the state."""
        side = self.one_of("A", "B")
        match self.pick(7):
            case 0:
                self.try_command("toss", winner=side, decision=self.one_of("bat", "field"))
            case 1:
                number = len(self.sheet("AB".index(side))) + 1
                self.try_command("player", side=side, key=f"{side}{number}", name=f"Joiner {number}")
            case 2:
                self.try_command("interval", kind="rain")
            case 3:
                self.try_command("powerplay", kind="mandatory", start="0.1", end="1.6")
            case 4:
                self.try_command("review", by=side, decision=self.one_of("upheld", "struck_down"))
            case 5:
                self.try_command("substitute", side=side, name="Twelfth")
            case 6 if self.odd():
                self.try_command("result", kind="won", winner=side, method="Awarded")


def digest(seed: int, commands: int) -> str:
    """Everything a generated match said, as one hash."""
    match = Generated(seed)
    for _ in range(commands):
        match.act()
    said = hashlib.sha256(canonical(match.answers))
    said.update(canonical_state(match.state))
    said.update(canonical(msgspec.to_builtins(SPORT.summary(match.state))))
    return said.hexdigest()


def replayed(log: list[Event], match: Scorer) -> bytes:
    """The canonical state after stepping a log again from the opening."""
    state = SPORT.initial_state(match.opening)
    for event in log:
        assert SPORT.check(state, event) is None
        state = SPORT.step(state, event).state
    return canonical_state(state)


if __name__ == "__main__":
    for match_seed in range(int(sys.argv[1])):
        print(digest(match_seed, int(sys.argv[2])))
