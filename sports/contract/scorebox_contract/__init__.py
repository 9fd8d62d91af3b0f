"""The contract between the Scorebox engine and a sport's own code.

A sport is a pure function over plain data: no clock, no network, no disk, no randomness. The engine
runs it in a worker process that can be killed at any moment, hands it the state and one event, and
stores what comes back. Live scoring, corrections, verification and rehearsal run the same code.
"""

from msgspec import Meta

from scorebox_contract.canonical import canonical, canonical_state, decode, state_hash, unfit
from scorebox_contract.errors import ContractError, StateTooLarge, UnfitValue
from scorebox_contract.events import Command, Event, Input, Opening, PlayerName, SideSheet
from scorebox_contract.sport import EventSport, manifest
from scorebox_contract.steps import Caution, Joined, Line, Refusal, Result, SideScore, State, Step, Summary
from scorebox_contract.version import CONTRACT_VERSION

__all__ = [
    "CONTRACT_VERSION",
    "Caution",
    "Command",
    "ContractError",
    "Event",
    "EventSport",
    "Input",
    "Joined",
    "Line",
    "Meta",
    "Opening",
    "PlayerName",
    "Refusal",
    "Result",
    "SideScore",
    "SideSheet",
    "State",
    "StateTooLarge",
    "Step",
    "Summary",
    "UnfitValue",
    "canonical",
    "canonical_state",
    "decode",
    "manifest",
    "state_hash",
    "unfit",
]
