"""All checks of a sport in this process."""

from collections.abc import Callable, Sequence

from scorebox_contract import EventSport
from sports.kit import description, expectations, pace, purity, refusals, undo
from sports.kit.golden import Golden
from sports.kit.play import Play, Unplayable
from sports.kit.report import Check, Report

Matches = list[Golden]
Told = Callable[[str], None]

CHECKS: dict[str, tuple[str, Callable[[EventSport, Matches, Check], None]]] = {
    "inputs unchanged": ("commands", purity.check_inputs_unchanged),
    "pure JSON": ("commands", purity.check_json),
    "state size": ("states", purity.check_size),
    "lines catalogued": ("lines", description.check_lines),
    "expectations": ("expectations", expectations.check_expectations),
    "refusals": ("refusals", refusals.check_refusals),
    "undo after do": ("commands", undo.check_undo),
    "step time": ("commands", pace.check_pace),
}
"""Name → what is counted, and the check. Each plays every golden match."""


def check_sport(
    sport: EventSport,
    goldens: Sequence[Golden],
    *,
    stored_manifest: bytes | None = None,
    told: Told = lambda name: None,
) -> Report:
    """Checks a sport; `told` hears the name of each check before it runs.

    `stored_manifest` is manifest.json as it stands in the package; without it only completeness is checked.
    Two hash seeds need two processes: see `check_folder`.
    """
    report = Report(sport.code, sport.version)
    told("manifest")
    check = Check("manifest", "commands")
    report.checks.append(check)
    _run(lambda: description.check_manifest(sport, stored_manifest, check), check)
    told("golden matches")
    playable = _playable(sport, goldens, report)
    for name, (what, run) in CHECKS.items():
        told(name)
        made = Check(name, what)
        report.checks.append(made)
        _run(lambda run=run, made=made: run(sport, playable, made), made)  # type: ignore[misc]
    return report


def _playable(sport: EventSport, goldens: Sequence[Golden], report: Report) -> Matches:
    """Those that can be played to their end: what stops the others is said once."""
    check = Check("golden matches", "matches")
    report.checks.append(check)
    if not goldens:
        check.fail("there is no golden match; write one in golden/, so that the other checks have play")
    playable = []
    for golden in goldens:
        check.count += 1
        try:
            play = Play(sport, golden)
            for _ in golden.steps:
                play.next()
        except Exception as error:
            check.fail(f"{error}" if isinstance(error, Unplayable) else f"{golden.name}: {error!r}")
        else:
            playable.append(golden)
    return playable


def _run(run: Callable[[], None], check: Check) -> None:
    try:
        run()
    except Exception as error:
        check.fail(f"{error}" if isinstance(error, Unplayable) else f"the check stopped: {error!r}")
