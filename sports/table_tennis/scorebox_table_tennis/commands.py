"""The typed input of table tennis's opening and of every command a scorer can send.

Law numbers are of the Laws of Table Tennis (2) and the Regulations for International Competitions (3) in
the ITTF Statutes. Sides and players are match-local keys.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from scorebox_contract.events import Input, Key, Name, Opening

GAMES_MOST = 9
POINTS_MOST = 999
"""A typing guard: after 10–10 a game has no limit in the Laws."""

PointsScored = Annotated[int, Meta(ge=0, le=POINTS_MOST)]
Note = Annotated[str, Meta(max_length=500)]


class Format(Input, frozen=True, kw_only=True):
    """What a competition decides."""

    name: Name
    games: Literal[1, 3, 5, 7, 9] = 5
    """Best of so many games (Law 2.12.1: any odd number)."""
    points: Literal[11, 21] = 11
    """Points a game (Law 2.11.1; 21 before September 2001, with five services in turn)."""
    clear: Annotated[int, Meta(ge=1, le=2)] = 2
    """Points a game must be won by (Law 2.11.1)."""


class TableTennisOpening(Opening, frozen=True, kw_only=True):
    """The opening: two sides, each one player (singles) or each a pair (doubles), and the format."""

    format: Format


class Toss(Input, frozen=True, kw_only=True):
    """Law 2.13.1: the winner chooses to serve, to receive, or an end; the other has the other choice."""

    winner: Key
    choice: Literal["serve", "receive", "end"]
    serves: Key | None = None
    """The side that serves first; told by the choice unless that was an end."""
    left: Key | None = None
    """The side that starts at the umpire's left."""


class Service(Input, frozen=True, kw_only=True):
    """Who serves now, and in doubles to whom (Law 2.13.4), as the pairs chose or the umpire says."""

    server: Key
    receiver: Key | None = None


class Ends(Input, frozen=True, kw_only=True):
    """Which side is at the umpire's left now."""

    left: Key


class Point(Input, frozen=True, kw_only=True):
    """A rally that was won (Law 2.10)."""

    winner: Key
    """The side."""
    server: Key | None = None
    """The player who served, where not the one whose turn it was."""
    returns: Annotated[int, Meta(ge=0, le=POINTS_MOST)] | None = None
    """Correct returns of the receiving side: under the expedite system 13 win the point (Law 2.15.4)."""


class Let(Input, frozen=True, kw_only=True):
    """A rally without a result (Law 2.9)."""

    reason: Note = ""


class Expedite(Input, frozen=True, kw_only=True):
    """The expedite system comes into operation (Law 2.15)."""

    in_play: bool = False
    """The ball was in play at the time limit: the same player serves again (Law 2.15.3)."""
    requested: bool = False
    """Both sides asked for it (Law 2.15.1)."""


class TimeOut(Input, frozen=True, kw_only=True):
    """A side's time-out of up to one minute, once in a match (Regulation 3.4.4.2)."""

    side: Key


class Card(Input, frozen=True, kw_only=True):
    """Misbehaviour (Regulation 3.5.2), or bad advice (3.5.1) where it is shown to a `coach`.

    A yellow card warns; yellow and red together give the other side points; red disqualifies (by the
    referee). A coach's card touches neither score nor result.
    """

    side: Key
    kind: Literal["yellow", "yellow_red", "red"]
    player: Key | None = None
    coach: bool = False
    points: Annotated[int, Meta(ge=0, le=10)] | None = None
    """Penalty points, where the umpire gives others than the law: 1, and 2 from the next time on."""
    reason: Note = ""


class Medical(Input, frozen=True, kw_only=True):
    """Play is suspended for an injury, up to 10 minutes (Regulation 3.4.4)."""

    side: Key
    player: Key | None = None
    reason: Note = ""


class Interval(Input, frozen=True, kw_only=True):
    """Play stops, or goes on with `resumed`."""

    kind: Literal["game", "towel", "racket", "light", "other"] = "other"
    resumed: bool = False
    reason: Note = ""


class Withdrawal(Input, frozen=True, kw_only=True):
    """A side that does not go on: its opponent wins, the score stays as it is."""

    side: Key
    reason: Note = ""


class Abandon(Input, frozen=True, kw_only=True):
    """The match ends without a winner."""

    reason: Note = ""


class GamePoints(Input, frozen=True, kw_only=True):
    """The points of one game: of the side named first in the opening, and of the other."""

    first: PointsScored
    second: PointsScored


class SetScore(Input, frozen=True, kw_only=True):
    """The score as it truly is after a mishap: a checkpoint from which play goes on.

    What is not said stays as it was, or as the law has it at that score.
    """

    games: Annotated[list[GamePoints], Meta(max_length=GAMES_MOST)] = field(default_factory=list)
    """Games that are over, in order."""
    points: GamePoints
    """The game in play, 0–0 between games."""
    server: Key | None = None
    receiver: Key | None = None
    left: Key | None = None
    expedite: bool | None = None
    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class Officials(Input, frozen=True, kw_only=True):
    """Names of the officials."""

    umpire: Name | None = None
    assistant_umpire: Name | None = None
    referee: Name | None = None
    stroke_counter: Name | None = None


INPUTS: dict[str, type[Input]] = {
    "table_tennis.point": Point,
    "table_tennis.let": Let,
    "table_tennis.service": Service,
    "table_tennis.ends": Ends,
    "table_tennis.expedite": Expedite,
    "table_tennis.time_out": TimeOut,
    "table_tennis.card": Card,
    "table_tennis.medical": Medical,
    "table_tennis.interval": Interval,
    "table_tennis.toss": Toss,
    "table_tennis.officials": Officials,
    "table_tennis.set_score": SetScore,
    "table_tennis.retire": Withdrawal,
    "table_tennis.walkover": Withdrawal,
    "table_tennis.disqualify": Withdrawal,
    "table_tennis.abandon": Abandon,
}
"""Code → input type."""
