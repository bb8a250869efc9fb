"""Checks of reading: the example of a header, shared opening markers, and detection of the format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

from outspoken import Reply, parse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.authoring.shared.text import listed
from outspoken.detection.evidence import AT_END, AT_START, BEHIND, begins_line
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.header import Header
from outspoken.grammar.registry import PLAIN
from outspoken.results.errors import GrammarError

from .corpus import Read
from .findings import CheckedFile, Finding, Span

#: The segments that a caller acts on.
_EFFECTS = frozenset({"tool_call", "action", "payload"})
_LEFT_OUT = {"span", "repairs"}
_INDENT = re.compile(r"//[ ]{0,3}")


def check_example(header: Header, source: Source, file: CheckedFile) -> Iterator[Finding]:
    """Check that the header's example is read as more than text."""
    if not header.example:
        return
    reply = parse(header.example, source.path.stem)
    if reply.diagnostics:
        first = reply.diagnostics[0]
        place = example_span(source, header.example, first.span)
        helps = ["an example is sound: mend it, or the grammar"]
        message = f"the example has a diagnostic: {first.message}"
        yield file.finding("bad-example", message, place, label=first.label, notes=first.notes[:1], helps=helps)
    elif reply.status != "ok":
        place = example_span(source, header.example, (0, len(header.example)))
        helps = ["an example is sound: mend it, or the grammar"]
        yield file.finding("bad-example", f"the example is `{reply.status}`", place, helps=helps)
    elif not {segment.kind for segment in reply.segments} - {"text"}:
        place = example_span(source, header.example, (0, len(header.example)))
        helps = ["show a call, or whatever the format is there for"]
        yield file.finding("bad-example", "the example is read as nothing but text", place, helps=helps)


def example_span(source: Source, example: str, span: Span) -> Span:
    """Where a piece of the example stands in the grammar file."""
    field = source.field("example")
    if field is None:
        return 0, 0
    starts: list[int] = []
    at = field.span[0]
    for number, line in enumerate(source.text[slice(*field.span)].split("\n")):
        match = re.match(r"example:[ \t]*", line) if not number else _INDENT.match(line)
        lead = match.end() if match else 0
        if number or line[lead:].strip():
            starts.append(at + lead)
        at += len(line) + 1
    places = [_in_lines(offset, example, starts) for offset in span]
    return places[0], max(places)


def _in_lines(offset: int, example: str, starts: list[int]) -> int:
    before = example[:offset]
    number = min(before.count("\n"), len(starts) - 1)
    return starts[number] + len(before) - (before.rfind("\n") + 1)


# detection


def check_detection(
    checkout: Checkout, header: Header, source: Source, file: CheckedFile, cases: list[Read]
) -> list[Finding]:
    """Which opening markers a format shares, and the texts in which detection reads something else."""
    name = source.path.stem
    try:
        shared = shared_openers(name)
        example = parse(header.example, name)
        found = [*_compared(name, header, example, parse(header.example), file, source)]
        for one in cases:
            if one.case.kind == "ok":
                found += _compared(name, header, one.reply, one.case.parse(format="auto"), one.file, None)
    except (GrammarError, OSError, RecursionError) as error:
        first = str(error).splitlines()[0]
        helps = ["run `python -m tools.check` without a name"]
        message = "detection is not checked, since another format cannot be read"
        return [file.finding("no-detection", message, file.top, "note", notes=[first], helps=helps)]
    if shared:
        found.append(_sharing(checkout, shared, found, source, file))
    return found


def _compared(
    name: str, header: Header, named: Reply, detected: Reply, file: CheckedFile, source: Source | None
) -> Iterator[Finding]:
    """Does detection find all that the format itself finds in a text, and no further calls?

    A text in which the format itself does nothing may be another format's: then that is only worth a note. Of formats
    that write calls alike and mean other things by them, the header says which is named. Points may be in another space
    if detection converts none and says so.
    """
    if detected.format in _ancestors(header) and any(s.kind == "action" for s in named.segments):
        return
    evident, essence = _evident(name, header, named), _essence
    if _finds_all(evident, named, detected, essence):
        return
    if _leaves_spaces_open(detected):
        essence = _spaceless
        if _finds_all(evident, named, detected, essence):
            return
    own, other = _content(named.segments, essence), _content(detected.segments, essence)
    deeds = [segment for segment in named.segments if segment.kind in _EFFECTS]
    surplus = [s for s in detected.segments if s.kind in _EFFECTS and essence(s) not in own]
    missing = next((s for s in evident if s.kind != "text" and essence(s) not in other), None)
    first: Any = missing or (surplus or named.segments)[0]
    span = first.span if source is None else example_span(source, named.raw, first.span)
    read_as = f"as `{detected.format}`" if detected.format else "as text"
    what = "found" if missing is None else "read as something else"
    if deeds:
        yield file.finding(
            "not-told-apart",
            f"without its name, this text is not read as `{name}`",
            span,
            label=f"`{_kind(first)}` {what}",
            notes=[f'`format="auto"` reads it {read_as}', *_first_diagnostic(detected)],
            helps=["let an opening marker show more of what follows: `(?=...)` with what no other format has there"],
        )
    else:
        yield file.finding(
            "read-by-others",
            f'`format="auto"` reads this text {read_as}, where `{name}` reads only text',
            span,
            "note",
            label=f"`{_kind(first)}` {what}",
            helps=["nothing has to be done if the text is really another format's"],
        )


def _finds_all(evident: list[Any], named: Reply, detected: Reply, essence: Callable[[Any], Any]) -> bool:
    """Does detection find what is evident in a text, and no further calls?"""
    own, other = _content(named.segments, essence), _content(detected.segments, essence)
    if any(s.kind in _EFFECTS and essence(s) not in own for s in detected.segments):
        return False
    return _is_within(_content(evident, essence), other)


def _ancestors(header: Header) -> list[str]:
    """The format that this one is said to be like, the one that that is like, and so on."""
    found: list[str] = []
    while header.like and header.like not in found:
        found.append(header.like)
        header = registry.header(header.like)
    return found


def _evident(name: str, header: Header, reply: Reply) -> list[Any]:
    """The segments without those whose opening markers lack the evidence that the header asks for."""
    wanted = {
        re.compile(step.terminal.regex): header.evidence_of(step.terminal.short)
        for step in registry.automaton(name).top_level_markers
        if header.evidence_of(step.terminal.short)
    }
    found: list[Any] = []
    runs = [list(run) for _, run in groupby(reply.segments, lambda segment: segment.kind == "text")]
    for number, run in enumerate(runs):
        before = runs[number - 1][-1].span[1] if number else 0
        behind = runs[number + 1][0].span[0] if number + 1 < len(runs) else None
        openers = [(match.start(), wanted[marker]) for marker in wanted if (match := marker.search(reply.raw, before))]
        start, evidence = min(openers, default=(0, ""))
        if run[0].kind == "text" or start > run[0].span[0]:
            evidence = ""
        if evidence == BEHIND and all(segment.kind == "text" for segment in found):
            continue
        is_at_end = behind is None or "\n" in reply.raw[run[-1].span[1] : behind]
        if (evidence not in AT_START or begins_line(reply.raw, start)) and (evidence not in AT_END or is_at_end):
            found += run
    return found


def _content(segments: Sequence[Any], essence: Callable[[Any], Any]) -> list[Any]:
    return [essence(segment) for segment in segments if segment.kind != "text"]


def _essence(segment: Any) -> Any:
    return segment.model_dump(exclude=_LEFT_OUT)


def _spaceless(segment: Any) -> Any:
    """The essence of a segment without the spaces of its points."""
    return _without_spaces(_essence(segment))


def _without_spaces(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: _without_spaces(item) for key, item in items if key != "space"}
    if isinstance(value, (list, tuple)):
        return [_without_spaces(item) for item in cast("Sequence[Any]", value)]
    return value


def _leaves_spaces_open(reply: Reply) -> bool:
    """Does detection report that the space of each point is open, rather than say one?

    Then it is no mistake of a grammar that the points have the space of another format. No text tells formats apart
    that write the same calls in different spaces, so that no opening marker could mend it. Nothing is converted, and
    the caller is told. The calls must still be the same, and a point that is not reported must have its own space.
    """
    reported = [found.span for found in reply.diagnostics if found.code == "ambiguous-space"]
    pointing = [s.span for s in reply.segments if s.kind == "action" and "'space': " in repr(_essence(s))]
    return bool(reported) and all(span in reported for span in pointing)


def _kind(segment: Any) -> str:
    return str(getattr(segment, "name", None) or segment.kind)


def _first_diagnostic(reply: Reply) -> list[str]:
    return [f"there it has a diagnostic: {reply.diagnostics[0].message}"] if reply.diagnostics else []


def _is_within(some: list[Any], more: list[Any]) -> bool:
    """Whether `more` contains all of `some` in the same order."""
    rest = iter(more)
    return all(any(one == other for other in rest) for one in some)


# opening markers


def openers(automaton: Automaton) -> list[Transition]:
    """The markers that lead out of text, except those of plain text and of reasoning."""
    plain = {step.terminal.regex for step in registry.automaton(PLAIN).top_level_markers}
    return [s for s in automaton.top_level_markers if s.terminal.regex not in plain and not _opens_reasoning(s)]


def _opens_reasoning(step: Transition) -> bool:
    free = step.target.free
    return free is not None and free.terminal.short == "REASONING"


def shared_openers(name: str) -> dict[str, list[str]]:
    """The opening markers of a format that other formats have, too: each as it is written, with these formats."""
    found: dict[str, list[str]] = {}
    for step in openers(registry.automaton(name)):
        written = step.terminal.canonical.strip()
        for other in registry.names():
            alike = other != name and any(
                theirs.terminal.regex == step.terminal.regex
                or (written and (theirs.terminal.canonical.strip() == written))
                for theirs in openers(registry.automaton(other))
            )
            if alike:
                found.setdefault(step.terminal.short, []).append(other)
    return found


def _sharing(
    checkout: Checkout, shared: dict[str, list[str]], found: list[Finding], source: Source, file: CheckedFile
) -> Finding:
    """A note on shared opening markers, in the file that defines the first of them."""
    misread = [f for f in found if f.diagnostic.code == "not-told-apart"]
    first = next(iter(shared))
    home = source.resolve(first)
    at = file.top
    if home is not None and home[0].path == source.path:
        at = source.find(first, *home[1].span) or home[1].span
    others = list(dict.fromkeys([name for names in shared.values() for name in names]))
    note = (
        "they are told apart in all `ok` cases" if not misread else f"they are not told apart in {len(misread)} texts"
    )
    return file.finding(
        "shared-opener",
        f"{listed(shared)} {'opens' if len(shared) == 1 else 'open'} calls of {listed(others)}, too",
        at,
        "note",
        notes=[note],
    )
