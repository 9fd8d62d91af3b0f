"""A sport's folder: its package, its manifest, its golden matches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sports.kit.errors import KitFault
from sports.kit.golden import Golden
from sports.kit.notation import ENDING, read_match

GOLDEN = "golden"
MANIFEST = "manifest.json"
NOTES = frozenset({".md", ".txt", ""})
"""Endings of files that tell about golden matches and are none."""

Readers = Mapping[str, Callable[[Path], Golden]]
"""Ending → reader of another notation than the kit's."""


@dataclass(frozen=True, slots=True)
class SportFolder:
    """Where a sport lies: `root` holds `package` and golden/."""

    root: Path
    package: str

    @property
    def manifest(self) -> bytes | None:
        """manifest.json of the package."""
        path = self.root / self.package / MANIFEST
        return path.read_bytes() if path.is_file() else None

    def goldens(self, readers: Readers | None = None) -> list[Golden]:
        """Every golden match.

        Raises:
            NotGolden: one cannot be read.
            KitFault: nobody reads its notation.
        """
        known: Readers = {ENDING: read_match, **(readers or {})}
        found = []
        for path in sorted((self.root / GOLDEN).glob("*")):
            if not path.is_file() or path.suffix in NOTES:
                continue
            if path.suffix not in known:
                raise KitFault(f"{path} has no known ending ({', '.join(sorted(known))})")
            found.append(known[path.suffix](path))
        return found


def find_folder(root: Path) -> SportFolder:
    """The sport in a folder.

    Raises:
        KitFault: it holds no package scorebox_…, or several.
    """
    packages = [path.parent.name for path in sorted(root.glob("scorebox_*/__init__.py"))]
    if len(packages) != 1:
        found = ", ".join(packages) or "none"
        raise KitFault(f"{root} must hold one package scorebox_… with the sport; it holds {found}")
    return SportFolder(root, packages[0])
