"""What a form may begin with: the literal that ends the free text before it."""

from __future__ import annotations

import re
from typing import TypeGuard

from .automata import without
from .forms import EMPTY, Choice, Form, FreeText, Grammar, Literal, Rule, Seq, choice, inner_forms, seq

#: A rule whose beginning is deeper in other rules is not looked into.
_DEEPEST = 12
#: No more literals behind each other are joined, and no more are written for one place.
_MOST_JOINED, _MOST_HEADS = 6, 64


def heads(form: Form, grammar: Grammar, depth: int = 0) -> list[tuple[str, Form]] | None:
    """The literals that a form may begin with, each with what follows it; "" for nothing at all.

    None if the form may begin with something else.
    """
    if form == EMPTY:
        return [("", EMPTY)]
    if isinstance(form, Literal):
        return [(form.text, EMPTY)]
    if depth > _DEEPEST:
        return None
    if isinstance(form, Rule):
        return heads(grammar.rules[form.name], grammar, depth + 1)
    if isinstance(form, Choice):
        by_option = [heads(option, grammar, depth) for option in form.options]
        return None if None in by_option else [head for some in by_option for head in some or ()]
    if isinstance(form, Seq):
        first = heads(form.parts[0], grammar, depth)
        rest = seq(*form.parts[1:])
        if first is None:
            return None
        others = heads(rest, grammar, depth) if ("", EMPTY) in first else []
        begun = [(text, seq(after, rest)) for text, after in first if (text, after) != ("", EMPTY)]
        return None if others is None else [*begun, *others]
    return None


def _ends_in_text(form: Form) -> TypeGuard[Choice]:
    """Is a form a choice of which some option ends in free text?"""
    if not isinstance(form, Choice):
        return False
    lasts = [option.parts[-1] if isinstance(option, Seq) and option.parts else option for option in form.options]
    return any((isinstance(last, FreeText) and not last.with_code) or _ends_in_text(last) for last in lasts)


def ends_of(
    text: FreeText, form: Form, grammar: Grammar, special: re.Pattern[str] | None = None
) -> list[tuple[str, Form]] | None:
    """The literals that may stand behind text before a form, as `heads` has them.

    They are long enough to end the text: they hold what it may not hold, as far as that is possible. There is one
    literal for those that begin alike. No match of `special` is divided.
    """
    found = heads(form, grammar)
    return None if found is None else _joined(_lengthened(found, text, grammar), text, special)


def size_of_end(text: FreeText, literal: str) -> int:
    """How many characters of a literal end a text: the text may not hold them. All of it if it may hold the whole."""
    may_hold = without(text.excluded).reads
    return next((size for size in range(1, len(literal) + 1) if not may_hold(literal[:size])), len(literal))


def _lengthened(found: list[tuple[str, Form]], text: FreeText, grammar: Grammar) -> list[tuple[str, Form]]:
    """The literals, those that text may hold with the literals behind them."""
    may_hold = without(text.excluded).reads
    for _ in range(_MOST_JOINED):
        longer: list[tuple[str, Form]] = []
        for literal, after in found:
            more = heads(after, grammar) if literal and after != EMPTY and may_hold(literal) else None
            if more is None or any(_has_code(rest) for _, rest in more):  # its rule is written once
                longer.append((literal, after))
            else:
                longer += [(literal + head, rest) for head, rest in more]
        if longer == found or len(longer) > _MOST_HEADS:
            break
        found = longer
    return found


def _has_code(form: Form) -> bool:
    """Is text with code in a form, but for its rules?"""
    if isinstance(form, FreeText):
        return form.with_code
    return any(map(_has_code, inner_forms(form)))


def _joined(found: list[tuple[str, Form]], text: FreeText, special: re.Pattern[str] | None) -> list[tuple[str, Form]]:
    """The same with one literal for those that begin alike, if it ends the text."""
    groups: dict[str, list[tuple[str, Form]]] = {}
    for literal, after in found:
        groups.setdefault(literal[:1], []).append((literal, after))
    joined: list[tuple[str, Form]] = []
    for some in groups.values():
        size = len(common_beginning([literal for literal, _ in some]))
        if special is not None:
            divided = [
                token.start() for literal, _ in some for token in special.finditer(literal) if token.end() > size
            ]
            size = min([size, *divided])
        begun = some[0][0][:size]
        if len(some) == 1 or not size or without(text.excluded).reads(begun):
            joined += some
        else:
            joined.append((begun, choice([seq(Literal(literal[size:]), after) for literal, after in some])))
    return joined


def common_beginning(texts: list[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    return first[: next((at for at, char in enumerate(first) if char != last[at]), len(first))]


def with_ends(form: Form, grammar: Grammar, special: re.Pattern[str] | None = None) -> Form:
    """A form in which each free text stands right before the literal that ends it, in every option of its own.

    No match of `special` in a literal is divided.
    """
    if isinstance(form, Seq):
        for index, part in enumerate(form.parts):
            if index + 1 < len(form.parts) and _ends_in_text(part):
                before, rest = seq(*form.parts[:index]), seq(*form.parts[index + 1 :])
                options = [with_ends(seq(option, rest), grammar, special) for option in part.options]
                return seq(with_ends(before, grammar, special), choice(options))
            if isinstance(part, FreeText) and not part.with_code and index + 1 < len(form.parts):
                rest, behind = seq(*form.parts[index + 1 :]), form.parts[index + 1]
                if isinstance(behind, Literal) and not without(part.excluded).reads(behind.text):
                    continue
                ends = ends_of(part, rest, grammar, special)
                if ends is not None:
                    options = [seq(part, Literal(text), with_ends(after, grammar, special)) for text, after in ends]
                    return seq(*form.parts[:index], choice(options))
        return seq(*[with_ends(part, grammar, special) if not isinstance(part, Rule) else part for part in form.parts])
    if isinstance(form, Choice):
        return choice([with_ends(option, grammar, special) for option in form.options])
    return form
