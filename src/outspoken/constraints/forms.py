"""The intermediate form of a constraint: what all target grammars are written from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

#: A part of a constraint.
Form: TypeAlias = "Literal | FreeText | Pattern | Seq | Choice | Repeat | Rule"


@dataclass(frozen=True, slots=True)
class Literal:
    """A text as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class FreeText:
    """Any text that holds no match of the patterns in `excluded`.

    Code blocks and spans are closed if `with_code`. A text is empty, or begins and ends with a character of `begins`
    and `ends` (classes of a regular expression), if given. It has from `low` to `high` characters, and matches each
    of `patterns` as a whole.
    """

    excluded: tuple[str, ...] = ()
    with_code: bool = False
    begins: str = ""
    ends: str = ""
    low: int = 0
    high: int | None = None
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """Text that matches a regular expression without look-around as a whole."""

    regex: str


@dataclass(frozen=True, slots=True)
class Seq:
    """One part after the other."""

    parts: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options."""

    options: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part that is repeated from `low` to `high` times, or any number of times."""

    part: Form
    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A reference to a rule of the grammar."""

    name: str


EMPTY = Seq(())
#: What nothing matches.
NOTHING = Choice(())


@dataclass
class Grammar:
    """The rules of a constraint by name, and the form of the whole response."""

    root: Form = EMPTY
    rules: dict[str, Form] = field(default_factory=dict[str, Form])
    warnings: list[str] = field(default_factory=list[str])

    def rule(self, name: str, form: Form) -> Rule:
        """Add a rule under a free name of small letters, digits and `_`, and return the reference to it."""
        free = name = re.sub("[^a-z0-9_]", "_", name.lower())
        number = 2
        while free in self.rules:
            free, number = f"{name}_{number}", number + 1
        self.rules[free] = form
        return Rule(free)

    def warn(self, message: str) -> None:
        """Add a warning, once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def has_texts(self, forms: Iterable[Form]) -> bool:
        """Is there a text that one of some forms matches?"""
        ending = self._ending()
        return any(_pruned(form, ending) != NOTHING for form in forms)

    def _ending(self) -> set[str]:
        """The rules that some text matches as a whole."""
        ending: set[str] = set()
        waiting = dict(self.rules)
        while found := [name for name, form in waiting.items() if _pruned(form, ending) != NOTHING]:
            ending.update(found)
            for name in found:
                del waiting[name]
        return ending

    def prune(self) -> None:
        """Remove what leads to no end: options of rules of which no text is a whole."""
        ending = self._ending()
        if len(ending) < len(self.rules):
            self.rules = {name: _pruned(form, ending) for name, form in self.rules.items() if name in ending}
            self.root = _pruned(self.root, ending)


def seq(*parts: Form) -> Form:
    """Parts one after the other, in the simplest form."""
    flat: list[Form] = []
    for part in parts:
        for part_form in part.parts if isinstance(part, Seq) else (part,):
            if isinstance(part_form, Choice) and not part_form.options:
                return NOTHING
            if isinstance(part_form, Literal) and flat and isinstance(flat[-1], Literal):
                flat[-1] = Literal(flat[-1].text + part_form.text)
            elif not isinstance(part_form, Literal) or part_form.text:
                flat.append(part_form)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def choice(options: Iterable[Form]) -> Form:
    """One of several options, in the simplest form."""
    flat: dict[Form, None] = {}
    for option in options:
        flat |= dict.fromkeys(option.options if isinstance(option, Choice) else (option,))
    return next(iter(flat)) if len(flat) == 1 else Choice(tuple(flat))


def optional(form: Form) -> Form:
    """A form or nothing."""
    return Repeat(form, 0, 1)


def times(low: int, high: int | None) -> str:
    """How often something is repeated, as all notations write it."""
    if high is None:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    return "?" if (low, high) == (0, 1) else f"{{{low},{high}}}"


def inner_forms(form: Form) -> tuple[Form, ...]:
    """The forms that a form is made of, but not those of rules."""
    if isinstance(form, Seq):
        return form.parts
    if isinstance(form, Choice):
        return form.options
    return (form.part,) if isinstance(form, Repeat) else ()


def _pruned(form: Form, ending: set[str]) -> Form:
    """A form without the options that no text matches."""
    if isinstance(form, Rule):
        return form if form.name in ending else NOTHING
    if isinstance(form, Seq):
        return seq(*[_pruned(part, ending) for part in form.parts])
    if isinstance(form, Choice):
        return choice([_pruned(option, ending) for option in form.options])
    if isinstance(form, Repeat):
        part = _pruned(form.part, ending)
        return (EMPTY if form.low == 0 else NOTHING) if part == NOTHING else replace(form, part=part)
    return form
