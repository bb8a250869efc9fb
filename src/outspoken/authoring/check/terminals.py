"""Terminals that are acceptable in the same place and match the same text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from outspoken import Diagnostic
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.tables import Terminal, order
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.patterns.spellings import spellings

from .findings import CheckedGrammar, name_span
from .lark_errors import sample


def check_terminals(grammar: CheckedGrammar, automaton: Automaton) -> Iterator[Diagnostic]:
    """A warning for each two terminals in one place of which one is never read, or is read only by chance."""
    reported: set[frozenset[str]] = set()
    for one, other, is_never_read in _pairs(automaton):
        text = "" if is_never_read else _both(one, other) or _both(other, one)
        names = frozenset({one.name, other.name} if is_never_read else {one.short, other.short})
        if names in reported or not (text or is_never_read) or len(names) == 1:
            continue
        override = next((o for o in grammar.source.overrides if o.name in (one.short, other.short)), None)
        homes = map(grammar.source.resolve, (other.name, one.name) if is_never_read else (one.name,))
        home = next(filter(None, homes), None)
        if home is None:
            continue
        reported.add(names)
        source, definition = (grammar.source, override) if override is not None else home
        is_twice = one.short == other.short
        first, second = (one.name, other.name) if is_twice else (one.short, other.short)
        code, message = "same-text", f"and both read `{text}`"
        note = "the one with the longer pattern is tried first, which is chance"
        helps = f"give one of them a priority (`{first}.1`), or exclude from one what the other one reads"
        if is_never_read:
            code, message = "same-pattern", "and have the same pattern"
            note = f"`{first}` is always read there, and the other one never"
            helps = "use one terminal in both rules, or let each pattern show what follows: `(?=...)`"
            helps = "import it once, from the file that uses it" if is_twice else helps
        message = f"`{first}` and `{second}` can stand in the same place, {message}"
        span = name_span(source, definition)
        yield grammar.file_of(source).finding(code, span, message, helps, severity="warning", notes=[note])


def _pairs(automaton: Automaton) -> Iterable[tuple[Terminal, Terminal, bool]]:
    """Two terminals each that may stand in one place, and whether the second one is never read there."""
    found: dict[tuple[Terminal, Terminal, bool], None] = {}
    for part in [automaton, *([automaton.broken] if automaton.broken else [])]:
        for config in part.configs:
            steps = sorted(config.strict_transitions()[2], key=lambda step: order(step.terminal))
            for one, other in combinations(steps, 2):
                if one.terminal.regex == other.terminal.regex and not _is_spelling(one, other):
                    found[one.terminal, other.terminal, True] = None
        for state in part.tables.states:
            terminals = [part.tables.terminals[name] for name in sorted(state) if name in part.tables.terminals]
            plain = [terminal for terminal in terminals if terminal.short not in FREE_TEXT | EMBEDDED_VALUES]
            found |= {(a, b, False): None for a, b in combinations(plain, 2) if a.priority == b.priority}
    return found


def _is_spelling(one: Transition, other: Transition) -> bool:
    """Whether two markers mean the same where they stand, and are only written differently."""
    is_same = (one.before, one.after) == (other.before, other.after)
    return is_same and one.terminal.canonical != other.terminal.canonical


def _both(one: Terminal, other: Terminal) -> str:
    """A text of one terminal that the other one reads as well; "" where no text of the one shows any."""
    text = sample(one.name, one.regex, one.canonical)
    patterns = [re.compile(terminal.regex) for terminal in (one, other)]
    known = filter(None, dict.fromkeys([text, text.strip(), *spellings(one.regex)]))
    return next((text for text in known if all(pattern.fullmatch(text) for pattern in patterns)), "")
