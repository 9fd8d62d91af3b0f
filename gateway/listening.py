"""Listening sockets and TLS of the one public port."""

import socket
import ssl
from pathlib import Path

import trio

BACKLOG = 1_024
"""Connections the kernel keeps until they are accepted."""


async def listen(host: str, port: int) -> list[socket.socket]:
    """Listening sockets for every address of the host.

    Raises:
        OSError: it cannot listen there.
    """
    listeners: list[socket.socket] = []
    try:
        found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, proto, _, address in dict.fromkeys(found):
            listener = socket.socket(family, kind, proto)
            listeners.append(listener)
            listener.setblocking(False)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
    except OSError as error:
        stop_listening(listeners)
        raise OSError(f"nothing can listen on {host}, port {port}: {error}") from error
    return listeners


def stop_listening(listeners: list[socket.socket]) -> None:
    """Close listening sockets; whoever waits for a connection on one hears ClosedResourceError."""
    for listener in listeners:
        if listener.fileno() != -1:
            trio.lowlevel.notify_closing(listener)
            listener.close()


def tls_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """The server's side of TLS, None without a certificate.

    Raises:
        OSError: the certificate or the key cannot be used.
    """
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise OSError(f"the certificate {certificate} with the key {key} cannot be used: {error}") from error
    return context
