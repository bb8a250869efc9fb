"""The metrics of a proxy, for Prometheus. They are kept by `prometheus-client`, in a registry of each proxy."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from outspoken import __version__
from outspoken.providers.replies import ProviderReply

#: The upper bounds of histograms in seconds: of whole responses, and of the time to the first piece.
_DURATIONS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_FIRST_PIECES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

#: The counters: their names, what they count, and their labels.
_COUNTERS = {
    "requests": ("requests by the HTTP status of the response", ["endpoint", "status"]),
    "upstream_errors": ("failures of the upstream, before or during a response", ["code"]),
    "dropped_clients": ("clients that disconnected before the end of their response", ["endpoint"]),
    "responses": ("responses that were read, by format and status", ["format", "status"]),
    "calls": ("tool calls by status; only ok and repaired ones are complete", ["status"]),
    "repairs": ("repairs of damaged text", ["code"]),
}
_HISTOGRAMS = {
    "request_duration_seconds": ("from the request to the end of the response", _DURATIONS),
    "first_piece_seconds": ("from the request to the first piece of a stream", _FIRST_PIECES),
}


class Metrics:
    """Counts what one proxy serves. Raises ImportError if `prometheus_client` is not installed."""

    def __init__(self, format: str) -> None:
        self._library: Any = importlib.import_module("prometheus_client")
        self._registry: Any = self._library.CollectorRegistry()
        self._library.ProcessCollector(registry=self._registry)
        self._metrics: dict[str, Any] = {
            name: self._library.Counter(f"outspoken_{name}", words, labels, registry=self._registry)
            for name, (words, labels) in _COUNTERS.items()
        }
        self._metrics |= {
            name: self._library.Histogram(
                f"outspoken_{name}", words, ["endpoint"], buckets=bounds, registry=self._registry
            )
            for name, (words, bounds) in _HISTOGRAMS.items()
        }
        gauges: dict[str, tuple[str, list[str]]] = {
            "active_requests": ("requests that are being served", ["endpoint"]),
            "tasks": ("tasks of the event loop", []),
            "info": ("the version, and the format that was set", ["version", "format"]),
        }
        for name, (words, labels) in gauges.items():
            self._metrics[name] = self._library.Gauge(f"outspoken_{name}", words, labels, registry=self._registry)
        self._metrics["info"].labels(__version__, format).set(1)

    @property
    def content_type(self) -> str:
        """The content type of `text`."""
        return self._library.CONTENT_TYPE_LATEST

    def text(self) -> bytes:
        """Write all metrics in the text format of Prometheus. Call it in the event loop."""
        self._metrics["tasks"].set(len(asyncio.all_tasks()))
        return self._library.generate_latest(self._registry)

    def add(self, name: str, *labels: str, amount: float = 1) -> None:
        """Add to what is counted, or note how long something took."""
        metric = self._metrics[name].labels(*labels)
        (metric.observe if name in _HISTOGRAMS else metric.inc)(amount)

    def reply(self, reply: ProviderReply) -> None:
        """A response was read, as far as it came."""
        self.add("responses", reply.format or "none", reply.status)
        for call in [*reply.tool_calls, *reply.unfinished_tool_calls]:
            self.add("calls", call.status)
        for repair in reply.repairs:
            self.add("repairs", repair.code)
