"""One WebSocket of a scorer, a viewer or a feed: frames in, answers and watched matches out.

Frames of one match are handled in the order they came, those of different matches at the same time. What is
accepted and not yet answered is bounded; past it the socket is not read, so a client in a hurry waits.
"""

from collections import deque
from dataclasses import dataclass

import structlog
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection

from gateway import road
from gateway.admission import TURNED_AWAY
from gateway.auth import Action, Authenticator, forbidden_command
from gateway.channel import Channel
from gateway.codec import Codec, Misread, parse, wire
from gateway.counters import Counters
from gateway.errors import TokenUnchecked
from gateway.fanout import Topic
from gateway.framing import Message, Violation, close_frame
from gateway.journal import AtWork, journal
from gateway.protocol import (
    CLOSE_BAD_FRAMES,
    CLOSE_NO_PONG,
    CLOSE_RESUME,
    CLOSE_TRY_LATER,
    CLOSE_UNAUTHENTICATED,
    Answer,
    Auth,
    CommandFrame,
    Denied,
    Ping,
    Pong,
    Problem,
    ServerFrame,
    TryAgain,
    Unwatch,
    Unwatched,
    Watch,
    Welcome,
)
from gateway.service import Hear, Service
from gateway.sink import Sink
from gateway.stream import WebSocketStream

IN_FLIGHT_LIMIT = 64
"""Frames accepted and not yet answered, of one socket."""
WATCH_LIMIT = 64
"""Matches one socket may watch."""
BAD_FRAMES_LIMIT = 16
"""So many frames in a row that cannot be understood close the socket."""
DRAIN_FLUSH_S = 2.0
"""How long a drain waits for a client to take what it is owed."""

log = structlog.get_logger("scorebox.sockets")


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """How often a socket is pinged, and how long it has to answer. Seconds."""

    every_s: float = 25.0
    answer_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Closing:
    """A close that the server decided on."""

    code: int
    reason: str


class ClientSocket:
    """The server's side of one open WebSocket. `run` lives as long as the socket does."""

    def __init__(
        self,
        connection: WebSocketConnection,
        stream: WebSocketStream,
        *,
        nursery: trio.Nursery,
        service: Service,
        authenticator: Authenticator,
        counters: Counters,
        codec: Codec,
        token: str | None,
        heartbeat: Heartbeat,
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._nursery = nursery
        self._service = service
        self._authenticator = authenticator
        self._counters = counters
        self._codec = codec
        self._token = token
        """Who somebody is, is asked anew for every command: a token may be revoked, or run out."""
        self._heartbeat = heartbeat
        self._channel = Channel(stream, nursery, self._overrun)
        self._lanes: dict[str, deque[CommandFrame | Watch | Unwatch]] = {}
        self._watched: dict[str, tuple[Topic, Sink]] = {}
        """By the match's id, however the client named it."""
        self._named: dict[str, str] = {}
        """What the client called a match it watches → its id."""
        self._in_flight = 0
        self._idle = trio.Event()
        self._idle.set()
        self._bad_frames = 0
        self._authenticating = False
        self._rest_until: float | None = None
        self._draining = False
        self._left = False
        self._scope = trio.CancelScope()
        self.closing: Closing | None = None

    async def run(self) -> None:
        """Serve until the client leaves or the server closes. `closing` tells what is still to be sent."""
        self._stream.open(self._deliver, self._violated)
        self._nursery.start_soon(self._keep_alive)
        try:
            with self._scope:
                # Data messages are delivered by the stream; this ends when the library sees the close.
                await self._connection.get_message()
        except ConnectionClosed:
            pass
        finally:
            self._left = True
            self._channel.end()
            for topic, sink in self._watched.values():
                self._service.unwatch(topic, sink)
            self._counters.watches.dec(len(self._watched))
            self._watched.clear()

    def close(self, code: int, reason: str) -> None:
        """Close with a code and a reason the client can act on. Only the first close counts."""
        if self.closing is None:
            self.closing = Closing(code, reason)
            self._channel.end()
            self._counters.closed.labels(code).inc()
            self._stream.last_word(close_frame(code, reason))
            self._scope.cancel()

    async def drain(self, code: int, reason: str) -> None:
        """Take no more commands, answer those in flight, let the client have everything, then close."""
        self._draining = True
        await self._idle.wait()
        with trio.move_on_after(DRAIN_FLUSH_S):
            await self._channel.caught_up()
        self.close(code, reason)

    def _deliver(self, message: Message) -> None:
        """One data message; called by the stream as it reads."""
        if self.closing is not None:
            return
        frame = parse(message.payload, binary=message.binary)
        if isinstance(frame, Misread):
            self._misread(frame)
            return
        self._bad_frames = 0
        if isinstance(frame, Ping):
            self._send(Pong(frame.n))
        elif isinstance(frame, Auth):
            self._busier()
            # What comes next must be judged by who this is.
            self._authenticating = True
            self._stream.hold()
            self._nursery.start_soon(self._authenticate, frame)
        else:
            self._line_up(frame)

    def _misread(self, misread: Misread) -> None:
        self._counters.bad_frames.inc()
        self._bad_frames += 1
        if self._bad_frames >= BAD_FRAMES_LIMIT:
            self.close(CLOSE_BAD_FRAMES, f"{BAD_FRAMES_LIMIT} frames in a row could not be understood")
        else:
            self._send(misread.answer)

    def _violated(self, violation: Violation) -> None:
        self._counters.bad_frames.inc()
        self.close(violation.code, violation.reason)

    def _line_up(self, frame: CommandFrame | Watch | Unwatch) -> None:
        self._busier()
        lane = self._lanes.get(frame.match)
        if lane is None:
            lane = self._lanes[frame.match] = deque((frame,))
            self._nursery.start_soon(self._drive, frame.match, lane)
        else:
            lane.append(frame)

    async def _drive(self, match: str, lane: deque[CommandFrame | Watch | Unwatch]) -> None:
        """Handle one match's frames in order, until none is left."""
        try:
            while lane:
                frame = lane.popleft()
                if isinstance(frame, CommandFrame):
                    await self._carry(frame)
                elif isinstance(frame, Watch):
                    await self._watch(frame)
                else:
                    self._unwatch(frame.match)
                    self._send(Unwatched(frame.match))
                self._less_busy()
        finally:
            del self._lanes[match]

    async def _carry(self, frame: CommandFrame) -> None:
        """One command and its one answer; that it is saved is told before anything else is done about it."""
        started = trio.current_time()
        told = False

        def tell(answer: Answer) -> None:
            nonlocal told
            if not told:
                told = True
                self._send(answer)
                self._counters.answered(answer, trio.current_time() - started)

        with AtWork(frame, frame.match, None):
            answer = await self._command(frame, tell)
        tell(answer)
        if isinstance(answer, Denied):
            journal.told(frame, None, answer, 0.0)
        elif isinstance(answer, TryAgain) and answer.reason in TURNED_AWAY:
            self._rest(answer.after_ms / 1_000)

    async def _command(self, frame: CommandFrame, hear: Hear) -> Answer:
        if self._token is None:
            first = "send a token first, in the header or in an auth frame"
            return Denied(frame.id, frame.match, "unauthenticated", first)
        try:
            who = await self._authenticator.identify(self._token)
        except TokenUnchecked:
            return TryAgain(frame.id, frame.match, "database_away", road.DATABASE_AFTER_MS)
        if who is None:
            return Denied(frame.id, frame.match, "unauthenticated", "this token is no longer valid")
        if (sentence := forbidden_command(who, frame.match, frame.code)) is not None:
            return Denied(frame.id, frame.match, "forbidden", sentence)
        if self._draining:
            return TryAgain(frame.id, frame.match, "draining", road.DRAIN_AFTER_MS)
        try:
            return await self._service.command(frame, who, hear)
        except Exception:
            # The service answers everything it knows of; this keeps a fault of ours from being silence.
            log.exception("a command failed")
            return TryAgain(frame.id, frame.match, "internal", road.CODE_AFTER_MS)

    async def _watch(self, frame: Watch) -> None:
        if (problem := await self._may_watch(frame)) is not None:
            self._send(problem)
            return
        self._unwatch(frame.match)
        sink = Sink(self._channel, self._codec)
        try:
            topic = await self._service.watch(frame.match, sink, frame.audience, frame.after)
        except Exception:
            log.exception("a watch failed")
            topic = Problem("try_again", "the match cannot be read just now; try again", where="match")
        if isinstance(topic, Problem):
            self._send(topic)
        elif self.closing is not None or self._left:
            self._service.unwatch(topic, sink)
        else:
            self._unwatch(topic.match)
            self._watched[topic.match] = (topic, sink)
            self._named[frame.match] = topic.match
            self._counters.watches.inc()

    async def _may_watch(self, frame: Watch) -> Problem | None:
        if len(self._watched) >= WATCH_LIMIT and self._id(frame.match) not in self._watched:
            return Problem(
                "too_many_watches", f"a socket may watch {WATCH_LIMIT} matches; unwatch one", where="match"
            )
        if frame.audience == "scorer":
            try:
                who = None if self._token is None else await self._authenticator.identify(self._token)
            except TokenUnchecked as error:
                return Problem("try_again", str(error), where="match")
            if who is None or not who.may(Action.SCORE) or not who.covers(frame.match):
                return Problem(
                    "forbidden", "watching as a scorer takes a scorer's token for the match", where="audience"
                )
        return None

    def _id(self, match: str) -> str:
        """The id of a match that is watched, from what the client calls it."""
        return self._named.get(match) or match.lower()

    def _unwatch(self, match: str) -> None:
        id = self._id(match)
        watched = self._watched.pop(id, None)
        if watched is not None:
            self._named = {name: other for name, other in self._named.items() if other != id}
            self._service.unwatch(*watched)
            self._counters.watches.dec()

    async def _authenticate(self, frame: Auth) -> None:
        try:
            identity = await self._authenticator.identify(frame.token)
        except TokenUnchecked as error:
            self.close(CLOSE_TRY_LATER, str(error))
            return
        if identity is None:
            self.close(CLOSE_UNAUTHENTICATED, "this token is not known; ask for a new one")
            return
        self._token = frame.token
        self._authenticating = False
        self._send(Welcome(identity.role))
        self._less_busy()

    def _busier(self) -> None:
        if self._in_flight == 0:
            self._idle = trio.Event()
        self._in_flight += 1
        if self._in_flight >= IN_FLIGHT_LIMIT:
            self._stream.hold()

    def _less_busy(self) -> None:
        self._in_flight -= 1
        if self._in_flight == 0:
            self._idle.set()
        self._read_on()

    def _read_on(self) -> None:
        if self._in_flight < IN_FLIGHT_LIMIT and not self._authenticating and self._rest_until is None:
            self._stream.release()

    def _rest(self, seconds: float) -> None:
        """Nothing is read of a client that was turned away before the time it was told: whoever comes back at
        once then costs nothing."""
        until = trio.current_time() + seconds
        if self._rest_until is None:
            self._stream.hold()
            self._nursery.start_soon(self._wake)
        self._rest_until = max(self._rest_until or until, until)

    async def _wake(self) -> None:
        while self._rest_until is not None:
            left = self._rest_until - trio.current_time()
            if left <= 0:
                self._rest_until = None
            else:
                await trio.sleep(left)
        self._read_on()

    def _send(self, frame: ServerFrame) -> None:
        self._channel.post(wire(frame, self._codec))

    def _overrun(self) -> None:
        """The client does not read: it is told where to go on from."""
        places = [f"{sink.taken.epoch}:{sink.taken.seq}" for _, sink in self._watched.values() if sink.taken]
        self.close(CLOSE_RESUME, f"resume {places[0]}" if len(places) == 1 else "resume")

    async def _keep_alive(self) -> None:
        """Ping; a client that does not answer is gone. One that we do not read may take its time."""
        while True:
            await trio.sleep(self._heartbeat.every_s)
            while True:
                with trio.move_on_after(self._heartbeat.answer_s) as scope:
                    try:
                        await self._connection.ping()
                    except ConnectionClosed:
                        return
                if not scope.cancelled_caught:
                    break
                if not self._stream.held:
                    self.close(CLOSE_NO_PONG, f"no pong within {self._heartbeat.answer_s:g} s")
                    return
