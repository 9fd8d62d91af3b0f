"""Typed settings: environment variables `SCOREBOX_…` over defaults.

Limits of the worker are server settings, read at start and shown on no scorer's screen.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from config.errors import BadSetting

PREFIX = "SCOREBOX_"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. Each is set by the variable SCOREBOX_<NAME>."""

    host: str = "127.0.0.1"
    """Address to listen on. Nothing listens beyond loopback unless told so."""
    port: int = 8765
    """Port to listen on; 0 takes a free one."""
    database_url: str | None = None
    """A PostgreSQL of your own; without it one is started in the data folder."""
    data: Path | None = None
    """Data folder; None takes the platform's place for it."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    worker_call_ms: int = 250
    """Wall time of one call of a sport's code."""
    workers_warm: int = 2
    workers_most: int = 4
    """Workers per sport and version."""
    idle_match_minutes: int = 15
    """A match without commands and watchers leaves memory after this."""
    drain_seconds: float = 20
    """The hard deadline of a stop."""
    webhook_url: str | None = None
    """Every event of every match is posted there."""
    webhook_secret: str | None = None
    """Signs what is posted; goes with the address."""
    webhook_private: bool = False
    """Allow an address in a private network."""
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of an environment (the process's own by default).

    Raises:
        BadSetting: a variable that does not exist or cannot be read; names it.
    """
    environment = os.environ if environment is None else environment
    known = {PREFIX + name.upper(): name for name in Settings.__struct_fields__}
    given = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable in OUTSIDE:
            continue
        if variable not in known:
            raise BadSetting(f"{variable} is not a setting; the settings are {', '.join(sorted(known))}")
        if text:
            given[known[variable]] = text
    settings: Settings
    try:
        settings = msgspec.convert(given, Settings, strict=False, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise BadSetting(f"a {PREFIX}… variable cannot be read: {error}") from error
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise BadSetting("SCOREBOX_TLS_CERTIFICATE and SCOREBOX_TLS_KEY go together: set both or neither")
    if (settings.webhook_url is None) != (settings.webhook_secret is None):
        raise BadSetting("SCOREBOX_WEBHOOK_URL and SCOREBOX_WEBHOOK_SECRET go together: set both or neither")
    return settings


def _decode(type: type[Any], value: Any) -> Any:
    """What msgspec does not know: a path."""
    if type is Path:
        return Path(value)
    raise NotImplementedError


OUTSIDE = frozenset({"SCOREBOX_SHARED", "SCOREBOX_SERVER", "SCOREBOX_TOKEN"})
"""Variables of the command line and the tests, not of the server."""
