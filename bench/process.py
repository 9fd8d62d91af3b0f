"""A helper process of a benchmark: one line in, one line out."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio

RECEIVE_BYTES = 1 << 20


class Partner:
    """The other process, spoken to in JSON, a line a value."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._received = b""

    async def ask(self, plan: Any) -> Any:
        """Send a line, wait for the line that answers it."""
        assert self._process.stdin is not None
        await self._process.stdin.send_all(json.dumps(plan).encode() + b"\n")
        return await self.line()

    async def end(self) -> Any:
        """Nothing more is asked; wait for the line that answers that."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        return await self.line()

    async def line(self) -> Any:
        """The next line."""
        assert self._process.stdout is not None
        while b"\n" not in self._received:
            data = await self._process.stdout.receive_some(RECEIVE_BYTES)
            if not data:
                raise RuntimeError("the process of the benchmark ended early")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)


@asynccontextmanager
async def partner(module: str, *arguments: str) -> AsyncIterator[Partner]:
    """`python -m MODULE ARGUMENTS…` for as long as the block runs."""
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", module, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield Partner(process)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
