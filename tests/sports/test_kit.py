"""The sport kit: every sport passes it, and every planted fault is found."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scorebox_contract import (
    Command,
    Event,
    EventSport,
    Line,
    Opening,
    Refusal,
    State,
    Step,
    Summary,
    manifest,
)
from sports.kit import KitFault, NotGolden, Report, check_folder, check_sport, find_folder, parse_match
from sports.readers.kit import READERS
from tests.sports import tally
from tests.sports.tally import Tally

SPORTS = Path(__file__).parents[2] / "sports"
FOLDERS = sorted(path.parent for path in SPORTS.glob("*/scorebox_*") if path.name != "scorebox_contract")
GOLDEN = b"""golden match 1
sport tally
match A v B
opening {"sides": [{"key": "A", "name": "Alpha"}, {"key": "B", "name": "Beta"}], "first_day": "2024-06-01"}
word A = point {"winner": "A", "notes": ["long"]}
word B = point {"winner": "B"}
A B A
line A side whole {"points": 2}
A
summary {"phase": "over", "result": {"winner": "A"}}
refused match_over point {"winner": "B"}
refused unknown_side point {"winner": "C"}
"""


def kit(sport: EventSport, golden: bytes = GOLDEN, stored: bytes | None = None) -> Report:
    return check_sport(sport, [parse_match("a.golden", golden)], stored_manifest=stored)


def failed(report: Report) -> set[str]:
    return {check.name for check in report.checks if not check.passed}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_sport_passes(folder: Path):
    found = find_folder(folder)
    goldens = found.goldens(READERS)
    told: list[str] = []
    report = check_folder(found, goldens, told=told.append)
    assert report.failures == []
    assert report.passed
    assert all(check.count > 0 for check in report.checks)
    assert {check.name for check in report.checks} == set(told)
    commands = sum(len(golden.steps) for golden in goldens)
    undone = next(check for check in report.checks if check.name == "undo after do")
    assert undone.count == commands


def test_both_sports_that_ship_are_found():
    assert {folder.name for folder in FOLDERS} >= {"cricket", "table_tennis"}


def test_a_sound_sport_given_as_an_object_passes():
    report = kit(Tally())
    assert report.failures == []
    assert all(check.count > 0 for check in report.checks)


class ChangesItsState(Tally):
    def step(self, state: State, event: Event) -> Step:
        done = super().step(state, event)
        state["points"][event.input.winner] += 0
        state["seen"] = True
        return done


class ChangesItsInput(Tally):
    def step(self, state: State, event: Event) -> Step:
        event.input.notes.append("seen")
        return super().step(state, event)


class SummaryChangesTheState(Tally):
    def summary(self, state: State) -> Summary:
        shown = super().summary(state)
        state["shown"] = True
        return shown


class HasFractions(Tally):
    def step(self, state: State, event: Event) -> Step:
        done = super().step(state, event)
        return Step({**done.state, "share": 0.5}, done.lines)


class ShowsATuple(Tally):
    def summary(self, state: State) -> Summary:
        shown = super().summary(state)
        return Summary(shown.phase, shown.sides, shown.result, shown.segment, {"pair": (1, 2)})


class HasALargeState(Tally):
    def initial_state(self, opening: Any) -> State:
        return {**super().initial_state(opening), "log": []}

    def step(self, state: State, event: Event) -> Step:
        done = super().step(state, event)
        return Step({**done.state, "log": [*state["log"], "x" * 8000]}, done.lines)


class HasAnUndeclaredKey(Tally):
    def lines(self, points: dict[str, int], side: str) -> tuple[Line, ...]:
        return (Line(side, "side", "whole", {"points": points[side], "lead": 1}),)


class HasAnUndeclaredRole(Tally):
    def lines(self, points: dict[str, int], side: str) -> tuple[Line, ...]:
        return (Line(side, "coach", "whole", {}),)


class HasALineOfNobody(Tally):
    def lines(self, points: dict[str, int], side: str) -> tuple[Line, ...]:
        return (Line("referee", "side", "whole", {"points": 1}),)


class RemembersOutsideTheState(Tally):
    def __init__(self) -> None:
        self.steps = 0

    def step(self, state: State, event: Event) -> Step:
        self.steps += 1
        done = super().step(state, event)
        return Step({**done.state, "steps": self.steps}, done.lines)


class RemembersInItsLines(Tally):
    def __init__(self) -> None:
        self.steps = 0

    def lines(self, points: dict[str, int], side: str) -> tuple[Line, ...]:
        self.steps += 1
        return (Line(side, "side", "whole", {"points": self.steps}),)


class RefusesWithoutASentence(Tally):
    def check(self, state: State, event: Event) -> Refusal | None:
        refusal = super().check(state, event)
        return None if refusal is None else Refusal(refusal.code, "no", overridable=refusal.overridable)


class RefusesAnUnknownField(Tally):
    def check(self, state: State, event: Event) -> Refusal | None:
        refusal = super().check(state, event)
        return None if refusal is None else Refusal("match_over", "The match is over.", "side")


class CannotBeOverridden(Tally):
    def check(self, state: State, event: Event) -> Refusal | None:
        if state["winner"] is not None:
            return Refusal("match_over", "The match is over.", overridable=True)
        return super().check(state, event)


class FailsAfterAnOverride(Tally):
    def step(self, state: State, event: Event) -> Step:
        if state["winner"] is not None:
            raise ZeroDivisionError
        return super().step(state, event)


@pytest.mark.parametrize(
    ("sport", "check", "sentence"),
    [
        (ChangesItsState, "inputs unchanged", "the state it was given is changed"),
        (ChangesItsInput, "inputs unchanged", "the input it was given is changed"),
        (SummaryChangesTheState, "inputs unchanged", "the summary changes the state"),
        (HasFractions, "pure JSON", "has a fraction"),
        (ShowsATuple, "pure JSON", "tuple is not a JSON value"),
        (HasALargeState, "golden matches", "16384 are allowed"),
        (HasAnUndeclaredKey, "lines catalogued", "the key 'lead'"),
        (HasAnUndeclaredRole, "lines catalogued", "the line's role 'coach'"),
        (HasALineOfNobody, "lines catalogued", "'referee', who is nobody"),
        (RemembersOutsideTheState, "undo after do", "the state differs"),
        (RemembersInItsLines, "undo after do", "the lines differs"),
        (RefusesWithoutASentence, "refusals", "write a sentence"),
        (RefusesAnUnknownField, "refusals", "the field 'side'"),
        (CannotBeOverridden, "refusals", "although it was overridden"),
        (FailsAfterAnOverride, "refusals", "overriding match_over at an odd moment fails"),
    ],
)
def test_a_planted_fault_is_found(sport: Callable[[], Tally], check: str, sentence: str):
    report = kit(sport())
    assert not report.passed
    assert check in failed(report)
    assert any(sentence in failure for failure in report.failures if failure.startswith(check)), (
        report.failures
    )


def test_a_command_without_a_label_or_a_pad_is_found():
    class Bare(Tally):
        commands: Mapping[str, Command] = {
            "tally.point": Command("tally.point", tally.Point, " ", {"fields": {"loser": {}}})
        }

    report = kit(Bare())
    assert failed(report) == {"manifest"}
    assert len(report.failures) == 3


def test_a_stale_manifest_is_found():
    described = manifest(Tally())
    fresh = msgspec.json.encode(described)
    assert kit(Tally(), stored=fresh).passed
    stale = msgspec.json.encode({**described, "version": "0.9.0"})
    assert failed(kit(Tally(), stored=stale)) == {"manifest"}
    assert failed(kit(Tally(), stored=b"{")) == {"manifest"}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b'{"points": 2}', b'{"points": 3}'),
        (b'{"winner": "A"}}\nrefused', b'{"winner": "B"}}\nrefused'),
        (b"refused match_over", b"refused all_over"),
        (b'{"winner": "C"}', b'{"winner": "B"}'),
    ],
)
def test_a_golden_match_that_comes_out_otherwise_is_found(line: bytes, wrong: bytes):
    assert line in GOLDEN
    assert failed(kit(Tally(), GOLDEN.replace(line, wrong))) == {"expectations"}


def test_a_golden_match_that_is_refused_is_found():
    report = kit(Tally(), GOLDEN + b'point {"winner": "B"}\n')
    assert failed(report) == {"golden matches"}
    assert "A v B, command 5 (tally.point) is refused: The match is over." in report.failures[0]


def test_a_sport_without_golden_matches_fails():
    assert failed(check_sport(Tally(), [])) == {"golden matches"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "begin it with"),
        (GOLDEN + b"Z\nA Z\n", "no word"),
        (GOLDEN + b"line A side\n", "write it as"),
        (GOLDEN + b"summary 5\n", "no JSON object"),
        (b"golden match 1\npoint {}\n", "'sport CODE' must come before"),
        (b"golden match 1\nsport tally\n", "needs the lines"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_golden_match_that_cannot_be_read_is_told(content: bytes, said: str):
    with pytest.raises(NotGolden, match=said):
        parse_match("a.golden", content)


def sport_folder(root: Path, change: Callable[[str], str] = lambda text: text) -> Path:
    package = root / "scorebox_tally"
    package.mkdir()
    (package / "__init__.py").write_text(change(Path(tally.__file__).read_text()))
    (root / "golden").mkdir()
    (root / "golden" / "a.golden").write_bytes(GOLDEN)
    return root


def in_workers(root: Path) -> Report:
    found = find_folder(root)
    return check_folder(found, found.goldens())


def test_a_folder_is_checked_in_workers(tmp_path: Path):
    report = in_workers(sport_folder(tmp_path))
    assert report.failures == []
    assert report.checks[-1].name == "two hash seeds"
    assert report.checks[-1].count == 4


def test_the_order_of_a_set_is_found(tmp_path: Path):
    def change(text: str) -> str:
        line = 'return Step({"points": points, "winner": winner}, self.lines(points, side))'
        assert line in text
        listed = '"order": list({f"name {n}" for n in range(20)})'
        return text.replace(line, line.replace('"winner": winner', f'"winner": winner, {listed}'))

    report = in_workers(sport_folder(tmp_path, change))
    assert failed(report) == {"two hash seeds"}
    assert "command 1 (tally.point) comes out otherwise under another hash seed" in report.failures[0]


def test_a_package_that_cannot_be_loaded_is_told(tmp_path: Path):
    with pytest.raises(KitFault, match="NoSuchThing"):
        in_workers(sport_folder(tmp_path, lambda text: f"{text}\nraise NameError('NoSuchThing')\n"))


def test_a_sport_may_print(tmp_path: Path):
    assert in_workers(sport_folder(tmp_path, lambda text: f"{text}\nprint('loaded')\n")).passed


def test_a_folder_without_a_package_is_told(tmp_path: Path):
    with pytest.raises(KitFault, match="holds none"):
        find_folder(tmp_path)
    sport_folder(tmp_path)
    shutil.copytree(tmp_path / "scorebox_tally", tmp_path / "scorebox_other")
    with pytest.raises(KitFault, match="scorebox_other, scorebox_tally"):
        find_folder(tmp_path)


def test_an_unknown_notation_is_told(tmp_path: Path):
    root = sport_folder(tmp_path)
    (root / "golden" / "b.xml").write_text("<match/>")
    with pytest.raises(KitFault, match=r"no known ending \(\.golden\)"):
        find_folder(root).goldens()


def test_an_opening_that_is_refused_is_found():
    class Choosy(Tally):
        def check_opening(self, opening: Opening) -> Refusal | None:
            return Refusal("sides", "Too many sides.")

    assert "Too many sides." in kit(Choosy()).failures[0]
