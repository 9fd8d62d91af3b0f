"""The manifest is fresh and complete, and lines hold what is catalogued."""

from typing import Any

import msgspec

from scorebox_contract import EventSport, canonical, decode, manifest
from sports.kit.golden import Golden
from sports.kit.play import Play
from sports.kit.report import Check


def check_manifest(sport: EventSport, stored: bytes | None, check: Check) -> None:
    """Every command has a schema, a label and a pad of fields that it has; the file says the same."""
    described = manifest(sport)
    if sport.roles.keys() != sport.keys.keys():
        check.fail(f"roles {sorted(sport.roles)} and keys {sorted(sport.keys)} must name the same roles")
    for code, command in sport.commands.items():
        check.count += 1
        if code != command.code or not code.startswith(f"{sport.code}."):
            check.fail(f"{code} must be its command's code and begin with {sport.code!r} and a dot")
        if not command.label.strip():
            check.fail(f"{code} has no label")
        if not {"group", "order"} <= set(command.pad):
            check.fail(f"{code} has no place on a pad; give it a group and an order")
        named = set(command.pad.get("fields", {}))
        for button in command.pad.get("buttons", []):
            named |= set(button.get("input", {}))
        for field in sorted(named - set(command.input.__struct_fields__)):
            check.fail(f"the pad of {code} names the field {field}, which its input does not have")
    if stored is not None and not _same(stored, described):
        check.fail("manifest.json is stale; write it anew from what `scorebox_contract.manifest` gives")


def check_lines(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """Role and keys of every line are in the catalogue, its subject is somebody of the match."""
    for golden in goldens:
        play = Play(sport, golden)
        for step in golden.steps:
            where = play.where(step)
            done = play.next()
            for line in done.lines:
                check.count += 1
                role = role_of(sport, line.role)
                if role is None:
                    check.fail(f"{where}: the line's role {line.role!r} is not in the catalogue")
                    continue
                for key in sorted(set(line.values) - set(sport.keys.get(role, {}))):
                    check.fail(f"{where}: the key {key!r} of role {role!r} is not in the catalogue")
                if line.subject not in play.names:
                    check.fail(f"{where}: a line is of {line.subject!r}, who is nobody of the match")
                if not line.segment:
                    check.fail(f"{where}: a line of {line.subject!r} has no segment")


def role_of(sport: EventSport, role: str) -> str | None:
    """The catalogue's role of a line; "partnership-" for "partnership-3"."""
    if role in sport.roles:
        return role
    family = f"{role.rpartition('-')[0]}-"
    return family if family in sport.roles else None


def _same(stored: bytes, described: dict[str, Any]) -> bool:
    try:
        return canonical(msgspec.json.decode(stored)) == canonical(decode(canonical(described)))
    except msgspec.DecodeError:
        return False
