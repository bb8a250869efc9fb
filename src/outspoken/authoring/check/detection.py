"""Checks of detection: texts that `format="auto"` reads as another format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, cast

from outspoken import Diagnostic, Reply, parse
from outspoken.detection.evidence import AT_END, AT_START, BEHIND, begins_line
from outspoken.detection.opener_index import likeness_chain
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.results.errors import GrammarError

from .corpus import Read
from .findings import CheckedFile, CheckedGrammar, Span

#: The segments that a caller acts on.
_EFFECTS = frozenset({"tool_call", "action", "payload"})


def check_detection(grammar: CheckedGrammar, header: Header, cases: list[Read]) -> list[Diagnostic]:
    """The texts of a format in which detection reads something else."""
    file, found = grammar.file, list[Diagnostic]()
    try:
        found += _compared(grammar, header, parse(header.example, format=grammar.name), parse(header.example), None)
        for one in [one for one in cases if one.case.kind == "ok"]:
            found += _compared(grammar, header, one.reply, one.case.parse(format="auto"), one.file)
    except (GrammarError, OSError, RecursionError) as error:
        message = "detection is not checked, since another format cannot be read"
        helps, notes = "run `python -m tools.check` without a name", [str(error).splitlines()[0]]
        return [file.finding("no-detection", file.top, message, helps, severity="note", notes=notes)]
    return found


def _compared(
    grammar: CheckedGrammar, header: Header, named: Reply, detected: Reply, file: CheckedFile | None
) -> Iterator[Diagnostic]:
    """Does detection find all that the format itself finds in a text, and no further calls?

    A text in which the format itself does nothing may be another format's. Of formats that write calls alike and mean
    other things by them, the header says which is named. Points may be in another space if detection converts none and
    says so. `file` is that of the text, None for the example of the header.
    """
    name = grammar.name
    is_like = detected.format != name and detected.format in likeness_chain(name)
    if is_like and any(segment.kind == "action" for segment in named.segments):
        return
    left_out = {"span", "repairs"} | ({"space"} if _leaves_spaces_open(detected) else set[str]())
    evident = [segment for segment in _evident(name, header, named) if segment.kind != "text"]
    own, other = [[_essence(s, left_out) for s in reply.segments] for reply in (named, detected)]
    surplus = [s for s in detected.segments if s.kind in _EFFECTS and _essence(s, left_out) not in own]
    rest = iter(other)
    missing = next((s for s in evident if not any(_essence(s, left_out) == one for one in rest)), None)
    if (not surplus and missing is None) or not any(segment.kind in _EFFECTS for segment in named.segments):
        return
    first: Any = missing or surplus[0]
    span: Span = first.span if file else grammar.example_span(named.raw, *first.span)
    label = f"`{getattr(first, 'name', None) or first.kind}` {'read as something else' if missing else 'found'}"
    read_as = f"as `{detected.format}`" if detected.format else "as text"
    diagnostic = [f"there it has a diagnostic: {one.message}" for one in detected.diagnostics[:1]]
    yield (file or grammar.file).finding(
        "not-told-apart",
        span,
        f"without its name, this text is not read as `{name}`",
        "let an opening marker show more of what follows: `(?=...)` with what no other format has there",
        label=label,
        notes=[f'`format="auto"` reads it {read_as}', *diagnostic],
    )


def _evident(name: str, header: Header, reply: Reply) -> list[Any]:
    """The segments without those whose opening markers lack the evidence that the header asks for."""
    steps = registry.automaton(name).top_level_markers
    wanted = {
        re.compile(s.terminal.regex): evidence for s in steps if (evidence := header.evidence_of(s.terminal.short))
    }
    runs = [list(run) for _, run in groupby(reply.segments, lambda segment: segment.kind == "text")]
    found: list[Any] = []
    for number, run in enumerate(runs):
        before = runs[number - 1][-1].span[1] if number else 0
        behind = runs[number + 1][0].span[0] if number + 1 < len(runs) else None
        matches = [(match.start(), wanted[marker]) for marker in wanted if (match := marker.search(reply.raw, before))]
        start, evidence = min(matches, default=(0, ""))
        if run[0].kind == "text" or start > run[0].span[0]:
            evidence = ""
        if evidence == BEHIND and all(segment.kind == "text" for segment in found):
            continue
        is_at_end = behind is None or "\n" in reply.raw[run[-1].span[1] : behind]
        if (evidence not in AT_START or begins_line(reply.raw, start)) and (evidence not in AT_END or is_at_end):
            found += run
    return found


def _essence(segment: Any, left_out: set[str]) -> Any:
    """What a segment says, without some of its fields, at any depth."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: without(item) for key, item in items if key not in left_out}
        return [without(v) for v in cast("Sequence[Any]", value)] if isinstance(value, (list, tuple)) else value

    return without(segment.model_dump())


def _leaves_spaces_open(reply: Reply) -> bool:
    """Does detection report that the space of each point is open, rather than say one?

    Then it is no mistake of a grammar that the points have the space of another format. No text tells formats apart
    that write the same calls in different spaces, so that no opening marker could mend it. Nothing is converted, and
    the caller is told. The calls must still be the same, and a point that is not reported must have its own space.
    """
    reported = [found.span for found in reply.diagnostics if found.code == "ambiguous-space"]
    pointing = [s.span for s in reply.segments if s.kind == "action" and "'space': " in repr(s.model_dump())]
    return bool(reported) and all(span in reported for span in pointing)
