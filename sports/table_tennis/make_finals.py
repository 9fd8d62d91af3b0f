"""Writes the golden matches of real finals: `python sports/table_tennis/make_finals.py`.

The score of every game is a fact of the match. Who won which rally, who served first and which of a pair
began is made up by a seed.
"""

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "golden"
RALLIES_A_LINE = 20


@dataclass(frozen=True)
class Final:
    """A match: sides with their players, the winner first, and the points of every game."""

    name: str
    day: str
    sides: tuple[tuple[str, str, tuple[str, ...]], ...]
    games: tuple[tuple[int, int], ...]


FINALS = {
    "2021-tokyo-men": Final(
        "Tokyo 2020, men's singles, final",
        "2021-07-30",
        (("Ma", "Ma Long", ("Ma Long",)), ("Fan", "Fan Zhendong", ("Fan Zhendong",))),
        ((11, 4), (10, 12), (11, 8), (11, 9), (3, 11), (11, 7)),
    ),
    "2021-tokyo-women": Final(
        "Tokyo 2020, women's singles, final",
        "2021-07-29",
        (("Chen", "Chen Meng", ("Chen Meng",)), ("Sun", "Sun Yingsha", ("Sun Yingsha",))),
        ((9, 11), (11, 6), (11, 4), (5, 11), (11, 4), (11, 9)),
    ),
    "2021-tokyo-mixed": Final(
        "Tokyo 2020, mixed doubles, final",
        "2021-07-26",
        (("Japan", "Japan", ("Mizutani Jun", "Ito Mima")), ("China", "China", ("Xu Xin", "Liu Shiwen"))),
        ((5, 11), (7, 11), (11, 8), (11, 9), (11, 9), (6, 11), (11, 6)),
    ),
}


def rallies(first: int, second: int, chance: random.Random) -> list[int]:
    """A made-up order of the rallies of a game with this score: the winner has the last."""
    winner = 0 if first > second else 1
    loser = min(first, second)
    if loser < 10:
        order = [winner] * 10 + [1 - winner] * loser
        chance.shuffle(order)
        return [*order, winner]
    order = [0, 1] * 10
    chance.shuffle(order)
    # From 10–10 nobody is two ahead before the end.
    for _ in range(loser - 10):
        pair = [0, 1]
        chance.shuffle(pair)
        order += pair
    return [*order, winner, winner]


def write(final: Final, seed: int) -> str:
    """A golden match's text."""
    chance = random.Random(seed)  # noqa: S311
    sides = [
        {
            "key": key,
            "name": name,
            "players": [{"key": player.replace(" ", ""), "name": player} for player in players],
        }
        for key, name, players in final.sides
    ]
    opening = {
        "sides": sides,
        "first_day": final.day,
        "format": {"name": "Olympic Games", "games": 7},
    }
    keys = [side[0] for side in final.sides]
    letters = ["X", "Y"]
    lines = [
        "golden match 1",
        "# The games' scores are facts of the match; the order of the rallies and the service are made up.",
        "sport table_tennis",
        f"match {final.name}",
        f"opening {_json(opening)}",
        *(
            f"word {letter} = point {_json({'winner': key})}"
            for letter, key in zip(letters, keys, strict=True)
        ),
        f"toss {_json({'winner': keys[0], 'choice': 'serve', 'left': keys[1]})}",
    ]
    pairs = len(final.sides[0][2]) == 2
    won = [0, 0]
    for number, score in enumerate(final.games, 1):
        if pairs:
            server = sides[(number - 1) % 2]["players"][0]["key"]  # type: ignore[index]
            lines.append(f"service {_json({'server': server})}")
        order = [letters[side] for side in rallies(*score, chance)]
        lines += [" ".join(order[at : at + RALLIES_A_LINE]) for at in range(0, len(order), RALLIES_A_LINE)]
        won[score[1] > score[0]] += 1
        lines += [
            f"line {key} side game-{number} {_json({'points': points, 'won': points == max(score)})}"
            for key, points in zip(keys, score, strict=True)
        ]
        lines.append(f"summary {_json({'sides': [{'score': str(games)} for games in won]})}")
    told = ", ".join(f"{one}–{other}" for one, other in final.games)
    text = f"{final.sides[0][1]} won {won[0]}–{won[1]} ({told})"
    lines.append(f"summary {_json({'phase': 'over', 'result': {'winner': keys[0], 'text': text}})}")
    for side, key in enumerate(keys):
        points = sum(score[side] for score in final.games)
        lines.append(f"line {key} match match {_json({'games': won[side], 'points': points})}")
    lines.append(f"refused match_over point {_json({'winner': keys[0]})}")
    return "\n".join(lines) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    for seed, (name, final) in enumerate(FINALS.items()):
        (FOLDER / f"{name}.golden").write_text(write(final, seed))
