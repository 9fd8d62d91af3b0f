"""What `scorebox demo` tells a person: how far it is, the scorecard, and where to look."""

import json
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from config.playing import Played
from config.scorecard import print_scorecard

NAME_COLUMNS = 16
"""Width of the names before the addresses."""
BAR_COLUMNS = 20
"""Width of the bar: beside it both scores fit into 80 columns."""
COMMAND = "cricket.officials"
COMMAND_INPUT = {"scorers": ["You"]}
"""A command that can be sent at any time, also when the match is over: who scores it."""

Advance = Callable[[int], None]
Tell = Callable[[Mapping[str, Any]], None]


class DemoReport:
    """Prints to a console. Bars and spinners only while that is a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def live(self) -> bool:
        """True where somebody can see a score change."""
        return self._console.is_terminal

    def say(self, sentence: str) -> None:
        """One sentence."""
        self._console.print(Text(sentence))

    @contextmanager
    def waiting(self, sentence: str) -> Iterator[None]:
        """While something takes its time."""
        if not self._console.is_terminal:
            self.say(sentence)
            yield
            return
        with self._console.status(Text(sentence)):
            yield

    def serving(self, url: str) -> None:
        """The server is there."""
        self._console.print(Text.assemble("Serving on ", _link(url)))

    def begins(self, name: str, deliveries: int, page: str, per_second: float | None) -> None:
        """The match is created and its first ball about to be bowled."""
        pace = "as fast as they are answered" if per_second is None else f"{per_second:g} a second"
        self._console.print(
            Text.assemble(
                "Scoring ", (name, "bold"), f": {deliveries} deliveries, {pace}. Live at ", _link(page)
            )
        )

    @contextmanager
    def scoring(self, deliveries: int) -> Iterator[tuple[Advance, Tell]]:
        """A bar of deliveries with the score beside it: give it deliveries behind us, and heads."""
        with Progress(
            BarColumn(BAR_COLUMNS),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        ) as progress:
            task = progress.add_task("", total=deliveries)
            yield (
                lambda count: progress.advance(task, count),
                lambda head: progress.update(task, description=_scores(head)),
            )

    def played(self, played: Played) -> None:
        """The scorecard, and whether it is as it should be."""
        self._console.print()
        print_scorecard(self._console, played.document)
        rate = played.deliveries / played.seconds if played.seconds else 0
        self._console.print(
            f"{played.deliveries} deliveries in {played.seconds:.1f} s ({rate:.0f} a second, "
            "each judged by cricket's rules and saved before its answer)."
        )
        if played.differences:
            for difference in played.differences:
                self._console.print(Text(difference, style="red"))
            count = len(played.differences)
            self._console.print(Text(f"{count} of {played.figures} figures differ.", style="bold red"))
        else:
            self._console.print(
                Text(f"All {played.figures} figures are as on the scorecard of the day.", style="green")
            )

    def addresses(self, url: str, played: Played, seq: int, token: str) -> None:
        """Where to look, and one command to send."""
        addresses = (
            ("All matches", f"{url}/"),
            ("This match", match_page(url, played.code)),
            ("Server status", f"{url}/status"),
            ("Document", f"{url}/v1/matches/{played.code}/document"),
        )
        self._console.print()
        self._console.print(Text("Open", style="bold"))
        for name, address in addresses:
            self._console.print(Text.assemble(f"  {name:<{NAME_COLUMNS}}", _link(address)))
        self._console.print()
        self._console.print(Text("A scorer's token", style="bold"))
        self._console.print(Text(f"  {token}"))
        self._console.print()
        self._console.print(Text("Send a command, as a scorer's tablet would", style="bold"))
        self._console.print(Text(f"  {curl_line(url, played.code, seq, token)}"))
        self._console.print()

    def stopping(self) -> None:
        """Told to stop; below the ^C of the terminal."""
        self.say("\nStopping the server …")

    def leaving(self) -> None:
        """Nothing to open any more."""
        self._console.print(Text("The demo ends here (--exit), and its server with it.", style="dim"))

    def staying(self, data: Path | None) -> None:
        """What happens now."""
        kept = f"The data stays in {data}." if data is not None else "Its data goes with it."
        self._console.print(Text(f"Ctrl-C ends the demo. {kept}", style="dim"))


def match_page(url: str, code: str) -> str:
    """A match's page."""
    return f"{url}/matches/{code}"


def curl_line(url: str, code: str, seq: int, token: str) -> str:
    """A command to a match that stands at `seq`, as a line for a shell. Sent again it is the same command."""
    body = {"id": str(uuid.uuid4()), "code": COMMAND, "input": COMMAND_INPUT, "saw": seq}
    words = [
        "curl",
        "-sS",
        f"{url}/v1/matches/{code}/commands",
        "-H",
        f"Authorization: Bearer {token}",
        "-H",
        "Content-Type: application/json",
        "-d",
        json.dumps(body),
    ]
    return shlex.join(words)


def _link(address: str) -> tuple[str, str]:
    return address, f"cyan link {address}"


def _scores(head: Mapping[str, Any]) -> str:
    return " · ".join(f"{side['name']} {side['score']}".strip() for side in head["sides"])
