"""Fuzz with atheris: `python -m tests.fuzz [TARGET…] --seconds N`, or one input again with `--input`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

FOUND = Path(__file__).parent / "found"
INSTRUMENTED = ("gateway", "runtime", "sports.readers", "scorebox_contract")
INPUT_LIMIT_BYTES = 8_192
RUNS = re.compile(r"Done (\d+) runs|#(\d+)\s+DONE")
COVERED = re.compile(r"cov: (\d+)")


def fuzz(name: str, seconds: int, corpus: Path) -> None:
    """Fuzz one target in this process; does not return."""
    import atheris

    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        from tests.fuzz.edge import edge_targets
        from tests.fuzz.targets import PLAIN, seeds
    for number, seed in enumerate(seeds(name)):
        (corpus / f"seed-{number}").write_bytes(seed)
    target = PLAIN[name] if name in PLAIN else edge_targets()[name]()
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={INPUT_LIMIT_BYTES}",
        f"-artifact_prefix={FOUND}/{name}-",
    ]
    atheris.Setup([sys.argv[0], *options, "-timeout=30", "-rss_limit_mb=4096", str(corpus)], target)
    atheris.Fuzz()


def again(name: str, path: Path) -> None:
    """One input, without atheris."""
    from tests.fuzz.edge import edge_targets
    from tests.fuzz.targets import PLAIN

    (PLAIN[name] if name in PLAIN else edge_targets()[name]())(path.read_bytes())
    click.echo(f"{name} takes {path} without a fault")


def survey(names: tuple[str, ...], seconds: int) -> bool:
    """Fuzz targets one after another, each in a process of its own; a table. True when none has a fault."""
    table = Table("target", "seconds", "inputs", "places covered", "fault")
    sound = True
    for name in names:
        run = subprocess.run(
            [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(seconds), "--alone"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        runs = [one or other for one, other in RUNS.findall(run.stderr)]
        covered = COVERED.findall(run.stderr)
        fault = "" if run.returncode == 0 else f"exit {run.returncode}"
        if fault:
            sound = False
            click.echo(run.stderr[-6_000:], err=True)
            click.echo(f"again: python -m tests.fuzz {name} --input tests/fuzz/found/{name}-…", err=True)
        table.add_row(name, str(seconds), (runs or ["?"])[-1], (covered or ["?"])[-1], fault)
    Console(width=100).print(table)
    return sound


@click.command()
@click.argument("names", metavar="[TARGETS]...", nargs=-1)
@click.option("--seconds", default=60, show_default=True, help="For each target.")
@click.option("--input", "path", type=click.Path(path_type=Path, exists=True), help="Run this input once.")
@click.option("--alone", is_flag=True, hidden=True)
def main(names: tuple[str, ...], seconds: int, path: Path | None, alone: bool) -> None:
    """Fuzz TARGETS (all by default)."""
    from tests.fuzz.edge import edge_targets
    from tests.fuzz.targets import PLAIN

    known = (*PLAIN, *edge_targets())
    for name in names:
        if name not in known:
            raise click.BadParameter(f"{name!r} is no target; there are {', '.join(known)}")
    if path is not None:
        again(names[0], path)
    elif not survey(names or known, seconds):
        sys.exit(1)


if __name__ == "__main__":
    if "--alone" in sys.argv:
        # Before anything of ours is imported: atheris has to see the imports.
        with tempfile.TemporaryDirectory() as folder:
            fuzz(sys.argv[1], int(sys.argv[3]), Path(folder))
    main()
