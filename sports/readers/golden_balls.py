"""A delivery as a word of an over's line: what the batters did, and who got out.

    .  1  4  6r        runs off the bat (r: all run)      b1 lb4      byes, leg byes
    wd wd5             wides, with the runs run           nb nb+4 nb+lb2   a no-ball, and what came with it
    p5 pf5             penalty runs to the batting and the fielding side, on this ball
    dead               no ball was bowled, but something counted
    W(…)               a wicket: W(b) W(c Root) W(c&b) W(lbw) W(st Foakes) W(hit wicket)
                       1+W(run out Root/Foakes, out Kohli, crossed)   W(c sub "Ravi Kumar")

Parts are joined by a plus sign. A wide or no-ball without a number is worth what the format says.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sports.readers.errors import LineFault
from sports.readers.golden_forms import starts
from sports.readers.golden_text import Token, cut_list, json_text, key_text

KINDS = {
    "b": "bowled",
    "c": "caught",
    "c&b": "caught_and_bowled",
    "lbw": "lbw",
    "st": "stumped",
    "run out": "run_out",
    "hit wicket": "hit_wicket",
    "hit the ball twice": "hit_the_ball_twice",
    "obstructing the field": "obstructing_the_field",
    "handled the ball": "handled_the_ball",
}
"""How a card abbreviates a dismissal → its kind."""
WORDS_OF_KIND = {kind: words for words, kind in KINDS.items()}
SUBSTITUTE = "sub"
DOT = "."

RUNS = {
    "wd": "wides",
    "nb": "no_balls",
    "b": "byes",
    "lb": "leg_byes",
    "p": "penalty",
    "pf": "penalty_fielding",
}
"""Sign → field, in the order in which they are written; runs off the bat follow the no-ball."""
WORTH = {"wd": "wide_runs", "nb": "no_ball_runs"}
"""Signs that may stand without a number → the field of the format."""
DEAD = "dead"

_part = re.compile(r"(?P<bat>\d{1,9})(?P<all_run>r?)|(?P<sign>wd|nb|lb|pf|b|p)(?P<runs>\d{1,9})?")
_USAGE = "write runs, wd, nb, b1, lb1, p5, dead or W(…), joined by +"


def read_ball(word: str, worth: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a delivery but for who bats and bowls; `worth` gives wide_runs and no_ball_runs.

    Raises:
        LineFault: a part of the word cannot be understood.
    """
    fields: dict[str, Any] = {}
    for part in _parts(word):
        if part == DOT:
            continue
        if part == DEAD:
            _put(fields, "dead", True, word)
        elif part.startswith("W(") and part.endswith(")"):
            fields.setdefault("wickets", []).append(_read_wicket(part[2:-1]))
        else:
            _read_runs(part, word, worth, fields)
    return fields


def write_ball(fields: Mapping[str, Any], striker: str, worth: Mapping[str, int]) -> str | None:
    """The word of a delivery's fields; None where they do not fit."""
    left = dict(fields)
    parts = [DEAD] if left.pop("dead", None) else []
    for sign, name in RUNS.items():
        runs = left.pop(name, None)
        if runs is not None:
            parts.append(sign if sign in WORTH and runs == worth[WORTH[sign]] else f"{sign}{runs}")
        if sign == "nb" and ("bat" in left or "all_run" in left):
            parts.append(f"{left.pop('bat', 0)}{'r' if left.pop('all_run', None) else ''}")
    for wicket in left.pop("wickets", ()):
        written = _write_wicket(wicket, striker)
        if written is None:
            return None
        parts.append(f"W({written})")
    return None if left else "+".join(parts) or DOT


def out_of(word: Mapping[str, Any], striker: str) -> dict[str, Any]:
    """The fields with the striker out in every wicket that names nobody."""
    if "wickets" not in word:
        return dict(word)
    wickets = [{"kind": wicket["kind"], "out": striker} | wicket for wicket in word["wickets"]]
    return {**word, "wickets": wickets}


def take_kind(tokens: list[Token], kinds: Mapping[str, str]) -> str | None:
    """Takes the words of a dismissal from the front of the tokens."""
    for words in sorted(kinds, key=len, reverse=True):
        if starts(tokens, words.split()):
            del tokens[: len(words.split())]
            return kinds[words]
    return None


def _parts(word: str) -> Iterator[str]:
    """What plus signs part outside brackets and quotes."""
    part, depth, quoted, escaped = "", 0, False, False
    for sign in word:
        if sign == "+" and not depth:
            yield part
            part = ""
            continue
        part += sign
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        else:
            depth += (sign == "(") - (sign == ")")
    yield part


def _read_runs(part: str, word: str, worth: Mapping[str, int], fields: dict[str, Any]) -> None:
    found = _part.fullmatch(part)
    if found is None:
        raise LineFault(f"{part!r} is no ball", _USAGE)
    if found["bat"] is not None:
        if int(found["bat"]):
            _put(fields, "bat", int(found["bat"]), word)
        if found["all_run"]:
            _put(fields, "all_run", True, word)
        return
    sign, runs = found["sign"], found["runs"]
    if runs is None and sign not in WORTH:
        raise LineFault(f"{part!r} has no runs", f"write how many: {sign}1")
    _put(fields, RUNS[sign], worth[WORTH[sign]] if runs is None else int(runs), word)


def _put(fields: dict[str, Any], name: str, value: Any, word: str) -> None:
    if name in fields:
        raise LineFault(f"{word!r} has {name.replace('_', ' ')} twice", "write each part once")
    fields[name] = value


def _read_wicket(text: str) -> dict[str, Any]:
    tokens = cut_list(text)
    kind = take_kind(tokens, KINDS)
    if kind is None:
        raise LineFault(f"W({text}) does not begin with a way out", f"write one of: {', '.join(KINDS)}")
    wicket: dict[str, Any] = {"kind": kind}
    groups = _split(tokens, ",")
    fielders = [_read_fielder(fielder, text) for fielder in _split(groups[0], "/") if fielder]
    if fielders:
        wicket["fielders"] = fielders
    for group in groups[1:]:
        if starts(group, ["out"]) and len(group) == 2:
            wicket["out"] = group[1].text
        elif group == [Token("crossed")]:
            wicket["crossed"] = True
        elif group == [Token("not"), Token("crossed")]:
            wicket["crossed"] = False
        else:
            said = " ".join(token.text for token in group)
            raise LineFault(f"{said!r} is not expected in W({text})", "write: out KEY, crossed, not crossed")
    return wicket


def _read_fielder(tokens: list[Token], text: str) -> dict[str, Any]:
    if len(tokens) == 1 and tokens != [Token(SUBSTITUTE)]:
        return {"player": tokens[0].text}
    if not starts(tokens, [SUBSTITUTE]) or len(tokens) > 2:
        raise LineFault(
            f"the fielders in W({text}) cannot be read", 'write KEY, sub or sub "NAME", parted by /'
        )
    if len(tokens) == 1:
        return {"substitute": True}
    name = tokens[1]
    return {"name" if name.quoted else "player": name.text, "substitute": True}


def _write_wicket(wicket: Mapping[str, Any], striker: str) -> str | None:
    """What stands in the brackets; None where a fielder does not fit."""
    words = WORDS_OF_KIND.get(wicket["kind"])
    fielders = [_write_fielder(fielder) for fielder in wicket.get("fielders", ())]
    written = [fielder for fielder in fielders if fielder is not None]
    if words is None or len(written) != len(fielders):
        return None
    text = " ".join(filter(None, (words, "/".join(written))))
    if wicket["out"] != striker:
        text += f", out {key_text(wicket['out'])}"
    crossed = wicket.get("crossed")
    return text if crossed is None else f"{text}, {'' if crossed else 'not '}crossed"


def _write_fielder(fielder: Mapping[str, Any]) -> str | None:
    player, name = fielder.get("player"), fielder.get("name")
    if not fielder.get("substitute"):
        return key_text(player) if player is not None and name is None else None
    if player is not None and name is not None:
        return None
    if player is not None:
        written = key_text(player)
        return None if written.startswith('"') else f"{SUBSTITUTE} {written}"
    return SUBSTITUTE if name is None else f"{SUBSTITUTE} {json_text(name)}"


def _split(tokens: list[Token], mark: str) -> list[list[Token]]:
    """The tokens between marks."""
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token == Token(mark):
            groups.append([])
        else:
            groups[-1].append(token)
    return groups
