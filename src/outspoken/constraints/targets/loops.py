"""A grammar as one form without rules, for engines that know no recursion.

Outside of values, rules refer to each other at their ends only, so they are the states of an automaton, and their
elimination leaves repetitions (Arden's lemma). A rule that is recursive in another way, such as a schema that refers to
itself, has no such form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from outspoken.constraints import forms

#: A form of more parts is of no use to any engine.
_LARGEST = 200_000

#: The ways on from a state: by the form that is read, to another state; None is the end.
_Edges: TypeAlias = "dict[forms.Form | None, forms.Form]"


def without_rules(grammar: forms.Grammar) -> forms.Form:
    """The form of a grammar's root without rules. Raises ValueError if it is too large, or if a rule holds itself."""
    return _Unroller(grammar).whole(grammar.root)


class _Unroller:
    def __init__(self, grammar: forms.Grammar) -> None:
        self._grammar = grammar
        self._known: dict[str, forms.Form] = {}
        self._active: list[str] = []
        self._has_rule: dict[forms.Form, bool] = {}

    def whole(self, form: forms.Form) -> forms.Form:
        """A form with all rules replaced by what they stand for."""
        if not self._refers(form):
            return form
        states: dict[forms.Form, _Edges] = {}
        waiting = [form]
        while waiting:
            state = waiting.pop()
            if state not in states:
                states[state] = {}
                self._add_edges(states[state], state)
                waiting += [target for target in states[state] if target is not None]
        _factor(states)
        found = _eliminated(states, form)
        if _size(found) > _LARGEST:
            raise ValueError("the constraint is too large without rules")
        return found

    def _add_edges(self, edges: _Edges, form: forms.Form) -> None:
        """Add the ways on from a state, which is a form that is still to be read."""
        if not self._refers(form):
            _join(edges, None, form)
        elif isinstance(form, forms.Rule):
            self._add_edges(edges, self._grammar.rules[form.name])
        elif isinstance(form, forms.Choice):
            for option in form.options:
                self._add_edges(edges, option)
        elif isinstance(form, forms.Seq) and self._refers(form.parts[-1]):
            # a state before each rule, so that what is long is written at few places
            rules = [at for at, part in enumerate(form.parts) if isinstance(part, forms.Rule) and at > 0]
            at = rules[0] if rules else len(form.parts) - 1
            before = forms.seq(*[self._inner(part) for part in form.parts[:at]])
            if before != forms.NOTHING:
                _join(edges, forms.seq(*form.parts[at:]), before)
        elif isinstance(form, forms.Repeat) and (form.low, form.high) == (0, 1):
            _join(edges, None, forms.EMPTY)
            self._add_edges(edges, form.part)
        else:
            _join(edges, None, self._inner(form))

    def _inner(self, form: forms.Form) -> forms.Form:
        """A form that is not at an end, with all rules replaced."""
        if not self._refers(form):
            return form
        if isinstance(form, forms.Rule):
            return self._of_rule(form.name)
        if isinstance(form, forms.Seq):
            return forms.seq(*[self._inner(part) for part in form.parts])
        if isinstance(form, forms.Choice):
            return _either([self._inner(option) for option in form.options])
        assert isinstance(form, forms.Repeat)
        part = self._inner(form.part)
        if part == forms.NOTHING:
            return forms.EMPTY if form.low == 0 else forms.NOTHING
        return forms.Repeat(part, form.low, form.high)

    def _of_rule(self, name: str) -> forms.Form:
        if name in self._known:
            return self._known[name]
        if name in self._active:
            raise ValueError(f"`{name}` holds itself")
        self._active.append(name)
        self._known[name] = self.whole(self._grammar.rules[name])
        self._active.pop()
        return self._known[name]

    def _refers(self, form: forms.Form) -> bool:
        """Does a form refer to rules?"""
        if form not in self._has_rule:
            self._has_rule[form] = isinstance(form, forms.Rule) or any(map(self._refers, forms.inner_forms(form)))
        return self._has_rule[form]


def _join(edges: _Edges, target: forms.Form | None, form: forms.Form) -> None:
    if form != forms.NOTHING:
        edges[target] = _either([edges[target], form]) if target in edges else form


def _factor(states: dict[forms.Form, _Edges]) -> None:
    """Write a state that is another one with one more way to get there as: that way or nothing, then the other."""
    for state, edges in states.items():
        for target, form in list(edges.items()):
            if target is None or target == state or len(edges) < 2:
                continue
            others = {other: written for other, written in edges.items() if other != target}
            if others == states[target]:
                states[state] = {target: forms.optional(form)}
                break


def _eliminated(states: dict[forms.Form, _Edges], start: forms.Form) -> forms.Form:
    """What leads from a state to the end, by elimination of all others, those with the fewest ways first."""
    left = [state for state in states if state != start]
    while left:
        state = min(left, key=lambda one: _cost(states, one))
        left.remove(state)
        _eliminate(states, state)
    edges = states[start]
    again = forms.Repeat(edges[start]) if start in edges else forms.EMPTY
    return forms.seq(again, edges[None]) if None in edges else forms.NOTHING


def _cost(states: dict[forms.Form, _Edges], state: forms.Form) -> int:
    """By how much the forms grow if a state is eliminated."""
    into = [_size(edges[state]) for other, edges in states.items() if other != state and state in edges]
    out = [_size(form) for target, form in states[state].items() if target != state]
    loop = _size(states[state][state]) if state in states[state] else 0
    return sum(into) * (len(out) - 1) + sum(out) * (len(into) - 1) + loop * (len(into) * len(out) - 1)


def _eliminate(states: dict[forms.Form, _Edges], state: forms.Form) -> None:
    out = states.pop(state)
    loop = out.pop(state, None)
    again = forms.EMPTY if loop is None else forms.Repeat(loop)
    for edges in states.values():
        into = edges.pop(state, None)
        if into is not None:
            for target, form in out.items():
                _join(edges, target, forms.seq(into, again, form))


def _either(options: Iterable[forms.Form]) -> forms.Form:
    """One of several options; what some of them begin or end with is written once."""
    flat = forms.choice([option for option in options if option != forms.NOTHING])
    if not isinstance(flat, forms.Choice) or not flat.options:
        return flat
    found = _grouped(list(flat.options), at_end=False)
    found = _grouped(found, at_end=True) if len(found) > 1 else found
    if forms.EMPTY in found and len(found) > 1:
        return forms.optional(forms.choice([form for form in found if form != forms.EMPTY]))
    return forms.choice(found)


def _grouped(options: list[forms.Form], *, at_end: bool) -> list[forms.Form]:
    """Options in groups of those with the same first part, or the same last one."""
    groups: dict[forms.Form, list[forms.Form]] = {}
    for option in options:
        parts = option.parts if isinstance(option, forms.Seq) and option.parts else (option,)
        key, rest = (parts[-1], parts[:-1]) if at_end else (parts[0], parts[1:])
        groups.setdefault(key, []).append(forms.seq(*rest))
    found: list[forms.Form] = []
    for key, rests in groups.items():
        rest = _either(rests) if len(rests) > 1 else rests[0]
        found.append(forms.seq(rest, key) if at_end else forms.seq(key, rest))
    return found


def _size(form: forms.Form) -> int:
    """How many parts a form has."""
    return 1 + sum(map(_size, forms.inner_forms(form)))
