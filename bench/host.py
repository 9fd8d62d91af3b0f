"""A server in a process of its own, with as many matches as asked for: the other side of the load.

    python -m bench.host MATCHES

Prints one JSON line {port, token, database_url, matches: [[match, saw], …]} and serves until its input ends.
"""

import json
import sys
from urllib.parse import urlsplit

import trio

from bench.ball import create
from config.logs import configure_logs
from config.server import temporary_server


async def main(matches: int) -> None:
    """Serve until standard input ends."""
    configure_logs(level="error")
    async with temporary_server() as server:
        created = await create(server, [f"Match {number}" for number in range(matches)])
        print(
            json.dumps(
                {
                    "port": urlsplit(server.url).port,
                    "token": server.token,
                    "database_url": server.server.database_url,
                    "matches": [[match["match"], match["seq"]] for match in created],
                }
            ),
            flush=True,
        )
        await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
