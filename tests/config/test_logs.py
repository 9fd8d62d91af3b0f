"""What the log shows, and what it must not."""

import io
from collections.abc import Iterator

import pytest
import structlog

from config import logs


@pytest.fixture(autouse=True)
def _untouched_logging() -> Iterator[None]:
    yield
    structlog.reset_defaults()


@pytest.mark.parametrize("format", ["console", "json"])
def test_a_traceback_shows_no_variables(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    logs.configure_logs(format)

    def fail(token: str) -> None:
        raise ValueError("nothing secret")

    try:
        fail("".join(("se", "cret-token")))
    except ValueError:
        structlog.get_logger("scorebox").exception("failed")
    assert "ValueError: nothing secret" in written.getvalue()
    assert "secret-token" not in written.getvalue()
