"""`PartialCalls`: the arguments of calls while they arrive, as the types of their tools."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from outspoken.json.stream import JsonStream, Snapshot
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.events import ToolCallDelta, ToolCallEnd, ToolCallStart, ToolCallUnfinished
from outspoken.results.settings import Settings
from outspoken.results.signatures import is_function


class PartialCalls:
    """Shows the arguments of the calls of one stream while they arrive, as `stream_json` shows an answer.

    `tools` are those of the parser: the arguments of a tool that is a class are shown as a `Partial` of it, those of
    others as plain values, of the types that their schema gives. A piece costs what it brings.
    """

    def __init__(self, tools: Tools | Sequence[ToolLike] | None = None, *, settings: Settings | None = None) -> None:
        self._tools, self._settings = Tools.of(tools), settings
        self._open: dict[int, JsonStream[Any]] = {}

    def feed(self, event: object) -> Snapshot[Any] | None:
        """Read an event. Returns a snapshot of the arguments of the call that it belongs to; None if there is none.

        With the end of a call comes the last snapshot, with the `reading` of its arguments. The `call` of that event
        says whether they may be used.
        """
        if isinstance(event, ToolCallStart):
            stream = self._open[event.index] = self._stream(event.name)
            return stream.feed("")
        if isinstance(event, ToolCallDelta):
            return self._open[event.index].feed(event.arguments)
        if isinstance(event, (ToolCallEnd, ToolCallUnfinished)):
            return self._open.pop(event.index).close()
        return None

    def _stream(self, name: str) -> JsonStream[Any]:
        """What reads the arguments of a tool."""
        if self._tools is None or name not in self._tools:
            return JsonStream(settings=self._settings)
        holder = self._tools.types_by_name.get(name)
        if holder is not None and not is_function(holder.type):
            with suppress(TypeError):  # JSON schema cannot express it
                return JsonStream(holder.type, settings=self._settings)
        return JsonStream(self._tools.schema(name), settings=self._settings)
