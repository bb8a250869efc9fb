"""Markers that stand in a text without what their patterns look ahead at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from outspoken import Reply
from outspoken.grammar import registry
from outspoken.grammar.automaton import Transition
from outspoken.patterns.spellings import without_conditions
from outspoken.results.pending_diagnostics import PendingDiagnostic
from outspoken.results.snippet import visible

#: Of so many markers it is said that they stand there, and so much of a pattern is shown.
_MOST, _LONGEST = 3, 200


def unmet(steps: Iterable[Transition], text: str, at: int) -> list[str]:
    """Notes on the markers that would stand at a place if their patterns did not ask for more round them."""
    found: list[str] = []
    for terminal in dict.fromkeys([step.terminal for step in steps if not step.inserted]):
        bare = without_conditions(terminal.regex)
        match = re.compile(bare).match(text, at) if bare != terminal.regex else None
        if match is not None and match[0] and re.compile(terminal.regex).match(text, at) is None:
            pattern = visible(terminal.regex)
            shown = pattern if len(pattern) <= _LONGEST else pattern[:_LONGEST] + "..."
            found.append(
                f"`{terminal.short}` {_quoted(match[0])} stands here, without what its pattern asks for: /{shown}/"
            )
    return found[:_MOST]


def unmet_openers(reply: Reply, name: str) -> Iterator[PendingDiagnostic]:
    """The first opening marker in each text of a reply that opens nothing, since its pattern asks for more."""
    if not name:
        return
    steps = [s for s in registry.automaton(name).top_level_markers if not s.inserted and _is_telling(s)]
    bare = [without_conditions(step.terminal.regex) for step in steps]
    if not bare:
        return
    anywhere = re.compile("|".join(f"(?:{pattern})" for pattern in bare))
    for segment in reply.segments:
        if segment.kind != "text":
            continue
        for match in anywhere.finditer(reply.raw, *segment.span):
            notes = unmet(steps, reply.raw, match.start()) if match[0] else []
            if notes:
                message = "an opening marker stands here, and opens nothing"
                yield PendingDiagnostic("opens-nothing", message, match.span(), "note", name, "", tuple(notes))
                break


def _is_telling(step: Transition) -> bool:
    """Whether a marker has a spelling that is more than a bracket, and conditions."""
    terminal = step.terminal
    return len(terminal.canonical.strip()) > 1 and without_conditions(terminal.regex) != terminal.regex


def _quoted(text: str) -> str:
    return '"{}"'.format(visible(text).replace('"', r"\""))
