"""The manifest and the catalogue describe what the sport does."""

import importlib.util
from pathlib import Path

from scorebox_contract import canonical, manifest
from scorebox_cricket import SPORT
from scorebox_cricket.commands import INPUTS
from tests.sports.cricket.generated import Generated

CRICKET = Path(__file__).resolve().parents[3] / "sports" / "cricket"


def test_the_manifest_in_the_package_is_fresh() -> None:
    spec = importlib.util.spec_from_file_location("make_manifest", CRICKET / "make_manifest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = (CRICKET / "scorebox_cricket" / "manifest.json").read_bytes()
    assert stored == module.manifest_json(), "run: python sports/cricket/make_manifest.py"


def test_every_command_has_a_schema_a_label_and_a_pad() -> None:
    described = manifest(SPORT)["commands"]
    assert set(described) == set(INPUTS)
    for code, command in described.items():
        assert command["label"], code
        assert {"group", "order"} <= set(command["pad"]), code
    assert canonical(manifest(SPORT))


def test_pads_speak_of_fields_that_exist() -> None:
    for code, input_type in INPUTS.items():
        pad = SPORT.commands[code].pad
        named = set(pad.get("fields", {}))
        for button in pad.get("buttons", []):
            named |= set(button["input"])
        assert named <= set(input_type.__struct_fields__), code


def test_lines_hold_catalogued_keys_only() -> None:
    seen: set[str] = set()
    for seed in range(12):
        match = Generated(seed)
        for _ in range(200):
            match.act()
        for (_, role, _), values in match.lines.items():
            family = "partnership-" if role.startswith("partnership-") else role
            seen.add(family)
            assert family in SPORT.roles
            assert set(values) <= set(SPORT.keys[family]), role
    assert seen == set(SPORT.roles) == set(SPORT.keys)
