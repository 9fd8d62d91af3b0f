"""Errors of the runtime. Each says what happened; what to do stands in its docstring."""


class RuntimeFault(Exception):
    """The base of all of them."""


class ActorError(RuntimeFault):
    """An actor could not take or answer a message."""


class MailboxFull(ActorError):
    """The mailbox is at its limit. Answer "try again"; it never grows."""


class ActorStopped(ActorError):
    """The actor has ended. Ask for a new one and send the message again."""


class AskDeadline(ActorError):
    """No answer in time. The message may still be handled: ask for the outcome by the command's id."""
