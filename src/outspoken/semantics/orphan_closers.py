"""A tag in text that closes reasoning which never began: mostly, the prompt began it, and the caller did not say so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from outspoken.grammar.automaton import Automaton
from outspoken.patterns.shown import QUOTES, ShownPlaces
from outspoken.patterns.spellings import without_conditions
from outspoken.results.diagnostics import PendingDiagnostic
from outspoken.results.replies import Text

from .said_signs import MADE, ThinkMarkers
from .think_markers import think_terminals

#: What ends a sentence before a tag that is not mentioned.
_ENDS = tuple(".!?:…。！？")


def orphan_closer(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None, prefix: str) -> re.Match[str] | None:
    """The first tag in text that closes reasoning, if no tag before it opens any: neither in text nor in the prompt.

    Behind it, calls say nothing.
    """
    if thinks is None or thinks.is_shared:
        return None
    shown: ShownPlaces | None = None
    is_behind_call = False
    for segment in segments:
        if segment.kind in MADE:
            is_behind_call = True
            continue
        if segment.__class__ is not Text:
            return None  # reasoning was read
        for closer in thinks.closer.finditer(raw, *segment.span):
            shown = shown or ShownPlaces(raw)
            if not _is_mentioned(raw, closer, shown, is_behind_call=is_behind_call):
                return None if _is_opened(prefix + raw[: closer.start()], closer, thinks) else closer
    return None


def orphan_diagnostic(closer: re.Match[str], automaton: Automaton, format: str | None) -> PendingDiagnostic:
    """What is reported of such a tag."""
    message = f'reasoning ends here that never began: pass prefix="{_opener_of(closer, automaton)}"'
    return PendingDiagnostic("orphan-closer", message, closer.span(), "error", format, "the end of reasoning")


def _is_opened(before: str, closer: re.Match[str], thinks: ThinkMarkers) -> bool:
    opened = any(found.lastgroup == "open" for found in thinks.either.finditer(before))
    return opened or _mirrored(closer).lower() in before.lower()


def _mirrored(closer: re.Match[str]) -> str:
    """The tag that opens what one with a slash closes."""
    return closer[0].strip().replace("/", "", 1)


def _opener_of(closer: re.Match[str], automaton: Automaton) -> str:
    """The tag that opens what a tag closes."""
    openers = [automaton.tables.terminals[name] for name in think_terminals(automaton)[1]]
    opener = _mirrored(closer)
    if any(re.match(without_conditions(terminal.regex), opener) for terminal in openers):
        return opener
    return next((written for terminal in openers if (written := terminal.canonical.strip())), opener)


def _is_mentioned(raw: str, closer: re.Match[str], shown: ShownPlaces, *, is_behind_call: bool) -> bool:
    """Does a sentence speak of the tag, or code show it? Behind a call, a sentence that is thought may end in it."""
    start, end = closer.start(), closer.start() + len(closer[0].rstrip())
    if shown.is_in_code(start) or raw.endswith(QUOTES, 0, start) or raw.startswith(QUOTES, end):
        return True
    before = raw[raw.rfind("\n", 0, start) + 1 : start]
    if not before.strip():
        return False
    if not raw[end:].partition("\n")[0].strip():
        return not raw[end:].strip()
    return not is_behind_call and before[-1].isspace() and not before.rstrip().endswith(_ENDS)
