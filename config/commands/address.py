"""The address a command is to listen on, looked at before anything is started."""

import errno
import socket

from config.running import Fault


def is_taken(host: str, port: int) -> bool:
    """True when somebody listens there. Other faults of the address are the server's to tell."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def taken(host: str, port: int) -> Fault:
    """The error of an address that is taken."""
    return Fault(f"port {port} on {host} is taken; stop what listens there, or give another with --port")
