"""Versions of a sport installed, moved to and retired while matches run."""

import json
import random
from contextlib import suppress
from itertools import count
from typing import Any

import httpx
import trio

from config.sportfolder import BuiltWheel
from tests.chaos.stage import AWAY, Stage
from tests.chaos.tablets import deliver_once
from tests.sportcopies import cricket_wheel

SPORT = "cricket"
KEPT_MOST = 3
"""Versions beside the bundled one: each that matches are on has its workers."""
INSTALL_LIMIT_S = 60.0
MOVE_TRIES = 4
"""A move that finds the match further on is made anew so often."""
REASON = {"reason": "a mended rule"}
_numbers = count(1)


async def new_wheel(stage: Stage) -> BuiltWheel:
    """Cricket in a version nobody has seen."""
    folder = stage.folder / "wheels"
    folder.mkdir(exist_ok=True)
    return await cricket_wheel(folder, f"1.0.{next(_numbers)}", golden=1)


async def installed(stage: Stage, chance: random.Random) -> bool:
    """To its end; an older one makes room first."""
    async with stage.installing:
        if len(stage.versions) >= KEPT_MOST:
            await _retire(stage, stage.versions[0])
        wheel = await new_wheel(stage)
        steps = await _upload(stage, wheel.data)
        if steps[-1:] == ["installed"]:
            stage.versions.append(wheel.version)
        return bool(steps)


async def broken_off(stage: Stage, chance: random.Random) -> bool:
    """Whoever uploads is gone after the first step; the install goes on or not, and nothing is half there."""
    async with stage.installing:
        wheel = await new_wheel(stage)
        return bool(await _upload(stage, wheel.data, steps_most=1))


async def moved(stage: Stage, chance: random.Random) -> bool:
    """One match, to any other version that is installed."""
    versions = [row["version"] for row in await _listed(stage) if row["installed"]]
    match = chance.choice(stage.running(SPORT))
    for version in chance.sample(versions, len(versions)):
        if await _move(stage, match.ref, version):
            return True
    return False


async def retired(stage: Stage, chance: random.Random) -> bool:
    """The oldest one of ours that new matches do not use; its matches move away first."""
    async with stage.installing:
        current = {row["version"] for row in await _listed(stage) if row["current"]}
        older = [version for version in stage.versions if version not in current]
        return bool(older) and await _retire(stage, older[0])


async def _retire(stage: Stage, version: str) -> bool:
    """Move every match to the version that new ones use, then take this one away."""
    current = [row["version"] for row in await _listed(stage) if row["current"]]
    if not current or current == [version]:
        return False
    for match in [match for match in stage.matches if match.sport == SPORT]:
        await _move(stage, match.ref, current[0])
    response = await stage.request("DELETE", f"/v1/sports/{SPORT}/{version}", timeout=INSTALL_LIMIT_S)
    if response.status_code not in (204, 404, 409, 503):
        stage.history.violate(f"retiring {version} was answered {response.status_code} {response.text}")
    if response.status_code in (204, 404):
        stage.versions.remove(version)
    stage.history.tallies[f"retired {response.status_code}"] += 1
    return response.status_code == httpx.codes.NO_CONTENT


async def _move(stage: Stage, match: str, version: str) -> bool:
    """A match to a version, over conflicts."""
    by = f"mover {stage.chance.random()}"
    for _ in range(MOVE_TRIES):
        saw = (await stage.read(f"/v1/matches/{match}"))["seq"]
        given: dict[str, Any] = {"version": version, **REASON}
        answer = await deliver_once(stage, stage.history.compose(by, match, "match.move", given, saw))
        if answer is None:
            return False
        word = answer.get("code", "") if answer["outcome"] == "refused" else ""
        stage.history.tallies[f"match.move {answer['outcome']} {word}".strip()] += 1
        if answer["outcome"] != "conflict":
            return bool(answer["outcome"] == "accepted")
    return False


async def _listed(stage: Stage) -> list[dict[str, Any]]:
    return [row for row in (await stage.read("/v1/sports"))["versions"] if row["sport"] == SPORT]


async def _upload(stage: Stage, wheel: bytes, steps_most: int = 100) -> list[str]:
    """The steps of an install as they are told, up to so many."""
    steps: list[str] = []
    async with httpx.AsyncClient(
        base_url=stage.server.url,
        headers={"Authorization": f"Bearer {stage.server.token}"},
        trust_env=False,
        timeout=INSTALL_LIMIT_S,
    ) as client:
        with suppress(*AWAY), trio.move_on_after(INSTALL_LIMIT_S):
            async with client.stream("POST", "/v1/sports", content=wheel) as response:
                async for line in response.aiter_lines():
                    if response.status_code != httpx.codes.OK:
                        stage.history.tallies[f"install {response.status_code}"] += 1
                        break
                    steps.append(json.loads(line)["step"])
                    if len(steps) >= steps_most:
                        break
    stage.history.tallies[f"install {steps[-1] if steps else 'unheard'}"] += 1
    return steps


FAULTS = {
    "version installed": installed,
    "match moved": moved,
    "version retired": retired,
    "install broken off": broken_off,
}
