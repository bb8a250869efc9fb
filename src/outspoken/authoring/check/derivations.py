"""Rules as their author wrote them, with their places, and derivations as trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from outspoken.authoring.shared.grammar_source import QUOTED, Definition, Source
from outspoken.grammar.tables import END
from outspoken.grammar.vocabulary import short

from .counterexamples import Read
from .lalr import Item, LalrAutomaton, Production

#: The most alternatives of a repetition, and symbols of a rule, that are shown.
_MOST_ALTERNATIVES, _MOST_SYMBOLS = 3, 7


@dataclass(frozen=True)
class Node:
    """A node of a derivation: a rule with its parts, or a terminal with its text."""

    name: str
    parts: tuple[Node, ...] = ()
    text: str = ""
    is_repetition: bool = False

    def lines(self, indent: str = "  ", within: str = "") -> Iterator[str]:
        """The derivation as an indented tree. A repetition is one node."""
        if not (self.is_repetition and self.name == within):
            yield f"{indent}{self.name}" + (f"  {_quoted(self.text)}" if self.text else "")
            indent += "  "
        for part in self.parts:
            yield from part.lines(indent, self.name if self.is_repetition else "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') + '"'


@dataclass(frozen=True)
class SourcePlace:
    """A span in a grammar file."""

    source: Source
    span: tuple[int, int]

    @property
    def line(self) -> int:
        """The number of its first line, counted from 1."""
        return self.source.text.count("\n", 0, self.span[0]) + 1


class RuleText:
    """Describes the productions of a parser for the grammar in `source`. `texts` are the texts of the terminals."""

    def __init__(self, source: Source, automaton: LalrAutomaton, texts: Mapping[str, str]) -> None:
        self._source, self._automaton, self._texts = source, automaton, texts

    @cached_property
    def _repetitions(self) -> dict[str, list[Production]]:
        """The repeated productions by the name that Lark gave to the repetition."""
        found: dict[str, list[Production]] = {}
        for production in self._automaton.productions:
            if production.is_repetition and production.name not in production.symbols:
                found.setdefault(production.name, []).append(production)
        return found

    def symbol(self, name: str) -> str:
        """A symbol as the author wrote it."""
        if name not in self._repetitions:
            return short(name)
        bodies = [" ".join(map(self.symbol, p.symbols)) for p in self._repetitions[name]]
        more = [*bodies[: _MOST_ALTERNATIVES - 1], "..."] if len(bodies) > _MOST_ALTERNATIVES else bodies
        inner = " | ".join(more)
        return f"{inner}+" if inner.isidentifier() else f"({inner})+"

    def item(self, item: Item) -> str:
        """A production with a dot at the current position."""
        production = self._automaton.productions[item.production]
        symbols = [self.symbol(name) for name in production.symbols]
        before, after = symbols[: item.read], symbols[item.read :]
        before = ["...", *before[-_MOST_SYMBOLS:]] if len(before) > _MOST_SYMBOLS + 1 else before
        after = [*after[:_MOST_SYMBOLS], "..."] if len(after) > _MOST_SYMBOLS + 1 else after
        return f"{short(production.owner)}: {' '.join([*before, '.', *after])}"

    def owner(self, number: int) -> str:
        """The rule that contains a production."""
        return short(self._automaton.productions[number].owner)

    def next_terminal(self, name: str) -> str:
        """A terminal as what comes next."""
        return "the text ends" if name == END else f"`{short(name)}` comes next"

    def text(self, reads: tuple[Read, ...]) -> str:
        """The text of terminals."""
        return "".join([self._texts.get(read.terminal, "") for read in reads])

    def place(self, item: Item) -> SourcePlace | None:
        """The source of an item: its next symbol, or the whole production if it is complete."""
        production = self._automaton.productions[item.production]
        found = self._source.resolve(production.owner)
        if found is None:
            return None
        source, definition = found
        spans = _aligned(source, definition, production, set(self._repetitions))
        if item.read < len(production.symbols) and spans.get(item.read):
            return SourcePlace(source, spans[item.read])
        if spans:
            return SourcePlace(source, (min(spans.values())[0], max(spans.values())[1]))
        return SourcePlace(source, source.find(short(definition.name), *definition.span) or definition.span)

    def derivation(self, reads: tuple[Read, ...]) -> list[Node]:
        """The derivation of a text: one tree if it is complete, otherwise the trees so far."""
        made: list[Node] = []
        for read in reads:
            for number in read.ended:
                production = self._automaton.productions[number]
                size = len(production.symbols)
                parts = tuple(made[len(made) - size :]) if size else ()
                del made[len(made) - size :]
                name = self.symbol(production.name) if production.is_repetition else short(production.name)
                made.append(Node(name, parts, is_repetition=production.is_repetition))
            if read.terminal != END:
                made.append(Node(short(read.terminal), text=self._texts.get(read.terminal, "")))
        return made


def _aligned(
    source: Source, definition: Definition, production: Production, repetitions: set[str]
) -> dict[int, tuple[int, int]]:
    """The spans of the symbols of a production on the right side of a rule, by their number.

    Lark does not record them. Of all places where the names follow each other, this takes the one that skips the fewest
    required names, and of these the shortest.
    """
    wanted = [(i, short(name)) for i, name in enumerate(production.symbols) if name not in repetitions]
    words = _rule_text(source, definition)
    best: tuple[Any, dict[int, tuple[int, int]]] | None = None
    for first, word in enumerate(words):
        found: dict[int, _Word] = {}
        at = first
        for i, name in wanted:
            at = next((n for n in range(at, len(words)) if words[n].name == name), len(words))
            if at == len(words) or (not found and at != first) or words[at].alternative != word.alternative:
                break
            found[i] = words[at]
            at += 1
        if not found or len(found) < len(wanted):
            continue
        outside = production.is_repetition and not all(one.optional for one in found.values())
        there = [one for one in words if one.alternative == word.alternative and not one.optional]
        missed = 0 if production.is_repetition else sum(one not in found.values() for one in there)
        spans = {i: one.span for i, one in found.items()}
        price = outside, missed, max(spans.values())[1] - min(spans.values())[0]
        if best is None or price < best[0]:
            best = price, spans
    return best[1] if best else {}


class _Word(NamedTuple):
    """A name on the right side of a rule: the number of its alternative, and whether it is optional."""

    name: str
    span: tuple[int, int]
    alternative: int
    optional: bool


def _rule_text(source: Source, definition: Definition) -> list[_Word]:
    found: list[_Word] = []
    at = definition.span[1] - len(definition.body)
    depth = alternative = 0
    for name, span in source.words(definition):
        between = QUOTED.sub("", source.bare[at : span[0]])
        for char in between:
            depth += (char in "([") - (char in ")]")
            alternative += char == "|" and not depth
        at = span[1]
        found.append(_Word(name, span, alternative, depth > 0 or source.bare[at : at + 1] in ("?", "*", "+")))
    return found
