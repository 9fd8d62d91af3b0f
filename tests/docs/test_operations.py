"""What docs/operations.md says of settings, metrics and roles is what there is."""

import re
from pathlib import Path

from config.settings import PREFIX, Settings
from gateway.auth import Role
from gateway.counters import Counters

TEXT = (Path(__file__).parent.parent.parent / "docs" / "operations.md").read_text()


def test_the_table_of_settings_has_each_with_its_default() -> None:
    rows = re.findall(r"^\| `SCOREBOX_([A-Z_]+)` \| (?:`([^`]*)`)? ?\|", TEXT, re.MULTILINE)
    given = Settings()
    wanted = []
    for name in Settings.__struct_fields__:
        value = getattr(given, name)
        shown = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        wanted.append((name.upper(), shown.lower() if isinstance(value, bool) else shown))
    assert rows == wanted


def test_every_setting_that_is_spoken_of_exists() -> None:
    known = {PREFIX + name.upper() for name in Settings.__struct_fields__}
    known |= {"SCOREBOX_SERVER", "SCOREBOX_TOKEN"}
    assert set(re.findall(r"SCOREBOX_[A-Z_]+", TEXT)) <= known


def test_every_metric_is_in_the_table() -> None:
    families = [each for each in Counters().registry.collect() if each.name.startswith("scorebox_")]
    for family in families:
        name = family.name + ("_total" if family.type == "counter" else "")
        assert f"`{name}" in TEXT, name


def test_every_role_is_told() -> None:
    tokens = TEXT.partition("## Tokens")[2].partition("## ")[0]
    assert all(role.value in tokens for role in Role)


def test_the_contents_lead_to_every_part() -> None:
    parts = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    links = re.findall(r"\]\(#([a-z-]+)\)", TEXT.partition("\n## ")[0])
    assert links == [part.lower().replace(" ", "-") for part in parts]
