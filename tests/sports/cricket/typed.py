"""Matches in which a scorer also types whatever the types of the commands allow."""

from typing import Any

from msgspec import inspect

from scorebox_cricket.commands import INPUTS
from tests.sports.cricket.generated import Generated

OVERS = ("0.1", "1.5", "2", "3.2", "5.6", "48.5")
MATCH_ENDS = {(True, False): "match_end", (False, True): "match_reopened"}
FIELDS = {code: inspect.type_info(input_type) for code, input_type in INPUTS.items()}
SIDES = ("A", "B", "A", "B", "Z")
KEYS = ("A", "Z", *(f"{side}{number}" for side in "AB" for number in range(1, 13)))
CODES = sorted(INPUTS)


class Typed(Generated):
    """Every third command is of any kind, with any values its type allows; the others are Generated's."""

    def act(self) -> None:
        """One command of a scorer."""
        if self.pick(3):
            super().act()
            return
        code = self.one_of(*CODES)
        given = self.value(FIELDS[code], "")
        if code == "cricket.delivery" and self.open and self.pick(4):
            given |= dict(zip(("striker", "non_striker"), self.facing(), strict=True))
            given["bowler"] = self.one_of(*self.sheet(self.fielding)[:6])
        self.try_command(code.removeprefix("cricket."), **given)

    def facing(self) -> tuple[str, str]:
        """Who is expected, or anybody where the sheet is used up."""
        try:
            return self.crease()
        except StopIteration:
            batting = self.sheet(1 - self.fielding)
            return self.one_of(*batting), self.one_of(*batting)

    def value(self, kind: inspect.Type, name: str) -> Any:
        """Any value of a type; `name` of the field tells which texts are sides and which are players."""
        match kind:
            case inspect.UnionType(types):
                return self.value(self.one_of(*types), name)
            case inspect.NoneType():
                return None
            case inspect.LiteralType(values):
                return self.one_of(*values)
            case inspect.BoolType():
                return self.pick(4) == 0
            case inspect.IntType(ge=lowest, le=highest):
                low, high = lowest or 0, 999 if highest is None else highest
                return self.one_of(low, low, min(high, low + 1), min(high, 5), min(high, low + self.pick(9)))
            case inspect.ListType(item):
                return [self.value(item, name) for _ in range(self.one_of(0, 0, 0, 1, 2))]
            case inspect.StructType(fields=fields):
                return {
                    field.name: self.value(field.type, field.name)
                    for field in fields
                    if field.required or self.pick(3) == 0
                }
            case _:
                return self.word(kind, name)

    def word(self, kind: inspect.Type, name: str) -> str:
        """Any text: an amount of overs, a side, a player, or a word."""
        if isinstance(kind, inspect.StrType) and "[0-9]" in (kind.pattern or ""):
            return str(self.one_of(*OVERS))
        if name in ("side", "batting", "winner", "by"):
            return str(self.one_of(*SIDES))
        return str(self.one_of(*KEYS, f"N{len(self.log)}"))
