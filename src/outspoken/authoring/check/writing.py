"""Checks of writing: whether a format can write what it reads, and writes its example as it is."""

from __future__ import annotations

from collections.abc import Iterator

from outspoken import Diagnostic, RenderError, parse, render
from outspoken.authoring.shared.text import common_length, listed
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS

from .corpus import Read
from .findings import CheckedGrammar, Span

_CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}


def check_example(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    """Check that the header's example is sound, and is read as more than text."""
    if not header.example:
        return
    reply, span = parse(header.example, grammar.name), (0, len(header.example))
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


def check_writing(grammar: CheckedGrammar, header: Header, cases: list[Read]) -> Iterator[Diagnostic]:
    """Check that calls, the example and the cases can be written. `render` itself reads back what it writes."""
    name, tables = grammar.name, registry.automaton(grammar.name).tables
    error = _render_error(_CALL, name) if any(rule.short == "tool_call" for rule in tables.rules) else ""
    if error:
        # the markers without a spelling are the likely reason
        known = FREE_TEXT | EMBEDDED_VALUES | TOKENS
        mute = [t.short for t in tables.terminals.values() if not t.canonical and t.short not in known]
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
        return
    yield from _example(grammar, header)
    yield from _cases(name, cases)


def _render_error(said: object, name: str, tools: object = None) -> str:
    """Why something cannot be written; "" if it can."""
    try:
        render(said, name, tools=tools)  # pyright: ignore[reportArgumentType]
    except RenderError as error:
        return str(error)
    return ""


def _example(grammar: CheckedGrammar, header: Header) -> Iterator[Diagnostic]:
    example, reply, file = header.example, parse(header.example, grammar.name), grammar.file
    if not reply.segments or reply.diagnostics:
        return
    try:
        written = render(reply, grammar.name)
    except RenderError as error:
        span: Span = grammar.example_span(example, 0, len(example))
        message = "the example can be read, but not written"
        helps = "give the markers a spelling, or show what the format can write"
        yield file.finding("unwritten-example", span, message, helps, severity="warning", notes=[str(error)])
        return
    if written != example:
        start = common_length(written, example)
        span, theirs = grammar.example_span(example, start, start + 1), written[start : start + 40]
        label = f"the format writes `{theirs}`" if theirs else "the format writes nothing more"
        message = "the example is not spelled as the format writes it"
        helps = "let the example be what `render` writes, or let the grammar write what the example shows"
        yield file.finding("other-spelling", span, message, helps, severity="note", label=label)


def _cases(name: str, cases: list[Read]) -> Iterator[Diagnostic]:
    """A note on the `ok` cases that cannot be written, in the first of them."""
    written = [one for one in cases if one.case.kind == "ok" and not one.reply.envelope]
    calls = [one for one in written if not any(segment.kind == "payload" for segment in one.reply.segments)]
    errors = [(one, _render_error(one.reply, name, one.case.options.get("tools"))) for one in calls]
    failed = [(one, error) for one, error in errors if error]
    if failed:
        (first, error), *others = failed
        names = [f"{one.case.kind}/{one.case.name}" for one, _ in others]
        message = "this case can be read, but not written"
        helps = "a format need not write all that it reads; what its template writes, it should"
        notes = [error, *([f"so it is with {listed(names)}"] if names else [])]
        yield first.file.finding("unwritten-case", first.file.top, message, helps, severity="note", notes=notes)
