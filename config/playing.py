"""Plays a match that was read from a file on a server, as a scorer with a tablet would, and checks it."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import trio

from config.client import Client
from config.errors import PlayStopped
from gateway.protocol import Accepted, Conflict, Created, CreateMatch, OutsideId, Preview, Refused, Warned
from sports.readers.cricsheet import SOURCE, CricsheetMatch
from sports.readers.cricsheet_expected import expected_of
from sports.readers.expected import Expected
from sports.readers.golden import GoldenMatch
from sports.readers.resuming import Parting, Row, align
from sports.readers.steps import DELIVERY, Heard, Step, count_deliveries

SPORT = "cricket"
OPENING_SEQ = 1
"""The first row of every log is the opening."""
OVERRIDES_LIMIT = 16
COMPETITION_LIMIT_CHARACTERS = 64
NAME_LIMIT_CHARACTERS = 256


@dataclass(slots=True)
class Played:
    """How a match was played, and what came of it."""

    match: str
    code: str
    name: str
    existed: bool
    """True when the server had the match already; then only what was missing was sent."""
    commands: int = 0
    deliveries: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What the file says that could not be sent; no figure depends on it."""
    warnings: Counter[str] = field(default_factory=Counter)
    overrides: Counter[str] = field(default_factory=Counter)
    overridden: list[str] = field(default_factory=list)
    """Every refusal that was overridden, as a sentence."""
    warned: list[str] = field(default_factory=list)
    """Every warning, as a sentence."""
    figures: int = 0
    """How many figures were compared."""
    differences: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict)


class Pace:
    """Holds deliveries to a number a second; without one they go as fast as they are answered."""

    def __init__(self, per_second: float | None) -> None:
        self._gap_s = None if per_second is None else 1 / per_second
        self._next_at = 0.0

    async def delivery(self) -> None:
        """Waits until the next delivery is due."""
        if self._gap_s is not None:
            await trio.sleep_until(self._next_at)
            self._next_at = max(self._next_at + self._gap_s, trio.current_time())


async def play(
    client: Client,
    match: CricsheetMatch,
    *,
    again: bool = False,
    per_second: float | None = None,
    advance: Callable[[int], None] = lambda deliveries: None,
) -> Played:
    """Creates the match, sends its commands, reads the document and compares it with the file.

    A match that the server has already is not scored twice: what is missing of it is sent, then it is
    compared. With `again` a new one is made. `advance` hears of deliveries behind us.

    Raises:
        PlayStopped: the server refused a command for good, or the match there is another.
        ClientFault: the server cannot be used.
    """
    created = await _create(client, match, again=again)
    played = Played(created.match, created.code, match.name, existed=not created.created, notes=match.notes)
    heard, done, saw = Heard(), 0, created.seq
    if not created.created:
        heard, done, saw = await _catch_up(client, match, created)
    advance(count_deliveries(match.steps[:done]))
    await score(client, played, match.steps[done:], heard, saw, per_second=per_second, advance=advance)
    await compare(client, played, expected_of(match))
    return played


async def score(
    client: Client,
    played: Played,
    steps: Iterable[Step],
    heard: Heard,
    saw: int,
    *,
    per_second: float | None = None,
    advance: Callable[[int], None] = lambda deliveries: None,
) -> None:
    """Sends every step that is due and waits for its answer; `played` takes in what was answered.

    Raises:
        PlayStopped: a command was refused for good, or somebody else scores the match.
    """
    pace = Pace(per_second)
    started = trio.current_time()
    for step in steps:
        if heard.due(step):
            if step.code == DELIVERY:
                await pace.delivery()
            answer = await _send(client, played, step, saw)
            saw = answer.seq
            heard.answered(step, answer.emits)
        if step.code == DELIVERY:
            played.deliveries += 1
            advance(1)
    played.seconds = trio.current_time() - started


def creation(match: CricsheetMatch | GoldenMatch, **outside: Any) -> CreateMatch:
    """The request that creates a match; names too long for it are cut. `outside` are ids that others gave."""
    return CreateMatch(
        sport=SPORT,
        name=match.name[:NAME_LIMIT_CHARACTERS],
        opening=match.opening,
        competition=(match.competition or "")[:COMPETITION_LIMIT_CHARACTERS] or None,
        **outside,
    )


async def compare(client: Client, played: Played, expected: Expected) -> None:
    """Reads the document of a match that was played, and notes where it differs from what is expected."""
    played.document = (await client.document(played.match))["document"]
    played.figures = expected.figures
    played.differences = expected.differences(played.document)


async def _create(client: Client, match: CricsheetMatch, *, again: bool) -> Created:
    id = f"{match.id}-{secrets.token_hex(4)}" if again else match.id
    people = {key: OutsideId(SOURCE, person) for key, person in match.people.items()}
    return await client.create_match(creation(match, external=OutsideId(SOURCE, id), people=people))


async def _catch_up(client: Client, match: CricsheetMatch, created: Created) -> tuple[Heard, int, int]:
    """How far the match on the server has come: what it emitted, how many steps, the newest seq."""
    rows = []
    saw = OPENING_SEQ
    async for event in client.log(created.match):
        saw = event.seq
        if event.seq > OPENING_SEQ:
            rows.append(Row(event.seq, event.code, event.input, event.emits))
    found = align(match.steps, rows)
    if isinstance(found, Parting):
        raise PlayStopped(
            f"the server has this match already ({created.code}), and from seq {found.seq} on it was scored "
            "otherwise than the file; --again plays it as a new match"
        )
    return found.heard, found.done, saw


async def _send(client: Client, played: Played, step: Step, saw: int) -> Accepted:
    """Sends a step; a refusal that may be overridden is, since the file is what the umpires said."""
    override = list(step.override)
    while True:
        answer = await client.command(played.match, step.code, step.input, saw, override)
        if isinstance(answer, Accepted):
            break
        place = f"{step.code} after seq {saw}"
        if isinstance(answer, Conflict):
            raise PlayStopped(f"{place}: somebody else scores {played.code} (it is at seq {answer.last_seq})")
        if isinstance(answer, Preview):
            raise PlayStopped(f"{place} was only previewed")
        if not isinstance(answer, Refused) or not _may_override(answer, override):
            raise PlayStopped(f"{place} was refused: {answer.sentence}")
        override.append(answer.code)
        played.overrides[answer.code] += 1
        played.overridden.append(f"seq {saw + 1}, {step.code}: {answer.sentence}")
    played.commands += 1
    for warning in answer.warnings:
        _note(played, answer.seq, step, warning)
    return answer


def _may_override(answer: Refused, override: list[str]) -> bool:
    return answer.overridable and answer.code not in override and len(override) < OVERRIDES_LIMIT


def _note(played: Played, seq: int, step: Step, warning: Warned) -> None:
    played.warnings[warning.code] += 1
    played.warned.append(f"seq {seq}, {step.code}: {warning.sentence}")
