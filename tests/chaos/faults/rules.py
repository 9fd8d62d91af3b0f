"""Rules that misbehave: the rogue sport is told to."""

import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.chaos.stage import Stage
from tests.chaos.tablets import deliver_once

TRIES = 3
"""A command that was overtaken by a scorer's is made anew so often."""
SCORED_PART = 0.25
"""How many of them go to a match that is scored meanwhile."""
AMOUNTS = {"sleep": 60_000, "flood": 8_000}
"""What a misdeed takes; the others take a number that tells one command from the next."""


def lost(answer: Mapping[str, Any]) -> bool:
    """Whether a worker was lost over a command."""
    return answer.get("reason") == "worker_lost"


def failed(answer: Mapping[str, Any]) -> bool:
    """Whether a rule's error was answered."""
    return answer.get("code") == "rule_failed"


def judged(answer: Mapping[str, Any]) -> bool:
    """Whether it came to the rules at all."""
    return bool(answer["outcome"] != "conflict")


def misdeed(
    name: str, effect: Callable[[Mapping[str, Any]], bool] = lost
) -> Callable[[Stage, random.Random], Awaitable[bool]]:
    """A command whose rule does it, in `step` or in `check`; it happened where an answer shows the effect."""

    async def do(stage: Stage, chance: random.Random) -> bool:
        # Told apart, so that a command set aside does not spare the next one its misdeed.
        amount = AMOUNTS.get(name, 0) + chance.randrange(1, 100)
        given = {"misdeed": name, "amount": amount, "in_check": chance.random() < 0.3}
        scored = chance.random() < SCORED_PART
        match = chance.choice(stage.running("rogue") if scored else stage.yards)
        by, happened = f"{name} {chance.random()}", False
        for _ in range(TRIES):
            saw = (await stage.position(match))["seq"]
            sent = stage.history.compose(by, match.ref, "rogue.misbehave", given, saw)
            answer = await deliver_once(stage, sent)
            happened = happened or any(effect(each) for each in sent.answers)
            if answer is None or answer["outcome"] != "conflict":
                break
        return happened

    return do


FAULTS = {
    "rule runs away": misdeed("loop"),
    "rule runs away in C": misdeed("loop_in_c"),
    "rule sleeps": misdeed("sleep"),
    "rule eats memory": misdeed("eat_memory"),
    "rule raises": misdeed("raise", failed),
    "rule recurses": misdeed("recurse", failed),
    "worker ends": misdeed("exit"),
    "worker hangs up": misdeed("hang_up"),
    "garbage from a worker": misdeed("garbage"),
    "half a frame from a worker": misdeed("half_frame"),
    "overlong frame from a worker": misdeed("long_header"),
    "two replies from a worker": misdeed("two_replies"),
    "flood on stdout": misdeed("flood", judged),
}
