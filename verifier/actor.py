"""The background check as an actor: live matches every 5 minutes and at start-up, a match at its end and
after a move, the live matches of a sport after an install.

One match after another, on one node at a time: the one that holds the session lock. It works in processes
of its own, so live commands never wait for it. What it finds it does not mend itself: it raises an alert
and sends `match.rebuild` down the ordinary road, where the log wins.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from uuid import UUID, uuid4

import structlog
import trio

from gateway.auth import Identity, Role
from gateway.corrections import REBUILD
from gateway.protocol import Accepted, Answer, CommandFrame, Conflict, TryAgain
from runtime.alerts import AlertBoard, AlertKind
from runtime.database import Database, Session
from runtime.errors import DatabaseAway
from runtime.pool import Pools
from runtime.versions import SportVersion
from verifier.errors import NoSuchMatch, NotReplayed
from verifier.saved import due_after, live_matches, newest_item
from verifier.verify import Verdict, verify

OWNER_LOCK_KEY = 0x5C02_EB0E
"""Key of the advisory lock that makes one node the owner."""
OWNER_POLL_S = 5.0
LOOK_EVERY_S = 2.0
"""How often it is looked for matches that ended or were moved."""
ROUND_EVERY_S = 300.0
"""How often every live match is checked."""
AWAY_PAUSE_S = 1.0
STARTUP_ITEMS = 10_000
"""At start-up, what ended or was moved within so many of the newest rows of all logs is checked too."""
REBUILD_TRIES = 10
"""How often a rebuild is sent while others score the match, or the server is busy."""
REASON_CHARACTERS = 500
"""A reason may be so long."""
MILLISECONDS_PER_SECOND = 1_000
WHO = Identity("verifier", Role.ADMIN)

log = structlog.get_logger("scorebox.verifier")


class Commands(Protocol):
    """The ordinary road."""

    async def command(self, frame: CommandFrame, who: Identity) -> Answer:
        """One command, and its answer."""
        ...


@dataclass(frozen=True, slots=True)
class VerifierStatistics:
    """What the status page and tests read."""

    owner: bool
    """Whether this node is the one that checks."""
    rounds: int
    """Rounds over all live matches that were finished."""
    checked: int
    """Matches checked."""
    events: int
    """Events replayed."""
    differing: int
    """Matches found to differ from their log."""
    rebuilt: int
    unchecked: int
    """Checks that came to no verdict: code missing, workers lost."""
    last_match: str | None
    last_at: datetime | None
    last_ms: float


class Verifier:
    """Checks until cancelled, when this node is the owner."""

    def __init__(
        self,
        *,
        database: Database,
        pools: Pools,
        alerts: AlertBoard,
        round_every_s: float = ROUND_EVERY_S,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        self._database = database
        self._pools = pools
        self._alerts = alerts
        self._round_every_s = round_every_s
        self._look_every_s = look_every_s
        self._done: dict[UUID, int] = {}
        """Matches that ended or were moved, and were checked for it → the seq they were due at."""
        self._open: set[UUID] = set()
        """Matches whose last check came to no verdict."""
        self._installed: set[str] = set()
        """Sports of which a version came in since the last look."""
        self._news = trio.Event()
        self._marks = (0, 0)
        """The newest row of all logs at the last look, and at the one before."""
        self._owner = False
        self._rounds = self._checked = self._events = self._differing = self._rebuilt = self._unchecked = 0
        self._last_match: str | None = None
        self._last_at: datetime | None = None
        self._last_ms = 0.0

    async def run(self, commands: Commands) -> None:
        """Become the owner, check, and start again when the database was away. Rebuilds go to `commands`."""
        while True:
            try:
                async with self._database.dedicated() as session:
                    while not await session.fetchval("SELECT pg_try_advisory_lock($1)", OWNER_LOCK_KEY):
                        await trio.sleep(OWNER_POLL_S)
                    self._owner = True
                    await self._watch(session, commands)
            except DatabaseAway as error:
                log.info("the verifier waits for the database", error=str(error))
                await trio.sleep(AWAY_PAUSE_S)
            finally:
                self._owner = False

    def installed(self, version: SportVersion) -> None:
        """A version came in on this node: its sport's live matches are checked next.

        Those of another node are checked in its next round, when it has the code too.
        """
        self._installed.add(version.sport)
        self._news.set()

    @property
    def behind(self) -> bool:
        """Whether a version came in that it has not looked at yet."""
        return bool(self._installed)

    def statistics(self) -> VerifierStatistics:
        """What it did so far."""
        return VerifierStatistics(
            self._owner,
            self._rounds,
            self._checked,
            self._events,
            self._differing,
            self._rebuilt,
            self._unchecked,
            self._last_match,
            self._last_at,
            self._last_ms,
        )

    async def _watch(self, session: Session, commands: Commands) -> None:
        """The owner's work: what is due at once, all live matches in rounds."""
        newest = await newest_item(self._database)
        self._marks = (newest - STARTUP_ITEMS, newest - STARTUP_ITEMS)
        # The first round goes over all that an install before it concerns.
        self._installed.clear()
        next_round = trio.current_time()
        while True:
            await self._check_due(session, commands)
            if trio.current_time() >= next_round:
                next_round = trio.current_time() + self._round_every_s
                for match in await live_matches(self._database):
                    await self._check_due(session, commands)
                    await self._check(session, commands, match)
                self._rounds += 1
            with trio.move_on_after(self._look_every_s):
                await self._news.wait()

    async def _check_due(self, session: Session, commands: Commands) -> None:
        """Checks what ended, was moved or has other code beside it since the last look.

        Rows are counted from the look before the last: one that is committed late has a smaller number
        than rows that were seen already.
        """
        newest = await newest_item(self._database)
        due = await due_after(self._database, self._marks[0])
        self._marks = (self._marks[1], newest)
        self._done = {match: seq for match, seq in self._done.items() if match in due}
        for match, seq in due.items():
            if self._done.get(match) != seq:
                await self._check(session, commands, match)
                self._done[match] = seq
        self._news = trio.Event()
        sports, self._installed = self._installed, set()
        for sport in sports:
            # What had no verdict may have lacked the very code that came in.
            for match in self._open.union(await live_matches(self._database, sport)):
                await self._check(session, commands, match)

    async def _check(self, session: Session, commands: Commands, match: UUID) -> None:
        # The lock lives as long as its session: no session, no checking.
        await session.fetchval("SELECT 1")
        try:
            verdict = await self._verify(match)
            if not verdict.findings:
                return
            self._differing += 1
            self._raise("verification_failed", verdict, alarm(verdict))
            if await self._rebuild(commands, verdict):
                again = await self._verify(match)
                if again.findings:
                    self._raise("rebuild_failed", again, alarm(again))
        except NotReplayed as error:
            self._unchecked += 1
            self._open.add(match)
            self._alerts.raise_alert("not_verified", str(match), str(error))
        except NoSuchMatch:
            self._open.discard(match)
            log.info("match_gone", match=str(match))

    async def _verify(self, match: UUID) -> Verdict:
        started = trio.current_time()
        verdict = await verify(self._database, self._pools, match)
        self._checked += 1
        self._events += verdict.events
        self._last_match, self._last_at = verdict.code, datetime.now(UTC)
        self._last_ms = (trio.current_time() - started) * 1000
        self._open.discard(match)
        self._alerts.settle("not_verified", str(match))
        if not verdict.findings:
            self._alerts.settle("verification_failed", verdict.code)
            self._alerts.settle("rebuild_failed", verdict.code)
        return verdict

    def _raise(self, kind: AlertKind, verdict: Verdict, sentence: str) -> None:
        self._alerts.raise_alert(kind, verdict.code, sentence, event=verdict.findings[0].seq)

    async def _rebuild(self, commands: Commands, verdict: Verdict) -> bool:
        """Sends the rebuild down the road; True once it was accepted."""
        first = verdict.findings[0]
        reason = f"what was saved and the log part at event {first.seq}: {first.sentence}"[:REASON_CHARACTERS]
        id, saw = str(uuid4()), verdict.last_seq
        for _ in range(REBUILD_TRIES):
            frame = CommandFrame(id, str(verdict.match), REBUILD, {"reason": reason}, saw)
            answer = await commands.command(frame, WHO)
            match answer:
                case Accepted():
                    self._rebuilt += 1
                    log.warning("match_rebuilt", match=verdict.code, seq=answer.seq)
                    return True
                case Conflict():
                    # Somebody scored meanwhile; a rebuild works from the log, whatever is newest in it.
                    saw = answer.last_seq
                case TryAgain():
                    await trio.sleep(answer.after_ms / MILLISECONDS_PER_SECOND)
                case _:
                    sentence = getattr(answer, "sentence", "")
                    self._raise("rebuild_failed", verdict, f"the rebuild was refused: {sentence}")
                    return False
        self._raise("rebuild_failed", verdict, f"the rebuild did not get through in {REBUILD_TRIES} tries")
        return False


def alarm(verdict: Verdict) -> str:
    """A sentence for the people who watch: the match, the first event, how much differs."""
    first = verdict.findings[0]
    kinds = _counted(finding.what for finding in verdict.findings)
    return f"match {verdict.code} and its log part at event {first.seq}: {first.sentence} ({kinds} differ)"


def _counted(kinds: Iterable[str]) -> str:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return ", ".join(kind if number == 1 else f"{number} {kind}s" for kind, number in counts.items())
