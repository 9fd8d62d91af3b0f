"""What cannot be by the Laws, in a file all the same: played on the umpire's word, every figure agrees."""

from typing import Any

import pytest

from scorebox_cricket import SPORT
from sports.readers.cricsheet_expected import expected_of
from tests.sports.readers.scoring import score
from tests.sports.readers.small_match import HOME, ball, dots, over, read, small


def out(player: str, kind: str, **more: Any) -> list[dict[str, Any]]:
    return [{"player_out": player, "kind": kind, **more}]


@pytest.mark.parametrize(
    ("refusal", "deliveries"),
    [
        ("runs_off_a_wide", [ball("R1", "R2", "B1", 2, extras={"wides": 1})]),
        ("runs_off_a_wide", [ball("R1", "R2", "B1", extras={"wides": 1, "byes": 4})]),
        ("wide_and_no_ball", [ball("R1", "R2", "B1", extras={"wides": 1, "noballs": 1})]),
        ("off_a_wide", [ball("R1", "R2", "B1", extras={"wides": 1}, wickets=out("R1", "bowled"))]),
        (
            "already_out",
            [
                ball("R1", "R2", "B1", wickets=out("R1", "bowled")),
                ball("R3", "R2", "B1", 3),
                ball("R2", "R1", "B1", 1),
                ball("R1", "R2", "B1", wickets=out("R1", "lbw")),
            ],
        ),
        ("runs_mixed", [ball("R1", "R2", "B1", 1, extras={"byes": 2})]),
    ],
)
def test_a_file_that_insists_is_played_and_agrees(refusal: str, deliveries: list[dict[str, Any]]) -> None:
    rest = dots("B1", "R4", "R2", count=2)
    plain = small([{"team": HOME, "overs": [over(0, *deliveries, *rest)]}], outcome={"result": "no result"})
    match = read(plain)
    scored = score(SPORT, match)
    assert expected_of(match).differences(scored.document) == []
    assert scored.overrides[refusal] > 0, scored.overrides
