"""Reads a text by the forms of a constraint, character by character."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from .automata import Dfa, matching
from .char_sets import CharSet, char_set, of_text
from .forms import Choice, Form, FreeText, Grammar, Literal, Pattern, Repeat, Rule, Seq
from .free_text import text_automaton

#: What is still to be read: a form, and what comes behind it.
_Rest: TypeAlias = "tuple[Form, _Rest] | None"


class _Place(NamedTuple):
    """A place in a form that reads characters: the offset in a literal, or the state of an automaton."""

    form: Form
    at: int
    rest: _Rest


@lru_cache(maxsize=2048)
def dfa_of(form: FreeText | Pattern) -> Dfa:
    """The automaton of a form that reads characters."""
    return text_automaton(form) if isinstance(form, FreeText) else matching(form.regex)


class Matcher:
    """The state of reading one text. It never changes: `advance` gives the next one."""

    def __init__(self, grammar: Grammar, places: frozenset[_Place] | None = None, *, may_end: bool = False) -> None:
        self._grammar, self._may_end = grammar, may_end
        if places is None:
            found, self._may_end = self._open([(grammar.root, None)])
            places = frozenset(found)
        self._places = places

    @property
    def may_end(self) -> bool:
        """May the text end here?"""
        return self._may_end

    def allowed(self) -> CharSet:
        """The characters that may come next."""
        return char_set([one for place in self._places for chars, _ in _steps(place) for one in chars])

    def advance(self, char: str) -> Matcher | None:
        """The state behind a character; None if it is refused."""
        code = ord(char)
        reached: list[_Place] = []
        ended: list[_Rest] = []
        for place in self._places:
            for chars, target in _steps(place):
                if not any(low <= code <= high for low, high in chars):
                    continue
                if target >= 0:
                    reached.append(place._replace(at=target))
                if _is_over(place.form, target):
                    ended.append(place.rest)
        opened, may_end = self._open(ended)
        places = frozenset([*reached, *opened])
        if not places and not may_end:
            return None
        return Matcher(self._grammar, places, may_end=may_end)

    def reads(self, text: str) -> bool:
        """Is a text one that the constraint lets a model write, from here to its end?"""
        state: Matcher | None = self
        for char in text:
            state = state.advance(char)
            if state is None:
                return False
        return state.may_end

    def _open(self, rests: Iterable[_Rest]) -> tuple[list[_Place], bool]:
        """The places that read the next character, and whether the text may end."""
        places: list[_Place] = []
        may_end = False
        waiting = list(rests)
        seen = set[_Rest]()
        while waiting:
            rest = waiting.pop()
            if rest in seen:
                continue
            seen.add(rest)
            if rest is None:
                may_end = True
                continue
            form, behind = rest
            if isinstance(form, Literal):
                (waiting.append(behind) if not form.text else places.append(_Place(form, 0, behind)))
            elif isinstance(form, (FreeText, Pattern)):
                places.append(_Place(form, 0, behind))
                waiting += [behind] if dfa_of(form).accepts[0] else []
            elif isinstance(form, Rule):
                waiting.append((self._grammar.rules[form.name], behind))
            elif isinstance(form, Seq):
                for part in reversed(form.parts):
                    behind = (part, behind)
                waiting.append(behind)
            elif isinstance(form, Choice):
                waiting += [(option, behind) for option in form.options]
            else:
                waiting += _repeated(form, behind)
        return places, may_end


def _repeated(form: Repeat, behind: _Rest) -> list[_Rest]:
    found: list[_Rest] = [behind] if form.low == 0 else []
    if form.high is None or form.high > 0:
        again = Repeat(form.part, max(form.low - 1, 0), None if form.high is None else form.high - 1)
        found.append((form.part, (again, behind)))
    return found


def _steps(place: _Place) -> Iterable[tuple[CharSet, int]]:
    """The characters that a place reads, each with the place behind it; -1 behind a literal."""
    if isinstance(place.form, Literal):
        text = place.form.text
        return ((of_text(text[place.at]), place.at + 1 if place.at + 1 < len(text) else -1),)
    assert isinstance(place.form, (FreeText, Pattern))
    return dfa_of(place.form).steps[place.at]


def _is_over(form: Form, target: int) -> bool:
    if isinstance(form, Literal):
        return target < 0
    assert isinstance(form, (FreeText, Pattern))
    return dfa_of(form).accepts[target]
