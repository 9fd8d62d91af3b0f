"""Errors of the verifier. Each says what happened; what to do stands in its docstring."""


class VerifierFault(Exception):
    """The base of all of them."""


class NotReplayed(VerifierFault):
    """A replay could not be carried through: try again, or install the missing code."""


class NoSuchMatch(VerifierFault):
    """There is no match of that name: `scorebox match list` shows their codes."""
