"""Errors of the runtime. Each says what happened, where, and what to do.

This module is imported inside workers too: it stands on nothing but the interpreter.
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from runtime.database import Backend
    from runtime.worker.replies import ErrorData

LostReason = Literal["deadline", "died", "garbage", "memory", "cancelled"]


class RuntimeFault(Exception):
    """The base of every error the runtime raises on purpose."""


class ActorError(RuntimeFault):
    """An actor could not take or answer a message."""


class MailboxFull(ActorError):
    """The mailbox is at its limit. Answer "try again"; it never grows."""


class ActorStopped(ActorError):
    """The actor has ended. Ask for a new one and send the message again."""


class AskDeadline(ActorError):
    """No answer in time. The message may still be handled: ask for the outcome by the command's id."""


class FrameError(RuntimeFault):
    """Bytes that are no frame of ours. The stream behind them is in doubt: throw it away."""


class FrameTooLong(FrameError):
    """A frame announces or has more bytes than the limit: split the call, or mend what sends it."""


class FrameMalformed(FrameError):
    """A frame that cannot be read, or whose message has another shape than its op asks for."""


class WorkerLost(RuntimeFault):
    """The worker was killed or died in the middle of a call. Nothing was changed: try the call again.

    `reason` is one of deadline (it did not answer in time), died (it ended by itself or was killed from
    outside), garbage (its answer was no answer), memory (it passed its address space), cancelled (the
    caller was cancelled: only statistics see it). `stack` is the Python stack of the worker where it
    could be had, `detail` a sentence for the log, `cpu_us` the CPU of a call that missed its deadline.
    """

    def __init__(
        self, reason: LostReason, stack: str | None = None, detail: str = "", cpu_us: int | None = None
    ) -> None:
        super().__init__(
            f"the worker is lost ({reason}): {detail or 'no detail'}; the call may be tried again"
        )
        self.reason: LostReason = reason
        self.stack = stack
        self.detail = detail
        self.cpu_us = cpu_us


class WorkerGone(WorkerLost):
    """The worker was lost before the call was handed over: another worker can take it at once."""


class RuleFailed(RuntimeFault):
    """The sport's code raised an exception: the worker lives on, the sport needs mending."""

    def __init__(self, message: str, stack: str | None = None) -> None:
        super().__init__(f"the sport's code failed: {message}")
        self.message = message
        self.stack = stack


class RuleForbidden(RuleFailed):
    """The sport's code tried what its worker's guard forbids: the worker is replaced, mend the sport.

    `sentence` is for a scorer; the message also says which call it was and where it stands.
    """

    def __init__(self, who: str, deed: str, what: str, where: str, stack: str | None = None) -> None:
        attempt = f"tried to {deed} ({what}){f' at {where}' if where else ''}"
        super().__init__(f"its rules {attempt}", stack)
        self.args = (f"the rules of {who} {attempt}",)
        self.sentence = f"the rules of {who} tried to {deed}"


def rule_failure(error: "ErrorData") -> RuleFailed:
    """What a worker says of the sport's code, as an exception."""
    if error["kind"] == "rule_forbidden":
        return RuleForbidden(
            error.get("who", "the sport"),
            error["message"],
            error.get("what", "?"),
            error.get("where", ""),
            error["stack"],
        )
    return RuleFailed(error["message"], error["stack"])


class PoolBusy(RuntimeFault):
    """No worker became free in time, or too many calls wait already: try again a little later."""


class PoolClosed(PoolBusy):
    """The pools are not running (not started yet, or stopping): try again after the restart."""


class SpawnFailed(RuntimeFault):
    """A worker could not be started, or ended before it said hello. The detail carries what it printed."""


class GuardTooWeak(SpawnFailed):
    """The guard of workers is weaker on this machine than the code needs: the message says what to set."""


class CodeMissing(RuntimeFault):
    """No installed version has this code_sha: install the version the match is pinned to."""


class CodeUnfit(RuntimeFault):
    """A folder that cannot be a sport's package: mend what the message names and build it again."""


class WheelUnfit(CodeUnfit):
    """A file that cannot be installed as a sport. One sentence says what is wrong with it."""


class TrialFailed(RuntimeFault):
    """A sport that was to be installed is not what its wheel says, or fails one of its golden matches."""


class CodeTampered(RuntimeFault):
    """A version folder no longer holds what was installed: install the version again from its wheel."""


class VersionConflict(RuntimeFault):
    """The version is installed with other content: raise the version number of the package."""


class ManifestMissing(RuntimeFault):
    """The package carries no readable manifest.json: build it with `scorebox sport build`."""


class PostgresFault(RuntimeFault):
    """The embedded PostgreSQL, or its data folder, is not as it has to be."""


class DataFolderBusy(PostgresFault):
    """Another server holds the data folder. Stop it, or give this one a folder of its own."""


class DataFolderUnreachable(PostgresFault):
    """PostgreSQL's user cannot get at the data folder. Choose a folder it can reach."""


class PostgresFailed(PostgresFault):
    """PostgreSQL did not start, or does not stay up. Its own words are in the message."""


class PostgresKilled(PostgresFailed):
    """PostgreSQL was ended by a signal while it started: nothing is wrong with it, start it again."""


class DatabaseAway(RuntimeFault):
    """The database cannot be reached, or does not answer in time: try again a little later."""


class AnswerLost(DatabaseAway):
    """The connection was lost after a call was sent: it may have been carried out, look it up.

    `backend` is the server process that had the call; see it gone before you look (`Database.fence`).
    """

    def __init__(self, message: str, backend: "Backend") -> None:
        super().__init__(message)
        self.backend = backend


class FileTaken(RuntimeFault):
    """Something is there under the file's name already. Choose another name."""


class ArchiveUnfit(RuntimeFault):
    """The file is no archive of the kind, of a version not read here, or was cut or changed."""


class NotRestored(RuntimeFault):
    """A backup was not put in place. Nothing was changed; the text says why and what to do."""


class SchemaFault(RuntimeFault):
    """The database's schema and this server do not fit together."""


class SchemaTooNew(SchemaFault):
    """The database was migrated by a newer server. Start that version instead."""


class SchemaChanged(SchemaFault):
    """A migration that was applied is not the file here. Restore the file."""


class SchemaForbidden(SchemaFault):
    """Who logs in may not make the schema. The text says what to run once as an administrator."""
