"""Trying a sport's version before anybody plays on it: in workers of its own, which are gone afterwards."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import trio

from runtime.errors import RuleFailed, TrialFailed
from runtime.pool import Pools, open_pools
from runtime.staffing import PoolLimits
from runtime.versions import SportVersion, VersionStore
from scorebox_contract import canonical

CALL_DEADLINE_S = 5.0
"""One call of a trial: a busy machine is no fault of the sport."""
LIMITS = PoolLimits(warm=1, most=1, waiting_s=20.0, failures_most=1, surplus_idle_s=1.0)
"""One worker; the first that cannot start ends the trial."""
DIFFERENCES_TOLD = 3


@dataclass(frozen=True, slots=True)
class GoldenStep:
    """One command of a golden match."""

    code: str
    input: Mapping[str, Any]
    override: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Golden:
    """A whole match that is known to be right: its opening, its commands, and what it must come to.

    `differences` tells, as sentences, where a document ({"head": …, "parts": {segment: {"lines": …}}})
    is not what is expected.
    """

    name: str
    opening: Mapping[str, Any]
    steps: Sequence[GoldenStep]
    differences: Callable[[dict[str, Any]], list[str]]


@dataclass(slots=True)
class _Document:
    """The document of a match while it is played."""

    names: dict[str, str]
    lines: dict[tuple[str, str, str], Any] = field(default_factory=dict)

    def take(self, reply: Mapping[str, Any]) -> None:
        for subject, role, segment, values in reply["lines"]:
            self.lines[segment, role, subject] = msgspec.json.decode(values)
        self.names |= {key: name for _, key, name in reply["joined"]}

    def whole(self, summary: bytes) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        for (segment, role, subject), values in self.lines.items():
            part = parts.setdefault(segment, {"lines": []})
            part["lines"].append({"subject": subject, "role": role, "values": values})
        return {"head": {"names": self.names, **msgspec.json.decode(summary)}, "parts": parts}


@asynccontextmanager
async def staged(
    versions: VersionStore, files: Mapping[str, bytes], package: str, sport: str
) -> AsyncIterator[tuple[Pools, SportVersion]]:
    """A worker on a package's files, which are put nowhere: the pool and the version it runs.

    Raises:
        RuntimeFault: the files cannot be placed.
    """
    stage = versions.staging()
    store = await trio.to_thread.run_sync(stage.__enter__)
    try:
        version = await trio.to_thread.run_sync(store.place, files, package, sport, "0.0.0")
        async with open_pools(store, limits=LIMITS) as pools:
            yield pools, version
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(stage.__exit__, None, None, None)


async def describe(pools: Pools, version: SportVersion) -> dict[str, Any]:
    """The manifest as the sport's own code makes it.

    Raises:
        TrialFailed: the code fails at it.
        RuntimeFault: no worker can be had of it.
    """
    try:
        reply = await pools.call(version.code_sha, "manifest", {}, deadline_s=CALL_DEADLINE_S)
    except RuleFailed as error:
        raise TrialFailed(f"the sport cannot describe itself: {error.message}") from error
    manifest: dict[str, Any] = msgspec.json.decode(reply["manifest"])
    return manifest


async def play_goldens(
    pools: Pools,
    version: SportVersion,
    goldens: Iterable[Golden],
    told: Callable[[Golden], Awaitable[None]],
) -> None:
    """Plays golden matches; `told` hears of each that came to what it must.

    Raises:
        TrialFailed: one is refused, fails or comes to something else.
        RuntimeFault: a worker was lost.
    """
    for golden in goldens:
        try:
            document = await _play(pools, version, golden)
        except RuleFailed as error:
            raise TrialFailed(f"the golden match {golden.name} fails: {error.message}") from error
        if wrong := golden.differences(document):
            more = f" (and {len(wrong) - DIFFERENCES_TOLD} more)" if len(wrong) > DIFFERENCES_TOLD else ""
            told_first = "; ".join(wrong[:DIFFERENCES_TOLD])
            raise TrialFailed(f"the golden match {golden.name} comes out otherwise: {told_first}{more}")
        await told(golden)


async def _play(pools: Pools, version: SportVersion, golden: Golden) -> dict[str, Any]:
    async def ask(op: str, **payload: Any) -> dict[str, Any]:
        reply = await pools.call(version.code_sha, op, payload, deadline_s=CALL_DEADLINE_S)
        if (refusal := reply["refusal"]) is not None:
            raise TrialFailed(f"the golden match {golden.name} is refused at {where}: {refusal['sentence']}")
        return reply

    where = "its opening"
    reply = await ask("initial_state", opening=canonical(golden.opening))
    opening = msgspec.json.decode(reply["opening"])
    document = _Document(
        {each["key"]: each["name"] for side in opening["sides"] for each in (side, *side["players"])}
    )
    document.take(reply)
    for number, step in enumerate(golden.steps, 1):
        where = f"command {number} ({step.code})"
        reply = await ask(
            "check_and_step",
            state=reply["state"],
            code=step.code,
            input=canonical(step.input),
            override=list(step.override),
        )
        document.take(reply)
    return document.whole(reply["summary"])
