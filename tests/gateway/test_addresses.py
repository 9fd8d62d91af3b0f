"""How many connections an address may have, and how fast it may open them."""

from ipaddress import ip_network

import trio.testing

from gateway.addresses import OPENED_BURST, OPENED_PER_S, Addresses, AddressLimits


async def test_an_address_has_so_many_connections_and_room_again_when_one_ends():
    addresses = Addresses(AddressLimits(connections=2))
    first, second = addresses.enter("192.0.2.1"), addresses.enter("192.0.2.1")
    assert first == second == "192.0.2.1"
    assert addresses.enter("192.0.2.1") is None
    assert addresses.enter("192.0.2.2") == "192.0.2.2"
    addresses.leave("192.0.2.1")
    assert addresses.enter("192.0.2.1") == "192.0.2.1"
    assert addresses.count == 2


async def test_who_left_leaves_nothing_behind():
    addresses = Addresses(AddressLimits(connections=1))
    for number in range(10):
        key = addresses.enter(f"192.0.2.{number}")
        assert key is not None
        assert addresses.enter(f"192.0.2.{number}") is None
        addresses.leave(key)
    assert addresses.count == 0


async def test_an_ipv6_subscriber_is_one_address_and_a_mapped_one_is_ipv4():
    addresses = Addresses(AddressLimits(connections=2))
    assert addresses.enter("2001:db8::1") == addresses.enter("2001:db8::ffff:1") == "2001:db8::/64"
    assert addresses.enter("2001:db8::2") is None
    assert addresses.enter("2001:db8:0:1::2") == "2001:db8:0:1::/64"
    assert addresses.enter("::ffff:192.0.2.7") == "192.0.2.7"
    assert addresses.enter("fe80::1%eth0") == "fe80::/64"


async def test_a_proxy_is_not_counted():
    addresses = Addresses(AddressLimits(connections=1, proxies=(ip_network("10.0.0.0/8"),)))
    assert [addresses.enter("10.1.2.3") for _ in range(5)] == [""] * 5
    addresses.leave("")
    assert addresses.count == 0
    assert addresses.enter("127.0.0.1") == "127.0.0.1", "loopback is a proxy only by default"


async def test_connections_are_opened_at_a_pace(autojump_clock: trio.testing.MockClock):
    addresses = Addresses(AddressLimits(connections=10_000))
    for _ in range(OPENED_BURST):
        key = addresses.enter("192.0.2.1")
        assert key is not None
        addresses.leave(key)
    assert addresses.enter("192.0.2.1") is None
    await trio.sleep(1 / OPENED_PER_S)
    assert addresses.enter("192.0.2.1") == "192.0.2.1"
