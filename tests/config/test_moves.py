"""Moving a match to another version of its sport: rehearsed, logged, worked out anew."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import trio

from config.server import Server, TemporaryServer, temporary_server
from gateway.auth import Identity, Role
from gateway.fanout import Snapshot
from gateway.past import Past
from gateway.protocol import Accepted, Answer, CommandFrame, Preview, Problem, Refused, TryAgain
from runtime.errors import CodeMissing
from runtime.experimental import install_experimental
from runtime.versions import SportVersion
from scorebox_contract import Event, Refusal, State
from tests.config.test_experimental import DEVELOPER, Kick, opened
from verifier.replay import open_verifier_pools
from verifier.verify import verify

SCORER = Identity("ann", Role.ADMIN)
PATIENCE_S = 30.0
LOOK_AGAIN_S = 0.02
REASON = {"reason": "the rule was mended"}


class Strict(Kick):
    """Takes no more than one goal at once."""

    def check(self, state: State, event: Event) -> Refusal | None:
        if event.input.goals > 1:
            return Refusal("too_many", "One goal at a time.", "goals")
        return super().check(state, event)


class Doubled(Kick):
    """Counts every goal of side B twice."""

    def step(self, state: State, event: Event) -> Any:
        if event.input.side == "B":
            state = {"goals": state["goals"] | {"B": state["goals"]["B"] + 1}}
        return super().step(state, event)


@pytest.fixture
async def server() -> AsyncIterator[TemporaryServer]:
    async with temporary_server(DEVELOPER) as server:
        yield server


async def send(server: Server, match: str, code: str, given: dict[str, Any]) -> Answer:
    stored = await server.ledger.load(match)
    assert stored is not None
    return await server.matches.command(
        CommandFrame(str(uuid4()), match, code, given, stored.last_seq), SCORER
    )


async def goal(server: Server, match: str, side: str, goals: int = 1) -> Accepted:
    answer = await send(server, match, "kick.goal", {"side": side, "goals": goals})
    assert isinstance(answer, Accepted), answer
    return answer


async def move(server: Server, match: str, version: SportVersion, **how: Any) -> Answer:
    return await send(server, match, "match.move", {"version": version.version, **REASON, **how})


async def versions(server: TemporaryServer, *sports: Kick) -> list[SportVersion]:
    return [await install_experimental(server.server.versions, sport) for sport in sports]


async def assert_sound(server: Server, match: str, version: SportVersion, goals: dict[str, int]) -> None:
    """State, lines and document are what the log comes to on the version the match is pinned to."""
    stored = await server.ledger.load(match)
    assert stored is not None
    assert stored.summary is not None
    assert (stored.version, stored.code_sha) == (version.version, version.code_sha)
    async with open_verifier_pools(server.versions) as pools:
        verdict = await verify(server.database, pools, match)
    assert verdict.findings == []
    scores = {side["side"]: side["score"] for side in json.loads(stored.summary)["sides"]}
    assert scores == {side: str(count) for side, count in goals.items()}


async def test_a_match_goes_on_in_a_version_that_scores_it_alike(server: TemporaryServer) -> None:
    here = server.server
    old, new = await versions(server, Kick("song"), Strict("song"))
    match = await opened(server, old)
    await goal(here, match, "A")
    before = await here.ledger.load(match)
    answer = await move(here, match, new)
    assert isinstance(answer, Accepted), answer
    after = await here.ledger.load(match)
    assert before is not None
    assert after is not None
    assert (after.epoch, after.last_seq) == (before.epoch + 1, before.last_seq + 1)
    assert (after.state, after.lines, after.position) == (before.state, before.lines, before.position)
    await assert_sound(here, match, new, {"A": 1, "B": 0})
    (row,) = await here.ledger.log(match, before.last_seq, 10) or []
    assert (row.code, row.source.account) == ("match.move", "ann")
    history = await here.ledger.history(UUID(match))
    assert history[-1].resolved == {"code_sha": new.code_sha, "from": old.code_sha}
    refused = await send(here, match, "kick.goal", {"side": "A", "goals": 2})
    assert isinstance(refused, Refused)
    assert refused.code == "too_many", "the new rules hold"
    await goal(here, match, "B")
    await assert_sound(here, match, new, {"A": 1, "B": 1})
    undone = await send(here, match, "match.undo", {})
    assert isinstance(undone, Accepted)
    await assert_sound(here, match, new, {"A": 1, "B": 0})


async def test_a_match_is_checked_right_after_its_move(server: TemporaryServer) -> None:
    here = server.server

    def checks() -> dict[str, Any]:
        shown: dict[str, Any] = here.matches.status(detail=True)["verifier"]
        return shown

    with trio.fail_after(PATIENCE_S):
        while checks()["rounds"] == 0:
            await trio.sleep(LOOK_AGAIN_S)
        old, new = await versions(server, Kick("song"), Strict("song"))
        match = await opened(server, old)
        await goal(here, match, "A")
        assert isinstance(await move(here, match, new), Accepted)
        while checks()["checked"] == 0:
            await trio.sleep(LOOK_AGAIN_S)
    assert (checks()["rounds"], checks()["differing"], checks()["unchecked"]) == (1, 0, 0)


async def test_where_versions_part_the_first_event_is_named_and_nothing_changes(
    server: TemporaryServer,
) -> None:
    here = server.server
    old, doubled, hymn, strict = await versions(
        server, Kick("song"), Doubled("song"), Kick("hymn"), Strict("song")
    )
    match = await opened(server, old)
    await goal(here, match, "A")
    second = await goal(here, match, "B")
    third = await goal(here, match, "A", 2)
    for version, sentence in (
        (doubled, f"event {second.seq} (kick.goal) leads to another state"),
        (hymn, "event 2 (kick.goal) emits hymn, marked, until now it was song, marked"),
        (strict, f"event {third.seq} (kick.goal) is refused: One goal at a time"),
    ):
        answer = await move(here, match, version)
        assert isinstance(answer, Refused)
        assert answer.code == "would_part"
        assert answer.sentence.startswith(sentence), answer.sentence
    stored = await here.ledger.load(match)
    assert stored is not None
    assert stored.last_seq == third.seq
    await assert_sound(here, match, old, {"A": 3, "B": 1})


async def test_force_moves_where_versions_part(server: TemporaryServer) -> None:
    here = server.server
    old, doubled, hymn, strict = await versions(
        server, Kick("song"), Doubled("song"), Kick("hymn"), Strict("hymn")
    )
    match = await opened(server, old)
    await goal(here, match, "A", 2)
    await goal(here, match, "B")
    assert isinstance(await move(here, match, doubled, force=True), Accepted)
    await assert_sound(here, match, doubled, {"A": 2, "B": 2})
    answer = await move(here, match, hymn, force=True)
    assert isinstance(answer, Accepted)
    assert {"retract:2:song", "issue:2:hymn"} <= set(answer.emits)
    await assert_sound(here, match, hymn, {"A": 2, "B": 1})
    preview = await move(here, match, strict, preview=True)
    assert isinstance(preview, Preview)
    assert [unfit.event for unfit in preview.unfit] == ["2"]
    await assert_sound(here, match, hymn, {"A": 2, "B": 1})
    assert isinstance(await move(here, match, strict, force=True), Accepted)
    await assert_sound(here, match, strict, {"A": 0, "B": 1})
    assert isinstance(await move(here, match, hymn, force=True), Accepted)
    await assert_sound(here, match, hymn, {"A": 0, "B": 1})


async def test_rows_from_before_a_move_are_read_on_the_code_they_were_scored_on(
    server: TemporaryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = server.server
    old, doubled, hymn = await versions(server, Kick("song"), Doubled("song"), Kick("hymn"))
    match = await opened(server, old)
    shown: dict[int, str] = {}

    async def note() -> None:
        stored = await here.ledger.load(match)
        assert stored is not None
        shown[stored.last_seq] = stored.state_hash.hex()

    await note()
    await goal(here, match, "B", 2)
    await note()
    for version in (doubled, hymn):
        assert isinstance(await move(here, match, version, force=True), Accepted)
        await note()
        await goal(here, match, "B")
        await note()
    past = Past(here.ledger, here.pools)
    for seq, state_hash in shown.items():
        document = await past.document(match, seq)
        assert isinstance(document, Snapshot)
        assert document.state_hash == state_hash, seq
    assert len(set(shown.values())) >= len(shown) - 1, "the versions part"
    here.versions.remove(old)
    call = here.pools.call

    async def without_old(code_sha: str, *given: Any, **how: Any) -> dict[str, Any]:
        if code_sha == old.code_sha:
            raise CodeMissing("it is gone")
        return await call(code_sha, *given, **how)

    monkeypatch.setattr(here.pools, "call", without_old)
    gone = await past.document(match, 2)
    assert isinstance(gone, Problem)
    assert (gone.code, old.code_sha[:12] in gone.sentence) == ("other_code", True)
    assert isinstance(await past.document(match, 3), Snapshot)


async def test_what_cannot_be_moved_to_is_said_in_a_sentence(server: TemporaryServer) -> None:
    here = server.server
    old, new = await versions(server, Kick("song"), Strict("song"))
    match = await opened(server, old)
    for given, code, field in (
        ({"version": "9.9.9", **REASON}, "unknown_version", "version"),
        ({"version": old.version, **REASON}, "same_version", "version"),
        ({"version": new.version, "code_sha": old.code_sha, **REASON}, "unknown_version", "code_sha"),
        ({"version": new.version}, "cannot_move", "reason"),
        ({"version": new.version, "reason": ""}, "cannot_move", "reason"),
    ):
        answer = await send(here, match, "match.move", given)
        assert isinstance(answer, Refused)
        assert (answer.code, answer.field) == (code, field), answer.sentence
    await here.ledger.ensure_version(new, here.versions.manifest(new))
    await here.database.execute(
        "UPDATE scoring_program_version SET status = 'RETIRED' WHERE code_sha = $1", new.code_sha
    )
    answer = await move(here, match, new)
    assert isinstance(answer, Refused)
    assert "was retired" in answer.sentence
    await assert_sound(here, match, old, {"A": 0, "B": 0})


async def test_a_match_whose_code_is_gone_is_moved_by_force_alone(
    server: TemporaryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = server.server
    old, new = await versions(server, Kick("song"), Strict("song"))
    match = await opened(server, old)
    await goal(here, match, "A")
    here.versions.remove(old)
    call = here.pools.call

    async def without_old(code_sha: str, *given: Any, **how: Any) -> dict[str, Any]:
        if code_sha == old.code_sha:
            raise CodeMissing("it is gone")
        return await call(code_sha, *given, **how)

    monkeypatch.setattr(here.pools, "call", without_old)
    answer = await move(here, match, new)
    assert isinstance(answer, TryAgain)
    assert answer.reason == "code_missing"
    assert isinstance(await move(here, match, new, force=True), Accepted)
    await goal(here, match, "A")
    await assert_sound(here, match, new, {"A": 2, "B": 0})
    refused = await move(here, match, old, force=True)
    assert isinstance(refused, Refused)
    assert "is not installed" in refused.sentence


async def test_the_workers_of_the_old_code_are_let_go(server: TemporaryServer) -> None:
    here = server.server
    old, new = await versions(server, Kick("song"), Strict("song"))
    match = await opened(server, old)
    await goal(here, match, "A")

    def held() -> dict[str, int]:
        return {pool.code_sha: pool.matches for pool in here.pools.statistics()}

    assert held()[old.code_sha] == 1
    assert isinstance(await move(here, match, new), Accepted)
    assert (held().get(old.code_sha, 0), held()[new.code_sha]) == (0, 1)


@pytest.mark.parametrize(
    ("role", "status"), [(Role.SCORER, 403), (Role.OPERATOR, 403), (Role.OPS, 200), (Role.ADMIN, 200)]
)
async def test_who_may_move_over_http(server: TemporaryServer, role: Role, status: int) -> None:
    old, new = await versions(server, Kick("song"), Strict("song"))
    match = await opened(server, old)
    token = await server.server.make_token(role, "olga")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as client:
        body = {"version": new.version, **REASON}
        given = {"id": str(uuid4()), "code": "match.move", "input": body, "saw": 1}
        assert (await client.post(f"/v1/matches/{match}/commands", json=given)).status_code == status
        answer = await client.post(f"/v1/matches/{match}/move", json={"version": old.version, **REASON})
        assert answer.status_code == status, answer.text
        if status == 200:
            assert answer.json()["outcome"] == "accepted"
            await assert_sound(server.server, match, old, {"A": 0, "B": 0})
            missing = await client.post("/v1/matches/nothing/move", json=body)
            assert (missing.status_code, missing.json()["code"]) == (404, "unknown_match")
            wrong = await client.post(f"/v1/matches/{match}/move", json={"version": new.version})
            assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid")
