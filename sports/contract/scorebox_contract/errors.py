"""Errors of the contract. Each says what is wrong with the sport's data and where."""


class ContractError(Exception):
    """A sport handed back something the contract does not allow: mend the sport."""


class UnfitValue(ContractError):
    """A value that has no canonical form (a float, NaN, an integer past ±(2^53−1), a lone surrogate, NUL)."""


class StateTooLarge(ContractError):
    """The canonical state is over the limit of rule M2: keep in it only what the next event needs."""
