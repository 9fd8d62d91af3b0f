"""A server in a process of its own, with as many matches as asked for: the other side of the load.

    python -m bench.host MATCHES [ACCOUNTS]

Prints one JSON line {pid, port, token, database_url, matches: [[match, saw], …], accounts: [token, …]} and
serves until its input ends. With accounts it holds them to the limits that are the default.
"""

import json
import os
import sys
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlsplit

import trio

from bench.ball import create
from config.logs import configure_logs
from config.server import TemporaryServer, temporary_server
from config.settings import Settings
from gateway.auth import Role


async def main(matches: int, accounts: int) -> None:
    """Serve until standard input ends."""
    configure_logs(level="critical")
    async with _server(limited=accounts > 0) as server:
        created = await create(server, [f"Match {number}" for number in range(matches)])
        tokens = [
            await server.server.make_token(Role.SCORER, f"tablet-{number}") for number in range(accounts)
        ]
        print(
            json.dumps(
                {
                    "pid": os.getpid(),
                    "port": urlsplit(server.url).port,
                    "token": server.token,
                    "database_url": server.server.database_url,
                    "matches": [[match["match"], match["seq"]] for match in created],
                    "accounts": tokens,
                }
            ),
            flush=True,
        )
        await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


def _server(*, limited: bool) -> AbstractAsyncContextManager[TemporaryServer]:
    limit = Settings().commands_per_account if limited else 0
    return temporary_server(commands_per_account=limit)


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]), int((*sys.argv[2:], "0")[0]))
