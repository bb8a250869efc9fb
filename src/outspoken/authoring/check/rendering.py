"""Checks of writing: whether a format can write what it reads, and writes its example as it is.

Also whether what is made from a grammar, its compiled form and its snapshot, is there and current.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from outspoken import RenderError, parse, render
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.text import common_length, listed
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.header import Header
from outspoken.grammar.registry import compiled_path
from outspoken.grammar.tables import Tables
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, TOKENS

from .corpus import Read, names_of
from .detection import example_span
from .findings import CheckedFile, Finding

_CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}
_RECORDED = re.compile(r"^# name: test_case\[(\w+)-(\w+)-(.+)\]$", re.MULTILINE)


def check_writing(header: Header, source: Source, file: CheckedFile, cases: list[Read]) -> Iterator[Finding]:
    """Check that calls, the example and the cases can be written. `render` itself reads back what it writes."""
    name = source.path.stem
    automaton = registry.automaton(name)
    if any(rule.short == "tool_call" for rule in automaton.tables.rules):
        try:
            render(_CALL, name)
        except RenderError as error:
            yield _unwritten(automaton, str(error), source, file)
            return
    yield from _example(header, source, file)
    yield from _cases(name, cases)


def _unwritten(automaton: Automaton, message: str, source: Source, file: CheckedFile) -> Finding:
    """A format that cannot write a call; the markers without a spelling are the likely reason."""
    known = FREE_TEXT | EMBEDDED_VALUES | TOKENS
    mute = [t.short for t in automaton.tables.terminals.values() if not t.canonical and t.short not in known]
    own = next((d for d in source.definitions if d.name in mute), None)
    notes = [message, *([f"never written: {listed(mute)}"] if mute else [])]
    return file.finding(
        "writes-no-calls",
        f"`{source.path.stem}` can write no calls",
        own.span if own else file.top,
        "warning",
        label="this is only read" if own else "",
        notes=notes,
        helps=['give the markers of a call a spelling: `"written" | /read/`'],
    )


def _example(header: Header, source: Source, file: CheckedFile) -> Iterator[Finding]:
    example, reply = header.example, parse(header.example, source.path.stem)
    if not reply.segments or reply.diagnostics:
        return
    try:
        written = render(reply, source.path.stem)
    except RenderError as error:
        place = example_span(source, example, (0, len(example)))
        helps = ["give the markers a spelling, or show what the format can write"]
        message = "the example can be read, but not written"
        yield file.finding("unwritten-example", message, place, "warning", notes=[str(error)], helps=helps)
        return
    if written != example:
        start = common_length(written, example)
        place = example_span(source, example, (start, start + 1))
        theirs = written[start : start + 40]
        yield file.finding(
            "other-spelling",
            "the example is not spelled as the format writes it",
            place,
            "note",
            label=f"the format writes `{theirs}`" if theirs else "the format writes nothing more",
            helps=["let the example be what `render` writes, or let the grammar write what the example shows"],
        )


def _cases(name: str, cases: list[Read]) -> Iterator[Finding]:
    """A note on the `ok` cases that cannot be written, in the first of them."""
    failed: list[tuple[Read, str]] = []
    for one in cases:
        if one.case.kind != "ok" or one.reply.envelope or any(s.kind == "payload" for s in one.reply.segments):
            continue
        try:
            render(one.reply, name, tools=one.case.options.get("tools"))
        except RenderError as error:
            failed.append((one, str(error)))
    if not failed:
        return
    first, message = failed[0]
    others = [one for one, _ in failed[1:]]
    notes = [message, *([f"so it is with {names_of(others)}"] if others else [])]
    helps = ["a format need not write all that it reads; what its template writes, it should"]
    what = "this case can be read, but not written"
    yield first.file.finding("unwritten-case", what, first.file.top, "note", notes=notes, helps=helps)


# what is made from a grammar


def check_current(
    checkout: Checkout, source: Source, file: CheckedFile, cases: list[Read], tables: Tables
) -> Iterator[Finding]:
    """Check that the compiled form and the snapshot exist and are current."""
    compiled = compiled_path(source.path)
    if not compiled.is_file() or compiled.read_text("utf-8") != tables.to_json():
        what = "is not current" if compiled.is_file() else "is missing"
        helps = ["run `python -m tools.compile`"]
        message = f"the compiled form of `{source.path.stem}` {what}"
        yield file.finding("stale-compiled", message, file.top, "note", helps=helps)
    snapshot = checkout.snapshots / f"{source.path.stem}.ambr"
    wanted = {(one.case.kind, one.case.name) for one in cases}
    known = _recorded(snapshot)
    if wanted == known or not (wanted or snapshot.is_file()):
        return
    new, old = wanted - known, known - wanted
    notes = [f"it lacks {_listed(new)}"] if new else []
    notes += [f"it has {_listed(old)}, which are gone"] if old else []
    # A run of some of the tests removes no snapshot.
    tests = "tests/test_formats.py" if old else f"tests/test_formats.py -k {source.path.stem}"
    helps = [f"run `./tools/test {tests} --snapshot-update`, and read `{checkout.shown(snapshot)}`"]
    what = "does not fit the corpus" if snapshot.is_file() else "is missing"
    message = f"the snapshot of `{source.path.stem}` {what}"
    yield file.finding("stale-snapshot", message, file.top, "note", notes=notes, helps=helps)


def _recorded(snapshot: Path) -> set[tuple[str, str]]:
    """The cases that a snapshot file holds."""
    text = snapshot.read_text("utf-8") if snapshot.is_file() else ""
    return {(match[2], match[3]) for match in _RECORDED.finditer(text)}


def _listed(cases: set[tuple[str, str]]) -> str:
    return listed([f"{kind}/{name}" for kind, name in sorted(cases)])
