"""`scorebox match undo`, `correct`, `void`, `insert`, `amend`, `revert`, `rebuild`: correcting the past."""

import contextlib
import functools
import platform
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import click
import msgspec
from rich.console import Console

from config.client import Answer, Client, open_client
from config.commands.changes import print_changes, print_unfit
from config.commands.events import EVENT, INPUT, EventName
from config.commands.match import input_text
from config.commands.options import json_option, server_option, token_option
from config.errors import TokenRefused
from config.running import run
from gateway.effective import CORRECTIONS
from gateway.protocol import Accepted, Conflict, Denied, Preview, Refused, Unfit

REFUSED_EXIT_CODE = 1
DEVICE_LIMIT_CHARACTERS = 64
NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class How:
    """What every correction can be told."""

    preview: bool
    force: bool
    server: str
    token: str | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """A correction to be sent, and what it does in words."""

    code: str
    input: dict[str, Any]
    sentence: str


Prepare = Callable[[Client], Awaitable[Wanted]]


def correction(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options that all corrections have, as `how`."""

    @functools.wraps(command)
    def call(
        *, preview: bool, force: bool, server: str, token: str | None, as_json: bool, **given: Any
    ) -> None:
        command(how=How(preview, force, server, token, as_json), **given)

    options = (
        click.option("--preview", is_flag=True, help="Say what would change, and change nothing."),
        click.option("--force", is_flag=True, help="Pass over later events that no longer fit."),
        server_option(),
        token_option,
        json_option,
    )
    for option in reversed(options):
        call = option(call)
    return call


match_argument = click.argument("ref", metavar="MATCH")
reason_option = click.option(
    "--reason", required=True, metavar="TEXT", help="Why; it is kept with the correction."
)
override_option = click.option(
    "--override", multiple=True, metavar="CODE", help="A refusal to pass over, on the umpire's word."
)


@click.command()
@match_argument
@click.option("--event", type=click.IntRange(1), metavar="N", help="Only if the newest event is this one.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept with the undo.")
@correction
def undo(*, ref: str, event: int | None, reason: str, how: How) -> None:
    """Take back the newest event of MATCH. Two undos take two; `revert` brings one back."""

    async def prepare(client: Client) -> Wanted:
        newest = await client.event(ref, NEWEST)
        given: dict[str, Any] = {"reason": reason} if reason else {}
        if newest is None:
            return Wanted("match.undo", given, "undo the newest event")
        named = EventName(*map(int, newest.event.split("/")))
        sentence = f"undo event {named} ({newest.code} {input_text(newest.input)})"
        return Wanted("match.undo", given | {"event": event or named.seq}, sentence)

    carry_out(ref, prepare, how)


@click.command()
@match_argument
@click.argument("event", type=EVENT)
@click.option("--input", "given", type=INPUT, required=True, help="The right input.")
@click.option("--code", metavar="CODE", help="Where it was another kind of event.")
@override_option
@reason_option
@correction
def correct(
    *,
    ref: str,
    event: EventName,
    given: dict[str, Any],
    code: str | None,
    override: tuple[str, ...],
    reason: str,
    how: How,
) -> None:
    """Give EVENT of MATCH another input: as if it had been scored so."""

    async def prepare(client: Client) -> Wanted:
        changed = {**named("event", event), "input": given, "override": list(override), "reason": reason}
        changed |= {"code": code} if code else {}
        to = f"{code or ''} {input_text(given)}".strip()
        return Wanted("match.correct", changed, f"correct {await described(client, ref, event)} to {to}")

    carry_out(ref, prepare, how)


@click.command()
@match_argument
@click.argument("event", type=EVENT)
@reason_option
@correction
def void(*, ref: str, event: EventName, reason: str, how: How) -> None:
    """Take back EVENT of MATCH: as if it never was."""

    async def prepare(client: Client) -> Wanted:
        sentence = f"void {await described(client, ref, event)}"
        return Wanted("match.void", {**named("event", event), "reason": reason}, sentence)

    carry_out(ref, prepare, how)


@click.command()
@match_argument
@click.option("--after", type=EVENT, required=True, help="The event before it; 1 to make it the first.")
@click.option("--code", required=True, metavar="CODE", help="Its code: cricket.delivery, …")
@click.option("--input", "given", type=INPUT, required=True, help="Its input.")
@override_option
@reason_option
@correction
def insert(
    *,
    ref: str,
    after: EventName,
    code: str,
    given: dict[str, Any],
    override: tuple[str, ...],
    reason: str,
    how: How,
) -> None:
    """Put an event that was missed into MATCH, directly after another one."""

    async def prepare(client: Client) -> Wanted:
        missed = {"code": code, "input": given, "override": list(override), "reason": reason}
        anchor = await described(client, ref, after)
        sentence = f"insert {code} {input_text(given)} after {anchor}"
        return Wanted("match.insert", named("after", after) | missed, sentence)

    carry_out(ref, prepare, how)


@click.command()
@match_argument
@click.argument("file", type=click.File("rb"), metavar="FILE.json")
@reason_option
@correction
def amend(*, ref: str, file: BinaryIO, reason: str, how: How) -> None:
    """Make the corrections of FILE.json ("-" for standard input) in MATCH at once: all or none.

    The file is a list of {"edit": "correct", "event": 140, "input": {…}}, {"edit": "void", "event": 141} and
    {"edit": "insert", "after": 150, "code": "…", "input": {…}}.
    """
    edits = read_edits(file)

    async def prepare(client: Client) -> Wanted:
        told = "; ".join(edit_text(edit) for edit in edits)
        return Wanted("match.amend", {"edits": edits, "reason": reason}, f"amend {len(edits)} events: {told}")

    carry_out(ref, prepare, how)


@click.command()
@match_argument
@click.argument("seq", type=click.IntRange(1), metavar="SEQ")
@reason_option
@correction
def revert(*, ref: str, seq: int, reason: str, how: How) -> None:
    """Take back the correction in row SEQ of MATCH's log: as if it had never been made."""

    async def prepare(client: Client) -> Wanted:
        sentence = f"revert row {seq}"
        async with contextlib.aclosing(client.log(ref, after=seq - 1)) as rows:
            async for row in rows:
                sentence += f" ({row.code} {input_text(row.input)})"
                break
        return Wanted("match.revert", {"seq": seq, "reason": reason}, sentence)

    carry_out(ref, prepare, how)


@click.command()
@match_argument
@reason_option
@correction
def rebuild(*, ref: str, reason: str, how: How) -> None:
    """Work state, figures and document of MATCH out anew from its log."""

    async def prepare(client: Client) -> Wanted:
        return Wanted("match.rebuild", {"reason": reason}, "rebuild the match from its log")

    carry_out(ref, prepare, how)


def named(key: str, event: EventName) -> dict[str, int]:
    """An event in a correction's input."""
    return {key: event.seq} | ({f"{key}_place": event.place} if event.place else {})


async def described(client: Client, ref: str, event: EventName) -> str:
    """An event with its code and input, where there is one: the server says so where there is none."""
    found = await client.event(ref, str(event))
    return f"event {event}" + (f" ({found.code} {input_text(found.input)})" if found else "")


def read_edits(file: BinaryIO) -> list[dict[str, Any]]:
    """The changes of an amendment's file.

    Raises:
        click.UsageError: it is not a list of objects.
    """
    try:
        return msgspec.json.decode(file.read(), type=list[dict[str, Any]])
    except msgspec.MsgspecError as error:
        raise click.UsageError(f"{file.name} is no list of corrections: {error}") from error


def edit_text(edit: dict[str, Any]) -> str:
    """One change of an amendment in words."""
    kind = edit.get("edit")
    if kind == "insert":
        return f"insert {edit.get('code')} {input_text(edit.get('input'))} after {_name(edit, 'after')}"
    to = f" to {input_text(edit.get('input'))}" if kind == "correct" else ""
    return f"{kind} {_name(edit, 'event')}{to}"


def _name(edit: dict[str, Any], key: str) -> str:
    place = edit.get(f"{key}_place")
    return f"{edit.get(key)}/{place}" if place else str(edit.get(key))


def carry_out(ref: str, prepare: Prepare, how: How) -> None:
    """Send a correction made where the match stands, and print what it changed.

    Exit code 1: it was refused, or somebody scored meanwhile; one sentence says why.
    """

    async def work() -> bool:
        async with open_client(how.server, how.token, device=this_device()) as client:
            return await _carried_out(client, ref, prepare, how)

    if not run(work):
        raise click.exceptions.Exit(REFUSED_EXIT_CODE)


async def _carried_out(client: Client, ref: str, prepare: Prepare, how: How) -> bool:
    console = Console(soft_wrap=True, highlight=False, markup=False)
    before = await client.document(ref)
    wanted = await prepare(client)
    if not how.as_json:
        console.print(wanted.sentence)
    answer = None
    unfit: list[Unfit] = []
    if how.preview or how.force:
        # What is passed over by force is known from the preview, made at the same place.
        answer = await client.correct(ref, wanted.code, wanted.input | {"preview": True}, saw=before["seq"])
        unfit = answer.unfit if isinstance(answer, Preview) else []
    if not how.preview and (answer is None or isinstance(answer, Preview)):
        given = wanted.input | ({"force": True} if how.force else {})
        answer = await client.correct(ref, wanted.code, given, saw=before["seq"])
    assert answer is not None, "one of the two was sent"
    if how.as_json:
        told = msgspec.to_builtins(answer) | ({"unfit": msgspec.to_builtins(unfit)} if how.force else {})
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
    if failed(answer, saw=before["seq"]):
        return False
    match answer:
        case Preview() if not how.as_json:
            print_changes(console, before["document"], after_preview(before["document"], answer))
            print_unfit(console, unfit)
            console.print("a preview: nothing was changed")
        case Accepted() if not how.as_json:
            print_changes(console, before["document"], (await client.document(ref))["document"])
            print_unfit(console, unfit)
            back = f"; `scorebox match revert {ref} {answer.seq}` takes it back" * (
                wanted.code in CORRECTIONS
            )
            console.print(f"accepted as row {answer.seq}{back}")
    return True


def this_device() -> str | None:
    """What the log calls the machine that sends."""
    return platform.node()[:DEVICE_LIMIT_CHARACTERS] or None


def failed(answer: Answer, *, saw: int) -> bool:
    """Says why nothing was changed, where it was not; `saw` is the row at which it was sent.

    Raises:
        TokenRefused: the token does not allow it.
    """
    match answer:
        case Denied():
            hint = "; `scorebox token create` makes one, --token or SCOREBOX_TOKEN gives it"
            raise TokenRefused(answer.sentence + hint * (answer.reason == "unauthenticated"))
        case Refused():
            click.echo(refusal_text(answer), err=True)
            return True
        case Conflict():
            click.echo(
                f"somebody else scored meanwhile: the match is at {answer.last_seq}, this was made at "
                f"{saw}; nothing was changed; look at it and do it again",
                err=True,
            )
            return True
    return False


def after_preview(document: dict[str, Any], preview: Preview) -> dict[str, Any]:
    """The document as a preview would leave it."""
    parts = document["parts"] | preview.parts
    return {"head": preview.head, "parts": {name: part for name, part in parts.items() if part is not None}}


def refusal_text(answer: Refused) -> str:
    """Why a correction was refused, where, and what can be done."""
    where = f" ({answer.field})" if answer.field else ""
    text = f"refused: {answer.sentence}{where}"
    if answer.code == "does_not_fit":
        text += " --preview names all that no longer fit, --force passes over them."
    if answer.overridable:
        text += f" On the umpire's word it can be overridden: {answer.code}"
    return text
