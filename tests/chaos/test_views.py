"""What a watcher makes of its frames."""

from typing import Any

from tests.chaos.views import View


def document(epoch: int, seq: int, **parts: Any) -> dict[str, Any]:
    held = {"head": {"at": seq}, "parts": parts}
    return {"op": "document", "epoch": epoch, "seq": seq, "state_hash": f"h{seq}", "document": held}


def change(op: str, epoch: int, seq: int, **parts: Any) -> dict[str, Any]:
    place = {"epoch": epoch, "seq": seq, "state_hash": f"h{seq}"}
    return {"op": op, **place, "head": {"at": seq}, "parts": parts}


def test_parts_are_put_together() -> None:
    view = View("viewer")
    for frame in (
        document(1, 4, a=1, b=1),
        change("changed", 1, 7, b=2),
        change("changed", 1, 8, a=None, c=3),
    ):
        assert view.take(frame) is None
    assert view.differs(document(1, 8, b=2, c=3)) is None
    assert view.differs(document(1, 9, b=2, c=3)) is not None
    assert view.differs(document(1, 8, b=2)) == "has another parts"
    assert view.differs(document(1, 8, b=2, c=3) | {"state_hash": "x"}) == "has another state hash"


def test_a_scorer_sees_a_gap_and_only_a_document_closes_it() -> None:
    view = View("scorer")
    view.take(document(1, 4))
    assert view.take(change("event", 1, 5)) is None
    assert view.take(change("event", 1, 7)) is None
    assert view.gap
    assert view.position == {"epoch": 1, "seq": 5}
    assert view.take(document(1, 8)) is None
    assert not view.gap


def test_what_goes_back_breaks_the_protocol() -> None:
    view = View("viewer")
    view.take(document(2, 4))
    assert view.take(document(2, 3)) is not None
    assert view.take(document(1, 5)) is not None
    assert view.take(change("changed", 3, 5)) is not None
