"""Reads a text by the forms of a constraint, character by character."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from .automata import Dfa, matching
from .forms import Choice, Form, FreeText, Grammar, Literal, Pattern, Repeat, Rule, Seq
from .free_text import text_automaton
from .plain_patterns import escape

#: What is still to be read: a form, and what comes behind it.
_Rest: TypeAlias = "tuple[Form, _Rest] | None"


class _Place(NamedTuple):
    """A place in a form that reads characters: a state of its automaton, and what comes behind it."""

    form: Literal | FreeText | Pattern
    at: int
    rest: _Rest


@lru_cache(maxsize=2048)
def dfa_of(form: Literal | FreeText | Pattern) -> Dfa:
    """The automaton of a form that reads characters."""
    if isinstance(form, FreeText):
        return text_automaton(form)
    return matching(escape(form.text) if isinstance(form, Literal) else form.regex)


def reads(grammar: Grammar, text: str) -> bool:
    """Is a text one that a constraint lets a model write?"""
    places, may_end = _open(grammar, [(grammar.root, None)])
    for char in text:
        reached, ended = list[_Place](), list[_Rest]()
        for place in places:
            dfa = dfa_of(place.form)
            if (target := dfa.step(place.at, char)) >= 0:
                reached.append(place._replace(at=target))
                ended += [place.rest] if dfa.accepts[target] else []
        opened, may_end = _open(grammar, ended)
        places = {*reached, *opened}
        if not places and not may_end:
            return False
    return may_end


def _open(grammar: Grammar, rests: Iterable[_Rest]) -> tuple[set[_Place], bool]:
    """The places that read the next character, and whether the text may end."""
    places, may_end = set[_Place](), False
    waiting, seen = list(rests), set[_Rest]()
    while waiting:
        rest = waiting.pop()
        if rest in seen:
            continue
        seen.add(rest)
        if rest is None:
            may_end = True
            continue
        form, behind = rest
        if isinstance(form, (Literal, FreeText, Pattern)):
            places.add(_Place(form, 0, behind))
            waiting += [behind] if dfa_of(form).accepts[0] else []
        elif isinstance(form, Rule):
            waiting.append((grammar.rules[form.name], behind))
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
