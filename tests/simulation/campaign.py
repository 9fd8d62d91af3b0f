"""Many histories, on all cores, with their figures."""

import argparse
import faulthandler
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator

from tests.simulation.history import Outcome, run_history

SEEDS_AT_ONCE = 25
"""Seeds a process takes from the heap at a time."""
PROGRESS_EVERY_S = 5.0
STUCK_AFTER_S = 120.0
"""A seed that takes so long never ends: its stack is shown."""
SHOWN_FAILURES = 5


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--seeds", type=int, default=1_000, help="how many")
    parser.add_argument("--start", type=int, default=0, help="the first")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), help="processes")
    parser.add_argument("--trace", action="store_true", help="print every step")
    given = parser.parse_args()
    if given.trace:
        return _show(range(given.start, given.start + given.seeds))
    return _many(given.start, given.seeds, given.jobs)


def _show(seeds: range) -> int:
    failed = False
    for seed in seeds:
        outcome = run_history(seed)
        for step in outcome.trace:
            print(*step)
        print(f"seed {seed}: {len(outcome.violations)} violations, trace {outcome.digest}")
        print(*outcome.violations, sep="\n")
        failed = failed or bool(outcome.violations)
    return int(failed)


def _many(start: int, seeds: int, jobs: int) -> int:
    began = shown_at = time.monotonic()
    faults: Counter[str] = Counter()
    figures: Counter[str] = Counter()
    failed: list[int] = []
    for done, outcome in enumerate(_outcomes(start, seeds, jobs), 1):
        faults += outcome.faults
        figures += outcome.figures
        if outcome.violations:
            failed.append(outcome.seed)
            if len(failed) <= SHOWN_FAILURES:
                print(outcome.told(), flush=True)
        now = time.monotonic()
        if now - shown_at > PROGRESS_EVERY_S:
            shown_at = now
            rate = done / (now - began) * 60
            print(f"{done} of {seeds} seeds, {rate:.0f} a minute, {len(failed)} failed", flush=True)
    took = time.monotonic() - began
    print(f"{seeds} seeds from {start} in {took:.1f} s ({seeds / took * 60:.0f} a minute, {jobs} processes)")
    print(f"{figures.pop('cpu_us') / seeds / 1_000:.1f} ms of CPU a seed")
    print(f"{len(failed)} with violations{': ' if failed else ''}{', '.join(map(str, failed[:20]))}")
    print(", ".join(f"{count} {name}" for name, count in sorted(figures.items())))
    print(f"{sum(faults.values())} faults of {len(faults)} kinds:")
    for kind, count in faults.most_common():
        print(f"  {count:7} {kind}")
    return int(bool(failed))


def _outcomes(start: int, seeds: int, jobs: int) -> Iterator[Outcome]:
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs) as pool:
        yield from pool.imap_unordered(_run, range(start, start + seeds), chunksize=SEEDS_AT_ONCE)
        # Told to end and not killed, they remove what they installed.
        pool.close()
        pool.join()


def _run(seed: int) -> Outcome:
    faulthandler.dump_traceback_later(STUCK_AFTER_S, exit=True)
    began = time.process_time()
    outcome = run_history(seed)
    outcome.figures["cpu_us"] = int((time.process_time() - began) * 1_000_000)
    faulthandler.cancel_dump_traceback_later()
    outcome.trace = outcome.trace if outcome.violations else []
    return outcome
