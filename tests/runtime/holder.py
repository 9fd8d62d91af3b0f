"""A server that holds an embedded PostgreSQL, as a process of its own that tests can kill.

Arguments: the data folder. Prints the database's URL, then waits for ever.
"""

import sys
from pathlib import Path

import trio

from runtime.postgres import embedded


async def main(data_dir: Path) -> None:
    """Hold it until killed."""
    async with embedded(data_dir) as url:
        print(url, flush=True)
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(main, Path(sys.argv[1]))
