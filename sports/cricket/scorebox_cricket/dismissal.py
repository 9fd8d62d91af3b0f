"""Dismissals (Laws 32 to 40): which can be on which ball, and what a wicket changes."""

from collections.abc import Iterator
from typing import Any

from scorebox_contract import Refusal, State
from scorebox_cricket import partnership
from scorebox_cricket.commands import Delivery, Wicket
from scorebox_cricket.sheet import check_player, key_of, player_number
from scorebox_cricket.state import OUT, Draft
from scorebox_cricket.strike import CATCHES
from scorebox_cricket.target import overs_text, wickets_allowed

THE_BOWLERS = frozenset({"bowled", "caught", "caught_and_bowled", "lbw", "stumped", "hit_wicket"})
"""Dismissals the bowler gets credit for."""
STRIKER_ONLY = THE_BOWLERS | {"hit_the_ball_twice"}
OFF_A_WIDE = frozenset({"stumped", "run_out", "hit_wicket", "obstructing_the_field", "handled_the_ball"})
"""Law 22.9."""
OFF_A_NO_BALL = frozenset({"run_out", "hit_the_ball_twice", "obstructing_the_field", "handled_the_ball"})
"""Law 21.18; the playing conditions let the same stand on a free hit."""
FIVE_WICKETS = 5


def shown_kind(kind: str) -> str:
    """A way out in words: "run out"."""
    return kind.replace("_", " ")


def check_wickets(state: State, ball: Delivery) -> Iterator[Refusal]:
    """Refuses dismissals that cannot be on this ball, and those that an umpire should not have given."""
    side = state["innings"][-1]["side"]
    if len(ball.wickets) > 1 and state["innings"][-1]["wickets"] + 1 >= wickets_allowed(state):
        yield Refusal(
            "all_out", "The innings ends with the first of the wickets.", "wickets[1]", overridable=True
        )
    seen: list[str] = []
    for place, wicket in enumerate(ball.wickets):
        field = f"wickets[{place}]"
        kind = shown_kind(wicket.kind)
        if wicket.out not in (ball.striker, ball.non_striker):
            yield Refusal(
                "not_at_the_crease", "Out can only be the striker or the non-striker.", f"{field}.out"
            )
        if wicket.out in seen:
            yield Refusal("out_twice", "The same batter cannot be out twice.", f"{field}.out")
        seen.append(wicket.out)
        if wicket.kind in STRIKER_ONLY and wicket.out != ball.striker:
            sentence = f"Only the striker can be {kind}."
            yield Refusal("striker_only", sentence, f"{field}.out", overridable=True)
        if ball.wides and wicket.kind not in OFF_A_WIDE:
            sentence = f"Nobody is {kind} off a wide (Law 22.9)."
            yield Refusal("off_a_wide", sentence, f"{field}.kind", overridable=True)
        if ball.dead and wicket.kind in THE_BOWLERS:
            yield Refusal("dead_ball", f"Nobody is {kind} when no ball was bowled.", f"{field}.kind")
        if ball.no_balls and wicket.kind not in OFF_A_NO_BALL:
            yield Refusal(
                "off_a_no_ball",
                f"Nobody is {kind} off a no-ball (Law 21.18).",
                f"{field}.kind",
                overridable=True,
            )
        if state["play"]["free_hit"] and wicket.kind not in OFF_A_NO_BALL:
            yield Refusal("free_hit", f"Nobody is {kind} on a free hit.", f"{field}.kind", overridable=True)
        for index, fielder in enumerate(wicket.fielders):
            if fielder.player is None or fielder.substitute:
                continue
            yield from check_player(state, 1 - side, fielder.player, f"{field}.fielders[{index}].player")


def take_wicket(draft: Draft, wicket: Wicket, out: str, bowler: str) -> None:
    """A dismissal on a delivery; the runs of the ball are counted before it."""
    draft.batter(out)["status"] = OUT
    credited = wicket.kind in THE_BOWLERS
    if credited:
        record = draft.bowler(bowler)
        record["wickets"] += 1
        if record["wickets"] == FIVE_WICKETS:
            draft.emits.append("five_wickets")
    _credit_fielders(draft, wicket, bowler)
    fall(
        draft,
        out,
        wicket.kind,
        bowler=bowler if credited else None,
        fielders=[fielder.player or fielder.name for fielder in wicket.fielders],
    )


def fall(
    draft: Draft,
    out: str,
    kind: str,
    *,
    bowler: str | None = None,
    fielders: list[str | None] | None = None,
) -> None:
    """A wicket falls: the side's count, how it was, the pair parts, the place is open."""
    totals, play = draft.totals, draft.play
    totals["wickets"] += 1
    over = overs_text(totals["overs"], totals["part"])
    how: dict[str, Any] = {
        "out_kind": kind,
        "out_bowler": None if bowler is None else key_of(draft.state, 1 - draft.batting, bowler),
        "out_fielders": fielders or [],
        "fall_runs": totals["runs"],
        "fall_wicket": totals["wickets"],
        "fall_over": over,
    }
    draft.how[out] = how
    draft.touch("batting", out)
    draft.touch_side()
    record = play["batters"][out]
    play["last_wicket"] = {
        "batter": out,
        "kind": kind,
        "bowler": bowler,
        "batter_runs": record["runs"],
        "batter_balls": record["balls"],
        "runs": totals["runs"],
        "wicket": totals["wickets"],
        "over": over,
    }
    if out in play["crease"]:
        partnership.end(draft)
    draft.emits.append("wicket")


def _credit_fielders(draft: Draft, wicket: Wicket, bowler: str) -> None:
    """A catch or stumping to who made it, a run-out to everyone named; who is on no sheet has no line."""
    named = [fielder.player for fielder in wicket.fielders]
    if wicket.kind == "caught_and_bowled":
        _credit(draft, bowler, 0)
    elif wicket.kind in CATCHES:
        _credit_known(draft, named[:1], 0)
    elif wicket.kind == "stumped":
        _credit_known(draft, named[:1], 1)
    elif wicket.kind == "run_out":
        _credit_known(draft, list(dict.fromkeys(named)), 2)


def _credit_known(draft: Draft, fielders: list[str | None], figure: int) -> None:
    for fielder in fielders:
        number = None if fielder is None else player_number(draft.state, 1 - draft.batting, fielder)
        if number is not None:
            _credit(draft, number, figure)


def _credit(draft: Draft, number: str, figure: int) -> None:
    """Adds one to catches (0), stumpings (1) or run-outs (2)."""
    figures = list(draft.play["fielders"].get(number, (0, 0, 0)))
    figures[figure] += 1
    draft.play["fielders"][number] = figures
    draft.touch("fielding", number)
