"""What a watcher makes of the frames it gets. Pure."""

from dataclasses import dataclass, field
from typing import Any, Literal

Audience = Literal["scorer", "viewer"]


@dataclass(slots=True)
class View:
    """One watcher's picture of a match."""

    audience: Audience
    epoch: int = 0
    seq: int = 0
    state_hash: str = ""
    head: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    gap: bool = False
    """A frame did not follow the one before it: only a document helps."""

    @property
    def position(self) -> dict[str, int]:
        """From where to resume."""
        return {"epoch": self.epoch, "seq": self.seq}

    def take(self, frame: dict[str, Any]) -> str | None:
        """Takes a document, event or changed frame in. A sentence where it breaks the protocol."""
        before, at = (self.epoch, self.seq), (frame["epoch"], frame["seq"])
        if at[1] < before[1] or at[0] < before[0]:
            return f"a {frame['op']} frame went back from {before} to {at}"
        if frame["op"] == "document":
            self.head, self.parts = frame["document"]["head"], dict(frame["document"]["parts"])
            self.gap = False
        else:
            if at[0] != before[0]:
                return f"the epoch rose from {before} to {at} without a document"
            if self.audience == "scorer" and at[1] != before[1] + 1:
                self.gap = True
                return None
            self.head = frame["head"]
            self.parts |= frame["parts"]
            self.parts = {name: part for name, part in self.parts.items() if part is not None}
        self.epoch, self.seq, self.state_hash = *at, frame["state_hash"]
        return None

    def differs(self, document: dict[str, Any]) -> str | None:
        """Where it is not what the server gives to whoever asks now; None where it is."""
        if (self.epoch, self.seq) != (document["epoch"], document["seq"]):
            return f"stands at {self.position}, the document at {document['epoch']}:{document['seq']}"
        if self.state_hash != document["state_hash"]:
            return "has another state hash"
        for name, ours in (("head", self.head), ("parts", self.parts)):
            if ours != document["document"][name]:
                return f"has another {name}"
        return None
