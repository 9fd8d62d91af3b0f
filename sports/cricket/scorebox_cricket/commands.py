"""The typed input of cricket's opening and of every command a scorer can send.

Law numbers are of the Laws of Cricket 2017 code (2nd edition 2019, 3rd edition 2022). Players and
sides are match-local keys. A value that cannot be decoded is refused with its field.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from scorebox_contract.events import Input, Key, Name, Opening

Runs = Annotated[int, Meta(ge=0, le=999)]
"""Runs of any amount: overthrows know no limit in the Laws, 999 is a typing guard."""
OversText = Annotated[str, Meta(pattern=r"^[0-9]{1,4}(\.[0-9]{1,2})?$(?!\n)")]
"""Overs as written on a card: "48.5" is 48 overs and 5 balls."""
Note = Annotated[str, Meta(max_length=500)]


class SuperOver(Input, frozen=True, kw_only=True):
    """What one side's turn in a super over is."""

    overs: Annotated[int, Meta(ge=1, le=10)] = 1
    wickets: Annotated[int, Meta(ge=1, le=10)] = 2


class Format(Input, frozen=True, kw_only=True):
    """The playing conditions that are data of the match."""

    name: Name
    innings_a_side: Literal[1, 2]
    overs: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """Limit of an innings, in overs; None where time is the limit."""
    balls_an_over: Annotated[int, Meta(ge=1, le=20)] = 6
    """Law 17.1; 5 in The Hundred."""
    overs_an_end: Annotated[int, Meta(ge=1, le=10)] = 1
    """Overs bowled from one end before ends change: 2 fives in The Hundred."""
    overs_in_a_row: Annotated[int, Meta(ge=1, le=10)] = 1
    """Overs one bowler may bowl running (Law 17.6): 2 fives in The Hundred."""
    bowler_overs: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """A bowler's quota, counted in overs."""
    no_ball_runs: Annotated[int, Meta(ge=1, le=10)] = 1
    """Law 21.15; 2 in English domestic cricket."""
    wide_runs: Annotated[int, Meta(ge=1, le=10)] = 1
    """Law 22.6."""
    free_hit: bool = False
    """The ball after a no-ball is a free hit."""
    crossing_on_catch: bool = False
    """True where batters who crossed before a catch stay crossed (Law 18.11 before October 2022)."""
    players: Annotated[int, Meta(ge=2, le=20)] = 11
    """Players who may bat: all out is one wicket fewer."""
    follow_on_lead: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """Law 14: 200 over five days, 150 over three or four, 100 over two, 75 over one."""
    super_over: SuperOver | None = None
    """How a tie is decided, where super overs are."""


class CricketOpening(Opening, frozen=True, kw_only=True):
    """The opening: two sides with their players, the format, the first day."""

    format: Format


class Toss(Input, frozen=True, kw_only=True):
    """Law 13.4."""

    winner: Key
    decision: Literal["bat", "field"]


class Officials(Input, frozen=True, kw_only=True):
    """Names of the umpires, referee and scorers."""

    umpires: list[Name] = field(default_factory=list)
    tv_umpire: list[Name] = field(default_factory=list)
    reserve_umpire: list[Name] = field(default_factory=list)
    referee: list[Name] = field(default_factory=list)
    scorers: list[Name] = field(default_factory=list)


class Player(Input, frozen=True, kw_only=True):
    """A player who joins a side after the opening."""

    side: Key
    key: Key
    name: Name


class Innings(Input, frozen=True, kw_only=True):
    """An innings begins (Law 12). The batting side is as the umpires say."""

    batting: Key
    follow_on: bool = False
    super_over: bool = False


Kind = Literal[
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
]
"""Ways out on a delivery (Laws 32 to 39); handled the ball until October 2017."""


class Fielder(Input, frozen=True, kw_only=True):
    """Who made the dismissal: a player's key, or a substitute by name, or a substitute unnamed."""

    player: Key | None = None
    name: Name | None = None
    substitute: bool = False


class Wicket(Input, frozen=True, kw_only=True):
    """A dismissal on a delivery."""

    kind: Kind
    out: Key
    fielders: list[Fielder] = field(default_factory=list)
    crossed: bool | None = None
    """Run out: the batters had crossed on the run in progress. Caught, under the old law: they had
    crossed before the catch. None where the scorer was not asked; then as if they had not."""


class Delivery(Input, frozen=True, kw_only=True):
    """One ball. Striker, non-striker and bowler are taken as typed.

    All runs are as the umpire signalled them: `wides` and `no_balls` count the penalty and, for wides,
    the runs run; byes and leg byes may come with a no-ball; `penalty` goes to the batting side
    and `penalty_fielding` to the fielding side (Law 41, on this ball).
    """

    striker: Key
    non_striker: Key | None = None
    """None where a side bats on with one batter."""
    bowler: Key
    bat: Runs = 0
    wides: Runs = 0
    no_balls: Runs = 0
    byes: Runs = 0
    leg_byes: Runs = 0
    penalty: Runs = 0
    penalty_fielding: Runs = 0
    all_run: bool = False
    """A four or six off the bat that did not reach the boundary."""
    wickets: Annotated[list[Wicket], Meta(max_length=2)] = field(default_factory=list)
    dead: bool = False
    """A dead ball in which an extra or a dismissal counted but no ball was bowled (Law 20)."""


class Over(Input, frozen=True, kw_only=True):
    """The umpire calls "over" (Law 17.5)."""


class BowlerChange(Input, frozen=True, kw_only=True):
    """Another bowler finishes the over (Law 17.8)."""

    bowler: Key
    reason: Note = ""


class Retire(Input, frozen=True, kw_only=True):
    """A batter leaves (Law 25.4): hurt or not out, and he may come back; out, and it is a wicket."""

    batter: Key
    kind: Literal["hurt", "not_out", "out"]
    reason: Note = ""


class Resume(Input, frozen=True, kw_only=True):
    """A retired batter comes back (Law 25.4). Facing or backing up on a delivery says the same."""

    batter: Key


class TimedOut(Input, frozen=True, kw_only=True):
    """Law 40: a batter who is not at the crease in time. A wicket, no ball, no bowler."""

    batter: Key


class Absent(Input, frozen=True, kw_only=True):
    """A batter who will not bat in this innings (absent hurt, ill or otherwise)."""

    batter: Key
    reason: Note = ""


class Penalty(Input, frozen=True, kw_only=True):
    """Penalty runs that belong to no delivery (Law 41).

    Without `innings` they go to the side's innings in progress, else its latest one, else its next
    (Law 18.5). With it (1-based number of the innings in the match) to that innings, also a closed one.
    """

    side: Key
    runs: Annotated[int, Meta(ge=-999, le=999)]
    """Minus takes runs back that were given wrongly."""
    innings: Annotated[int, Meta(ge=1, le=99)] | None = None
    reason: Note = ""


class InningsEnd(Input, frozen=True, kw_only=True):
    """The innings is over (Laws 13.3, 15). Ends that the figures tell come by themselves."""

    reason: Literal["declared", "forfeited", "all_out", "overs", "target", "time", "conceded", "closed"]
    note: Note = ""
    batting: Key | None = None
    """The side that forfeits an innings which has not begun."""


class Revise(Input, frozen=True, kw_only=True):
    """Target and overs revised, at any moment, as often as needed. Absent fields stay as they are."""

    target: Annotated[int, Meta(ge=1, le=9999)] | None = None
    """Runs the side batting last needs to win."""
    overs: OversText | None = None
    """The limit of the innings in progress (or next)."""
    bowler_overs: Annotated[int, Meta(ge=1, le=1000)] | None = None
    method: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    """D/L, DLS, VJD."""
    reason: Note = ""


class SetScore(Input, frozen=True, kw_only=True):
    """The score as it truly is after a mishap: a checkpoint from which play goes on.

    Without `innings` (1-based number of the innings in the match) it is the latest one's.
    """

    innings: Annotated[int, Meta(ge=1, le=99)] | None = None
    runs: Annotated[int, Meta(ge=0, le=9999)]
    wickets: Annotated[int, Meta(ge=0, le=19)]
    overs: OversText
    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class BowlOut(Input, frozen=True, kw_only=True):
    """One ball of a bowl-out."""

    bowler: Key
    hit: bool


class GivenResult(Input, frozen=True, kw_only=True):
    """The result as the umpires give it, where the figures do not decide it or play ended early.

    With `kind` alone (draw, tie, no_result, abandoned) nothing else is needed; a win names the winner.
    """

    kind: Literal["won", "tie", "draw", "no_result", "abandoned"]
    winner: Key | None = None
    runs: Runs | None = None
    wickets: Annotated[int, Meta(ge=0, le=20)] | None = None
    innings: Literal[1] | None = None
    method: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    """D/L, VJD, Awarded, Lost fewer wickets, Conceded, … as the scorecard prints it."""
    reason: Note = ""


class Powerplay(Input, frozen=True, kw_only=True):
    """A powerplay of the innings in progress: from and to as printed ("0.1", "5.6")."""

    kind: Annotated[str, Meta(min_length=1, max_length=32)]
    start: OversText
    end: OversText


class Review(Input, frozen=True, kw_only=True):
    """A review of the last delivery (DRS)."""

    by: Key
    batter: Key | None = None
    umpire: Name | None = None
    decision: Literal["upheld", "struck_down"]
    umpires_call: bool = False
    type: Annotated[str, Meta(max_length=64)] | None = None


class Replacement(Input, frozen=True, kw_only=True):
    """A player replaces another for the rest of the match (impact player, supersub, concussion, …)."""

    side: Key
    player_in: Key
    player_out: Key | None = None
    reason: Annotated[str, Meta(min_length=1, max_length=64)]


class RoleReplacement(Input, frozen=True, kw_only=True):
    """A bowler or batter is replaced in his role: the bowler mid-over, the batter who retires."""

    role: Literal["bowler", "batter"]
    player_in: Key
    player_out: Key | None = None
    reason: Annotated[str, Meta(min_length=1, max_length=64)]


class Substitute(Input, frozen=True, kw_only=True):
    """A substitute fields (Law 24)."""

    side: Key
    name: Name
    player: Key | None = None
    player_out: Key | None = None


class Interval(Input, frozen=True, kw_only=True):
    """Play stops: drinks, lunch, tea, stumps, rain, bad light, … and `resumed` when it goes on."""

    kind: Annotated[str, Meta(min_length=1, max_length=32)]
    resumed: bool = False
    note: Note = ""


INPUTS: dict[str, type[Input]] = {
    "cricket.toss": Toss,
    "cricket.officials": Officials,
    "cricket.player": Player,
    "cricket.innings": Innings,
    "cricket.delivery": Delivery,
    "cricket.over": Over,
    "cricket.bowler_change": BowlerChange,
    "cricket.retire": Retire,
    "cricket.resume": Resume,
    "cricket.timed_out": TimedOut,
    "cricket.absent": Absent,
    "cricket.penalty": Penalty,
    "cricket.innings_end": InningsEnd,
    "cricket.revise": Revise,
    "cricket.set_score": SetScore,
    "cricket.bowl_out": BowlOut,
    "cricket.result": GivenResult,
    "cricket.powerplay": Powerplay,
    "cricket.review": Review,
    "cricket.replacement": Replacement,
    "cricket.role_replacement": RoleReplacement,
    "cricket.substitute": Substitute,
    "cricket.interval": Interval,
}
"""Every command cricket takes: code → input type."""
