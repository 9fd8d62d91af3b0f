"""The one canonical form of a state: UTF-8 JSON, keys sorted, no spaces, no floats.

Two equal values have equal bytes, so a state is compared by its hash.
"""

import hashlib
from typing import Any

import msgspec

from scorebox_contract.errors import StateTooLarge, UnfitValue

STATE_LIMIT_BYTES = 16 * 1024
INTEGER_LIMIT = 2**53 - 1

_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder()


def canonical(value: Any) -> bytes:
    """The canonical bytes of a JSON value.

    Raises:
        UnfitValue: the value holds a lone surrogate or something that is not JSON.
    """
    try:
        return _encoder.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError, OverflowError) as error:
        raise UnfitValue(f"a value has no canonical form: {error}") from error


def canonical_state(state: Any) -> bytes:
    """The canonical bytes of a state, at most 16 KB of them.

    Raises:
        StateTooLarge: over 16 KB; names the largest top-level keys.
        UnfitValue: not canonical JSON.
    """
    data = canonical(state)
    if len(data) > STATE_LIMIT_BYTES:
        sizes = sorted(((len(canonical(part)), key) for key, part in state.items()), reverse=True)
        largest = ", ".join(f"{key} {size}" for size, key in sizes[:3])
        raise StateTooLarge(
            f"the state has {len(data)} bytes, {STATE_LIMIT_BYTES} are allowed (largest: {largest})"
        )
    return data


def decode(data: bytes) -> Any:
    """The plain value behind canonical bytes."""
    return _decoder.decode(data)


def state_hash(data: bytes) -> bytes:
    """The sha256 of canonical bytes: 32 bytes."""
    return hashlib.sha256(data).digest()


def unfit(value: Any, where: str = "state") -> str | None:
    """Where a value leaves the contract's JSON (no floats, string keys, safe integers), or None.

    Slow: the sport kit and the tests walk every state with it, the live road relies on them.
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, float):
        return f"{where}: {value} has a fraction; give whole numbers (centimetres, milliseconds, balls)"
    if isinstance(value, int):
        return None if abs(value) <= INTEGER_LIMIT else f"{where}: integer {value} is past ±(2^53−1)"
    if isinstance(value, str):
        if "\0" in value:
            return f"{where}: a NUL character"
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{where}: a lone surrogate"
        return None
    if isinstance(value, list):
        return next((found for i, v in enumerate(value) if (found := unfit(v, f"{where}[{i}]"))), None)
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str):
                return f"{where}: the key {key!r} is not a string"
            if found := unfit(key, f"{where} key") or unfit(part, f"{where}.{key}"):
                return found
        return None
    return f"{where}: {type(value).__name__} is not a JSON value of the contract"
