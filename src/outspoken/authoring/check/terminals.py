"""Terminals that are acceptable in the same place and match the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.tables import Tables, Terminal, order
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT
from outspoken.patterns.spellings import spellings

from .findings import CheckedFile, Finding
from .terminal_examples import sample


def check_terminals(checkout: Checkout, source: Source, tables: Tables) -> Iterator[Finding]:
    """A warning for each two terminals of which neither comes first by its priority."""
    reported: set[frozenset[str]] = set()
    for one, other in _neighbours(tables):
        names = frozenset({one.short, other.short})
        text = _both(one, other) or _both(other, one)
        home = source.resolve(one.name)
        if not text or len(names) == 1 or names in reported or home is None:
            continue
        reported.add(names)
        override = next((o for o in source.overrides if o.name in (one.short, other.short)), None)
        defined_in, definition = (source, override) if override is not None else home
        span = defined_in.find(definition.name, *definition.span) or definition.span
        yield CheckedFile.of_source(checkout, defined_in).finding(
            "same-text",
            f"`{one.short}` and `{other.short}` can stand in the same place, and both read `{text}`",
            span,
            "warning",
            notes=["the one with the longer pattern is tried first, which is chance"],
            helps=[f"give one of them a priority (`{one.short}.1`), or exclude from one what the other one reads"],
        )


def check_same_patterns(checkout: Checkout, source: Source, automaton: Automaton) -> Iterator[Finding]:
    """A warning for each two markers of the same pattern that may stand in one place: one of them is never read."""
    reported: set[frozenset[str]] = set()
    parts = [automaton, *([automaton.broken] if automaton.broken else [])]
    for config in [config for part in parts for config in part.configs]:
        for first, second in _same_patterns(config.strict_transitions()[2]):
            one, other = first.terminal, second.terminal
            names = frozenset({one.name, other.name})
            if names in reported:
                continue
            reported.add(names)
            home = next((found for t in (other, one) if (found := source.resolve(t.name)) is not None), None)
            if home is None:
                continue
            defined_in, definition = home
            is_twice = one.short == other.short
            yield CheckedFile.of_source(checkout, defined_in).finding(
                "same-pattern",
                f"`{one.name if is_twice else one.short}` and `{other.name if is_twice else other.short}` "
                "can stand in the same place, and have the same pattern",
                defined_in.find(definition.name, *definition.span) or definition.span,
                "warning",
                notes=[f"`{one.name if is_twice else one.short}` is always read there, and the other one never"],
                helps=[
                    "import it once, from the file that uses it"
                    if is_twice
                    else "use one terminal in both rules, or let each pattern show what follows: `(?=...)`"
                ],
            )


def _same_patterns(steps: list[Transition]) -> Iterator[tuple[Transition, Transition]]:
    """Each two markers of one pattern, the one that is read first, unless they mean the same."""
    by_pattern: dict[str, list[Transition]] = {}
    for step in steps:
        by_pattern.setdefault(step.terminal.regex, []).append(step)
    for alike in [found for found in by_pattern.values() if len(found) > 1]:
        for first, second in combinations(sorted(alike, key=lambda step: order(step.terminal)), 2):
            if not _is_spelling(first, second):
                yield first, second


def _is_spelling(one: Transition, other: Transition) -> bool:
    """Whether two markers mean the same where they stand, and are only written differently."""
    is_same = (one.before, one.after) == (other.before, other.after)
    return is_same and one.terminal.canonical != other.terminal.canonical


def _neighbours(tables: Tables) -> Iterator[tuple[Terminal, Terminal]]:
    """Markers and names of equal priority that are acceptable in one state."""
    read_otherwise = FREE_TEXT | EMBEDDED_VALUES
    seen: set[tuple[str, str]] = set()
    for part in (tables, tables.broken):
        for state in part.states if part else ():
            here = [tables.terminals[name] for name in sorted(state) if name in tables.terminals]
            for pair in combinations([t for t in here if t.short not in read_otherwise], 2):
                names = pair[0].name, pair[1].name
                if names not in seen and pair[0].priority == pair[1].priority:
                    seen.add(names)
                    yield pair


def _both(one: Terminal, other: Terminal) -> str:
    """A text of one terminal that the other one reads as well; "" where no text of the one shows any."""
    text = sample(one.name, one.regex, one.canonical)
    patterns = [re.compile(terminal.regex) for terminal in (one, other)]
    for known in filter(None, dict.fromkeys([text, text.strip(), *spellings(one.regex)])):
        if all(pattern.fullmatch(known) for pattern in patterns):
            return known
    return ""
