"""What the gateway counts, as Prometheus reads it. Labels never carry a match's name."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gateway.protocol import Accepted, Answer, Conflict, Denied, Preview, Refused, TryAgain

_OUTCOMES: dict[type, str] = {
    Accepted: "accepted",
    Refused: "refused",
    Conflict: "conflict",
    Preview: "preview",
    TryAgain: "try_again",
    Denied: "denied",
}
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Counters:
    """The counters of one server, on a registry of its own. Others may register theirs on it too."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        commands = Counter(
            "scorebox_commands", "Commands answered, by outcome.", ["outcome"], registry=self.registry
        )
        self._commands = {kind: commands.labels(outcome) for kind, outcome in _OUTCOMES.items()}
        self.command_seconds = Histogram(
            "scorebox_command_seconds",
            "From a command's frame to its answer.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.connections = Gauge("scorebox_connections", "Open connections.", registry=self.registry)
        self.sockets = Gauge("scorebox_sockets", "Open WebSockets.", registry=self.registry)
        self.watches = Gauge("scorebox_watches", "Matches being watched by sockets.", registry=self.registry)
        self.bad_frames = Counter(
            "scorebox_bad_frames", "Frames that could not be understood.", registry=self.registry
        )
        self.closed = Counter(
            "scorebox_sockets_closed", "WebSockets closed by the server.", ["code"], registry=self.registry
        )
        self.requests = Counter(
            "scorebox_http_requests", "HTTP requests answered.", ["route", "status"], registry=self.registry
        )
        self.turned_away = Counter(
            "scorebox_connections_turned_away",
            "Connections answered at the door.",
            ["why"],
            registry=self.registry,
        )

    def answered(self, answer: Answer, seconds: float) -> None:
        """One command was answered after so many seconds."""
        self._commands[type(answer)].inc()
        self.command_seconds.observe(seconds)

    def page(self) -> bytes:
        """The text Prometheus reads."""
        return generate_latest(self.registry)
