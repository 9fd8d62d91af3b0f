"""Errors of the command line and the composition root."""


class ConfigFault(Exception):
    """The base of all of them; its text is what the user reads."""


class BadSetting(ConfigFault):
    """A setting that cannot be read. The text names the variable."""
