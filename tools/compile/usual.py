"""The usual ways from one value of a response to the next, as the format writes them: each becomes one expression.

A way is traced through the automaton, over texts that `render` wrote. It begins behind an embedded value, or where free
text ends, and leads through markers and the white space between them. Its expression matches exactly what it was traced
over, apart from names. So a text that is matched takes this way; any other one takes the states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

import regex

from outspoken.engine.text_buffer import BLANK
from outspoken.grammar.automaton import Config, Transition
from outspoken.grammar.matchers import NamedOperation, branch_operations, named_operations
from outspoken.notations.coerce import ANY
from outspoken.notations.interface import notation_of
from outspoken.patterns.spellings import without_conditions

from .markers import Markers, Shared, regex_of

#: The depth to which values are read.
_MAX_DEPTH = 128
#: A string without escapes. One that is a name is a part of a way; the group of its step is within its quotes.
_PLAIN_STRING = r'"([^"\\\x00-\x1f]*)"'
_string = re.compile(f"[{BLANK}]*(?P<string>{_PLAIN_STRING})")
#: What depends on characters that a match does not hold, apart from look-arounds.
_ANCHOR = re.compile(r"\\[bBZ]|[$^](?!\\|[^\[]*\])")


class Step(NamedTuple):
    """A marker or a string that was read from a start to an end, behind white space from `pos` on.

    `free` is the free text that this white space stands for, if any. Instead of the marker, any of `others` may stand
    at its start, and any of `all` at the `places` in the white space.
    """

    transition: Transition
    free: Transition | None
    pos: int
    start: int
    end: int
    others: Sequence[Transition] = ()
    all: Sequence[Transition] = ()
    places: Iterable[int] = ()

    @property
    def is_string(self) -> bool:
        return self.transition.terminal.short == "JSON_STRING"

    @property
    def regex(self) -> str:
        return _PLAIN_STRING if self.is_string else regex_of(self.transition.terminal)

    @property
    def varies(self) -> bool:
        """Is it written in more than one way?"""
        return self.is_string or not self.transition.terminal.canonical

    @property
    def operations(self) -> list[NamedOperation]:
        """What it does; the groups of the operations say nothing."""
        if not self.is_string:
            return branch_operations(self.transition, 0)
        return [("embedded_string", "", 0), *named_operations(self.transition)]


class Way(NamedTuple):
    """What was read from one value to the next, which begins in the configuration `end`, or to the end of the text.

    `source` is the expression, but for what may end it; its `groups` are the steps that need one.
    """

    source: str
    tail: str
    steps: list[Step]
    groups: list[Step]
    end: Config

    @property
    def ends_text(self) -> bool:
        return self.tail == r"\Z"

    @property
    def never(self) -> Way:
        """The same way with an expression that matches nothing."""
        return self._replace(source="(?!)" + "()" * len(self.groups), tail="")

    def is_within(self, top_level: Config) -> bool:
        """Does it lead through no text between segments?"""
        return not self.ends_text and not any(step.free and step.free.target is top_level for step in self.steps)


class Ways:
    """The usual ways, by the configuration in which they begin: that behind an embedded value, or that of free text.

    The latter begin where the text ends.
    """

    def __init__(self, shared: Shared, texts: Iterable[str]) -> None:
        self._shared = shared
        self._counts = Counter[tuple[Config, str]]()
        self._ways: dict[tuple[Config, str], Way] = {}
        for text in texts:
            self._trace(text)
        self._kept = [key for key, count in self._counts.most_common() if count > 1]

    def of(self, config: Config) -> list[Way]:
        """The ways that begin in a configuration, the most frequent ones first, but behind those that they begin."""
        ordered: list[Way] = []
        for way in [self._ways[key] for key in self._kept if key[0] is config]:
            whole = way.source + way.tail * way.ends_text
            begun = (at for at, other in enumerate(ordered) if whole != other.source and whole.startswith(other.source))
            ordered.insert(next(begun, len(ordered)), way)
        return ordered

    def _add(self, begin: Config | None, steps: list[Step], end: Config, text: str, *, ends_text: bool = False) -> None:
        if begin is None or not steps:
            return
        # the last one tells which way was taken, and the one before free text where that begins
        ends = {id(step) for step, after in pairwise(steps) if after.free is not None} | {id(steps[-1])}
        groups = [step for step in steps if id(step) in ends or step.operations or step.free is not None]
        source = _source_of(steps, groups, text, ends_text=ends_text)
        if source is not None:
            # white space before a marker or a value is skipped, if it may not be a part of that
            firsts = [step.terminal.first for step in end.markers]
            is_kept = end.free is not None or not all(firsts) or any(map(str.isspace, chain(*firsts)))
            tail = r"\Z" if ends_text else "" if is_kept else self._shared.automaton.tables.ignore
            self._counts[begin, source + tail] += 1
            self._ways[begin, source + tail] = Way(source, tail, steps, groups, end)

    def _trace(self, text: str) -> None:
        """Find the ways in a text, up to what no way leads through, such as code. None leads on from `begin` None."""
        config, pos, steps = self._shared.automaton.start, 0, list[Step]()
        begin: Config | None = None
        while True:
            free = config.free
            found = self._match(config, "leading" if free else "match", text, pos)
            if free is not None and found is None:
                if free.terminal.short not in ("TEXT", "REASONING", "ARG_VALUE"):
                    return
                starts = range(pos, len(text) + 1)
                found = next(filter(None, (self._match(free.target, "find", text, at) for at in starts)), None)
                end = len(text) if found is None else found[1].start()
                if not steps or free.terminal.short == "ARG_VALUE" or text[pos:end].strip():
                    self._add(begin, steps, config, text)
                    pos = self._end_of(free, text, pos, found)
                    begin, steps, free = config if pos >= 0 else None, [], None
                elif free.target is self._shared.automaton.top_level:
                    self._add(begin, steps[:], config, text)  # where one segment is read, it ends here
            else:
                free = None
            if found is not None:
                step = self._step(config, free, text, pos, *found)
                if begin is not None:
                    steps.append(step)
                config, pos = step.transition.target, step.end
            elif pos == len(text) or config.free is not None:
                if pos == len(text) and (config.free is None or config.free.terminal.short == "TEXT"):
                    self._add(begin, steps, config, text, ends_text=True)
                return
            else:
                string, written = config.embedded[0] if config.embedded else None, _string.match(text, pos)
                is_name = string is not None and (string.terminal.short, string.role) == ("JSON_STRING", "tool_name")
                if is_name and string is not None and written is not None and steps:
                    others = self._shared.markers(config, "match").steps
                    steps.append(Step(string, None, pos, *written.span("string"), others))
                    config, pos = string.target, written.end()
                    continue
                self._add(begin, steps, config, text)
                value = self._value(config, text, pos)
                if value is None:
                    return
                (config, pos), steps = value, []
                begin = config

    def _end_of(self, free: Transition, text: str, pos: int, found: tuple[Markers, re.Match[str]] | None) -> int:
        """Where a way may begin at the end of free text: where the search for a marker first looks; -1 for nowhere.

        White space before the marker is none of what is kept of the text.
        """
        if found is None:
            return -1
        markers, at = found[0], found[1].start()
        if markers.chars is None:
            return at
        spaces, chars = markers.chars
        stop = next(i for i in range(pos, len(text)) if text[i] in chars)
        first = stop
        while first > pos and text[first - 1] in spaces:
            first -= 1
        is_kept = free.terminal.short not in self._shared.automaton.trims or named_operations(free)
        is_blank = first < at <= stop and not text[first:at].strip(BLANK)
        return first if first == at or (is_blank and not is_kept) else -1

    def _match(self, config: Config, kind: str, text: str, at: int) -> tuple[Markers, re.Match[str]] | None:
        markers = self._shared.markers(config, kind)
        match = re.compile(markers.source).match(text, at) if markers.steps else None
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

    def _step(
        self, config: Config, free: Transition | None, text: str, pos: int, markers: Markers, match: re.Match[str]
    ) -> Step:
        """The marker that was read at a place."""
        assert match.lastindex is not None
        steps, number, (start, end) = markers.steps, match.lastindex - 1, match.span(match.lastindex)
        before, places = steps[:number], range(pos, start)
        if free is not None:
            leading = self._shared.markers(config, "leading").steps
            before, steps = [*leading, *before], [*steps, *leading]
        elif markers.lead:  # white space before a marker is skipped as far as it goes
            blank = re.compile(markers.lead).match(text, pos)
            places = range(start + 1, blank.end() + 1) if blank is not None else ()
        return Step(markers.steps[number], free, pos, start, end, before, steps, places)


def _source_of(steps: list[Step], groups: list[Step], text: str, *, ends_text: bool) -> str | None:
    """The expression of a way through some steps; None if none matches just that."""
    source = ""
    for number, step in enumerate(steps):
        known = next((other.start for other in steps[number:] if other.varies), steps[-1].end)
        if any(_may_stand(regex_of(other.terminal), text[at:known]) for other in step.all for at in step.places):
            return None
        behind = steps[number + 1] if number + 1 < len(steps) else None
        written = _written(step, text, known, behind, may_end=behind is None and not ends_text)
        if written is None:
            return None
        source += re.escape(text[step.pos : step.start])
        if not step.is_string:
            written = f"({written})" if step in groups else f"(?:{written})" if "|" in written else written
        source += written
    return source


def _written(step: Step, text: str, known: int, behind: Step | None, *, may_end: bool) -> str | None:
    """The expression of a step in texts that are the same up to `known`; None if it may end elsewhere.

    The last one `may_end` anywhere: what follows is read by the states.
    """
    piece, written = text[step.start : known], text[step.start : step.end]
    firsts = step.transition.terminal.first
    others = [
        regex_of(other.terminal)
        for other in step.others
        if not firsts or not other.terminal.first or not set(firsts).isdisjoint(other.terminal.first)
        if _may_stand(regex_of(other.terminal), piece)
    ]
    excluded = f"(?!{'|'.join(others)})" if others else ""
    if step.is_string:
        return excluded + step.regex
    bare = without_conditions(step.regex, negative=True)
    if step.varies:
        following = text[step.end : step.end + 1]
        goes_on = behind is not None and following and re.fullmatch(bare, written + following)
        return None if goes_on else excluded + step.regex
    sizes = [size for size in _sizes(bare, piece) if size != len(written)]
    if not sizes and bare == step.regex and not _ANCHOR.search(bare):
        return excluded + re.escape(written)
    if may_end:
        return excluded + step.regex
    after = f"{re.escape(text[step.end : behind.start])}(?:{behind.regex})" if behind is not None else ""
    may_differ = any(size > len(written) or re.match(after, piece[size:]) for size in sizes)
    return None if may_differ else excluded + step.regex


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
