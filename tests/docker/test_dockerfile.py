"""What the Dockerfile promises, read from it; `make try-dockerfile` runs its steps."""

from pathlib import Path

import pytest

from tests.docker.dockerfile import context, health_command, read_steps

ROOT = Path(__file__).parent.parent.parent
STEPS = read_steps((ROOT / "Dockerfile").read_text())


def only(name: str) -> str:
    [step] = [step for step in STEPS if step.name == name]
    return step.text


def test_the_server_runs_without_rights_and_is_stopped_as_it_wants() -> None:
    assert only("USER") not in ("root", "0")
    assert only("STOPSIGNAL") == "SIGTERM"
    names = [step.name for step in STEPS]
    assert names.index("USER") < names.index("CMD")
    assert names[-1] == "CMD"


def test_the_health_check_asks_for_readiness() -> None:
    [step] = [step for step in STEPS if step.name == "HEALTHCHECK"]
    assert "/health/ready" in health_command(step)[-1]


def test_what_is_not_needed_to_run_does_not_go_into_the_image() -> None:
    patterns = (ROOT / ".dockerignore").read_text().split()
    files = {str(path) for path in context(ROOT, patterns)}
    assert {"config/server.py", "migrations/0001_core.sql", "requirements.lock"} <= files
    assert "sports/cricket/scorebox_cricket/sport.py" in files
    assert not any(name.startswith((".git", ".venv", "tests/", "docs/", "bench/")) for name in files)
    assert not any("__pycache__" in name for name in files)


def test_an_instruction_that_is_not_known_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="ADD"):
        read_steps("FROM x\nADD y z\n")
