"""`outspoken stream`: the stream of a provider, from standard input, shown as it comes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic_core import to_json

from outspoken.providers.events import Failed, Finished, ProviderEvent, RefusalDelta, UsageReported
from outspoken.providers.stream import OWN, ProviderStream
from outspoken.results import events as said
from outspoken.results.snippet import visible

from .explain import event_line
from .main import Pen, event_data, pen, pieces, read_tools

if TYPE_CHECKING:
    from outspoken.providers.replies import Usage
    from outspoken.results.replies import Reply

#: How much is read at once.
_READ = 65_536


def run(given: argparse.Namespace) -> int:
    """Show the stream, and return 1 where it has errors."""
    tools = read_tools(given.tools) if given.tools else None
    stream = ProviderStream(given.provider, given.format or OWN, tools=tools)
    if given.json:
        for event in _events(stream):
            print(to_json(event_data(event), inf_nan_mode="null").decode(), flush=True)
    else:
        live = Live(pen(given.color))
        for event in _events(stream):
            live.show(event)
    reply = stream.reply
    return int(reply is None or reply.error is not None or any(d.severity == "error" for d in reply.diagnostics))


def _events(stream: ProviderStream) -> Iterator[ProviderEvent]:
    for piece in pieces(sys.stdin.buffer, _READ):
        yield from stream.feed(piece)
    yield from stream.close()


class Live:
    """Shows events as they come: a heading where something else begins, and below it what is said, piece by piece."""

    def __init__(self, write: Pen) -> None:
        self._write = write
        self._heading = ""
        self._inside = False
        self._names: dict[int, str] = {}
        self._usage: Usage | None = None

    def show(self, event: ProviderEvent) -> None:
        """Show one event."""
        match event:
            case said.TextDelta(text):
                self._piece("text", "text", text)
            case said.ReasoningDelta(text):
                self._piece("reasoning", "thinking", text)
            case said.ReasoningEnd():
                self._break()
                self._heading = ""
            case RefusalDelta(text):
                self._piece("error", "refusal", text)
            case said.ToolCallStart(index, id, name):
                self._names[index] = f"call {index}: {name}" + (f" (id {id})" if id else "")
                self._piece("tool_call", self._names[index], "")
            case said.ToolCallDelta(index, arguments):
                self._piece("tool_call", self._names[index], arguments)
            case said.ActionText(index, text):
                self._piece("action", f"action {index}: types", text)
            case UsageReported(usage):
                self._usage = usage
            case said.Done(reply):
                self._end(reply)
            case _:
                self._whole(event)

    def _whole(self, event: ProviderEvent) -> None:
        """What is said on one line."""
        match event:
            case said.ToolCallUnfinished(index, call):
                self._line("error", f"call {index}: {call.name} is {call.status}; it must not be run")
            case Failed(error):
                self._line("error", f"error: {error.message}")
            case Finished(reason, raw):
                self._line("head", f"finished: {reason}" + ("" if raw == reason else f" ({raw})"))
            case said.ActionParsed() | said.ActionUnfinished():
                self._line("action", event_line(event))
            case said.PayloadParsed():
                self._line("payload", event_line(event))
            case _:
                pass

    def _piece(self, style: str, heading: str, text: str) -> None:
        if heading != self._heading:
            self._break()
            self._write("head", f"{visible(heading)}\n")
            self._heading = heading
        if text:
            self._write(style, "\n".join([visible(line) for line in text.split("\n")]))
            self._inside = not text.endswith("\n")

    def _line(self, style: str, text: str) -> None:
        self._break()
        self._write(style, f"{visible(text)}\n")
        self._heading = ""

    def _break(self) -> None:
        if self._inside:
            self._write("", "\n")
        self._inside = False

    def _end(self, reply: Reply) -> None:
        self._break()
        for diagnostic in reply.diagnostics:
            self._line(diagnostic.severity, str(diagnostic))
        if self._usage is not None:
            usage = self._usage
            self._line("head", f"tokens: {_count(usage.input_tokens)} in, {_count(usage.output_tokens)} out")


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"
