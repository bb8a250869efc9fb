"""The usual ways from one value of a response to the next, as the format writes them: each becomes one expression.

A way is traced through the automaton, over texts that `render` wrote. It may lead through reasoning and text: that
before the first call, and the white space between calls. Its expression matches exactly what it was traced over, apart
from names and text without markers. So a text that is matched takes this way; any other one takes the states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import regex

from outspoken.grammar.automaton import Config, Transition
from outspoken.notations.coerce import ANY
from outspoken.notations.interface import notation_of
from outspoken.patterns.spellings import without_conditions

from .markers import SURROGATES, Branch, Markers, MarkerTree, Path, may_both_match
from .parts import Shared

#: The most ways of a format; how often one counts that leads through text; the depth to which values are read.
_MAX_WAYS, _TEXT_WEIGHT, _MAX_DEPTH = 24, 10, 128
#: What depends on characters that a match does not hold, apart from look-arounds.
_ANCHOR = re.compile(r"\\[bBZ]|[$^](?!\\|[^\[]*\])")


class Leg(NamedTuple):
    """A branch of markers that was read, behind free text if it was searched for: `free` leads to it.

    `source` matches both. It has a group for the branch, and groups for its tokens, numbered by those of the branch.
    `holds_text` tells whether there is free text that is kept; `is_fixed`, whether the branch ends nowhere else.
    """

    source: str
    branch: Branch
    tokens: dict[int, int]
    free: Transition | None
    holds_text: bool
    is_fixed: bool


class Way(NamedTuple):
    """What was read from one value to the next, which begins in the configuration `end`, or to the end of the text."""

    legs: tuple[Leg, ...]
    end: Config
    ends_text: bool

    @property
    def source(self) -> str:
        """The expression; its last group is empty."""
        return "".join([leg.source for leg in self.legs]) + (r"\Z()" if self.ends_text else "()")

    @property
    def groups(self) -> int:
        """How many groups the expression has."""
        return sum([len(leg.tokens) for leg in self.legs]) + 1


class Ways:
    """The usual ways, by the configuration in which they begin: that of the start, that behind an embedded value, or
    that of free text which is a value, from its end on."""

    def __init__(self, shared: Shared, texts: Iterable[str]) -> None:
        self._shared = shared
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._counts = Counter[tuple[Config, str]]()
        self._ways: dict[tuple[Config, str], Way] = {}
        for text in texts:
            self._trace(text)
        often = [key for key, count in self._counts.items() if count > 1]
        self._kept = sorted(often, key=self._rank, reverse=True)[:_MAX_WAYS]

    def of(self, config: Config) -> list[Way]:
        """The ways that begin in a configuration, the most frequent ones first."""
        return [self._ways[key] for key in self._kept if key[0] is config]

    def _rank(self, key: tuple[Config, str]) -> int:
        """How much a way is worth: those through text before the first call are rare among the texts."""
        begins_with_text = key[0] is self._shared.automaton.start and any(
            leg.holds_text for leg in self._ways[key].legs
        )
        return self._counts[key] * (_TEXT_WEIGHT if begins_with_text else 1)

    def _add(self, begin: Config, legs: list[Leg], end: Config, *, ends_text: bool = False) -> None:
        way = Way(tuple(legs), end, ends_text)
        if legs and all(leg.is_fixed for leg in (legs if ends_text else legs[:-1])):
            self._counts[begin, way.source] += 1
            self._ways[begin, way.source] = way

    def _trace(self, text: str) -> None:
        """Find the ways in a text, up to what no way leads through, such as code."""
        config = begin = self._shared.automaton.start
        pos, legs = 0, list[Leg]()
        while True:
            free = config.free
            found = self._match(config, "leading" if free else "match", text, pos)
            if found is not None:
                free = None
            elif free is not None:
                starts = range(pos, len(text) + 1)
                found = next(filter(None, (self._match(free.target, "find", text, at) for at in starts)), None)
            if free is not None and free.terminal.short == "ARG_VALUE" and found is not None:
                self._add(begin, legs, config)
                begin, legs, pos, free = config, [], found[1].start(), None
            if free is not None and free.terminal.short not in ("TEXT", "REASONING"):
                return
            if found is not None:
                leg = self._leg(config, free, text, pos, *found)
                if leg is None:
                    return
                legs.append(leg)
                config, pos = leg.branch.target, found[1].end()
            elif pos == len(text) or free is not None:
                if pos == len(text) and (free is None or free.terminal.short == "TEXT"):
                    self._add(begin, legs, config, ends_text=True)
                return
            else:
                self._add(begin, legs, config)
                value = self._value(config, text, pos)
                if value is None:
                    return
                (begin, pos), legs = value, []
                config = begin

    def _match(self, config: Config, kind: str, text: str, at: int) -> tuple[Markers, re.Match[str]] | None:
        markers = self._shared.markers(config, kind)
        if not markers.trees:
            return None
        source = markers.whole().source
        pattern = self._patterns.get(source) or self._patterns.setdefault(source, re.compile(source))
        match = pattern.match(text, at)
        return None if match is None else (markers, match)

    def _value(self, config: Config, text: str, pos: int) -> tuple[Config, int] | None:
        """The configuration behind an embedded value, and where that ends."""
        if blank := re.compile(self._shared.automaton.tables.ignore).match(text, pos):
            pos = blank.end()
        for step in config.embedded:
            value = notation_of(step.terminal).read_at(text, pos, _MAX_DEPTH, True, ANY)
            if value is not None:
                return step.target, value[1]
        return None

    def _leg(
        self, config: Config, free: Transition | None, text: str, pos: int, markers: Markers, match: re.Match[str]
    ) -> Leg | None:
        """What was read at a place; None if no expression matches just that."""
        assert match.lastindex is not None
        path, begin, ignored = markers.paths[match.lastindex], match.start(), self._shared.automaton.tables.ignore
        marks = _marks(markers, path, text, begin, ignored)
        source, tokens, at, is_fixed = "(", {0: 1}, begin, True
        for number, mark in enumerate(marks):
            if not is_fixed:
                return None
            known = next((other.start for other in marks[number:] if not other.tree.terminal.canonical), match.end())
            behind = f"{ignored}(?:{marks[number + 1].tree.regex})" if mark is not marks[-1] else ""
            written, is_fixed = _written(mark, text, known, behind)
            source += re.escape(text[at : mark.start])
            if mark.tree.token:
                tokens[mark.tree.token] = len(tokens) + 1
            source += f"({written})" if mark.tree.token else written
            at = mark.end
        further = [tree.regex for tree in marks[-1].tree.following]
        source += re.escape(text[at : match.end()]) + (f"(?!{ignored}(?:{'|'.join(further)}))" if further else "") + ")"
        before, words = text[pos:begin], text[pos:begin].strip()
        lead = self._lead(config, markers) if words else ""
        first, _, last = before.partition(words) if words else (before, "", "")
        known = next((mark.start for mark in marks if not mark.tree.terminal.canonical), match.end())
        earlier = [(tree, at) for at in range(begin - len(last or first), begin) for tree in markers.trees]
        if free is not None:
            earlier += [(tree, pos) for tree in self._shared.markers(config, "leading").trees if not words]
        if lead is None or any(_may_stand(tree.regex, text[at:known]) for tree, at in earlier):
            return None
        source = re.escape(first) + lead + re.escape(last) + source
        holds_text = bool(words) or (free is not None and free.terminal.short not in self._shared.automaton.trims)
        return Leg(source, markers.branches[path], tokens, free, holds_text, is_fixed)

    def _lead(self, config: Config, markers: Markers) -> str | None:
        """The expression of text in which no marker begins, and that begins as no marker before text does."""
        firsts = [tree.terminal.first for tree in markers.trees]
        chars = markers.chars[1] if markers.chars else "".join(firsts)
        leading = [tree.terminal.first for tree in self._shared.markers(config, "leading").trees]
        if not all([*firsts, *leading]) or any(map(str.isspace, chars)):
            return None
        return rf"(?![\s{_escaped(''.join(leading))}])[^{_escaped(chars)}]*(?<!\s)"


def _escaped(chars: str) -> str:
    """Characters as a part of a class, without white space."""
    return re.escape("".join(sorted({char for char in chars if not char.isspace()})))


class _Mark(NamedTuple):
    """A marker that was read from a start to an end, and the markers that are tried before it."""

    tree: MarkerTree
    before: list[MarkerTree]
    start: int
    end: int


def _marks(markers: Markers, path: Path, text: str, at: int, ignored: str) -> list[_Mark]:
    """The markers of a path through trees that were read at a place."""
    marks: list[_Mark] = []
    trees, blank = markers.trees, markers.lead
    for index in path:
        match = re.compile(f"{blank}({trees[index].regex})").match(text, at)
        assert match is not None
        marks.append(_Mark(trees[index], trees[:index], *match.span(1)))
        at, trees, blank = match.end(), trees[index].following, ignored
    return marks


def _written(mark: _Mark, text: str, known: int, following: str) -> tuple[str, bool]:
    """The expression of a marker in texts that are the same up to `known`, and whether it ends nowhere else.

    `following` is the expression of the marker behind it.
    """
    tree, piece, written = mark.tree, text[mark.start : known], text[mark.start : mark.end]
    others = [other.regex for other in mark.before if may_both_match(tree, other) and _may_stand(other.regex, piece)]
    excluded = f"(?!{'|'.join(others)})" if others else ""
    bare = without_conditions(tree.regex, negative=True)
    if not tree.terminal.canonical:
        behind = text[mark.end : mark.end + 1]
        return excluded + tree.regex.replace(SURROGATES, ""), not (behind and re.fullmatch(bare, written + behind))
    others = [size for size in _sizes(bare, piece) if size != len(written)]
    if not others and bare == tree.regex and not _ANCHOR.search(bare):
        return excluded + re.escape(written), True
    may_end = [size for size in others if size > len(written) or not following or re.match(following, piece[size:])]
    return f"{excluded}(?:{tree.regex})", not may_end


@cache
def _sizes(pattern: str, piece: str) -> list[int]:
    """The sizes that a match may have where a text begins with a piece; one is greater if it may go on behind that."""
    compiled = regex.compile(pattern)
    sizes = [size for size in range(len(piece) + 1) if compiled.fullmatch(piece, 0, size)]
    following = {*map(chr, range(9, 127)), *pattern}
    goes_on = any(compiled.fullmatch(piece + char, partial=True) for char in following)
    return [*sizes, len(piece) + 1] if goes_on else sizes


@cache
def _may_stand(pattern: str, piece: str) -> bool:
    """May a marker stand where a text begins with a piece?"""
    return regex.compile(without_conditions(pattern)).match(piece, partial=True) is not None
