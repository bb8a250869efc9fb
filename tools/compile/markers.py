"""The parts of a fast path: its states, and the markers that may stand there, each a group of a regular expression.

They match what those of the parser match (`outspoken.grammar.matchers`), apart from what only damaged text takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Config
from outspoken.grammar.marker_search import first_char_class, searched_chars
from outspoken.grammar.tables import Terminal
from outspoken.patterns.analysis import required_chars
from outspoken.patterns.prefilter import prefilter_pattern

#: What no string may contain. The fast path reads no text with lone surrogates, and this class takes long to compile.
_SURROGATES = r"\ud800-\udfff"


class State(NamedTuple):
    """A state of the function: a configuration, the open nodes, and whether a marker was read before.

    With `at_marker`, a marker that ends free text stands at the position.
    """

    config: Config
    nodes: tuple[str, ...]
    after_marker: bool
    at_marker: bool = False


class StateBranch(NamedTuple):
    """A branch from a state: the kind of the markers that are looked for, and the group of the marker."""

    state: State
    kind: str
    group: int


Part = State | StateBranch


class Markers:
    """The markers of a configuration, of one kind (see `matchers.matcher_of`). `steps` are they, in order.

    Those with a mistake are left out, except among the markers that end free text: they are looked for. The groups are
    numbered in this order. `chars` are the white space and the characters that a search looks for
    first, or None; `lookahead` precedes the expression in a search then.
    """

    def __init__(self, config: Config, kind: str) -> None:
        finds, known = kind == "find", config.leading_markers if kind == "leading" else config.markers
        self.steps = [step for step in known if not (step.replaces if finds else step.inserted)]
        searched = [step.terminal for step in self.steps]
        self.chars = searched_chars(searched) if finds else None
        self.lookahead = _lookahead(searched) if finds and self.chars is None else ""
        #: one of these characters is in every text with a marker; "" if that is not known
        self.signs = _signs(searched) if self.lookahead else ""
        #: what may stand before the markers
        self.lead = "" if finds else config.automaton.tables.ignore
        #: equal for markers that read the same
        self.source = "|".join([f"({regex_of(step.terminal)})" for step in self.steps])
        self.source = f"{self.lead}(?:{self.source})" if self.lead else self.source


class Shared:
    """What the writers of one format share."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        #: the states in which a function may start: at the beginning of a text, and at an opening marker
        self.entries = [State(automaton.start, (), False), State(automaton.top_level, (), True, True)]
        self._markers: dict[tuple[Config, str], Markers] = {}

    def markers(self, config: Config, kind: str) -> Markers:
        """The markers of a configuration."""
        found = self._markers.get((config, kind))
        if found is None:
            found = self._markers[config, kind] = Markers(config, kind)
        return found


def regex_of(terminal: Terminal) -> str:
    """The expression of a terminal."""
    return terminal.regex.replace(_SURROGATES, "")


def _signs(markers: Sequence[Terminal]) -> str:
    """Characters of which one is in every text that holds a marker, but for letters and blanks; "" for none."""
    found = dict[str, None]()
    for marker in markers:
        known = [char for char in sorted(required_chars(marker.regex)) if not (char.isalnum() or char.isspace())]
        sign = next((char for char in "|<[{`" if char in known), "".join(known[:1]))
        found |= dict.fromkeys(sign or marker.first)
    return "" if any(char.isalnum() or char.isspace() for char in found) else "".join(found)


def _lookahead(markers: Sequence[Terminal]) -> str:
    """A look-ahead that refuses most places where no marker begins; "" if one may begin with any character."""
    chars = first_char_class(markers)
    if not chars:
        return ""
    more = prefilter_pattern([marker.regex for marker in markers])
    return f"(?={chars})(?={more})" if more else f"(?={chars})"
