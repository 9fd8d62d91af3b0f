"""Commands per second through the socket layer alone: nothing behind it judges or saves them."""

import time
from dataclasses import dataclass

import trio

from bench.gateway import MATCH, empty_server
from bench.process import partner

TABLETS = 32
COMMANDS = 20_000
DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out. `per_second` is by wall time, `cpu_us` the server's CPU time for one command."""

    tablets: int
    commands: int
    per_second: float
    cpu_us: float


async def measure(tablets: int = TABLETS, commands: int = COMMANDS) -> Measured:
    """Have `tablets` tablets send `commands` commands in all, each waiting for its answers."""
    with trio.fail_after(DEADLINE_S):
        async with empty_server() as server:
            arguments = (str(server.port), server.token, str(tablets), str(commands), MATCH)
            async with partner("bench.tablets", *arguments) as senders:
                assert await senders.line() == "ready"
                cpu = time.process_time()
                seconds: float = await senders.ask("go")
                cpu = time.process_time() - cpu
            assert server.service.seq == commands
    return Measured(tablets, commands, commands / seconds, cpu / commands * 1e6)
