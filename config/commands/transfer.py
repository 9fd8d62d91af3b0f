"""`scorebox match export` and `import`: a whole match as a file, from one server to another."""

from pathlib import Path

import click

from config.client import open_client
from config.commands.options import server_option, token_option
from config.running import Fault, run
from gateway.protocol import Created
from gateway.transfer import LIMIT_BYTES, decode
from runtime.newfile import new_file


@click.command("export")
@click.argument("ref", metavar="MATCH")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--at", type=click.IntRange(1), metavar="SEQ", help="As it was after this row of the log.")
@server_option()
@token_option
def export_match(*, ref: str, file: Path, at: int | None, server: str, token: str | None) -> None:
    """Write a whole match into FILE: its log, and who takes part. MATCH is its code or id; role ops.

    FILE must not be there yet. `scorebox match import` puts it into another server, to equal hashes.
    """

    async def work() -> bytes:
        async with open_client(server, token) as client:
            return await client.export(ref, at=at)

    data = run(work)
    header, rows = decode(data)

    async def save() -> None:
        with new_file(file) as out:
            out.write(data)

    run(save)
    click.echo(
        f"{file}: {header.code}, rows 1 to {header.at} of {header.newest}, {len(data)} bytes, "
        f"state {rows[-1].state_hash[:12]}, {header.sport} {header.sport_version} ({header.code_sha[:12]})"
    )


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@server_option()
@token_option
def import_match(*, file: Path, server: str, token: str | None) -> None:
    """Put an exported match from FILE into a server: the same rows, seqs and hashes; role ops.

    It is played again there first, by the match's own code. Exit code 2: it was not imported; one sentence
    says why, and nothing was changed.
    """
    if file.stat().st_size > LIMIT_BYTES:
        raise Fault(f"{file} is larger than {LIMIT_BYTES} bytes: that is no exported match")
    data = file.read_bytes()

    async def work() -> Created:
        async with open_client(server, token) as client:
            return await client.import_match(data)

    created = run(work)
    how = "imported" if created.created else "is there already, row for row"
    click.echo(
        f"{created.code} {how}: seq {created.seq}, epoch {created.epoch}, state {created.state_hash[:12]}"
    )
