"""The composition root: wires actors, pools, database and edge together, and takes them apart in order."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import structlog
import trio
from quart_trio import QuartTrio

from config.installed import installed_versions
from config.settings import Settings, read_networks
from config.temporary import temporary_data_folder
from config.trials import read_golden
from gateway.addresses import AddressLimits
from gateway.admission import Admission, Limits
from gateway.auth import Authenticator, Identity, Role, StoredToken, new_token, token_hash
from gateway.committer import Committer
from gateway.counters import Counters
from gateway.edge import Edge, EdgeSettings
from gateway.exporting import Exporter
from gateway.fanout import FanOut
from gateway.health import Health
from gateway.http import create_application
from gateway.importing import Importer
from gateway.installing import Installing
from gateway.lag import LoopLag
from gateway.ledger import Ledger
from gateway.listening import listen, stop_listening, tls_context
from gateway.matches import Matches
from gateway.opener import Opener
from gateway.outbox import Outbox, Subscriber
from gateway.registry import Registry
from gateway.requests import WhoMay
from gateway.sports_http import SportRoutes
from gateway.tokens import Tokens
from gateway.transfer_http import TransferRoutes
from gateway.uploads import UploadRequest
from gateway.waiting_room import WaitingRoom
from gateway.webhook import Webhook
from runtime.alerts import AlertBoard
from runtime.database import Database, open_database
from runtime.errors import DatabaseAway
from runtime.groups import sole_error
from runtime.migrate import migrate
from runtime.pool import Pools
from runtime.postgres import embedded
from runtime.postgres_home import default_data_folder
from runtime.staffing import PoolLimits
from runtime.stepping import Stepper
from runtime.supervisor import Supervisor
from runtime.versions import VersionStore
from runtime.vigil import Vigil
from verifier.actor import Verifier
from verifier.replay import verifier_pools

APPLICATION = Path(__file__).resolve().parent.parent
"""Where the application's own folders are: bundled sports, migrations."""
CLEAN_END_PART = 0.3
"""Of the time a stop may take: kept for workers and database once the clients are gone, or dropped."""
EMBEDDED_PATIENCE_S = 120.0
"""How long a start waits for the embedded database, which comes back by itself whatever ends it."""
DATABASE_PAUSE_S = 0.2
SECONDS_PER_MINUTE = 60
MILLISECONDS_PER_SECOND = 1_000
BYTES_PER_MB = 1_000_000

log = structlog.get_logger("scorebox")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server and its parts. `url` is where it listens."""

    url: str
    database_url: str
    database: Database
    ledger: Ledger
    versions: VersionStore
    matches: Matches
    committer: Committer
    pools: Pools
    fan_out: FanOut
    edge: Edge
    alerts: AlertBoard
    supervisor: Supervisor
    counters: Counters

    async def make_token(self, role: Role, account: str) -> str:
        """A new token, good for every match."""
        token = new_token()
        await Tokens(self.database).add(StoredToken(token_hash(token), Identity(account, role)))
        return token


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Server]:
    """A server from start to stop. Leaving the block drains it, within the settings' hard deadline.

    Raises:
        OSError: the port cannot be had.
        RuntimeFault: the database cannot be had, or its schema is newer than this server.
    """
    data = settings.data or default_data_folder()
    async with AsyncExitStack() as stack:
        # From the first moment on whoever asks is told that the server starts, and what is waited for.
        listeners = await listen(settings.host, settings.port)
        stack.callback(stop_listening, listeners)
        room = WaitingRoom(listeners, tls_context(settings.tls_certificate, settings.tls_key))
        stack.enter_context(sole_error())
        starting = await stack.enter_async_context(trio.open_nursery())
        starting.start_soon(room.run)
        url = settings.database_url
        if url is None:
            url = await stack.enter_async_context(embedded(data))
        database = await stack.enter_async_context(open_database(url))
        await _migrate(database, EMBEDDED_PATIENCE_S if settings.database_url is None else 0.0)
        room.waits_for = "the installation of the sports"
        versions = await installed_versions(settings)
        await trio.to_thread.run_sync(lambda: versions.install_bundled(APPLICATION, dev=True))
        nursery = await stack.enter_async_context(trio.open_nursery())
        room.waits_for = "the pools of workers"
        server = await _start(settings, database, url, versions, nursery=nursery, room=room)
        log.info("serving", url=server.url)
        try:
            yield server
        finally:
            await _stop(server, settings.drain_seconds * (1 - CLEAN_END_PART))
            nursery.cancel_scope.cancel()


async def _migrate(database: Database, patience_s: float) -> None:
    """Bring the schema up to date; a database that is away is waited for so long."""
    give_up_at = trio.current_time() + patience_s
    while True:
        try:
            await migrate(database, APPLICATION / "migrations")
            return
        except DatabaseAway as error:
            if trio.current_time() >= give_up_at:
                raise
            log.warning("the database is waited for", error=str(error))
            await trio.sleep(DATABASE_PAUSE_S)


async def _start(
    settings: Settings,
    database: Database,
    url: str,
    versions: VersionStore,
    *,
    nursery: trio.Nursery,
    room: WaitingRoom,
) -> Server:
    alerts = AlertBoard()
    supervisor = Supervisor(nursery, alerts)
    ledger = Ledger(database)
    committer = Committer(database, ledger, alerts)
    pools = Pools(
        versions,
        limits=PoolLimits(
            warm=settings.workers_warm,
            most=settings.workers_most,
            call_deadline_s=settings.worker_call_ms / MILLISECONDS_PER_SECOND,
        ),
    )
    stepper = Stepper(pools)
    fan_out = FanOut()
    outbox = Outbox(database, _subscribers(settings), alerts)
    checking = verifier_pools(versions)
    verifier = Verifier(database=database, pools=checking, alerts=alerts)
    health = Health(
        database=database,
        pools=pools,
        versions=versions,
        supervisor=supervisor,
        alerts=alerts,
        commits=committer.statistics,
        outbox=outbox.statistics,
        verifier=verifier.statistics,
    )
    vigil = Vigil(settings.vigil_ms / MILLISECONDS_PER_SECOND)
    matches = Matches(
        ledger=ledger,
        committer=committer,
        pools=pools,
        stepper=stepper,
        fan_out=fan_out,
        opener=Opener(ledger=ledger, pools=pools, versions=versions, alerts=alerts),
        alerts=alerts,
        health=health,
        admission=Admission(Limits(settings.commands_in_flight, settings.commands_per_account)),
        vigil=vigil,
        memory_mark_bytes=settings.memory_mark_mb * BYTES_PER_MB,
        idle_s=settings.idle_match_minutes * SECONDS_PER_MINUTE,
    )
    installing = Installing(
        versions=versions, registry=Registry(database), read_golden=read_golden, heard=verifier.installed
    )
    authenticator = Authenticator(Tokens(database).find)
    transfer = TransferRoutes(Exporter(database, ledger), Importer(database, pools, versions))

    def add_routes(app: QuartTrio, who_may: WhoMay) -> None:
        app.request_class = UploadRequest
        SportRoutes(installing, matches).add_to(app, who_may)
        transfer.add_to(app, who_may)

    counters, lag = Counters(), LoopLag()
    edge_status = EdgeStatus()
    application = create_application(
        matches,
        authenticator,
        counters=counters,
        lag=lag,
        edge_status=edge_status,
        add_routes=add_routes,
    )
    edge = edge_status.edge = Edge(
        EdgeSettings(
            host=settings.host,
            port=settings.port,
            certificate=settings.tls_certificate,
            key=settings.tls_key,
            addresses=AddressLimits(settings.connections_per_address, read_networks(settings.proxies)),
        ),
        service=matches,
        authenticator=authenticator,
        application=application,
        counters=counters,
        lag=lag,
    )
    await supervisor.start("committer", committer.run, essential=True, signals=True)
    await supervisor.start("pools", pools.run, essential=True, signals=True)
    await supervisor.start("stepper", stepper.run, essential=True, signals=True)
    await supervisor.start("fan-out", fan_out.run, essential=True, signals=True)
    await supervisor.start("matches", matches.run, essential=True, signals=True)
    await supervisor.start("vigil", vigil.run, signals=True)
    await supervisor.start("health", health.run)
    await supervisor.start("outbox", outbox.run)
    await supervisor.start("installing", installing.run, signals=True)
    await supervisor.start("verifier workers", checking.run, signals=True)
    await supervisor.start("verifier", partial(verifier.run, matches))
    await nursery.start(edge.run, await room.hand_over())
    host, port = edge.addresses[0]
    scheme = "https" if settings.tls_certificate else "http"
    return Server(
        url=f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}",
        database_url=url,
        database=database,
        ledger=ledger,
        versions=versions,
        matches=matches,
        committer=committer,
        pools=pools,
        fan_out=fan_out,
        edge=edge,
        alerts=alerts,
        supervisor=supervisor,
        counters=counters,
    )


def _subscribers(settings: Settings) -> list[Subscriber]:
    if settings.webhook_url is None or settings.webhook_secret is None:
        return []
    return [Webhook(settings.webhook_url, settings.webhook_secret, allow_private=settings.webhook_private)]


class EdgeStatus:
    """Ties the knot between the edge and the application behind it: the edge's part of the status."""

    edge: Edge | None = None

    def __call__(self) -> dict[str, object]:
        """What the edge knows of itself."""
        return self.edge.statistics() if self.edge else {}


async def _stop(server: Server, deadline_s: float) -> None:
    """Stop accepting, answer what waits, close the sockets. Nothing can hold it up past the deadline."""
    log.info("draining", deadline_s=deadline_s)
    with trio.move_on_after(deadline_s, shield=True) as scope:
        await server.matches.drain()
        await server.edge.drain(max(scope.deadline - trio.current_time(), 0.0))


@asynccontextmanager
async def temporary_server(
    settings: Settings | None = None, *, commands_per_account: float = 0
) -> "AsyncIterator[TemporaryServer]":
    """A server of its own, its database in a temporary folder: on loopback, a free port, gone afterwards.

    It is one account's alone, who may be as fast as he can, unless told otherwise.
    """
    with temporary_data_folder() as data:
        base = settings or Settings()
        chosen = msgspec.structs.replace(
            base,
            host="127.0.0.1",
            port=0,
            data=data,
            database_url=None,
            commands_per_account=commands_per_account,
        )
        async with running(chosen) as server:
            yield TemporaryServer(server, await server.make_token(Role.ADMIN, "temporary"))


@dataclass(frozen=True, slots=True)
class TemporaryServer:
    """A temporary server and a token that may do everything on it."""

    server: Server
    token: str

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.server.url
