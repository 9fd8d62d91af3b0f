"""Clients that send twice, late, out of order, garbage, or nothing, and that vanish."""

import json
import random
import socket
import struct
from typing import Any

import httpx
import trio

from config.connection import Lost, connect
from tests.chaos.faults.corrections import NEUTRAL
from tests.chaos.records import TRY_AGAIN, Sent
from tests.chaos.stage import AWAY, LOOK_AGAIN_S, Stage
from tests.chaos.tablets import deliver_once
from tests.gateway.rawsocket import TEXT, RawSocket, frame

OLD_PART = 20
"""One command in so many is one of the oldest."""
LATE_EVENTS = 6
"""How far behind a late command's `saw` is."""
QUIET_CODES = ("match.flag",)
"""Rows that make nobody's `saw` old."""
CUTS_MOST = 4
GARBAGE = ("{", "[]", '{"op":"nonsense"}', '{"op":"command","id":7}', "[" * 2000)
BROKEN_MOST = 3
"""Frames of garbage in a row; a server may close on more."""
HALF_REQUESTS = 6
HALF_S = 4.0
SLOW_S = 6.0
SLOW_BUFFER_BYTES = 4096
VANISHING = 12
VIEWED_S = 0.3
ASK_LIMIT_S = 120.0


async def sent_twice(stage: Stage, chance: random.Random) -> bool:
    """One that was accepted: it is answered as the first time, however long ago that was."""
    accepted = [sent for sent in stage.history.sent.values() if sent.accepted]
    if not accepted:
        return False
    # Half of them from the start of the run: memory has let go of those.
    sent = chance.choice(accepted[: len(accepted) // OLD_PART + 1] if chance.random() < 0.5 else accepted)
    answer = await deliver_once(stage, sent)
    if answer is not None and answer.get("duplicate") is not True:
        stage.history.violate(f"{sent.code} {sent.id} sent again was answered {answer}")
    return True


async def sent_twice_at_once(stage: Stage, chance: random.Random) -> bool:
    """Two sockets, one id."""
    sent = await _neutral(stage, chance)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(deliver_once, stage, sent)
    return True


async def id_used_again(stage: Stage, chance: random.Random) -> bool:
    """It is refused, and the first command stays what it was."""
    accepted = [sent for sent in stage.history.sent.values() if sent.accepted and sent.code in _OTHER]
    if not accepted:
        return False
    sent = chance.choice(accepted)
    answer = await _post(stage, sent.match, sent.body | {"input": _OTHER[sent.code]})
    if answer is not None and answer.get("code") != "id_reused":
        stage.history.violate(f"the id {sent.id} with other content was answered {answer}")
    return True


_OTHER: dict[str, dict[str, Any]] = {
    "rogue.add": {"amount": 99},
    "table_tennis.point": {"winner": "A", "returns": 2},
    "cricket.delivery": {"striker": "A1", "non_striker": "A2", "bowler": "B1", "bat": 9},
}
"""Other content than any scorer's."""


async def late(stage: Stage, chance: random.Random) -> bool:
    """Made before others were, sent after them: a conflict, unless nothing of weight came between."""
    match = chance.choice(stage.running())
    newest = (await stage.position(match))["seq"]
    saw = max(newest - LATE_EVENTS, 1)
    rows = (await stage.read(f"/v1/matches/{match.ref}/log", params={"after": saw, "limit": 50}))["rows"]
    if all(row["code"] in QUIET_CODES for row in rows):
        return False
    code, given = NEUTRAL[match.sport]
    sent = stage.history.compose(f"late {chance.random()}", match.ref, code, given, saw)
    answer = await deliver_once(stage, sent)
    if answer is not None and answer["outcome"] != "conflict":
        stage.history.violate(f"a command that saw {saw}, at {newest} or later, was answered {answer}")
    return True


async def out_of_order(stage: Stage, chance: random.Random) -> bool:
    """Two of one `saw` on one socket, the later one first: the answers keep that order, one goes through."""
    match = chance.choice(stage.running())
    saw = (await stage.position(match))["seq"]
    code, given = NEUTRAL[match.sport]
    number = chance.random()
    early, later = (
        stage.history.compose(f"{word} {number}", match.ref, code, given, saw) for word in ("early", "later")
    )
    answers: list[dict[str, Any]] = []
    try:
        connection = await connect(
            stage.nursery, stage.server.url, {"Authorization": f"Bearer {stage.server.token}"}
        )
        try:
            for sent in (later, early):
                await connection.send(json.dumps(sent.frame))
            with trio.fail_after(ASK_LIMIT_S):
                while len(answers) < 2:
                    answers.append(json.loads(await connection.receive()))
        finally:
            await connection.close()
    except (Lost, trio.TooSlowError):
        pass
    for sent, answer in zip((later, early), answers, strict=False):
        if answer.get("id") != sent.id:
            stage.history.violate(f"answers out of order: {answers} to {[later.id, early.id]}")
            return True
        sent.answers.append(answer)
    for sent in (later, early):
        if sent.final is None:
            await deliver_once(stage, sent)
    if later.accepted and early.accepted:
        stage.history.violate(f"two commands that saw {saw} were both accepted: {later.final}, {early.final}")
    return True


async def answer_not_heard(stage: Stage, chance: random.Random) -> bool:
    """The connection is gone when the answer comes; the command is sent again."""
    tablets = chance.sample(stage.tablets, min(CUTS_MOST, len(stage.tablets)))
    for tablet in tablets:
        tablet.cut_next = True
    return bool(tablets)


async def garbage(stage: Stage, chance: random.Random) -> bool:
    """Each is answered with an error and the socket stays of use."""
    raw = await _raw(stage)
    async with raw.stream:
        sent = chance.sample(GARBAGE, BROKEN_MOST)
        for text in sent:
            await raw.send(frame(TEXT, text.encode()))
        await raw.send(frame(TEXT, b'{"op":"ping","n":7}'))
        words: list[str] = []
        while not words or words[-1] != "pong":
            found = await raw.receive()
            if found is None:
                return True
            if found[0] == TEXT:
                words.append(json.loads(found[1])["op"])
        if words != ["error"] * len(sent) + ["pong"]:
            stage.history.violate(f"the frames {sent} and a ping were answered {words}")
    return True


async def half_a_frame(stage: Stage, chance: random.Random) -> bool:
    """The rest never comes."""
    raw = await _raw(stage)
    sent = await _neutral(stage, chance, recorded=False)
    whole = frame(TEXT, json.dumps(sent.frame).encode())
    await raw.send(whole[: chance.randrange(1, len(whole))])
    _reset(raw)
    return True


async def half_a_request(stage: Stage, chance: random.Random) -> bool:
    """Open connections that ask for nothing."""
    streams = [await trio.open_tcp_stream("127.0.0.1", stage.server.port) for _ in range(HALF_REQUESTS)]
    try:
        for stream in streams:
            await stream.send_all(b"POST /v1/matches HTTP/1.1\r\nHost: x\r\nContent-Le")
        await trio.sleep(HALF_S)
    finally:
        for stream in streams:
            await trio.aclose_forcefully(stream)
    return True


async def slow_viewer(stage: Stage, chance: random.Random) -> bool:
    """Watches every match and reads nothing."""
    raw = await _raw(stage)
    raw.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER_BYTES)
    for match in stage.running():
        watch = {"op": "watch", "match": match.ref, "audience": chance.choice(["scorer", "viewer"])}
        await raw.send(frame(TEXT, json.dumps(watch).encode()))
    await trio.sleep(SLOW_S)
    _reset(raw)
    return True


async def vanishing_viewers(stage: Stage, chance: random.Random) -> bool:
    """Many that watch for a moment."""
    raws = [await _raw(stage) for _ in range(VANISHING)]
    for raw in raws:
        watch = {"op": "watch", "match": chance.choice(stage.running()).ref}
        await raw.send(frame(TEXT, json.dumps(watch).encode()))
    await trio.sleep(VIEWED_S)
    for raw in raws:
        _reset(raw)
    return True


async def _neutral(stage: Stage, chance: random.Random, *, recorded: bool = True) -> Sent:
    """A command that fits where the match stands."""
    match = chance.choice(stage.running())
    saw = (await stage.position(match))["seq"]
    code, given = NEUTRAL[match.sport]
    sent = stage.history.compose(f"somebody {chance.random()}", match.ref, code, given, saw)
    if not recorded:
        del stage.history.sent[match.ref, sent.id]
    return sent


async def _raw(stage: Stage) -> RawSocket:
    """An open socket, byte by byte. Raises OSError where there is none to be had."""
    raw = RawSocket(await trio.open_tcp_stream("127.0.0.1", stage.server.port))
    try:
        status = await raw.open(token=stage.server.token)
    except (AssertionError, trio.TooSlowError, trio.BrokenResourceError) as error:
        await trio.aclose_forcefully(raw.stream)
        raise ConnectionError("the server left") from error
    if " 101 " not in f"{status} ":
        await trio.aclose_forcefully(raw.stream)
        raise ConnectionError(status)
    return raw


def _reset(raw: RawSocket) -> None:
    """Gone without a word: the other end is told of a reset."""
    raw.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.stream.socket.close()


async def _post(stage: Stage, match: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """A command over HTTP until it is anything but "try again"."""
    with trio.move_on_after(ASK_LIMIT_S):
        while True:
            try:
                response = await stage.request("POST", f"/v1/matches/{match}/commands", json=body)
                if response.headers["content-type"] == "application/json":
                    answer: dict[str, Any] = response.json()
                    if answer.get("outcome") not in (None, TRY_AGAIN):
                        return answer
                elif response.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                    stage.history.violate(f"a command was answered {response.status_code} {response.text}")
                    return None
            except AWAY:
                pass
            await trio.sleep(LOOK_AGAIN_S)
    return None


FAULTS = {
    "command sent twice": sent_twice,
    "command sent twice at once": sent_twice_at_once,
    "id used again": id_used_again,
    "late command": late,
    "commands out of order": out_of_order,
    "answer not heard": answer_not_heard,
    "garbage from a client": garbage,
    "half a frame from a client": half_a_frame,
    "half a request": half_a_request,
    "slow viewer": slow_viewer,
    "vanishing viewers": vanishing_viewers,
}
