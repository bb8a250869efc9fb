"""What a form may begin with: the literal that ends the free text before it."""

from __future__ import annotations

from typing import TypeGuard

from .forms import EMPTY, Choice, Form, FreeText, Grammar, Literal, Rule, Seq, choice, seq

#: A rule whose beginning is deeper in other rules is not looked into.
_DEEPEST = 12


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
        found = [heads(option, grammar, depth) for option in form.options]
        return None if None in found else [head for some in found for head in some or ()]
    if isinstance(form, Seq):
        first = heads(form.parts[0], grammar, depth)
        rest = seq(*form.parts[1:])
        if first is None:
            return None
        if any(text == "" and after == EMPTY for text, after in first):
            others = heads(rest, grammar, depth)
            if others is None:
                return None
            kept = [(text, seq(after, rest)) for text, after in first if text or after != EMPTY]
            return [*kept, *others]
        return [(text, seq(after, rest)) for text, after in first]
    return None


def _ends_in_text(form: Form) -> TypeGuard[Choice]:
    """Is a form a choice of which some option ends in free text?"""
    if not isinstance(form, Choice):
        return False
    lasts = [option.parts[-1] if isinstance(option, Seq) and option.parts else option for option in form.options]
    return any((isinstance(last, FreeText) and not last.with_code) or _ends_in_text(last) for last in lasts)


def with_ends(form: Form, grammar: Grammar) -> Form:
    """A form in which each free text stands right before the literal that ends it, in every option of its own."""
    if isinstance(form, Seq):
        for index, part in enumerate(form.parts):
            if index + 1 < len(form.parts) and _ends_in_text(part):
                before, rest = seq(*form.parts[:index]), seq(*form.parts[index + 1 :])
                options = [with_ends(seq(option, rest), grammar) for option in part.options]
                return seq(with_ends(before, grammar), choice(options))
            if isinstance(part, FreeText) and not part.with_code and index + 1 < len(form.parts):
                rest = seq(*form.parts[index + 1 :])
                if isinstance(form.parts[index + 1], Literal):
                    continue
                found = heads(rest, grammar)
                if found is not None:
                    before = seq(*form.parts[:index])
                    options = [with_ends(seq(part, Literal(text), after), grammar) for text, after in found]
                    return seq(before, choice(options))
        return seq(*[with_ends(part, grammar) if not isinstance(part, Rule) else part for part in form.parts])
    if isinstance(form, Choice):
        return choice([with_ends(option, grammar) for option in form.options])
    return form
