"""The end of a run: quiet, then everything is looked at."""

import json
from collections.abc import Iterable
from contextlib import suppress

import psutil
import trio

from tests.chaos.checkers import check_match
from tests.chaos.footprint import Footprint, footprint
from tests.chaos.stage import AWAY, LOOK_AGAIN_S, Stage
from tests.chaos.tablets import deliver_once
from tests.chaos.watchers import Watcher

QUIET_LIMIT_S = 60.0
CONVERGE_LIMIT_S = 60.0
ORPHAN_LIMIT_S = 20.0


async def settle(stage: Stage) -> None:
    """The server is ready, and every command that is still without an answer gets one."""
    with trio.move_on_after(QUIET_LIMIT_S) as scope:
        while True:
            with suppress(*AWAY):
                if (await stage.request("GET", "/health/ready")).status_code == 200:
                    break
            await trio.sleep(LOOK_AGAIN_S)
    if scope.cancelled_caught:
        stage.history.violate(f"the server is not ready {QUIET_LIMIT_S:.0f} s after the last fault")
    for sent in list(stage.history.sent.values()):
        if sent.final is None:
            stage.history.tallies["asked at the end"] += 1
            await deliver_once(stage, sent)


async def converge(stage: Stage, watchers: list[Watcher]) -> None:
    """Every watcher ends with the document that whoever asks now is given."""
    for watcher in watchers:
        document = await stage.read(f"/v1/matches/{watcher.match.ref}/document")
        with trio.move_on_after(CONVERGE_LIMIT_S):
            while watcher.view.differs(document) is not None:
                await watcher.came.wait()
        if (sentence := watcher.view.differs(document)) is not None:
            stage.history.violate(f"a {watcher.view.audience} of {watcher.match.ref} {sentence}")


async def check_logs(stage: Stage) -> int:
    """Every match against what was sent and heard; how many rows there are."""
    rows_read = 0
    sent = list(stage.history.sent.values())
    for match in stage.matches:
        rows = await stage.log(match.ref)
        rows_read += len(rows)
        heard = stage.history.heard.get(match.ref, {})
        for sentence in check_match(match.ref, rows, sent, heard):
            stage.history.violate(sentence)
    return rows_read


async def verify(stage: Stage) -> None:
    """Replay equals state, lines, document and checkpoints, of every match."""
    done = await trio.to_thread.run_sync(stage.verify)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        stage.history.violate(f"the verification ended with {done.returncode}: {done.stderr[-1000:]}")
        return
    for match in found["matches"]:
        if match["status"] != "sound":
            stage.history.violate(f"verified: {match}")
    stage.history.tallies["verified"] = found["sound"]
    if len(found["matches"]) < len(stage.matches):
        stage.history.violate(f"{len(stage.matches)} matches were opened, {len(found['matches'])} are there")


async def quiet_footprint(stage: Stage) -> Footprint:
    """What the server holds when nobody uses it."""
    process = stage.server.process
    assert process is not None
    workers = await trio.to_thread.run_sync(stage.server.note_workers)
    return await trio.to_thread.run_sync(footprint, process.pid, stage.server.port, len(workers))


async def check_footprint(stage: Stage, base: Footprint) -> Footprint:
    """All clients have left: within a while the server holds no more than it did before they came."""
    grown: list[str] = []
    with trio.move_on_after(QUIET_LIMIT_S):
        while True:
            now = await quiet_footprint(stage)
            if not (grown := now.grown(base)):
                return now
            await trio.sleep(LOOK_AGAIN_S)
    for sentence in grown:
        stage.history.violate(sentence)
    return now


async def stop(stage: Stage) -> None:
    """The last stop: in order, and nothing is left of any server of the run."""
    stage.ended_on_purpose = True
    stage.server.note_workers()
    try:
        await trio.to_thread.run_sync(stage.server.stop)
    except AssertionError as error:
        stage.history.violate(f"the server did not end in order: {str(error)[-1500:]}")
    left: list[str] = []
    with trio.move_on_after(ORPHAN_LIMIT_S):
        while left := await _left(stage):
            await trio.sleep(LOOK_AGAIN_S)
    for fault in faults_of(stage.server.log.read_text(errors="replace").splitlines()):
        stage.history.violate(f"the server logged an error of its own: {fault}")
    for sentence in left:
        stage.history.violate(f"the server is stopped, and there is still {sentence}")


def faults_of(lines: Iterable[str]) -> list[str]:
    """Every entry of a server's log that holds an exception: what, and the exception's last line."""
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "exception" in entry:
            found.append(f"{entry.get('event')}: {str(entry['exception']).strip().splitlines()[-1]}")
    return found


async def _left(stage: Stage) -> list[str]:
    left = []
    for worker in stage.server.seen_workers.values():
        with suppress(psutil.NoSuchProcess):
            if worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE:
                left.append(f"the worker {worker.pid}")
    left += [f"a database session of process {pid}" for pid in await stage.sessions()]
    left += [f"the temporary {path.name}" for path in stage.server.temporary.iterdir()]
    if stage.proxy.connections:
        left.append(f"{stage.proxy.connections} connections to the database")
    return left
