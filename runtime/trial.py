"""Trying a sport's version before anybody plays on it: in workers of its own, which are gone afterwards."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
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


Document = dict[str, Any]
"""{"head": {"names", and the summary's keys}, "parts": {segment: {"lines": [{subject, role, values}]}}}."""


@dataclass(frozen=True, slots=True)
class GoldenMark:
    """What is known after so many commands; `where` tells a reader the place.

    `differences` tells, as sentences, what is not as expected of the document and of the codes of the last
    command's warnings. `refused` is a command that must be refused there, and the refusal's code.
    """

    after: int
    where: str
    differences: Callable[[Document, list[str]], list[str]] | None = None
    refused: tuple[GoldenStep, str] | None = None


@dataclass(frozen=True, slots=True)
class Golden:
    """A whole match that is known to be right: its opening, its commands, and what it must come to.

    `differences` tells, as sentences, where the finished match's document is not what is expected.
    """

    name: str
    opening: Mapping[str, Any]
    steps: Sequence[GoldenStep]
    differences: Callable[[Document], list[str]]
    marks: Sequence[GoldenMark] = ()


@dataclass(slots=True)
class _Book:
    """The document of a match while it is played."""

    names: dict[str, str]
    lines: dict[tuple[str, str, str], Any] = field(default_factory=dict)

    def take(self, reply: Mapping[str, Any]) -> None:
        for subject, role, segment, values in reply["lines"]:
            self.lines[segment, role, subject] = msgspec.json.decode(values)
        self.names |= {key: name for _, key, name in reply["joined"]}

    def document(self, summary: bytes) -> Document:
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
            wrong = await _Game(pools, version, golden).play()
        except RuleFailed as error:
            raise TrialFailed(f"the golden match {golden.name} fails: {error.message}") from error
        if wrong:
            more = f" (and {len(wrong) - DIFFERENCES_TOLD} more)" if len(wrong) > DIFFERENCES_TOLD else ""
            told_first = "; ".join(wrong[:DIFFERENCES_TOLD])
            raise TrialFailed(f"the golden match {golden.name} comes out otherwise: {told_first}{more}")
        await told(golden)


class _Game:
    """One golden match in play."""

    def __init__(self, pools: Pools, version: SportVersion, golden: Golden) -> None:
        self._pools = pools
        self._code_sha = version.code_sha
        self._golden = golden
        self._marks: dict[int, list[GoldenMark]] = {}
        for mark in golden.marks:
            self._marks.setdefault(mark.after, []).append(mark)

    async def play(self) -> list[str]:
        """What is not as expected. Raises TrialFailed where a command is refused."""
        reply = self._accepted(
            await self._ask("initial_state", opening=canonical(self._golden.opening)), "its opening"
        )
        opening = msgspec.json.decode(reply["opening"])
        book = _Book(
            {each["key"]: each["name"] for side in opening["sides"] for each in _named(side)},
        )
        book.take(reply)
        wrong = await self._missed(0, reply, book)
        for number, step in enumerate(self._golden.steps, 1):
            place = f"command {number} ({step.code})"
            reply = self._accepted(await self._step(reply["state"], step), place)
            book.take(reply)
            wrong += await self._missed(number, reply, book)
        return wrong + self._golden.differences(book.document(reply["summary"]))

    async def _missed(self, done: int, reply: Mapping[str, Any], book: _Book) -> list[str]:
        """What is not as the marks say after so many commands."""
        wrong: list[str] = []
        for mark in self._marks.get(done, ()):
            if mark.differences is not None:
                warned = [warning["code"] for warning in reply["warnings"]]
                found = mark.differences(book.document(reply["summary"]), warned)
                wrong += [f"{mark.where}: {sentence}" for sentence in found]
            if mark.refused is not None:
                step, code = mark.refused
                refusal = (await self._step(reply["state"], step))["refusal"]
                if refusal is None or refusal["code"] != code:
                    told = "accepted" if refusal is None else f"refused as {refusal['code']}"
                    wrong.append(f"{mark.where}: {step.code} is {told}, must be refused as {code}")
        return wrong

    async def _step(self, state: bytes, step: GoldenStep) -> dict[str, Any]:
        return await self._ask(
            "check_and_step",
            state=state,
            code=step.code,
            input=canonical(step.input),
            override=list(step.override),
        )

    async def _ask(self, op: str, **payload: Any) -> dict[str, Any]:
        return await self._pools.call(self._code_sha, op, payload, deadline_s=CALL_DEADLINE_S)

    def _accepted(self, reply: dict[str, Any], place: str) -> dict[str, Any]:
        if (refusal := reply["refusal"]) is not None:
            raise TrialFailed(
                f"the golden match {self._golden.name} is refused at {place}: {refusal['sentence']}"
            )
        return reply


def _named(side: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield side
    yield from side["players"]
