"""What a server's log says of its own errors."""

import json

from tests.chaos.ending import faults_of


def test_entries_with_an_exception_are_found() -> None:
    lines = [
        "Scorebox listens on http://127.0.0.1:1",
        json.dumps({"event": "worker_lost", "reason": "died"}),
        json.dumps({"event": "child failed", "exception": "Traceback …\nLookupError: no"}),
        "7",
    ]
    assert faults_of(lines) == ["child failed: LookupError: no"]
