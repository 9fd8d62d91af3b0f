"""One ball: what it adds to whom.

Balls faced count no-balls and not wides. A bowler concedes bat runs, wides and no-balls, never byes, leg byes
or penalty runs.
"""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket import partnership
from scorebox_cricket.batters import bring_in, check_may_bat
from scorebox_cricket.commands import Delivery
from scorebox_cricket.dismissal import THE_BOWLERS, check_wickets, shown_kind, take_wicket
from scorebox_cricket.over import check_bowler, take_the_ball
from scorebox_cricket.penalty import award
from scorebox_cricket.sheet import check_player, number_of
from scorebox_cricket.state import Draft, Record
from scorebox_cricket.strike import compare_crease, turn_strike

OVER_TEXTS_KEPT = 20
"""Balls of the over in progress that screens show; older ones of an endless over are dropped."""
FIFTY, HUNDRED = 50, 100


def check_delivery(state: State, ball: Delivery) -> Iterator[Refusal]:
    """Refuses what cannot be one ball, and what an umpire should not have allowed."""
    yield from check_may_bat(state, ball.striker, "striker")
    if ball.non_striker is not None:
        yield from check_may_bat(state, ball.non_striker, "non_striker")
    if ball.striker == ball.non_striker:
        yield Refusal("same_batter", "Striker and non-striker are the same batter.", "non_striker")
    fielding = 1 - state["innings"][-1]["side"]
    yield from check_player(state, fielding, ball.bowler, "bowler")
    yield from _check_runs(ball)
    if ball.wickets:
        yield from check_wickets(state, ball)
    yield from check_bowler(state, number_of(state, fielding, ball.bowler), "bowler")


def _check_runs(ball: Delivery) -> Iterator[Refusal]:
    if ball.wides:
        if ball.no_balls:
            sentence = "A no-ball is never a wide as well (Law 21.13)."
            yield Refusal("wide_and_no_ball", sentence, "wides", overridable=True)
        if ball.bat or ball.byes or ball.leg_byes:
            sentence = "All runs off a wide are wides (Law 22.7)."
            yield Refusal("runs_off_a_wide", sentence, "wides", overridable=True)
    if ball.dead and (ball.bat or ball.byes or ball.leg_byes):
        yield Refusal("dead_ball", "No runs are run when no ball was bowled.", "dead")
    if (ball.bat > 0) + (ball.byes > 0) + (ball.leg_byes > 0) > 1:
        yield Refusal(
            "runs_mixed",
            "Runs of one ball are off the bat, byes or leg byes: only one of them.",
            "bat",
            overridable=True,
        )


def deliver(draft: Draft, ball: Delivery) -> None:
    """Counts one ball."""
    state = draft.state
    side = draft.batting
    striker = number_of(state, side, ball.striker)
    non_striker = None if ball.non_striker is None else number_of(state, side, ball.non_striker)
    bowler = number_of(state, 1 - side, ball.bowler)
    compare_crease(draft, striker, non_striker)
    bring_in(draft, striker)
    if non_striker is not None:
        bring_in(draft, non_striker)
    partnership.follow(draft)
    _warn_amounts(draft, ball)
    figures = take_the_ball(draft, bowler)

    legal = not (ball.wides or ball.no_balls or ball.dead)
    faced = not (ball.wides or ball.dead)
    charged = ball.bat + ball.wides + ball.no_balls
    runs = charged + ball.byes + ball.leg_byes
    total = runs + ball.penalty
    _count_side(draft.totals, ball, total, legal)
    _count_batter(draft, draft.batter(striker), ball, faced)
    _count_bowler(figures, ball, charged, legal)
    partnership.add(draft, runs, int(faced), penalty=ball.penalty)
    over = draft.play["over"]
    over["deliveries"] += 1
    over["charged"] += charged
    over["runs"] += total
    over["texts"] = [*over["texts"][-OVER_TEXTS_KEPT + 1 :], ball_text(ball, state["format"]["wide_runs"])]
    draft.touch_side()

    out = [(wicket, number_of(state, side, wicket.out)) for wicket in ball.wickets]
    for wicket, number in out:
        take_wicket(draft, wicket, number, bowler)
    turn_strike(draft, ball, out)
    _turn_free_hit(draft, ball)
    if ball.penalty_fielding:
        award(draft, 1 - side, ball.penalty_fielding)


def _warn_amounts(draft: Draft, ball: Delivery) -> None:
    playing = draft.state["format"]
    if 0 < ball.wides < playing["wide_runs"]:
        draft.warn("wide_runs", f"A wide is worth {playing['wide_runs']} here.", "wides")
    if 0 < ball.no_balls < playing["no_ball_runs"]:
        draft.warn("no_ball_runs", f"A no-ball is worth {playing['no_ball_runs']} here.", "no_balls")
    if ball.bat or ball.byes or ball.leg_byes:
        for wicket in ball.wickets:
            if wicket.kind in THE_BOWLERS:
                sentence = f"But for penalties no runs are scored when a batter is {shown_kind(wicket.kind)}."
                draft.warn("runs_off_a_wicket", sentence, "wickets")


def _count_side(totals: Record, ball: Delivery, total: int, legal: bool) -> None:
    totals["runs"] += total
    totals["byes"] += ball.byes
    totals["leg_byes"] += ball.leg_byes
    totals["wides"] += ball.wides
    totals["no_balls"] += ball.no_balls
    totals["penalty"] += ball.penalty
    if legal:
        totals["balls"] += 1
        totals["part"] += 1


def _count_batter(draft: Draft, record: Record, ball: Delivery, faced: bool) -> None:
    before = record["runs"]
    after = record["runs"] = before + ball.bat
    if faced:
        record["balls"] += 1
        if not ball.bat:
            record["dots"] += 1
    if not ball.all_run and ball.bat in (4, 6):
        record["fours" if ball.bat == 4 else "sixes"] += 1
        draft.emits.append("four" if ball.bat == 4 else "six")
    if before < FIFTY <= after:
        draft.emits.append("fifty")
    if before // HUNDRED < after // HUNDRED:
        draft.emits.append("hundred")


def _count_bowler(record: Record, ball: Delivery, charged: int, legal: bool) -> None:
    record["runs"] += charged
    record["wides"] += ball.wides
    record["no_balls"] += ball.no_balls
    if legal:
        record["balls"] += 1
        record["part"] += 1
        if not charged:
            record["dots"] += 1
    if not ball.all_run and ball.bat in (4, 6):
        record["fours" if ball.bat == 4 else "sixes"] += 1


def _turn_free_hit(draft: Draft, ball: Delivery) -> None:
    """A no-ball makes the next ball a free hit; a wide or no-ball on a free hit leaves it one."""
    if not draft.state["format"]["free_hit"]:
        return
    if ball.no_balls:
        draft.play["free_hit"] = True
        draft.emits.append("free_hit")
    elif not (ball.wides or ball.dead):
        draft.play["free_hit"] = False


def ball_text(ball: Delivery, wide_runs: int) -> str:
    """A ball as a board shows it: "4", "wd", "2nb", "1lb", "W", "1W"."""
    if ball.wides:
        text = "wd" if ball.wides == wide_runs else f"{ball.wides}wd"
    elif ball.no_balls:
        more = ball.bat + ball.byes + ball.leg_byes
        text = f"{ball.no_balls + more}nb" if ball.no_balls + more > 1 else "nb"
    elif ball.byes:
        text = f"{ball.byes}b"
    elif ball.leg_byes:
        text = f"{ball.leg_byes}lb"
    else:
        text = str(ball.bat)
    if ball.wickets:
        text = "W" if text == "0" else f"{text}W"
    return f"{text}+{ball.penalty}p" if ball.penalty else text
