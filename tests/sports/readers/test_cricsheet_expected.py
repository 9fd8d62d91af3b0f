"""Every figure that differs from the file is found, and named."""

from typing import Any

import pytest

from sports.readers.cricsheet_expected import expected_of
from tests.sports.readers.small_match import AWAY, HOME, ball, dots, over, read, small

OUT = {"kind": "caught", "player_out": "R2", "fielders": [{"name": "B4"}]}
MATCH = read(
    small(
        [
            {
                "team": HOME,
                "overs": [over(0, ball("R1", "R2", "B1", 1), ball("R2", "R1", "B1", wickets=[OUT]))],
            },
            {"team": AWAY, "overs": [over(0, *dots("R11", "B1", "B2"))]},
        ]
    )
)
EXPECTED = expected_of(MATCH)


def as_expected():
    """The document the match would have if it was scored as its file adds up."""
    names = {key: name for (_, name), key in MATCH.keys.items()}
    names |= {key: team for team, key in MATCH.sides.items()}
    parts: dict[str, Any] = {}
    for line in EXPECTED.lines:
        lines = parts.setdefault(line.segment, {"lines": []})["lines"]
        lines.append({"subject": line.subject, "role": line.role, "values": dict(line.values)})
    return {"head": {"names": names, "result": dict(EXPECTED.result or {})}, "parts": parts}


def differences(change):
    document = as_expected()
    change(document)
    return EXPECTED.differences(document)


def line(document, role, subject):
    return next(
        line["values"]
        for line in document["parts"]["innings-1"]["lines"]
        if (line["role"], line["subject"]) == (role, subject)
    )


def test_what_agrees_has_no_differences():
    assert EXPECTED.differences(as_expected()) == []
    assert EXPECTED.figures > 40


@pytest.mark.parametrize(
    ("role", "subject", "figure"),
    [
        ("side", "A", figure)
        for figure in ("runs", "wickets", "byes", "leg_byes", "wides", "no_balls", "penalty")
    ]
    + [("batting", "A1", figure) for figure in ("runs", "balls", "fours", "sixes")]
    + [("bowling", "B1", figure) for figure in ("balls", "runs", "wickets", "maidens", "wides", "no_balls")],
)
def test_a_figure_that_differs_is_named_once(role, subject, figure):
    def change(document):
        line(document, role, subject)[figure] += 7

    (sentence,) = differences(change)
    assert figure.replace("_", " ") in sentence
    name = {"A": "Reds", "A1": "R1", "B1": "B1"}[subject]
    assert sentence.startswith(f"innings-1, {name} {role}: ")


@pytest.mark.parametrize(
    ("role", "subject", "field", "value"),
    [
        ("side", "A", "overs", "0.3"),
        ("bowling", "B1", "overs", "1"),
        ("batting", "A2", "out_kind", "bowled"),
        ("batting", "A2", "out_kind", None),
        ("batting", "A1", "out_kind", "run_out"),
        ("batting", "A2", "out_bowler", "B2"),
        ("batting", "A2", "out_fielders", ["B5"]),
        ("batting", "A2", "out_fielders", []),
    ],
)
def test_a_word_that_differs_is_named_once(role, subject, field, value):
    def change(document):
        line(document, role, subject)[field] = value

    assert len(differences(change)) == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "tie"),
        ("winner", "B"),
        ("winner", None),
        ("margin", {"runs": 2}),
        ("margin", {}),
        ("method", "D/L"),
    ],
)
def test_a_result_that_differs_is_named_once(field, value):
    def change(document):
        document["head"]["result"][field] = value

    (sentence,) = differences(change)
    assert sentence.startswith("result: ")


def test_a_missing_result_innings_or_line_is_found():
    assert "result: kind None as scored, won expected" in differences(
        lambda document: document["head"].update(result=None)
    )
    assert any("Blues" in found for found in differences(lambda document: document["parts"].pop("innings-2")))

    def drop_bowler(document):
        lines = document["parts"]["innings-1"]["lines"]
        lines[:] = [line for line in lines if line["role"] != "bowling"]

    assert any("B1 bowling" in found for found in differences(drop_bowler))


def test_figures_of_somebody_who_did_nothing_and_innings_too_many_are_found():
    def add(document):
        lines = document["parts"]["innings-1"]["lines"]
        lines.append({"subject": "A9", "role": "batting", "values": {"runs": 0, "balls": 0}})
        lines.append({"subject": "A8", "role": "batting", "values": {"runs": 4, "balls": 1}})
        side = {"subject": "A", "role": "side", "values": {"runs": 0}}
        document["parts"]["innings-3"] = {"lines": [side]}

    found = differences(add)
    assert len(found) == 2
    assert "R8 has batting figures" in found[0]
    assert "innings-3" in found[1]
