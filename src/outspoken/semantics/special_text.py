"""Special tokens of a model: text that only looks like one is hidden, so that it is text to every part of the parser.

Such text is made of other characters while it is read, as many, and is itself again in all that leaves the library. So
it is neither a marker nor a marker with a mistake, in prose, in reasoning and in values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import copy
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import BaseModel

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.near_openers import written_forms
from outspoken.grammar.value_markup import closing_forms, opening_forms
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import is_distinct_marker

_T = TypeVar("_T")

#: Where certain characters of a text come from special tokens: pairs of a start and an end.
Spans = Iterable[tuple[int, int]]

#: Hidden characters lie in a plane of Unicode that has none.
_PLANE = 0xD0000
_HIDDEN = lazy_pattern("[\U000d0000-\U000dffff]")
#: The segments that are calls.
_CALLS = frozenset({"tool_call", "action", "envelope", "payload"})


class SpecialText:
    """One response whose special tokens are known. `is_given` says whether they are, for the text so far."""

    is_given: bool | None = None

    def __init__(self, format: str | None, tokens: tuple[str, ...]) -> None:
        self._source = format, tokens
        #: the end of the text that may become a token, and the special tokens in it
        self.held = ""
        self._spans: list[tuple[int, int]] = []
        self._length = 0
        #: where text is hidden
        self.places: list[tuple[int, int]] = []

    def hide(self, text: str, spans: Spans | None, *, final: bool = False) -> str:
        """A chunk with the end of the last one, as the parser reads it; its own end may be held."""
        if text:
            if self.is_given not in (None, spans is not None):
                raise ValueError("`special` is for every chunk of a response, or for none")
            self.is_given = spans is not None
        if not self.is_given:
            return text
        self.tokens, whole, cut_off = _searches(*self._source)
        added, shift = [*(spans or ())], len(self.held)
        if bad := next(((start, end) for start, end in added if not 0 <= start <= end <= len(text)), None):
            raise ValueError(f"`special` has the span {bad}, which is not within its {len(text)} characters")
        text = self.held + _HIDDEN.sub("\ufffd", text)
        spans = sorted([*self._spans, *[(shift + start, shift + end) for start, end in added]], reverse=True)
        kept, pieces, done, at, cut = spans[:], list[str](), 0, 0, len(text)
        search = whole if final else cut_off
        while match := search.search(text, at):
            while spans and spans[-1][1] <= match.start():
                spans.pop()
            if spans and spans[-1][0] <= match.start():
                at = spans[-1][1]
                continue
            if match["open"] is not None:
                cut = match.start()
                break
            pieces += text[done : match.start()], _hidden(match[0])
            done = at = match.end()
            self.places.append((self._length + match.start(), self._length + at))
        pieces.append(text[done:cut])
        self.held, self._spans = text[cut:], [(max(start - cut, 0), end - cut) for start, end in kept if end > cut]
        self._length += cut
        return "".join(pieces)

    def shown(self, value: _T) -> _T:
        """A result, or a part of one, with the text that was hidden."""
        return shown(value) if self.places else value

    def in_text(self, segments: Iterable[Any]) -> tuple[int, int] | None:
        """Where the first hidden text stands outside of calls; None if there is none."""
        calls = [segment.span for segment in segments if segment.kind in _CALLS]
        return next((at for at in self.places if not any(start <= at[0] < end for start, end in calls)), None)

    def is_in(self, text: str) -> bool:
        """Does a text that was read hold a special token?"""
        return any(token in text for token in self.tokens)

    def begins(self, format: str, text: str, at: int) -> bool | None:
        """Does a special token stand at a place of a text, or before it, that opens a call there?

        None if calls of the format can begin without any.
        """
        openers = call_openers(registry.automaton(format), self.tokens)
        if openers is None or openers.behind.search(text, 0, at):
            return None if openers is None else True
        return any(self.is_in(found[0]) for one in openers.patterns if (found := one.match(text, at)))


@lru_cache(maxsize=64)
def _searches(format: str | None, tokens: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str], re.Pattern[str]]:
    """The tokens that are markers; what finds them in a text; and what also finds the beginning of one at its end."""
    marks = {token for token in tokens if is_distinct_marker(token.strip())}
    if format is not None:
        terminals = registry.automaton(format).tables.terminals.values()
        forms = {form for terminal in terminals for form in (terminal.canonical, *terminal.spellings)}
        patterns = [terminal.regex for terminal in terminals if terminal.short.startswith("_")]
        marks = {t for t in marks if any(t in form for form in forms) or any(re.match(one, t) for one in patterns)}
    whole, cut = _any_of(marks), _any_of(token[:end] for token in marks for end in range(1, len(token)))
    return tuple(sorted(marks)), re.compile(rf"(?P<open>(?!))|{whole}"), re.compile(rf"(?P<open>(?:{cut})\Z)|{whole}")


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(set(texts), key=len, reverse=True))) or "(?!)"


class CallOpeners(NamedTuple):
    """The markers with special tokens that calls of a format begin with, and what is text that stands behind one."""

    patterns: tuple[re.Pattern[str], ...]
    behind: re.Pattern[str]


@lru_cache(maxsize=64)
def call_openers(automaton: Automaton, tokens: tuple[str, ...]) -> CallOpeners | None:
    """The markers that calls begin with; None if calls can begin without special tokens."""
    plain, marked, waiting = dict[Config, list[Config]](), list[Transition](), list[Config]()
    for config in automaton.configs:
        for step in config.steps:
            if _has_token(step, tokens):
                marked.append(step)
                continue
            plain.setdefault(step.target, []).append(config)
            waiting += [config] if _begins_call(step) else []
    before_call = set[Config]()  # a call may begin behind these without another special token
    while waiting:
        if (config := waiting.pop()) not in before_call:
            before_call.add(config)
            waiting += plain.get(config, ())
    if automaton.start in before_call:
        return None
    terminals = [step.terminal for step in marked if _begins_call(step) or step.target in before_call]
    forms = {form for terminal in terminals for form in written_forms(terminal)}
    used = _any_of([*forms, *[token for token in tokens if any(token in form for form in forms)]])
    others = _any_of({*opening_forms(automaton)} - closing_forms(automaton))
    patterns = dict.fromkeys(terminal.regex for terminal in terminals)
    return CallOpeners(tuple(map(re.compile, patterns)), re.compile(rf"(?:{used})(?:{others}|[\s\[{{(\"'`])*\Z"))


def _has_token(step: Transition, tokens: tuple[str, ...]) -> bool:
    forms = written_forms(step.terminal)
    return bool(forms) and all(any(token in form for token in tokens) for form in forms)


def _begins_call(step: Transition) -> bool:
    return any(op == "begin" and not _CALLS.isdisjoint(kinds.split()) for op, kinds in step.after)


def _hidden(text: str) -> str:
    return "".join([chr(ord(c) + _PLANE) if ord(c) < 1 << 16 and not c.isspace() else c for c in text])


def shown(value: Any) -> Any:
    """A value with the text that was hidden in it."""
    if isinstance(value, str):
        return value if value.isascii() else _HIDDEN.sub(lambda match: chr(ord(match[0]) - _PLANE), value)
    if isinstance(value, dict):
        return {shown(key): shown(item) for key, item in cast("dict[Any, Any]", value).items()}
    if type(value) in (list, tuple):
        return type(value)(map(shown, value))
    if not isinstance(value, BaseModel) and not is_dataclass(value):
        return value
    revealed: Any = copy(value)
    fields: dict[str, Any] | None = getattr(revealed, "__dict__", None)
    if fields is not None:
        fields.update(shown(fields))
    return revealed
