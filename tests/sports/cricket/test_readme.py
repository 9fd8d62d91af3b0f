"""The README's table of commands is the manifest's."""

import json
import re
from pathlib import Path

CRICKET = Path(__file__).parent.parent.parent.parent / "sports" / "cricket"


def test_the_readme_names_every_command_with_its_fields() -> None:
    manifest = json.loads((CRICKET / "scorebox_cricket" / "manifest.json").read_text())
    declared = {}
    for code, command in manifest["commands"].items():
        schema = command["input"]["$defs"][command["input"]["$ref"].rpartition("/")[2]]
        needed = schema.get("required", [])
        declared[code] = {name if name in needed else f"{name}?" for name in schema["properties"]}
    rows = re.findall(r"^\| `(cricket\.\w+)` \|(.*?)\|", (CRICKET / "README.md").read_text(), re.MULTILINE)
    assert {code: set(re.findall(r"`([\w?]+)`", fields)) for code, fields in rows} == declared
