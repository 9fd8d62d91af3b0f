"""The composed server in this process: what happens when one of its parts fails."""

from contextlib import aclosing
from uuid import UUID, uuid4

import httpx
import psutil
import pytest
import trio
import trio.testing

from bench.play import opening
from config.client import open_client
from config.errors import BadSetting
from config.server import TemporaryServer, temporary_server
from config.settings import Settings, read_settings
from gateway import matches as keeping
from gateway.auth import Identity, Role
from gateway.channel import Channel
from gateway.codec import Codec
from gateway.fanout import Topic
from gateway.health import Health
from gateway.match import MatchActor, Message
from gateway.protocol import Accepted, Answer, CommandFrame, CreateMatch, TryAgain
from gateway.records import StoredMatch
from gateway.sink import Sink
from gateway.stream import Taken
from runtime.errors import DatabaseAway


async def new_match(server: TemporaryServer) -> str:
    async with open_client(server.url, server.token) as client:
        created = await client.create_match(CreateMatch("cricket", "A v B", opening()))
        return created.match


async def test_watchers_of_a_failed_match_actor_hear_of_the_next_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with temporary_server() as server:
        match = await new_match(server)
        async with (
            open_client(server.url, server.token) as scorer,
            open_client(server.url) as viewer,
            aclosing(viewer.watch(match)) as frames,
        ):
            assert (await anext(frames)).seq == 1
            [actor] = server.server.matches._actors.values()

            async def fail(*_: object) -> None:
                raise ZeroDivisionError("a fault of ours")

            monkeypatch.setattr(actor, "_score", fail)
            answer = await scorer.command(match, "cricket.innings", {"batting": "A"}, 1)
            assert isinstance(answer, Accepted)
            with trio.fail_after(20):
                while (await anext(frames)).seq < answer.seq:
                    pass
            assert server.server.alerts.counts["actor_failed"] == 1
            assert server.server.matches._actors[UUID(match)] is not actor


async def test_a_saved_command_is_answered_even_where_its_actor_fails_over_telling_watchers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with temporary_server() as server:
        match = await new_match(server)

        def fail(*_: object) -> None:
            raise ZeroDivisionError("a fault of ours")

        async with open_client(server.url, server.token) as scorer:
            with monkeypatch.context() as patch:
                patch.setattr(Topic, "publish", fail)
                answer = await scorer.command(match, "cricket.innings", {"batting": "A"}, 1)
            assert isinstance(answer, Accepted)
            assert not answer.duplicate, "it was heard at once, and not only when it was sent again"
            assert server.server.alerts.counts["actor_failed"] == 1
            with monkeypatch.context() as patch:
                patch.setattr(Topic, "publish", fail)
                frame = CommandFrame(str(uuid4()), match, "cricket.officials", {"umpires": ["Ann"]}, 2)
                again = await server.server.matches.command(frame, Identity("ops", Role.ADMIN))
            assert isinstance(again, Accepted), "what is saved is told to whoever waits, whatever fails then"


async def test_a_vigil_is_kept_over_a_command_that_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with temporary_server(Settings(vigil_ms=1_000)) as server:
        match = await new_match(server)
        vigil, original, seen = server.server.matches._vigil, MatchActor._score, list[bool]()

        async def score(self: MatchActor, *given: object) -> object:
            seen.append(vigil.kept)
            return await original(self, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(MatchActor, "_score", score)
        async with open_client(server.url, server.token) as scorer:
            assert isinstance(await scorer.command(match, "cricket.innings", {"batting": "A"}, 1), Accepted)
        assert seen == [True]
        await trio.testing.wait_all_tasks_blocked()
        assert not vigil.kept
        assert not vigil._begun.is_set(), "its task runs, and waits for the next one"


async def test_a_match_actor_that_always_fails_rests_and_its_siblings_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with temporary_server() as server:
        broken, sound = await new_match(server), await new_match(server)
        original = MatchActor._score

        async def fail(self: MatchActor, *given: object) -> object:
            if self.ref == broken:
                raise ZeroDivisionError("a fault of ours")
            return await original(self, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(MatchActor, "_score", fail)
        async with open_client(server.url, server.token) as scorer:
            with trio.move_on_after(20) as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(scorer.command, broken, "cricket.innings", {"batting": "A"}, 1)
                    while not server.server.alerts.counts["actor_resting"]:
                        await trio.sleep(0.01)
                    nursery.cancel_scope.cancel()
            assert not scope.cancelled_caught
        async with open_client(server.url, server.token) as scorer:
            assert isinstance(await scorer.command(sound, "cricket.innings", {"batting": "A"}, 1), Accepted)


async def test_a_match_named_in_every_way_has_one_actor() -> None:
    async with temporary_server() as server, open_client(server.url, server.token) as client:
        created = await client.create_match(CreateMatch("cricket", "A v B", opening()))
        spellings = (created.match, created.match.upper(), created.match.replace("-", ""))

        async def score(name: str) -> None:
            async with open_client(server.url, server.token) as scorer:
                await scorer.command(name, "cricket.innings", {"batting": "A"}, 9)

        async with trio.open_nursery() as nursery:
            for name in (*spellings, created.code, f"cricket:{created.code}"):
                nursery.start_soon(score, name)
        matches = server.server.matches
        assert list(matches._actors) == [UUID(created.match)]
        assert set(matches._refs) == {created.code, f"cricket:{created.code}"}


class NoStream:
    """A stream that takes nothing, for a sink of nobody's."""

    def send_now(self, frame: bytes) -> Taken:
        return Taken.NOT

    async def flush(self) -> None:
        await trio.sleep_forever()


@pytest.mark.parametrize("moment", ["waiting", "answered"])
async def test_a_watcher_who_leaves_while_he_joins_is_not_kept(
    moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with temporary_server() as server, trio.open_nursery() as nursery:
        match = await new_match(server)
        matches = server.server.matches
        actor = await matches._actor(match)
        assert isinstance(actor, MatchActor)
        asked, go_on = trio.Event(), trio.Event()
        original = actor.receive

        async def receive(message: Message) -> Answer | None:
            if moment == "answered":
                await original(message)
            asked.set()
            await go_on.wait()
            return await original(message) if moment == "waiting" else None

        monkeypatch.setattr(actor, "receive", receive)
        channel = Channel(NoStream(), nursery, lambda: None)  # type: ignore[arg-type]
        with trio.CancelScope() as scope:
            nursery.start_soon(cancel_when, asked, scope)
            await matches.watch(match, Sink(channel, Codec.JSON), "viewer", None)
        assert scope.cancelled_caught
        go_on.set()
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert actor.idle
        assert actor.topic.watchers == 0
        nursery.cancel_scope.cancel()


async def cancel_when(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


@pytest.mark.parametrize("error", [DatabaseAway("the database is away"), ValueError("a row nobody can read")])
async def test_watchers_of_a_failed_actor_that_cannot_be_replaced_at_once_are_not_forgotten(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with temporary_server() as server:
        broken, sound = await new_match(server), await new_match(server)
        matches = server.server.matches
        original = matches._ledger.load
        refused = 0

        async def load(ref: UUID | str) -> StoredMatch | None:
            nonlocal refused
            if str(ref) == broken and refused < 2:
                refused += 1
                raise error
            return await original(ref)

        async with (
            open_client(server.url, server.token) as scorer,
            open_client(server.url) as viewer,
            aclosing(viewer.watch(broken)) as frames,
        ):
            await anext(frames)
            assert isinstance(await scorer.command(sound, "cricket.innings", {"batting": "A"}, 1), Accepted)
            sound_actor = matches._actors[UUID(sound)]

            async def fail(*_: object) -> None:
                raise ZeroDivisionError("a fault of ours")

            monkeypatch.setattr(matches._ledger, "load", load)
            monkeypatch.setattr(matches._actors[UUID(broken)], "_score", fail)
            frame = CommandFrame(str(uuid4()), broken, "cricket.innings", {"batting": "A"}, 1)
            await matches.command(frame, Identity("scorer", Role.SCORER))
            with trio.fail_after(20):
                # Nobody sends anything: the document comes by itself.
                assert (await anext(frames)).seq == 1
            assert refused == 2
            assert matches._actors[UUID(sound)] is sound_actor


async def test_a_match_that_cannot_be_read_is_an_answer_and_not_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with temporary_server() as server:
        match = await new_match(server)
        matches = server.server.matches

        async def load(ref: UUID | str) -> StoredMatch | None:
            raise ValueError("a row nobody can read")

        monkeypatch.setattr(matches._ledger, "load", load)
        frame = CommandFrame(str(uuid4()), match, "cricket.innings", {"batting": "A"}, 1)
        answer = await matches.command(frame, Identity("scorer", Role.SCORER))
        assert isinstance(answer, TryAgain)
        assert answer.reason == "internal"


async def test_readiness_does_not_tell_everybody_where_the_database_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def look_never(self: Health) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(Health, "run", look_never)
    async with temporary_server() as server:
        secret = "no connection to the database: [Errno 111] Connect call failed ('10.0.0.5', 5432)"
        server.server.matches._health._database_away = secret
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
            for path in ("/health/ready", "/status"):
                answer = (await client.get(path)).text
                assert "10.0.0.5" not in answer, path
            headers = {"authorization": f"Bearer {server.token}"}
            assert "10.0.0.5" in (await client.get("/status", headers=headers)).text


async def test_a_machine_that_stands_still_does_not_set_an_honest_command_aside() -> None:
    async with temporary_server() as server:
        match = await new_match(server)
        pools, matches = server.server.pools, server.server.matches
        who = Identity("scorer", Role.SCORER)
        frame = CommandFrame(str(uuid4()), match, "cricket.innings", {"batting": "A"}, 1)
        for _ in range(3):
            [pool] = pools.statistics()
            # One that is still starting would take the command.
            await pools.until(
                pool.code_sha,
                lambda now: not now.starting and sum(w.state == "idle" for w in now.workers) >= 2,
            )
            for worker in pools.statistics()[0].workers:
                psutil.Process(worker.pid).suspend()
            answer = await matches.command(frame, who)
            assert isinstance(answer, TryAgain), answer
            assert answer.reason == "worker_lost"
        async with open_client(server.url, server.token) as client:
            assert isinstance(await client.command(match, frame.code, frame.input, 1), Accepted)


def test_settings_are_read_and_wrong_ones_are_named() -> None:
    assert read_settings({"SCOREBOX_PORT": "9000", "SCOREBOX_HOST": "", "PATH": "x"}) == Settings(port=9000)
    for variable, text in (
        ("SCOREBOX_PROT", "9000"),
        ("SCOREBOX_PORT", "many"),
        ("SCOREBOX_LOG_FORMAT", "yaml"),
        ("SCOREBOX_TLS_KEY", "/key.pem"),
        ("SCOREBOX_WEBHOOK_URL", "https://example.org"),
        ("SCOREBOX_PORT", "70000"),
        ("SCOREBOX_DRAIN_SECONDS", "nan"),
        ("SCOREBOX_DRAIN_SECONDS", "0"),
        ("SCOREBOX_WORKERS_MOST", "1"),
        ("SCOREBOX_WORKER_CALL_MS", "0"),
    ):
        with pytest.raises(BadSetting, match=variable):
            read_settings({variable: text})
    with pytest.raises(BadSetting, match="SCOREBOX_WEBHOOK_URL"):
        read_settings({"SCOREBOX_WEBHOOK_URL": "example.org", "SCOREBOX_WEBHOOK_SECRET": "s"})


async def test_matches_leave_memory_when_it_is_short_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "SWEEP_EVERY_S", 0.02)
    monkeypatch.setattr(Health, "memory_bytes", lambda _: 10**12)
    async with temporary_server() as server, open_client(server.url, server.token) as client:
        match = await new_match(server)
        first = await client.command(match, "cricket.innings", {"batting": "A"}, 1)
        assert isinstance(first, Accepted)
        with trio.fail_after(20):
            while server.server.matches._actors:
                await trio.sleep(0.005)
        second = await client.command(match, "cricket.interval", {"kind": "drinks"}, first.seq)
        assert isinstance(second, Accepted)


async def test_a_rule_that_takes_long_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    async with temporary_server() as server, open_client(server.url, server.token) as client:
        match = await new_match(server)
        await client.command(match, "cricket.innings", {"batting": "A"}, 1)
        assert "rule_slow" not in server.server.alerts.counts
        monkeypatch.setattr("gateway.match.CPU_ALERT_US", 0)
        await client.command(match, "cricket.interval", {"kind": "drinks"}, 2)
        (alert,) = [alert for alert in server.server.alerts.newest() if alert.kind == "rule_slow"]
        assert alert.sentence.startswith("cricket.interval took ")


async def test_a_command_for_a_match_that_would_wait_long_to_be_read_is_told_when_to_come_back() -> None:
    async with temporary_server() as server:
        match = await new_match(server)
        matches, who = server.server.matches, Identity("scorer", Role.SCORER)
        frame = CommandFrame(str(uuid4()), match, "cricket.innings", {"batting": "A"}, 1)
        async with trio.open_nursery() as nursery:
            free = trio.Event()

            async def hold(*, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
                async with matches._loads:
                    task_status.started()
                    await free.wait()

            for _ in range(keeping.LOADS_AT_ONCE):
                await nursery.start(hold)
            for _ in range(keeping.LOADS_WAITING):
                nursery.start_soon(hold)
            await trio.testing.wait_all_tasks_blocked()
            answer = await matches.command(frame, who)
            assert isinstance(answer, TryAgain)
            assert (answer.reason, answer.after_ms > 0) == ("overloaded", True)
            free.set()
        assert isinstance(await matches.command(frame, who), Accepted)
