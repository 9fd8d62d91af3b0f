"""Writes the package's manifest.json: run it from the project's root."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "contract")]

import msgspec  # noqa: E402

from scorebox_contract import manifest  # noqa: E402
from scorebox_table_tennis import SPORT  # noqa: E402

MANIFEST = HERE / "scorebox_table_tennis" / "manifest.json"


def manifest_json() -> bytes:
    """The manifest as it stands in the wheel: JSON with sorted keys, two spaces deep."""
    return msgspec.json.format(msgspec.json.encode(manifest(SPORT), order="sorted"), indent=2) + b"\n"


if __name__ == "__main__":
    MANIFEST.write_bytes(manifest_json())
