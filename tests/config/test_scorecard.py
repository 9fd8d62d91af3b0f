"""The scorecard on a console, from a document alone."""

import io
from typing import Any

import pytest
from rich.console import Console

from config.scorecard import print_scorecard, segments
from scorebox_cricket import SPORT
from tests.sports.readers.scoring import score
from tests.sports.readers.small_match import AWAY, HOME, ball, dots, over, read, small

HEAD: dict[str, Any] = {"sport": "cricket", "name": "A v B", "sides": [], "result": None}


def card(plain):
    match = read(plain)
    scored = score(SPORT, match)
    names = {player["key"]: player["name"] for side in match.opening["sides"] for player in side["players"]}
    sides = [{"key": side["key"], "name": side["name"], "score": ""} for side in match.opening["sides"]]
    names |= {side["key"]: side["name"] for side in sides}
    head = scored.document["head"] | {"sport": "cricket", "name": match.name, "names": names, "sides": sides}
    output = io.StringIO()
    print_scorecard(Console(file=output, width=120), {"head": head, "parts": scored.document["parts"]})
    return [" ".join(line.split()) for line in output.getvalue().splitlines()]


def out(kind, player, *fielders):
    return [{"kind": kind, "player_out": player, "fielders": list(fielders)}]


@pytest.mark.parametrize(
    ("closed", "wickets", "score"),
    [("all_out", 10, "241"), ("all_out", 9, "241"), ("declared", 7, "241/7d"), (None, 3, "241/3")],
)
def test_the_score_of_an_innings_is_written_as_on_the_pages(closed, wickets, score):
    total = {"runs": 241, "wickets": wickets, "closed": closed, "overs": "50"}
    head: dict[str, Any] = HEAD | {"names": {"A": "Reds"}}
    lines = [{"subject": "A", "role": "side", "values": total}]
    output = io.StringIO()
    document = {"head": head, "parts": {"innings-1": {"segment": "innings-1", "lines": lines}}}
    print_scorecard(Console(file=output, width=120), document)
    assert f"Reds {score} (50 overs)" in " ".join(output.getvalue().split())


def test_every_way_out_reads_as_on_a_card():
    lines = card(
        small(
            [
                {
                    "team": HOME,
                    "overs": [
                        over(
                            0,
                            ball("R1", "R2", "B1", 4),
                            ball("R1", "R2", "B1", wickets=out("caught", "R1", {"name": "B4"})),
                            ball("R3", "R2", "B1", wickets=out("bowled", "R3")),
                            ball("R4", "R2", "B1", wickets=out("lbw", "R4")),
                            ball("R5", "R2", "B1", wickets=out("stumped", "R5", {"name": "B2"})),
                            ball("R6", "R2", "B1", wickets=out("caught and bowled", "R6")),
                        ),
                        over(
                            1,
                            ball(
                                "R2",
                                "R7",
                                "B3",
                                1,
                                wickets=out("run out", "R2", {"name": "B4"}, {"name": "B2"}),
                            ),
                            ball("R8", "R7", "B3", wickets=out("hit wicket", "R8")),
                            ball("R9", "R7", "B3", wickets=out("caught", "R9", {"substitute": True})),
                            ball("R10", "R7", "B3", extras={"wides": 1}),
                            ball("R10", "R7", "B3", 6, extras={"noballs": 1}),
                        ),
                    ],
                },
                {"team": AWAY, "overs": [over(0, *dots("R11", "B1", "B2"))]},
            ],
            overs=20,
            outcome={"result": "no result"},
        )
    )
    assert "R1 c B4 b B1 4 2 1 0 200.0" in lines
    assert "R3 b B1 0 1 0 0 0.0" in lines
    assert "R4 lbw b B1 0 1 0 0 0.0" in lines
    assert "R5 st B2 b B1 0 1 0 0 0.0" in lines
    assert "R6 c & b B1 0 1 0 0 0.0" in lines
    assert "R2 run out (B4/B2) 1 1 0 0 100.0" in lines
    assert "R8 hit wicket b B3 0 1 0 0 0.0" in lines
    assert "R9 c sub b B3 0 1 0 0 0.0" in lines
    assert "R10 not out 6 1 0 1 600.0" in lines
    assert "Extras 2 (w 1, nb 1)" in lines
    assert "B1 1 0 4 5 0 0" in lines
    assert any(line.startswith("Fall of wickets: 1-4 (R1, 0.2), 2-4 (R3, 0.3)") for line in lines)
    assert "Reds 13/8 (1.3 overs) innings 1" in lines
    assert "No result" in lines


def test_innings_are_in_the_order_they_were_played():
    parts: dict[str, Any] = {
        name: {"lines": []} for name in ("super-over-2", "innings-10", "innings-2", "super-over-1", "match")
    }
    assert segments({"parts": parts}) == ["innings-2", "innings-10", "super-over-1", "super-over-2"]


def test_markup_in_a_name_is_only_a_name():
    plain = small()
    plain["info"]["players"][HOME][0] = "[red]R1[/red]"
    plain["innings"][0]["overs"][0]["deliveries"] = [ball("[red]R1[/red]", "R2", "B1", 1)]
    assert any("[red]R1[/red] not out" in line for line in card(plain))


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_the_fall_of_wickets_fits_a_terminal_and_parts_no_wicket(columns):
    names = {f"A{n}": f"Player Number {n}" for n in range(1, 11)}
    lines = [
        {
            "subject": subject,
            "role": "batting",
            "values": {"position": n, "fall_wicket": n, "fall_runs": 10 * n, "fall_over": f"{n}.3"},
        }
        for n, subject in enumerate(names, 1)
    ]
    head: dict[str, Any] = HEAD | {"names": names}
    output = io.StringIO()
    document = {"head": head, "parts": {"innings-1": {"segment": "innings-1", "lines": lines}}}
    print_scorecard(Console(file=output, width=columns), document)
    falls = output.getvalue().partition("Fall of wickets: ")[2].split("\n\n")[0].splitlines()
    told = [fall for line in falls for fall in line.strip().rstrip(",").split("), ")]
    assert [fall.rstrip(")") for fall in told] == [
        f"{n}-{10 * n} (Player Number {n}, {n}.3" for n in range(1, 11)
    ]
    assert all(len(line) <= columns for line in output.getvalue().splitlines())


def test_a_match_of_another_sport_is_not_shown_as_cricket():
    names = {"A": "Ada", "B": "[b]Bea"}
    sides = [{"key": "A", "name": "Ada", "score": "1"}, {"key": "B", "name": "[b]Bea", "score": ""}]
    head = {"sport": "singles", "name": "Ada v Bea", "names": names, "sides": sides, "result": None}
    won = {"A": {"points": 11, "won": True, "by": "B"}, "B": {"points": 3, "won": False}}
    game = [{"subject": key, "role": "side", "values": values} for key, values in won.items()]
    spell = [
        {"subject": "B", "role": "spell-10", "values": {"first_in": ["A", "B"], "position": 1}},
        {"subject": "A", "role": "spell-2", "values": {"first_in": {"in_all": 2}}},
    ]
    parts = {"game-10": {"lines": game}, "game-2": {"lines": game}, "match": {"lines": spell}}
    output = io.StringIO()
    print_scorecard(Console(file=output, width=80), {"head": head, "parts": parts})
    lines = [" ".join(line.split()) for line in output.getvalue().splitlines()]
    assert lines[:3] == ["Ada v Bea", "Ada 1", "[b]Bea -"]
    assert [line for line in lines if line.startswith(("game", "match"))] == [
        "game 2, side",
        "game 10, side",
        "match, spell",
    ]
    assert lines.count("points won by") == lines.count("Ada 11 yes [b]Bea") == lines.count("[b]Bea 3") == 2
    assert lines[lines.index("match, spell") + 1 :][:3] == ["first in", "Ada in all 2", "[b]Bea Ada, [b]Bea"]
    assert "Extras" not in output.getvalue()
    assert "in play" in lines
