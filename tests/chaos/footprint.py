"""What a server holds of the machine, and whether it gives it back. Deciding is pure."""

from dataclasses import dataclass

import psutil

DESCRIPTORS_A_WORKER = 5
"""Socket, stack, output, pidfd, and one in passing."""
DESCRIPTORS_SPARE = 24
"""Sessions of the database, a connection or two."""
THREADS_SPARE = 24
"""Trio keeps idle threads for a while."""
MEMORY_SPARE_BYTES = 160 * 2**20
"""Matches that were opened since, their documents, what the allocator keeps."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """One server at one moment."""

    descriptors: int
    clients: int
    """Connections on its public port."""
    threads: int
    memory_bytes: int
    workers: int
    other_children: int

    def grown(self, base: "Footprint") -> list[str]:
        """What is more than `base` allows once all clients have left."""
        descriptors = (
            base.descriptors + DESCRIPTORS_SPARE + max(self.workers - base.workers, 0) * DESCRIPTORS_A_WORKER
        )
        limits = {
            "descriptors": (self.descriptors, descriptors),
            "connections of clients": (self.clients, 0),
            "threads": (self.threads, base.threads + THREADS_SPARE),
            "bytes of memory": (self.memory_bytes, base.memory_bytes + MEMORY_SPARE_BYTES),
            "children that are no workers": (self.other_children, base.other_children),
        }
        return [
            f"the server holds {now} {what}, more than {most}"
            for what, (now, most) in limits.items()
            if now > most
        ]


def footprint(pid: int, port: int, workers: int) -> Footprint:
    """Measured now. Raises psutil.NoSuchProcess."""
    process = psutil.Process(pid)
    children = process.children(recursive=True)
    connections = [
        connection
        for connection in process.net_connections(kind="tcp")
        if connection.laddr.port == port and connection.status != psutil.CONN_LISTEN
    ]
    return Footprint(
        descriptors=process.num_fds(),
        clients=len(connections),
        threads=process.num_threads(),
        memory_bytes=process.memory_info().rss,
        workers=workers,
        other_children=len(children) - workers,
    )
