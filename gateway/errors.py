"""Errors of the gateway. Each says what happened; what to do stands in its docstring."""


class GatewayFault(Exception):
    """The base of all of them."""


class CommitQueueFull(GatewayFault):
    """More commits wait than may: answer "try again"."""


class TokenUnchecked(GatewayFault):
    """A token cannot be looked up just now, which lets nobody in and sends none away: answer "try again"."""


class SportMisbehaved(GatewayFault):
    """A sport handed back something that cannot be saved (a line of an unknown player): mend the sport."""


class CodeTaken(GatewayFault):
    """Another match of the sport has that code: choose another one."""


class OutsideIdTaken(GatewayFault):
    """A match of another sport has that outside id: mend the id, or the sport."""


class NotDelivered(GatewayFault):
    """A subscriber did not take what he was sent: it comes again after a pause."""


class CorrectionRefused(GatewayFault):
    """A correction that cannot be: what the sender hears."""

    def __init__(self, code: str, sentence: str, field: str, *, overridable: bool = False) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.field = field
        self.overridable = overridable


class Overtaken(GatewayFault):
    """Another node wrote while a correction was worked out: read the match again and work it out anew."""


class VersionInUse(GatewayFault):
    """Matches need the version: retire it when they are over, or install another one for new ones first."""


class VersionRetired(GatewayFault):
    """The version was retired while a match was to be opened in it: open it in the one new matches use."""


class UnknownVersion(GatewayFault):
    """No such version of a sport is installed."""


class TransferUnfit(GatewayFault):
    """A file that is no exported match, or was cut or changed, or whose log does not give its hashes."""


class TransferTaken(GatewayFault):
    """Another match is here under the id or the code of one that was to be imported."""
