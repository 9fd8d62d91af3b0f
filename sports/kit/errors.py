"""Errors of the kit. A sport's faults are no errors: they are sentences of the report."""


class KitFault(Exception):
    """The kit cannot run the sport at all; says where and what to do."""


class NotGolden(KitFault):
    """A golden match that cannot be read; says which line and what to write."""
