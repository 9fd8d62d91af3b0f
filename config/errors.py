"""Errors of the command line and the composition root."""


class ConfigFault(Exception):
    """The base of all of them; its text is what the user reads."""


class BadSetting(ConfigFault):
    """A setting that cannot be read. The text names the variable."""


class ClientFault(ConfigFault):
    """A server could not be used as asked. The text says which server and what to do."""


class Unreachable(ClientFault):
    """Nobody answers at the address, or no longer."""


class TokenRefused(ClientFault):
    """The server does not take the token, or its role may not do this."""


class Unexpected(ClientFault):
    """The server answered with something else than was asked for."""


class PlayStopped(ClientFault):
    """A match could not be played to its end: the server refused a command, or somebody else scores it."""


class UnknownMatch(ConfigFault):
    """No such match."""


class UnknownToken(ConfigFault):
    """No such token."""


class BadSportFolder(ConfigFault):
    """A folder that no wheel can be built of. The text says what to mend."""


class NotInstalled(ConfigFault):
    """A wheel was not installed. The text says why; nothing was changed."""
