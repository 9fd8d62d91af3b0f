"""Commands per second through the socket layer alone: nothing behind it judges or saves them."""

import subprocess
import sys
import time
from dataclasses import dataclass

import trio

from bench.gateway import MATCH, empty_server, read_line

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
            process = await trio.lowlevel.open_process(
                [
                    sys.executable,
                    "-m",
                    "bench.tablets",
                    *(str(server.port), server.token, str(tablets), str(commands), MATCH),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            try:
                assert process.stdin is not None
                assert await read_line(process) == "ready"
                cpu = time.process_time()
                await process.stdin.send_all(b"go\n")
                seconds = float(await read_line(process))
                cpu = time.process_time() - cpu
            finally:
                process.kill()
                with trio.CancelScope(shield=True):
                    await process.wait()
            assert server.service.seq == commands
    return Measured(tablets, commands, commands / seconds, cpu / commands * 1e6)


if __name__ == "__main__":
    found = trio.run(measure)
    print(
        f"{found.commands} commands of {found.tablets} tablets: {found.per_second:,.0f}/s, "
        f"{found.cpu_us:.0f} µs of CPU each"
    )
