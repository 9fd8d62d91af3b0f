"""How much one address may ask for: connections at once, and how fast it opens them.

An IPv6 address counts with its whole /64: that is what one subscriber has. Addresses of proxies are not
counted, for everybody comes from there; who is behind one is the proxy's to limit.
"""

from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import trio

from gateway.admission import Buckets

CONNECTIONS_PER_ADDRESS = 1_000
"""A ground full of viewers behind one address has a few hundred."""
OPENED_PER_S = 100.0
"""Connections an address may open in a second, over a longer time."""
OPENED_BURST = 1_000
"""Connections it may open at once after a rest."""
SUBSCRIBER_BITS = 64
Network = IPv4Network | IPv6Network
LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """`connections` of one address at once; addresses in `proxies` are not counted."""

    connections: int = CONNECTIONS_PER_ADDRESS
    proxies: tuple[Network, ...] = LOOPBACK


class Addresses:
    """Who is connected from where."""

    def __init__(self, limits: AddressLimits) -> None:
        self._limits = limits
        self._connections: Counter[str] = Counter()
        self._opened = Buckets(OPENED_PER_S, OPENED_BURST)

    @property
    def count(self) -> int:
        """Addresses with a connection."""
        return len(self._connections)

    def enter(self, host: str) -> str | None:
        """One more connection: what to hand to `leave`, or None where it is one too many."""
        address = ip_address(host.partition("%")[0])
        if address.version == 6 and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if any(address in network for network in self._limits.proxies):
            return ""
        key = str(address)
        if address.version == 6:
            key = str(ip_network((int(address), SUBSCRIBER_BITS), strict=False))
        if self._connections[key] >= self._limits.connections or self._opened.take(key, trio.current_time()):
            if not self._connections[key]:
                del self._connections[key]
            return None
        self._connections[key] += 1
        return key

    def leave(self, key: str) -> None:
        """A connection that entered is over."""
        if key:
            self._connections[key] -= 1
            if not self._connections[key]:
                del self._connections[key]
