"""What a run collects: every command with all its answers, and what watchers heard. Plain data."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

TRY_AGAIN = "try_again"


@dataclass(slots=True)
class Sent:
    """One command of a client. `place` is its number among the commands of its sender, from 0."""

    id: str
    match: str
    by: str
    place: int
    code: str
    input: dict[str, Any]
    saw: int
    override: tuple[str, ...] = ()
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def body(self) -> dict[str, Any]:
        """The command as it goes over HTTP."""
        body = {"id": self.id, "code": self.code, "input": self.input, "saw": self.saw, "device": self.by}
        return body | ({"override": list(self.override)} if self.override else {})

    @property
    def frame(self) -> dict[str, Any]:
        """The command as it goes over a socket."""
        return {"op": "command", "match": self.match, **self.body}

    @property
    def final(self) -> dict[str, Any] | None:
        """The last answer that was not "try again"; None while there is none."""
        return next((answer for answer in reversed(self.answers) if answer["outcome"] != TRY_AGAIN), None)

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """All answers that say it is saved."""
        return [answer for answer in self.answers if answer["outcome"] == "accepted"]


class History:
    """Everything that was sent and heard in a run."""

    def __init__(self, note: Callable[[str], None] = lambda sentence: None) -> None:
        self._note = note
        self.sent: dict[tuple[str, str], Sent] = {}
        """By match and id."""
        self.heard: dict[str, dict[tuple[int, int], str]] = {}
        """By match: the state hash at (epoch, seq) as watchers heard it."""
        self.violations: list[str] = []
        self.tallies: Counter[str] = Counter()
        self._places: Counter[str] = Counter()

    def compose(
        self,
        by: str,
        match: str,
        code: str,
        input: dict[str, Any],
        saw: int,
        override: Sequence[str] = (),
    ) -> Sent:
        """A new command, on record before it is sent."""
        sent = Sent(str(uuid4()), match, by, self._places[by], code, input, saw, tuple(override))
        self._places[by] += 1
        self.sent[match, sent.id] = sent
        return sent

    def hear(self, match: str, epoch: int, seq: int, state_hash: str) -> None:
        """A watcher was told of a state."""
        known = self.heard.setdefault(match, {}).setdefault((epoch, seq), state_hash)
        if known != state_hash:
            self.violate(f"match {match}: two state hashes were told of epoch {epoch}, seq {seq}")

    def violate(self, sentence: str) -> None:
        """Something that must never be was seen."""
        self.violations.append(sentence)
        self._note(f"VIOLATED: {sentence}")
