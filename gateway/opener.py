"""Opens matches: the sport's first state from a worker, the opening as the log's first row."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from gateway import road
from gateway.auth import Identity
from gateway.errors import CodeTaken, OutsideIdTaken, SportMisbehaved, VersionRetired
from gateway.failures import FAILURES, answer_to, rule_failed
from gateway.ledger import Ledger
from gateway.opening import open_match
from gateway.protocol import Created, CreateMatch, Refused, TryAgain
from gateway.records import Source
from runtime.alerts import AlertBoard
from runtime.errors import DatabaseAway
from runtime.pool import Pools
from runtime.versions import SportVersion, VersionStore
from scorebox_contract import canonical

OPEN_DEADLINE_S = 1.0
"""Wall time for a sport's initial state: a worker may have to start first."""


class Opener:
    """Opens matches in the versions that are installed."""

    def __init__(self, *, ledger: Ledger, pools: Pools, versions: VersionStore, alerts: AlertBoard) -> None:
        self._ledger = ledger
        self._pools = pools
        self._versions = versions
        self._alerts = alerts

    async def open(self, body: CreateMatch, who: Identity) -> Created | Refused | TryAgain:
        """Open a match; the same outside id gives the same match again."""
        received_at = datetime.now(UTC)
        version = self._versions.current(body.sport, body.version)
        if version is None:
            return _not_installed(body, self._versions)
        match = uuid7()
        try:
            reply = await self._first_state(version, match, body)
            if reply["refusal"] is not None:
                refusal = reply["refusal"]
                field = f"opening.{refusal['field']}" if refusal["field"] else "opening"
                return _refused(refusal["code"], refusal["sentence"], field)
            opened = open_match(
                body,
                reply,
                match=match,
                manifest=self._versions.manifest(version),
                version=version.version,
                code_sha=version.code_sha,
                source=Source(who.account),
                received_at=received_at,
            )
            stored, created = await self._ledger.open_match(opened)
        except CodeTaken as error:
            return _refused("code_taken", str(error), "code")
        except OutsideIdTaken as error:
            return _refused("external_taken", str(error), "external")
        except VersionRetired as error:
            return _refused("unknown_version", f"{error}; open the match in another version", "version")
        except SportMisbehaved as error:
            self._alerts.raise_alert("sport_misbehaved", body.sport, str(error))
            return rule_failed(None, "", "the opening", str(error))
        except ValueError as error:
            return _refused("invalid_input", str(error), "opening")
        except DatabaseAway:
            return TryAgain(None, "", "database_away", road.DATABASE_AFTER_MS)
        except FAILURES as error:
            answer, alarm = answer_to(error, id=None, match="", doing="the opening")
            if alarm is not None:
                self._alerts.raise_alert(alarm.kind, body.sport, alarm.sentence, alarm.stack)
            return answer
        return Created(
            str(stored.match), stored.code, stored.last_seq, stored.epoch, stored.state_hash.hex(), created
        )

    async def _first_state(self, version: SportVersion, match: UUID, body: CreateMatch) -> dict[str, Any]:
        self._pools.hold(version.code_sha, str(match))
        try:
            return await self._pools.call(
                version.code_sha,
                "initial_state",
                {"opening": canonical(body.opening)},
                deadline_s=OPEN_DEADLINE_S,
            )
        finally:
            self._pools.release(version.code_sha, str(match))


def _not_installed(body: CreateMatch, versions: VersionStore) -> Refused:
    """The refusal of a match of a sport, or of a version of it, that is not here."""
    if body.sport in versions.sports():
        installed = ", ".join(each.version for each in versions.versions(body.sport))
        sentence = f"{body.sport} {body.version!r} is not installed (installed: {installed})"
        return _refused("unknown_version", sentence, "version")
    installed = ", ".join(versions.sports()) or "none"
    return _refused("unknown_sport", f"{body.sport!r} is not installed (installed: {installed})", "sport")


def _refused(code: str, sentence: str, field: str | None = None) -> Refused:
    """A refusal outside any match."""
    return Refused(None, "", code, sentence, field=field)
