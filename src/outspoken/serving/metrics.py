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

#: What is counted: the kind of each metric, the words for it, its labels, and the bounds of a histogram.
_METRICS: dict[str, tuple[str, str, tuple[str, ...], tuple[float, ...]]] = {
    "requests": ("Counter", "requests by the HTTP status of the response", ("endpoint", "status"), ()),
    "upstream_errors": ("Counter", "failures of the upstream, before or during a response", ("code",), ()),
    "dropped_clients": ("Counter", "clients that disconnected before the end of their response", ("endpoint",), ()),
    "responses": ("Counter", "responses that were read, by format and status", ("format", "status"), ()),
    "calls": ("Counter", "tool calls by status; only ok and repaired ones are complete", ("status",), ()),
    "repairs": ("Counter", "repairs of damaged text", ("code",), ()),
    "request_duration_seconds": (
        "Histogram", "from the request to the end of the response", ("endpoint",), _DURATIONS,
    ),
    "first_piece_seconds": (
        "Histogram", "from the request to the first piece of a stream", ("endpoint",), _FIRST_PIECES,
    ),
    "active_requests": ("Gauge", "requests that are being served", ("endpoint",), ()),
    "tasks": ("Gauge", "tasks of the event loop", (), ()),
    "info": ("Gauge", "the version, and the format that was set", ("version", "format"), ()),
}  # fmt: skip


class Metrics:
    """Counts what one proxy serves. Raises ImportError if `prometheus_client` is not installed."""

    def __init__(self, format: str) -> None:
        self._library: Any = importlib.import_module("prometheus_client")
        self._registry: Any = self._library.CollectorRegistry()
        self._library.ProcessCollector(registry=self._registry)
        self._metrics: dict[str, Any] = {}
        for name, (kind, words, labels, bounds) in _METRICS.items():
            options = {"buckets": bounds} if bounds else {}
            make = getattr(self._library, kind)
            self._metrics[name] = make(f"outspoken_{name}", words, labels, registry=self._registry, **options)
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
        (metric.observe if _METRICS[name][0] == "Histogram" else metric.inc)(amount)

    def reply(self, reply: ProviderReply) -> None:
        """A response was read, as far as it came."""
        self.add("responses", reply.format or "none", reply.status)
        for call in [*reply.tool_calls, *reply.unfinished_tool_calls]:
            self.add("calls", call.status)
        for repair in reply.repairs:
            self.add("repairs", repair.code)
