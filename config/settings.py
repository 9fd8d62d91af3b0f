"""Typed settings: environment variables `SCOREBOX_…` over defaults.

Limits of the worker are server settings, read at start and shown on no scorer's screen.
"""

import os
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from config.errors import BadSetting
from gateway.addresses import CONNECTIONS_PER_ADDRESS, Network
from gateway.admission import COMMANDS_IN_FLIGHT, COMMANDS_PER_ACCOUNT_S
from runtime.guarding import GuardPolicy
from runtime.worker.guard.level import Level

PREFIX = "SCOREBOX_"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. Each is set by the variable SCOREBOX_<NAME>."""

    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    """Address to listen on. Nothing listens beyond loopback unless told so."""
    port: Annotated[int, Meta(ge=0, le=65_535)] = 8765
    """Port to listen on; 0 takes a free one."""
    database_url: str | None = None
    """A PostgreSQL of your own; without it one is started in the data folder."""
    data: Path | None = None
    """Data folder; None takes the platform's place for it."""
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    worker_call_ms: Annotated[int, Meta(ge=10, le=60_000)] = 250
    """Wall time of one call of a sport's code."""
    workers_warm: Annotated[int, Meta(ge=1, le=256)] = 2
    workers_most: Annotated[int, Meta(ge=1, le=256)] = 4
    """Workers per sport and version."""
    vigil_ms: Annotated[float, Meta(ge=0, le=1_000)] = 3
    """How long the server stays awake over a command that is alone on it; 0 is never."""
    commands_in_flight: Annotated[int, Meta(ge=8, le=100_000)] = COMMANDS_IN_FLIGHT
    """Commands let in and not yet answered, of all clients; more are told to come back."""
    commands_per_account: Annotated[float, Meta(ge=0, le=1_000_000)] = COMMANDS_PER_ACCOUNT_S
    """Commands a second from one account; 0 is no limit."""
    connections_per_address: Annotated[int, Meta(ge=1, le=1_000_000)] = CONNECTIONS_PER_ADDRESS
    proxies: str = "127.0.0.0/8,::1/128"
    """Networks of proxies, with commas between: their connections are not counted by address."""
    memory_mark_mb: Annotated[int, Meta(ge=128, le=10_000_000)] = 2_048
    """Past it, matches that nobody needs just now leave memory without waiting to be idle for long."""
    idle_match_minutes: Annotated[int, Meta(ge=1, le=100_000)] = 15
    """A match without commands and watchers leaves memory after this."""
    drain_seconds: Annotated[float, Meta(ge=1, le=3_600)] = 20
    """The hard deadline of a stop."""
    webhook_url: Annotated[str, Meta(pattern=r"^https?://[^/]")] | None = None
    """Every event of every match is posted there."""
    webhook_secret: str | None = None
    """Signs what is posted; goes with the address."""
    webhook_private: bool = False
    """Allow an address in a private network."""
    minimum_guard_level: Level = "full"
    """A worker whose guard is weaker is not given a sport that was installed by hand."""
    minimum_guard_level_bundled: Level = "audit"
    """The same for sports that come with the application."""
    experimental: bool = False
    """For developers: let a sport defined in this process run in workers, sent by value."""
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def guard_policy(self) -> GuardPolicy:
        """How strong the guard of a worker must be."""
        return GuardPolicy(installed=self.minimum_guard_level, bundled=self.minimum_guard_level_bundled)


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
        sentence, _, place = str(error).partition(" - at `$.")
        raise BadSetting(f"{PREFIX}{place.strip('`').upper()} cannot be read: {sentence}") from error
    if settings.workers_warm > settings.workers_most:
        raise BadSetting("SCOREBOX_WORKERS_WARM is more than SCOREBOX_WORKERS_MOST: lower it, or raise that")
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise BadSetting("SCOREBOX_TLS_CERTIFICATE and SCOREBOX_TLS_KEY go together: set both or neither")
    if (settings.webhook_url is None) != (settings.webhook_secret is None):
        raise BadSetting("SCOREBOX_WEBHOOK_URL and SCOREBOX_WEBHOOK_SECRET go together: set both or neither")
    read_networks(settings.proxies)
    return settings


def read_networks(text: str) -> tuple[Network, ...]:
    """Networks with commas between.

    Raises:
        BadSetting: one of them is none.
    """
    try:
        return tuple(ip_network(each.strip()) for each in text.split(",") if each.strip())
    except ValueError as error:
        raise BadSetting(f"SCOREBOX_PROXIES cannot be read: {error}; write 10.0.0.0/8,fd00::/8") from error


def _decode(type: type[Any], value: Any) -> Any:
    """What msgspec does not know: a path."""
    if type is Path:
        return Path(value)
    raise NotImplementedError


OUTSIDE = frozenset({"SCOREBOX_SHARED", "SCOREBOX_SERVER", "SCOREBOX_TOKEN"})
"""Variables of the command line and the tests, not of the server."""
