"""Golden matches: where they stand, and how one is played on a server and compared."""

from collections.abc import Callable
from pathlib import Path

from config.client import Client
from config.playing import Played, compare, creation, score
from gateway.protocol import Created
from sports.readers.golden import GoldenMatch, read_golden
from sports.readers.steps import Heard

FOLDER = Path(__file__).resolve().parent.parent / "sports" / "cricket" / "golden"
DEMO = "2020-mumbai-indians-v-kings-xi-punjab"
"""A Twenty20 that was tied, and decided by a second super over."""
ENDING = ".scorebook"


def demo_match() -> GoldenMatch:
    """The match that the demo plays.

    Raises:
        ReaderError: its file is not there, or was changed to something else.
    """
    return read_golden(FOLDER / f"{DEMO}{ENDING}")


async def play_golden(
    client: Client,
    match: GoldenMatch,
    *,
    created: Callable[[Created], None] = lambda created: None,
    per_second: float | None = None,
    advance: Callable[[int], None] = lambda deliveries: None,
) -> Played:
    """Plays a golden match as a new one, and compares it with what it must come to.

    `created` hears of it before its first ball, `advance` of deliveries behind us.

    Raises:
        PlayStopped: the server refused a command for good, or somebody else scores the match.
        ClientFault: the server cannot be used.
    """
    made = await client.create_match(creation(match))
    created(made)
    played = Played(made.match, made.code, match.name, existed=False)
    await score(client, played, match.steps, Heard(), made.seq, per_second=per_second, advance=advance)
    await compare(client, played, match.expected)
    return played
