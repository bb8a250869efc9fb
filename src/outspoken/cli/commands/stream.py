"""`outspoken stream`: shows the stream of a provider as it arrives."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from outspoken.cli import options
from outspoken.providers.errors import ProviderFormatError
from outspoken.providers.events import Failed, Finished, ProviderEvent, RefusalDelta, UsageReported
from outspoken.providers.registry import Provider
from outspoken.providers.stream import PROVIDER_FORMAT, ProviderOptions, stream_response
from outspoken.results import events as results
from outspoken.results.printing import one_line
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import CHUNK_SIZE
from outspoken.terminal.outputs import Writer, exit_code, make_writer, print_json, print_title


@options.command(
    "stream",
    "Show the stream of a provider as it arrives: reasoning, text, calls and usage." + options.FILES_HELP,
    ("curl -sN $URL -d @request.json | outspoken stream -f hermes", "a live stream whose content is in a format"),
    ("outspoken stream --provider anthropic recorded.txt", "a recorded stream"),
)
@options.input_options(
    options.provider_option("the provider of the stream", default="openai"),
    format=options.format_option(
        "the format of the content: a name or alias, or auto", default=None, shown="the provider's"
    ),
    finish_reason=False,
)
@options.output_options("write events as JSON lines")
def run(files: tuple[str, ...], text: str | None, provider: Provider, as_json: bool, color: str, **given: Any) -> int:
    """Show the streams. Returns 1 if one has errors."""
    reading, codes = options.ReadingOptions.of(given), [0]
    wanted: ProviderOptions = {**reading.options, "prefix": reading.prefix}
    for source in options.sources(files, text):
        print_title(None if as_json else source.title)
        stream = stream_response(
            source.chunks(CHUNK_SIZE), provider=provider, format=reading.format or PROVIDER_FORMAT, **wanted
        )
        show = partial(print_json, file=source.title, line=True) if as_json else LiveView(make_writer(color)).show
        try:
            for event in stream:
                show(event)
        except ProviderFormatError as error:
            raise UsageError(f"{source.name}: {error}; `outspoken parse` reads the text of a response") from error
        reply = stream.reply
        if not (reply.raw or reply.segments or reply.finish_reason or reply.error or reply.id):
            print(f"outspoken: warning: nothing arrived from {visible(source.name)}", file=sys.stderr)
        codes.append(1 if reply.error is not None else exit_code(reply))
    return max(codes)


class LiveView:
    """Shows events as they arrive: a heading where a block begins, and below it the text piece by piece."""

    def __init__(self, write: Writer) -> None:
        self._write = write
        self._heading = ""
        self._in_line = False
        self._names: dict[int, str] = {}
        self._usage = ""

    def show(self, event: ProviderEvent) -> None:
        """Show one event."""
        match event:
            case results.TextDelta(text):
                self._write_piece("text", "text", text)
            case results.ReasoningDelta(text):
                self._write_piece("reasoning", "thinking", text)
            case results.ReasoningEnd():
                self._end_line()
                self._heading = ""
            case RefusalDelta(text):
                self._write_piece("error", "refusal", text)
            case results.ToolCallStart(index, id, name):
                self._names[index] = f"call {index}: {name}" + (f" (id {id})" if id else "")
                self._write_piece("tool_call", self._names[index], "")
            case results.ToolCallDelta(index, arguments):
                self._write_piece("tool_call", self._names[index], arguments)
            case results.ActionText(index, text):
                self._write_piece("action", f"action {index}: types", text)
            case _:
                self._show_line(event)

    def _show_line(self, event: ProviderEvent) -> None:
        """Show an event that takes one line, or the end."""
        match event:
            case results.ToolCallUnfinished(index, call):
                self._write_line("error", f"call {index}: {call.name} is {call.status}; do not run it")
            case results.ActionParsed(action) | results.ActionUnfinished(action):
                self._write_line("action", one_line(action))
            case results.PayloadParsed(payload) | results.PayloadUnfinished(payload):
                self._write_line("payload", one_line(payload))
            case Failed(error):
                self._write_line("error", f"error: {error.message}")
            case Finished(reason, raw):
                self._write_line("head", f"finished: {reason}" + ("" if raw == reason else f" ({raw})"))
            case UsageReported(usage):
                counts = [
                    "?" if tokens is None else f"{tokens:,}" for tokens in (usage.input_tokens, usage.output_tokens)
                ]
                self._usage = f"tokens: {counts[0]} in, {counts[1]} out"
            case results.Done(reply):
                self._end_line()
                lines = [(diagnostic.severity, str(diagnostic)) for diagnostic in reply.diagnostics]
                for style, line in [*lines, *([("head", self._usage)] if self._usage else [])]:
                    self._write_line(style, line)
            case _:
                pass

    def _write_piece(self, style: str, heading: str, text: str) -> None:
        if heading != self._heading:
            self._end_line()
            self._write("head", f"{visible(heading)}\n")
            self._heading = heading
        if text:
            self._write(style, "\n".join([visible(line) for line in text.split("\n")]))
            self._in_line = not text.endswith("\n")

    def _write_line(self, style: str, text: str) -> None:
        self._end_line()
        self._write(style, f"{visible(text)}\n")
        self._heading = ""

    def _end_line(self) -> None:
        if self._in_line:
            self._write("", "\n")
        self._in_line = False
