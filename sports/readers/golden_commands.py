"""Every command but the delivery as a line of the golden notation.

    toss A bat                          innings B                innings A super over
    retire Samson hurt: hit on the hand  penalty A 5 innings 1    revise target 85 overs 7.3 method "D/L"

What has no form, or does not fit its form, is a raw line: `command CODE {…}`, the input as JSON. Before a
line, `!code` passes over a refusal.
"""

from collections.abc import Mapping
from typing import Any

from sports.readers.errors import LineFault
from sports.readers.golden_forms import Form, Kind, Slot, starts
from sports.readers.golden_text import (
    cut,
    free_text,
    json_text,
    key_and_name,
    leading_override,
    override_text,
    read_json,
    take_word,
    word_text,
)
from sports.readers.steps import Step

PLAYER = "cricket.player"
JOIN = "join"
RAW = "command"
KINDS_OF_RESULT = {
    "won": "won",
    "tie": "tie",
    "draw": "draw",
    "no result": "no_result",
    "abandoned": "abandoned",
}
"""Words of a result → its kind."""

FORMS: dict[str, Form] = {
    "cricket.toss": Form(
        "toss", (Slot("winner"), Slot("decision", Kind.CHOICE, choices={"bat": "bat", "field": "field"}))
    ),
    "cricket.officials": Form(
        "officials",
        (
            Slot("umpires", Kind.LIST, "umpires"),
            Slot("tv_umpire", Kind.LIST, "tv umpire"),
            Slot("reserve_umpire", Kind.LIST, "reserve umpire"),
            Slot("referee", Kind.LIST, "referee"),
            Slot("scorers", Kind.LIST, "scorers"),
        ),
    ),
    "cricket.innings": Form(
        "innings",
        (
            Slot("batting"),
            Slot("follow_on", Kind.FLAG, "follow on"),
            Slot("super_over", Kind.FLAG, "super over"),
        ),
    ),
    "cricket.over": Form("over"),
    "cricket.bowler_change": Form("bowler", (Slot("bowler"),), "reason"),
    "cricket.retire": Form(
        "retire",
        (
            Slot("batter"),
            Slot("kind", Kind.CHOICE, choices={"hurt": "hurt", "not out": "not_out", "out": "out"}),
        ),
        "reason",
    ),
    "cricket.resume": Form("resume", (Slot("batter"),)),
    "cricket.timed_out": Form("timed out", (Slot("batter"),)),
    "cricket.absent": Form("absent", (Slot("batter"),), "reason"),
    "cricket.penalty": Form(
        "penalty",
        (Slot("side"), Slot("runs", Kind.NUMBER), Slot("innings", Kind.NUMBER, "innings")),
        "reason",
    ),
    "cricket.innings_end": Form(
        "end",
        (
            Slot(
                "reason",
                Kind.CHOICE,
                choices={
                    "declared": "declared",
                    "forfeited": "forfeited",
                    "all out": "all_out",
                    "overs": "overs",
                    "target": "target",
                    "time": "time",
                    "conceded": "conceded",
                    "closed": "closed",
                },
            ),
            Slot("batting", lead="batting"),
        ),
        "note",
    ),
    "cricket.revise": Form(
        "revise",
        (
            Slot("target", Kind.NUMBER, "target"),
            Slot("overs", lead="overs"),
            Slot("bowler_overs", Kind.NUMBER, "bowler"),
            Slot("method", lead="method"),
        ),
        "reason",
    ),
    "cricket.set_score": Form(
        "set score",
        (
            Slot("runs", Kind.NUMBER, "runs"),
            Slot("wickets", Kind.NUMBER, "wickets"),
            Slot("overs", lead="overs"),
            Slot("innings", Kind.NUMBER, "innings"),
        ),
        "reason",
    ),
    "cricket.bowl_out": Form(
        "bowl-out", (Slot("bowler"), Slot("hit", Kind.CHOICE, choices={"hit": True, "miss": False}))
    ),
    "cricket.result": Form(
        "result",
        (
            Slot("kind", Kind.CHOICE, choices=KINDS_OF_RESULT),
            Slot("winner", lead="winner"),
            Slot("innings", Kind.NUMBER, "innings"),
            Slot("runs", Kind.NUMBER, "runs"),
            Slot("wickets", Kind.NUMBER, "wickets"),
            Slot("method", lead="method"),
        ),
        "reason",
    ),
    "cricket.powerplay": Form(
        "powerplay", (Slot("kind"), Slot("start", lead="from"), Slot("end", lead="to"))
    ),
    "cricket.review": Form(
        "review",
        (
            Slot("by"),
            Slot("decision", Kind.CHOICE, choices={"upheld": "upheld", "struck down": "struck_down"}),
            Slot("umpires_call", Kind.FLAG, "umpire's call"),
            Slot("batter", lead="batter"),
            Slot("umpire", lead="umpire"),
            Slot("type", lead="type"),
        ),
    ),
    "cricket.replacement": Form(
        "replace", (Slot("side"), Slot("player_out", lead="out"), Slot("player_in", lead="in")), "reason"
    ),
    "cricket.role_replacement": Form(
        "replace role",
        (
            Slot("role", Kind.CHOICE, choices={"bowler": "bowler", "batter": "batter"}),
            Slot("player_out", lead="out"),
            Slot("player_in", lead="in"),
        ),
        "reason",
    ),
    "cricket.substitute": Form(
        "substitute",
        (Slot("side"), Slot("name"), Slot("player", lead="player"), Slot("player_out", lead="out")),
    ),
    "cricket.interval": Form("interval", (Slot("kind"), Slot("resumed", Kind.FLAG, "resumed")), "note"),
}
"""Code → form. The longest words are tried first."""

_BY_WORDS = sorted(FORMS.items(), key=lambda item: -len(item[1].words.split()))


def read_command(line: str) -> Step:
    """A command's line, with the refusals it passes over before it.

    Raises:
        LineFault: no command begins like this, or something in it is missing or odd.
    """
    override: tuple[str, ...] = ()
    while (found := leading_override(line)) is not None:
        codes, line = found
        override += codes
    code, given = _read(line)
    return Step(code, given, override=override)


def write_command(step: Step) -> str:
    """A command as a line: by its form, else raw."""
    fields = stripped(step)
    if step.code == PLAYER:
        line = _write_join(fields)
    else:
        line = FORMS[step.code].write(fields) if step.code in FORMS else None
    if line is None or not _reads_as(line, step.code, fields):
        line = f"{RAW} {step.code} {json_text(step.input)}"
    return f"{override_text(step.override)} {line}" if step.override else line


def stripped(step: Step) -> dict[str, Any]:
    """A command's fields without those that say the same as if they were absent."""
    form = FORMS.get(step.code)
    optional = {slot.field: slot.kind for slot in form.slots if slot.lead} if form else {}
    text = form.text if form else None

    def says_nothing(name: str, value: Any) -> bool:
        flag, listed = optional.get(name) is Kind.FLAG, optional.get(name) is Kind.LIST
        return (
            value is None
            or (flag and value is False)
            or (listed and value == [])
            or (name == text and value == "")
        )

    return {name: value for name, value in step.input.items() if not says_nothing(name, value)}


def _read(line: str) -> tuple[str, dict[str, Any]]:
    word, _, rest = line.partition(" ")
    if word == RAW:
        return _read_raw(rest.strip())
    if word == JOIN:
        return _read_join(rest.strip())
    parts = cut(line)
    for code, form in _BY_WORDS:
        if starts(parts.tokens, form.words.split()):
            return code, form.read(parts)
    known = ", ".join(sorted({form.words for form in FORMS.values()} | {JOIN, RAW}))
    raise LineFault(f"no line begins with {word!r}", f"begin it with an over's number or one of: {known}")


def _read_raw(rest: str) -> tuple[str, dict[str, Any]]:
    code, _, text = rest.partition(" ")
    given = read_json(text)
    if not isinstance(given, dict):
        raise LineFault(f"the input of {code} is no object", f"write it as: {RAW} CODE {{…}}")
    return code, given


def _read_join(rest: str) -> tuple[str, dict[str, Any]]:
    usage = f"write it as: {JOIN} SIDE KEY = NAME"
    side, after = take_word(rest)
    named = key_and_name(after)
    if side is None or named is None:
        raise LineFault("who joins is missing", usage)
    key, name = named
    return PLAYER, {"side": side, "key": key, "name": name}


def _write_join(fields: Mapping[str, Any]) -> str | None:
    texts = [fields.get(name) for name in ("side", "key", "name")]
    if len(fields) != len(texts) or not all(isinstance(text, str) for text in texts):
        return None
    side, key, name = map(str, texts)
    return f"{JOIN} {word_text(side)} {word_text(key)} = {free_text(name)}"


def _reads_as(line: str, code: str, fields: Mapping[str, Any]) -> bool:
    try:
        return _read(line) == (code, fields)
    except LineFault:
        return False
