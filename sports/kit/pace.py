"""How long a command takes. A busy machine is no fault of the sport: it is reported, not judged."""

from statistics import median

# By name: the sport may run where clocks are taken out of their module.
from time import perf_counter_ns

from scorebox_contract import EventSport, decode
from sports.kit.golden import Golden
from sports.kit.play import Play, event_of
from sports.kit.report import Check

STEP_ALLOWED_MS = 0.1
"""Check and step of one command (design section 5)."""


def check_pace(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """The median time of check and step over all golden matches."""
    times: list[int] = []
    for golden in goldens:
        play = Play(sport, golden)
        for step in golden.steps:
            event, state = event_of(sport, step), decode(play.state)
            started = perf_counter_ns()
            sport.check(state, event)
            sport.step(state, event)
            times.append(perf_counter_ns() - started)
            play.next()
    check.count = len(times)
    if times:
        each = median(times) / 1e6
        judged = "within" if each <= STEP_ALLOWED_MS else "OVER"
        check.remark = f"{each:.3f} ms in the median, {judged} the {STEP_ALLOWED_MS} ms allowed"
