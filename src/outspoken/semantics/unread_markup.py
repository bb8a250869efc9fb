"""Markup that stayed text: it is reported, since a call may have been meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from outspoken.grammar.automaton import Automaton
from outspoken.grammar.tables import Tables
from outspoken.patterns.markup_search import MarkupSearch
from outspoken.results.pending_diagnostics import PendingDiagnostic
from outspoken.results.replies import Segment, Text


@lru_cache(maxsize=256)
def markup_search(automaton: Automaton) -> MarkupSearch:
    """What searches text for the markers of a format."""
    return MarkupSearch(written_markers(automaton.tables))


def written_markers(tables: Tables) -> list[str]:
    """The markers of a format as they are written, without the words that open reasoning, such as `Thought:`."""
    shifts = [(name, action) for state in tables.states for name, action in state.items() if action >= 0]
    thoughts = {name for name, action in shifts if "think" in tables.nodes[action].split()}
    found = [t for t in tables.terminals.values() if t.short.startswith("_")]
    return [w for t in found if (w := t.canonical.strip()) and not (t.name in thoughts and w[0].isalnum())]


def unread_markup(segments: Iterable[Segment], search: MarkupSearch, format: str) -> list[PendingDiagnostic]:
    """A diagnostic for each text that holds markup, at the first marker in it."""
    found: list[PendingDiagnostic] = []
    for segment in segments:
        if type(segment) is not Text:
            continue
        markers = list(search.find(segment.text))
        if markers:
            first, *more = markers
            span = (segment.span[0] + first.start, segment.span[0] + first.end)
            message = f"this looks like the marker {first.written!r}, but no call could be read here, so it stays text"
            notes = (f"{len(more)} more markers in the same text",) if more else ()
            found.append(PendingDiagnostic("unread-markup", message, span, "warning", format, "text", notes))
    return found
