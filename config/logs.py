"""Structured logs: readable on a terminal, JSON for machines. Always on standard error."""

import logging
import sys

import structlog

from gateway.journal import name_command


def configure_logs(format: str = "console", level: str = "info") -> None:
    """Set up logging for the process. `format` is console or json."""
    renderers: list[structlog.types.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if format == "json"
        else [
            # Plain: a traceback that shows every variable shows tokens and passwords too.
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            name_command,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
