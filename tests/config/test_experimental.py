"""A sport defined here, sent by value to the workers of a server in this process."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import pytest

from config.client import open_client
from config.server import TemporaryServer, temporary_server
from config.settings import Settings
from gateway.auth import Identity, Role
from gateway.protocol import Accepted, CreateMatch, Refused, TryAgain
from runtime.errors import CodeMissing, CodeUnfit, TrialFailed, WheelUnfit
from runtime.experimental import install_experimental
from runtime.versions import SportVersion, VersionStore
from runtime.wheels import check_layout
from scorebox_contract import (
    Command,
    Event,
    Input,
    Line,
    Meta,
    Opening,
    Refusal,
    SideScore,
    State,
    Step,
    Summary,
)

DEVELOPER = Settings(experimental=True)
MARK = "unpickled_in_this_process"
MOST = 3
OPENING: dict[str, Any] = {
    "sides": [{"key": "A", "name": "Ants"}, {"key": "B", "name": "Bees"}],
    "first_day": "2024-05-01",
}


def mark() -> str:
    """Leaves a trace in the process that unpickles."""
    setattr(sys, MARK, True)
    return "marked"


class Marker:
    def __reduce__(self) -> Any:
        return mark, ()


class Goal(Input, frozen=True, kw_only=True):
    side: Annotated[str, Meta(min_length=1)]
    goals: Annotated[int, Meta(ge=1, le=MOST)] = 1
    by: str = msgspec.field(default="", name="scorer")

    def total(self, before: int) -> int:
        return before + self.goals


@dataclass(frozen=True)
class Tune:
    label: str


class Kick:
    """As little of a sport as can be: it stands on what is defined around it."""

    code = "kick"
    name = "Kick"
    version = "0.1.0"
    opening: type[Opening] = Opening
    commands: Mapping[str, Command] = {"kick.goal": Command("kick.goal", Goal, "Goal", {})}
    roles: Mapping[str, str] = {"side": "Side"}
    keys: Mapping[str, Mapping[str, str]] = {"side": {"goals": "Goals"}}

    def __init__(self, tune: str) -> None:
        self.tune = Tune(tune)
        self.marker: Any = Marker()

    def check_opening(self, opening: Any) -> Refusal | None:
        return None

    def initial_state(self, opening: Any) -> State:
        return {"goals": {side.key: 0 for side in opening.sides}}

    def check(self, state: State, event: Event) -> Refusal | None:
        known = event.input.side in state["goals"]
        return None if known else Refusal("unknown_side", "There is no such side.", "side")

    def step(self, state: State, event: Event) -> Step:
        side = event.input.side
        goals = state["goals"] | {side: event.input.total(state["goals"][side])}
        emits = (self.tune.label, self.marker)
        return Step({"goals": goals}, (Line(side, "side", "whole", {"goals": goals[side]}),), emits)

    def summary(self, state: State) -> Summary:
        sides = tuple(SideScore(side, str(goals)) for side, goals in state["goals"].items())
        return Summary(phase="play", sides=sides, result=None, segment="whole")


async def opened(server: TemporaryServer, version: SportVersion) -> str:
    async with open_client(server.url, server.token) as client:
        body = CreateMatch("kick", "Ants v Bees", OPENING, version=version.version)
        return (await client.create_match(body)).match


async def test_a_sport_defined_here_is_opened_and_scored() -> None:
    async with temporary_server(DEVELOPER) as server:
        version = await install_experimental(server.server.versions, Kick("song"))
        assert version.version == f"0.0.0+dev.{version.version[-8:]}"
        match = await opened(server, version)
        async with open_client(server.url, server.token) as scorer:
            first = await scorer.command(match, "kick.goal", {"side": "A", "goals": 2, "scorer": "Ann"}, 1)
            assert isinstance(first, Accepted)
            assert first.emits == ["song", "marked"], "it was unpickled where it runs"
            second = await scorer.command(match, "kick.goal", {"side": "A"}, first.seq)
            assert isinstance(second, Accepted)
            for wrong in ({"side": "A", "goals": MOST + 1}, {"side": "A", "by": "Ann"}, {"side": "C"}):
                assert isinstance(await scorer.command(match, "kick.goal", wrong, second.seq), Refused)
        stored = await server.server.ledger.load(match)
        assert stored is not None
        assert stored.code_sha == version.code_sha
        assert msgspec.json.decode(stored.state) == {"goals": {"A": 3, "B": 0}}
        assert not hasattr(sys, MARK), "the server never unpickles"
        assert "scorebox_experimental" not in sys.modules


async def test_another_class_is_another_version_and_a_match_keeps_its_own() -> None:
    async with temporary_server(DEVELOPER) as server:
        first = await install_experimental(server.server.versions, Kick("song"))
        match = await opened(server, first)
        second = await install_experimental(server.server.versions, Kick("hymn"))
        assert first.code_sha != second.code_sha
        newer = await opened(server, second)
        heard = []
        async with open_client(server.url, server.token) as scorer:
            for each in (match, newer):
                answer = await scorer.command(each, "kick.goal", {"side": "B"}, 1)
                assert isinstance(answer, Accepted)
                heard.append(answer.emits[0])
        assert heard == ["song", "hymn"]


async def test_without_the_flag_it_is_refused_in_a_sentence() -> None:
    async with temporary_server() as server:
        with pytest.raises(CodeMissing, match=r"for developers and are off: set SCOREBOX_EXPERIMENTAL=true"):
            await install_experimental(server.server.versions, Kick("song"))
        assert "kick" not in server.server.versions.sports()


async def test_what_was_installed_under_the_flag_does_not_run_without_it() -> None:
    async with temporary_server() as server:
        root = server.server.versions.root
        version = await install_experimental(VersionStore(root, experimental=True), Kick("song"))
        server.server.versions.refresh()
        body = CreateMatch("kick", "Ants v Bees", OPENING, version=version.version)
        reply = await server.server.matches.create_match(body, Identity("developer", Role.ADMIN))
        assert isinstance(reply, TryAgain)
        assert any("SCOREBOX_EXPERIMENTAL" in alert.sentence for alert in server.server.alerts.newest())


async def test_a_sport_that_cannot_be_sent_is_refused_and_leaves_nothing(tmp_path: Any) -> None:
    versions = VersionStore(tmp_path, experimental=True)
    bound = Kick("song")
    with open(tmp_path / "file", "w") as file:
        bound.marker = file
        with pytest.raises(CodeUnfit, match="the sport kick cannot be sent to a worker"):
            await install_experimental(versions, bound)
    assert versions.sports() == []


async def test_a_sport_that_no_worker_can_load_is_refused(tmp_path: Any) -> None:
    class Stubborn:
        def __reduce__(self) -> Any:
            return int, ("no number",)

    versions = VersionStore(tmp_path, experimental=True)
    stubborn = Kick("song")
    stubborn.marker = Stubborn()
    with pytest.raises(TrialFailed, match="no worker can be started from kick: ValueError"):
        await install_experimental(versions, stubborn)
    assert versions.sports() == []


def test_no_wheel_may_call_itself_experimental() -> None:
    info = "scorebox_experimental-1.0.0.dist-info"
    with pytest.raises(WheelUnfit, match="the package is called scorebox_experimental"):
        check_layout(["scorebox_experimental/__init__.py", f"{info}/METADATA", f"{info}/RECORD"])
