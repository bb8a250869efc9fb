"""The marker lexer: where a format's markers stand in damaged text, intact or nearly so.

Recovery searches over these tokens and the text between them, so that it handles tens of tokens instead of thousands of
characters.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.leading_space import BREAKS, LeadingSpace, leading_space
from outspoken.grammar.tables import Terminal
from outspoken.grammar.value_markup import survey
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, JSON_FIRST, SPELLED_VALUES
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.near_miss import mistakes_allowed
from outspoken.patterns.spellings import without_conditions

from .near_markers import TAG_END, NearMarkers, find_near, without_parts

#: A marker of at most this length is punctuation, which is too common to be evidence.
PUNCTUATION_LENGTH = 2
#: A bracket that may begin JSON: at the beginning of a line, or behind other JSON.
_BRACKET = lazy_pattern(r"(?:\A|\n|[}\],]\s{0,3})([\[{])")
#: How far behind the bracket of a call one of its keys stands at most.
_NEAR_KEY = 120


class Token(NamedTuple):
    """A place where a marker of the format stands, or a near miss of one."""

    start: int
    end: int
    is_near: bool = False


class MarkerForms:
    """How a terminal is recognised: by its expression, as it is written, or by a near miss of one of its spellings.

    `first` holds the characters with which a match of the expression may begin ("" for any), `spellings` are those that
    may have a mistake, `extra` is what a near miss costs more. `name` is the expression of a name without
    the conditions on what stands beside it; None if it has none.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self.first = terminal, terminal.first
        self.written = marker_spellings(terminal)
        self.spellings = tuple([text for text in self.written if mistakes_allowed(text) or text == TAG_END])
        self.extra = 0 if terminal.canonical else 1
        bare = "" if terminal.short.startswith("_") else without_conditions(terminal.regex)
        self.name = re.compile(bare) if bare and bare != terminal.regex else None

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The expression. It is compiled when it is first used: those of damaged openers are long."""
        return re.compile(self._terminal.regex)

    @cached_property
    def lead(self) -> LeadingSpace:
        """The white space before the marker that may belong to it."""
        return leading_space(self._terminal)

    def match(self, text: str, pos: int) -> re.Match[str] | None:
        """The terminal at a place in a text."""
        return None if self.first and text[pos : pos + 1] not in self.first else self.regex.match(text, pos)


def marker_forms(transition: Transition) -> MarkerForms:
    """How the terminal of a transition is recognised."""
    if transition.recovery_matcher is None:
        transition.recovery_matcher = _forms_of(transition.terminal)
    return transition.recovery_matcher


_forms_of = lru_cache(maxsize=4096)(MarkerForms)


def marker_spellings(terminal: Terminal) -> tuple[str, ...]:
    """The spellings of a marker."""
    found = [terminal.canonical] if terminal.canonical else []
    if terminal.short.startswith("_"):
        found += terminal.spellings
    return tuple(dict.fromkeys([text.strip() for text in found if text.strip()]))


class MarkerLexer:
    """Finds the markers of a format.

    `has_json` says that the grammar has embedded JSON values; their punctuation is not inserted piece by piece.
    `spellings` are those of which near misses are found, each with the white space before it that may belong to it;
    `marks` are those in values. `opens_bare` says that a bracket alone may open a call. `keys` are the JSON keys that
    the grammar knows, each with whether the arguments of a call are its value.
    """

    def __init__(self, automaton: Automaton) -> None:
        terminals = automaton.tables.terminals.values()
        self._automaton = automaton
        self.has_json = any(t.short in JSON_FIRST for t in terminals)
        self.marks = frozenset([t.canonical for t in terminals if t.short in SPELLED_VALUES])

    @cached_property
    def keys(self) -> dict[str, bool]:
        return survey(self._automaton).keys

    @cached_property
    def key_names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The `keys`, and those of the arguments of a call."""
        return frozenset(self.keys), frozenset([key for key, has_arguments in self.keys.items() if has_arguments])

    @cached_property
    def opens_bare(self) -> bool:
        return any(t.terminal.canonical.strip() in ("{", "[") for t in self._automaton.top_level_markers)

    @cached_property
    def call_key(self) -> re.Pattern[str]:
        """Finds a JSON key that only calls have, in any quotes."""
        key = "|".join(map(re.escape, self.keys)) or "(?!)"
        return re.compile(rf"""["'“„＂`]?(?:{key})["'”“＂`]?\s{{0,9}}[:：=]""")

    @cached_property
    def spellings(self) -> dict[str, frozenset[LeadingSpace]]:
        none = frozenset[LeadingSpace]()
        near = {mark: none for mark in self.marks if mistakes_allowed(mark)}
        for terminal in self._terminals:
            for spelling in marker_spellings(terminal):
                if mistakes_allowed(spelling):
                    near[spelling] = near.get(spelling, none) | {leading_space(terminal)}
        if any(t.canonical.strip() == TAG_END for t in self._automaton.tables.terminals.values()):
            near[TAG_END] = none
        return near

    @cached_property
    def marker(self) -> re.Pattern[str]:
        """Finds the next marker."""
        sources: dict[str, int] = {}
        firsts: dict[str, str] = {}
        for terminal in self._terminals:
            written = terminal.canonical.strip()
            lines = leading_space(terminal).lines
            lead, first = (f"(?:{lines}|)", BREAKS) if lines else ("", "")
            may_be_word = not terminal.first or "w" in terminal.first
            if not may_be_word or re.fullmatch(terminal.regex, "word") is None:
                sources[terminal.regex] = 1000 + len(terminal.regex)
                firsts[terminal.regex] = terminal.first
            if len(written) > PUNCTUATION_LENGTH:
                sources.setdefault(lead + re.escape(written), 500 + len(written))
                firsts.setdefault(lead + re.escape(written), first + written[0])
        if self.has_json:  # a bracket is an opening marker also where what makes it one has a mistake
            brackets = [t for t in self._automaton.top_level_markers if t.replaces and t.inserted.strip() in ("{", "[")]
            sources.update({step.terminal.regex: 1 for step in brackets})
            firsts.update({step.terminal.regex: step.terminal.first for step in brackets})
        ordered = sorted(sources, key=lambda source: -sources[source])
        pattern = "|".join([f"(?:{source})" for source in ordered]) or "(?!)"
        return re.compile(_by_first(ordered, firsts) if sources and all(firsts.values()) else pattern)

    @cached_property
    def _terminals(self) -> list[Terminal]:
        """The terminals that are looked for: markers that are more than punctuation, or stand outside of segments."""
        outside = {t.terminal.name for t in self._automaton.top_level_markers}
        terminals = list[Terminal]()
        for terminal in self._automaton.tables.terminals.values():
            written = terminal.canonical.strip()
            if terminal.short in FREE_TEXT | EMBEDDED_VALUES or not terminal.short.startswith("_"):
                continue
            if len(written or terminal.regex) <= PUNCTUATION_LENGTH and terminal.name not in outside:
                continue
            if not (self.has_json and _is_json_key(terminal)):
                terminals.append(terminal)
        return terminals

    def _last_in(self, text: str, start: int, end: int) -> Token | None:
        """The marker behind a line break within one that ends with it: what is before it may be the end of a value."""
        at = text.find("\n", start + 1, end)
        match = None if at < 0 or text[start].isspace() else self.marker.match(text, at)
        return None if match is None or text[match.end() : end].strip() else Token(at, match.end())

    def tokens(self, text: str, limit: int) -> tuple[list[Token], NearMarkers] | None:
        """The tokens of a text, and the near misses in it; None if there are more than `limit` tokens."""
        lexed: list[Token] = []
        for match in self.marker.finditer(text):
            if match.end() > match.start():
                if len(lexed) == limit:
                    return None
                lexed.append(Token(match.start(), match.end()))
                if (inner := self._last_in(text, *match.span())) is not None:
                    lexed.append(inner)
        solid = [(token.end - len(text[token.start : token.end].lstrip()), token.end) for token in lexed]
        near = without_parts(find_near(text, self.spellings), solid)
        begun = {token.start for token in lexed}
        for start, ends in near.items():
            if start not in begun and not ends.keys() <= self.marks:
                end = min([end for by_cost in ends.values() for end, _ in by_cost[:1]])
                leads = [lead.start(text, start) for written in ends for lead in self.spellings[written]]
                lexed.append(Token(min(leads, default=start), end, True))
        if self.opens_bare:
            begun = {token.start for token in lexed}
            for match in _BRACKET.finditer(text):
                at = match.start(1)
                if at not in begun and self.call_key.search(text, at, at + _NEAR_KEY):
                    lexed.append(Token(at, at + 1, True))
        return sorted(lexed), near


@lru_cache(maxsize=256)
def marker_lexer(automaton: Automaton) -> MarkerLexer:
    """The marker lexer of a format."""
    return MarkerLexer(automaton)


def _by_first(sources: list[str], firsts: dict[str, str]) -> str:
    """The alternatives, those that may begin with white space or a quote apart from all others.

    Much of a text is white space and quotes, with which few markers begin.
    """
    all_chars = {*"".join(firsts.values())}
    spaces = {char for char in all_chars if char.isspace()}
    tried: list[str] = []
    for chars in (spaces, all_chars & {'"'}, all_chars - spaces - {'"'}):
        alternatives = [f"(?:{source})" for source in sources if not chars.isdisjoint(firsts[source])]
        tried += [f"(?=[{re.escape(''.join(sorted(chars)))}])(?:{'|'.join(alternatives)})"] if alternatives else []
    return f"(?=[{re.escape(''.join(sorted(all_chars)))}])(?:{'|'.join(tried)})"


def _is_json_key(terminal: Terminal) -> bool:
    """Is a marker a key of a JSON object?"""
    written = terminal.canonical.strip() or next(iter(terminal.spellings), "")
    return (written.startswith('"') and written.endswith(":")) or terminal.regex.startswith('"(?:')


def token_starts(tokens: list[Token], text: str) -> dict[int, Token]:
    """The tokens by where they start, intact ones before near misses; white space before a marker may be part of it.

    A token that is nothing but white space does not start behind all of it: there it would be empty, and a reader that
    drops it would not go on.
    """
    ordered = sorted(tokens, key=lambda token: not token.is_near)
    starts: dict[int, Token] = {}
    for token in ordered:
        starts[token.start] = token
        behind = token.end - len(text[token.start : token.end].lstrip())
        for at in (token.start + 1, behind):
            if token.start < at <= behind and at < token.end:
                starts[at] = token
    return starts


@lru_cache(maxsize=4096)
def is_closed(config: Config) -> bool:
    """Is nothing open in a configuration, apart from a section of calls?"""
    nodes = config.automaton.tables.nodes
    return not any(nodes[state] for state in config.stack)
