"""Checks of reading and writing: whether a format reads its example, and can write calls and the example."""

from __future__ import annotations

from collections.abc import Iterator

from outspoken import Diagnostic, RenderError, parse, render
from outspoken.authoring.shared.wording import listed
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS

from .findings import CheckedGrammar

_CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}


def check_example(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    """Check that the header's example is sound, and is read as more than text."""
    if not header.example:
        return
    reply, span = parse(header.example, format=grammar.name), (0, len(header.example))
    message, helps, label, notes = "", "an example is sound: mend it, or the grammar", "", ()
    if reply.diagnostics:
        first = reply.diagnostics[0]
        message, span, label = f"the example has a diagnostic: {first.message}", first.span, first.label
        notes = first.notes[:1]
    elif reply.status != "ok":
        message = f"the example is `{reply.status}`"
    elif not {segment.kind for segment in reply.segments} - {"text"}:
        message, helps = "the example is read as nothing but text", "show a call, or whatever the format is there for"
    if message:
        place = grammar.example_span(header.example, *span)
        yield grammar.file.finding("bad-example", place, message, helps, label=label, notes=notes)


def check_writing(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    """Check that calls and the example can be written. `render` itself reads back what it writes."""
    name, tables = grammar.name, registry.automaton(grammar.name).tables
    error = _render_error(_CALL, name) if any(rule.short == "tool_call" for rule in tables.rules) else ""
    if error:
        # the markers without a spelling are the likely reason
        readable = FREE_TEXT | EMBEDDED_VALUES | TOKENS
        mute = [t.short for t in tables.terminals.values() if not t.canonical and t.short not in readable]
        own = next((d for d in grammar.source.definitions if d.name in mute), None)
        yield grammar.file.finding(
            "writes-no-calls",
            own.span if own else grammar.file.top,
            f"`{name}` can write no calls",
            'give the markers of a call a spelling: `"written" | /read/`',
            severity="warning",
            label="this is only read" if own else "",
            notes=[error, *([f"never written: {listed(mute)}"] if mute else [])],
        )
    elif not (reply := parse(header.example, format=name)).diagnostics and (error := _render_error(reply, name)):
        span = grammar.example_span(header.example, 0, len(header.example))
        message = "the example can be read, but not written"
        helps = "give the markers a spelling, or show what the format can write"
        yield grammar.file.finding("unwritten-example", span, message, helps, severity="warning", notes=[error])


def _render_error(said: object, name: str) -> str:
    """Why something cannot be written; "" if it can."""
    try:
        render(said, format=name)  # pyright: ignore[reportArgumentType]
    except RenderError as error:
        return str(error)
    return ""
