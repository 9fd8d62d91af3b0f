"""The shape of a Cricsheet JSON file (data_version 1.0.0 and 1.1.0, cricsheet.org/format/json).

Only what a match cannot do without is required; the rest may be absent. Decimal numbers are kept as
text: a target of 48.5 overs is 48 overs and 5 balls, and "4.10" is not "4.1".
"""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from sports.readers.errors import NotThisFormat, UnreadableMatch

FILE_LIMIT_BYTES = 32 * 1024 * 1024
"""The largest file read; a five-day Test is under 2 MB."""

_ADVICE = "give a match file in Cricsheet's JSON format (cricsheet.org/downloads)"

Overs = Annotated[str, msgspec.Meta(pattern=r"^\d{1,4}(\.\d{1,2})?$")] | int
"""An amount of overs, or a place in them."""
Runs = Annotated[int, msgspec.Meta(ge=0, le=999)]
OverNumber = Annotated[int, msgspec.Meta(ge=0, le=999)]


class FielderEntry(msgspec.Struct, frozen=True):
    """A fielder of a dismissal; a substitute may have no name."""

    name: str | None = None
    substitute: bool = False


class WicketEntry(msgspec.Struct, frozen=True):
    """A dismissal or retirement listed on a delivery."""

    kind: str
    player_out: str
    fielders: list[FielderEntry | str] | None = None


class RunsEntry(msgspec.Struct, frozen=True):
    """Runs of a delivery. `non_boundary`: the four or six was run."""

    batter: Runs = 0
    extras: Runs = 0
    total: Runs = 0
    non_boundary: bool = False


class ReviewEntry(msgspec.Struct, frozen=True):
    """A review of a delivery."""

    by: str | None = None
    batter: str | None = None
    umpire: str | None = None
    decision: str | None = None
    umpires_call: bool = False
    type: str | None = None


class ReplacementEntry(msgspec.Struct, frozen=True, rename={"player_in": "in", "player_out": "out"}):
    """A player who came in. `team` in a match replacement, `role` in a role replacement."""

    player_in: str | None = None
    player_out: str | None = None
    reason: str | None = None
    team: str | None = None
    role: str | None = None


class ReplacementsEntry(msgspec.Struct, frozen=True):
    """Replacements made before a delivery."""

    match: list[ReplacementEntry] | None = None
    role: list[ReplacementEntry] | None = None


class DeliveryEntry(msgspec.Struct, frozen=True):
    """One delivery."""

    batter: str
    bowler: str
    non_striker: str | None = None
    runs: RunsEntry = RunsEntry()
    extras: dict[str, Runs] | None = None
    wickets: list[WicketEntry] | None = None
    review: ReviewEntry | None = None
    replacements: ReplacementsEntry | None = None

    def extras_of(self, kind: str) -> int:
        """Runs of one kind of extra: wides, noballs, byes, legbyes, penalty."""
        return self.extras.get(kind, 0) if self.extras else 0

    @property
    def is_legal(self) -> bool:
        """True when it counts towards the over: neither a wide nor a no-ball."""
        return not self.extras_of("wides") and not self.extras_of("noballs")


class OverEntry(msgspec.Struct, frozen=True):
    """An over, counted from 0."""

    over: OverNumber | None = None
    deliveries: list[DeliveryEntry] = []


class PowerplayEntry(msgspec.Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """A powerplay, from and to as printed."""

    start: Overs
    end: Overs
    type: str | None = None


class TargetEntry(msgspec.Struct, frozen=True):
    """Runs to win and the overs to make them in."""

    runs: int | None = None
    overs: Overs | None = None


class PenaltyEntry(msgspec.Struct, frozen=True):
    """Penalty runs before and after an innings."""

    pre: Runs | None = None
    post: Runs | None = None


class MiscountEntry(msgspec.Struct, frozen=True):
    """An over that was not as long as it should have been."""

    balls: str | int | None = None


class InningsEntry(msgspec.Struct, frozen=True):
    """An innings; a forfeited one has no overs."""

    team: str
    overs: list[OverEntry] | None = None
    powerplays: list[PowerplayEntry] | None = None
    target: TargetEntry | None = None
    penalty_runs: PenaltyEntry | None = None
    miscounted_overs: dict[str, MiscountEntry] | None = None
    absent_hurt: list[str] | None = None
    declared: bool = False
    forfeited: bool = False
    super_over: bool = False

    def deliveries(self) -> Iterator[DeliveryEntry]:
        """Every delivery in order."""
        for over in self.overs or ():
            yield from over.deliveries

    def total(self) -> int:
        """Its runs, with the penalty runs that hang on no delivery."""
        penalty = self.penalty_runs
        runs = sum(ball.runs.total for ball in self.deliveries())
        return runs + ((penalty.pre or 0) + (penalty.post or 0) if penalty else 0)


class OfficialsEntry(msgspec.Struct, frozen=True):
    """Names of the officials."""

    umpires: list[str] | None = None
    tv_umpires: list[str] | None = None
    reserve_umpires: list[str] | None = None
    match_referees: list[str] | None = None


class TossEntry(msgspec.Struct, frozen=True):
    """The toss; an uncontested one names winner and decision too."""

    winner: str | None = None
    decision: str | None = None


class MarginEntry(msgspec.Struct, frozen=True):
    """The margin of a win."""

    runs: int | None = None
    wickets: int | None = None
    innings: int | None = None


class OutcomeEntry(msgspec.Struct, frozen=True):
    """How the match ended."""

    winner: str | None = None
    by: MarginEntry | None = None
    result: str | None = None
    method: str | None = None
    eliminator: str | None = None
    bowl_out: str | None = None


class BowlOutEntry(msgspec.Struct, frozen=True):
    """One ball of a bowl-out."""

    bowler: str
    outcome: str


class RegistryEntry(msgspec.Struct, frozen=True):
    """Cricsheet's own ids of the people named in the file."""

    people: dict[str, str] | None = None


class EventEntry(msgspec.Struct, frozen=True):
    """The competition."""

    name: str | None = None


class InfoEntry(msgspec.Struct, frozen=True):
    """Everything about the match but its play."""

    teams: list[str]
    match_type: str
    dates: list[str] | None = None
    balls_per_over: Annotated[int, msgspec.Meta(ge=1, le=20)] = 6
    overs: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None
    gender: str | None = None
    event: EventEntry | None = None
    players: dict[str, list[str]] | None = None
    registry: RegistryEntry | None = None
    supersubs: dict[str, str] | None = None
    officials: OfficialsEntry | None = None
    toss: TossEntry | None = None
    outcome: OutcomeEntry | None = None
    bowl_out: list[BowlOutEntry] | None = None


class MatchEntry(msgspec.Struct, frozen=True):
    """A whole file."""

    info: InfoEntry
    innings: list[InningsEntry] = []


def decode_plain(data: bytes, file: str) -> dict[str, Any]:
    """The file as plain data, decimal numbers as text.

    Raises:
        NotThisFormat: not JSON, or JSON of something else.
    """
    if len(data) > FILE_LIMIT_BYTES:
        raise NotThisFormat(file, f"the file has {len(data)} bytes, more than any match", _ADVICE)
    try:
        plain = json.loads(data, parse_float=str)
    except UnicodeDecodeError as error:
        raise NotThisFormat(
            file, f"the file is not text ({error.reason} at byte {error.start})", _ADVICE
        ) from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotThisFormat(file, f"the file is not JSON ({error.msg}, {where})", _ADVICE) from error
    except RecursionError as error:
        raise NotThisFormat(file, "the JSON is nested too deep for a match", _ADVICE) from error
    if not isinstance(plain, dict):
        raise NotThisFormat(file, "the JSON is not an object", _ADVICE)
    missing = [key for key in ("info", "innings") if key not in plain]
    if missing:
        raise NotThisFormat(file, f'the JSON is not a Cricsheet match: it has no "{missing[0]}"', _ADVICE)
    try:
        json.dumps(plain, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        raise NotThisFormat(file, f"a text has half a character in it ({half!r})", _ADVICE) from error
    return plain


def decode_match(plain: dict[str, Any], file: str) -> MatchEntry:
    """The typed file.

    Raises:
        UnreadableMatch: a value is missing or of the wrong type; says where ("$.innings[0].overs[3]").
    """
    try:
        match = msgspec.convert(plain, MatchEntry)
    except msgspec.ValidationError as error:
        raise UnreadableMatch(
            file, f"a value is not as the format has it: {error}", "mend the file there"
        ) from error
    teams = match.info.teams
    if len(teams) != 2 or teams[0] == teams[1]:
        raise UnreadableMatch(file, f"info.teams names {teams}, not two teams", "name the two teams there")
    return match
