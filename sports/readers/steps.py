"""What a scorer would send for a match: commands in order, some of them only if they are still needed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

DELIVERY = "cricket.delivery"
OVER = "cricket.over"


@dataclass(frozen=True, slots=True)
class Step:
    """One command.

    With `unless_emitted` it is sent only if no answer so far has emitted that word: "innings_end" counts
    from the start of the innings in progress, any other word from the start of the match. `override` are
    codes of refusals that it passes over.
    """

    code: str
    input: dict[str, Any]
    unless_emitted: str | None = None
    override: tuple[str, ...] = ()


def count_deliveries(steps: Iterable[Step]) -> int:
    """How many of them are deliveries."""
    return sum(step.code == DELIVERY for step in steps)


class Heard:
    """What the answers have emitted so far, and so which steps are still due."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def due(self, step: Step) -> bool:
        """True when the step is to be sent now."""
        return step.unless_emitted is None or step.unless_emitted not in self._words

    def answered(self, step: Step, emits: Iterable[str]) -> None:
        """Takes in the answer to a step that was sent."""
        if step.code == "cricket.innings":
            self._words.discard("innings_end")
        emitted = set(emits)
        # What was taken back has to be said again.
        if "innings_reopened" in emitted:
            self._words.discard("innings_end")
        if "match_reopened" in emitted:
            self._words.discard("match_end")
        self._words.update(emitted)
