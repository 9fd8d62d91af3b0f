"""Who faces next, and what it tells of a run-out or a catch: had the batters crossed?

A Cricsheet file does not say it, but who stands where at the next delivery does (Laws 18.11, 18.12).
"""

from sports.readers.cricsheet_file import DeliveryEntry


def faces_after(following: DeliveryEntry, *, ends_changed: bool) -> str | None:
    """Who is, at the next delivery, at the end that was the striker's."""
    return following.non_striker if ends_changed else following.batter


def runs_run(ball: DeliveryEntry, *, wide_runs: int, no_ball_runs: int) -> int:
    """Runs of a delivery that count for the strike: all but the penalties for the wide and no-ball."""
    wides, no_balls = ball.extras_of("wides"), ball.extras_of("noballs")
    return (
        ball.runs.batter
        + ball.extras_of("byes")
        + ball.extras_of("legbyes")
        + max(wides - wide_runs, 0)
        + max(no_balls - no_ball_runs, 0)
    )


def crossed(
    ball: DeliveryEntry, out: str, following: DeliveryEntry | None, *, runs: int, ends_changed: bool
) -> bool | None:
    """Whether the batters had crossed when `out` was out, or None where the file cannot tell.

    `runs` are the completed runs, `following` the next delivery of the innings, `ends_changed` whether an
    over between them changed ends.
    """
    pair = (ball.batter, ball.non_striker)
    if following is None or out not in pair or ball.non_striker is None:
        return None
    survivor = ball.non_striker if out == ball.batter else ball.batter
    striker_end = faces_after(following, ends_changed=ends_changed)
    bowler_end = faces_after(following, ends_changed=not ends_changed)
    if striker_end == survivor:
        stands = survivor
    elif bowler_end == survivor:
        stands = out  # the new batter stands where the one who is out would
    else:
        return None
    swapped = stands != ball.batter
    return swapped != bool(runs % 2)
