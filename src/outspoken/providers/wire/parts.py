"""What exporters are given and return: options, the parts of a protocol, and the calls that were announced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from outspoken.results.call_ids import CallIds

#: A chunk, event or part of a protocol, as it is serialised to JSON.
Part = dict[str, Any]

BlockKind = Literal["text", "reasoning", "refusal"]
#: How the calls of a stream are sent: each when it is complete, or in pieces as it arrives.
StreamCalls = Literal["complete", "pieces"]
STREAM_CALLS: tuple[StreamCalls, ...] = ("complete", "pieces")


class ExportOptions(TypedDict, total=False):
    """The options of all exports; see `Exporter`."""

    id: str | None
    model: str | None
    created: int | None
    action_tool: str | None
    stream_calls: StreamCalls
    facts: bool
    call_ids: CallIds | None


@dataclass(slots=True)
class ExportedCall:
    """A call that was announced. `position` counts them from 0; `id` is unique in the response.

    It stays `open` if it is never complete. `reported` says that it is in the extension as unfinished.
    """

    position: int
    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])
    open: bool = True
    reported: bool = False

    @property
    def arguments(self) -> str:
        """The arguments that were sent."""
        return "".join(self.pieces)
