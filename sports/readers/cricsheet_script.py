"""The script of a match while it is written: its players' keys and the commands so far."""

from typing import Any

from sports.readers.cricsheet_file import InfoEntry
from sports.readers.steps import Step

NAME_LIMIT_CHARACTERS = 256
SIDE_KEYS = ("A", "B")


def clean_name(name: str) -> str:
    """A name as the contract takes it: no control characters, not empty, not endless."""
    visible = "".join(character if character >= " " else " " for character in name)
    return " ".join(visible.split())[:NAME_LIMIT_CHARACTERS] or "unknown"


class Script:
    """Players get short keys, "A1" to "A12" and "B1" on, in the order of the team sheet.

    A player who is not on the sheet joins by a command just before he is first needed.
    """

    def __init__(self, info: InfoEntry) -> None:
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.sides = dict(zip(info.teams, SIDE_KEYS, strict=True))
        self.keys: dict[tuple[str, str], str] = {}
        self._substitutes: set[tuple[str, str]] = set()
        for team, names in (info.players or {}).items():
            for name in names if team in self.sides else ():
                self._enter(team, name)
        for team, name in (info.supersubs or {}).items():
            if team in self.sides:
                self._enter(team, name)
        self.sheet = dict(self.keys)

    def add(self, code: str, *, unless_emitted: str | None = None, **fields: Any) -> None:
        """Writes a command; fields that are None are left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        self.steps.append(Step(code, given, unless_emitted))

    def leave_out(self, what: str) -> None:
        """Notes a fact of the file that no command can say; no figure depends on it."""
        self.notes.append(f"left out: {what}")

    def other(self, team: str) -> str:
        """The other team."""
        return next(other for other in self.sides if other != team)

    def player(self, team: str, name: str) -> str:
        """The key of a player; one who is not on the sheet joins the side first."""
        key = self.keys.get((team, name))
        if key is None:
            key = self._enter(team, name)
            self.add("cricket.player", side=self.sides[team], key=key, name=clean_name(name))
        return key

    def substitute(self, team: str, name: str | None) -> None:
        """Writes down who fields as a substitute, once."""
        if name is not None and (team, name) not in self._substitutes:
            self._substitutes.add((team, name))
            key = self.keys.get((team, name))
            self.add("cricket.substitute", side=self.sides[team], name=clean_name(name), player=key)

    def _enter(self, team: str, name: str) -> str:
        if (team, name) not in self.keys:
            number = sum(1 for side, _ in self.keys if side == team) + 1
            self.keys[team, name] = f"{self.sides[team]}{number}"
        return self.keys[team, name]
