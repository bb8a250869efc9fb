"""Markup round names and values, and within them: where a value holds the end of an argument and what follows it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.loose_markup import LooseMarkup
from outspoken.patterns.markup_search import ValueMarkup, is_distinct_marker

from .automaton import Automaton, Config, Transition
from .near_openers import written_forms


class ValueMarks(NamedTuple):
    """The markers before and behind a bare value, as they are written.

    `before` are those that no value begins with, as they are rendered: `="` or `: `, but not `>` or `:`.
    """

    openers: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()


class Survey(NamedTuple):
    """What stands round the names and values of a format.

    `keys` are the JSON keys that the grammar knows, each with whether the arguments of a call are its value, and
    `name_keys` those of the names of calls. `value_marks` are those of bare values, by the stack of the configuration
    behind the value. `call_openers` stand before the names of calls and `behind_calls` behind them, `argument_openers`
    before the names of arguments with bare values and `behind_arguments` behind them, as they are written. The
    `action_openers` stand before the names of actions. The `call_markers` open
    sections, calls and actions, and no other text has them by chance.
    """

    keys: dict[str, bool]
    name_keys: tuple[str, ...]
    value_marks: dict[tuple[int, ...], ValueMarks]
    call_openers: tuple[str, ...]
    behind_calls: tuple[str, ...]
    argument_openers: tuple[str, ...]
    behind_arguments: tuple[str, ...]
    action_openers: tuple[str, ...]
    call_markers: tuple[str, ...]

    def to_data(self) -> dict[str, Any]:
        """The survey as plain data."""
        marks = [[[*stack], *map(sorted, found)] for stack, found in self.value_marks.items()]
        lists = {name: [*found] for name, found in self._asdict().items()}
        return {**lists, "keys": self.keys, "value_marks": sorted(marks)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Survey:
        """The inverse of `to_data`."""
        marks = {tuple(stack): ValueMarks(*map(frozenset, found)) for stack, *found in data["value_marks"]}
        lists = {name: tuple(found) for name, found in data.items() if name not in ("keys", "value_marks")}
        return cls(keys=data["keys"], value_marks=marks, **lists)


@lru_cache(maxsize=512)
def survey(automaton: Automaton) -> Survey:
    """The survey of a format: that of its compiled grammar, if there is one."""
    found = automaton.tables.survey
    return make_survey(automaton) if found is None else Survey.from_data(found)


def make_survey(automaton: Automaton) -> Survey:
    """The survey of a format, by a walk over its configurations."""
    keys, names, marks = dict[str, bool](), set[str](), dict[tuple[int, ...], ValueMarks]()
    openers: dict[str, dict[str, None]] = {"TOOL_NAME": {}, "ARG_NAME": {}, "ACTION_NAME": {}}
    behind: dict[str, dict[str, None]] = {kind: {} for kind in openers}
    begun = set[str]()
    for config in automaton.configs:
        for step in _markers(config):
            if _opens_call(step):
                begun |= distinct_forms(step)
            _add_key(keys, names, step)
            _add_value(marks, step)
            for name in _markers(step.target):
                if (kind := name.terminal.short) in openers:
                    is_argument, written = kind == "ARG_NAME", [step.terminal.canonical.strip()]
                    openers[kind] |= dict.fromkeys(written if is_argument else written_forms(step.terminal))
                    ends = [form for end in _markers(name.target) for form in written_forms(end.terminal)]
                    behind[kind] |= dict.fromkeys(ends)
    around = [by_kind[kind] for kind in ("TOOL_NAME", "ARG_NAME") for by_kind in (openers, behind)]
    written = map(tuple, [*around, openers["ACTION_NAME"]])
    begun = {form.strip() for form in begun} - closing_forms(automaton)
    calls = tuple(sorted([form for form in begun if not _STRUCTURE.match(form) and form[:1] not in ",]}"]))
    return Survey(dict(sorted(keys.items())), tuple(sorted(names)), marks, *written, call_markers=calls)


def _begun_by(step: Transition) -> set[str]:
    """The kinds of the nodes that begin with a marker."""
    return {kind for op, kinds in (*step.before, *step.after) if op == "begin" for kind in kinds.split()}


def _opens_call(step: Transition, steps: int = 2) -> bool:
    """Does a call or an action begin with a marker, or with one of the next `steps`, as where a section begins?"""
    if step.inserted or _begun_by(step) & {"tool_call", "action"}:
        return not step.inserted
    free, _, markers = step.target.strict_transitions()
    is_apart = steps > 0 and (free is None or free.terminal.short != "TEXT")
    return is_apart and any(_opens_call(following, steps - 1) for following in markers)


def _markers(config: Config) -> list[Transition]:
    return config.strict_transitions()[2]


def _add_key(keys: dict[str, bool], names: set[str], step: Transition) -> None:
    written = step.terminal.canonical.strip()
    if written.startswith('"') and written.endswith('":'):
        roles = {value.role for value in step.target.strict_transitions()[1]}
        keys[written[1:-2]] = keys.get(written[1:-2], False) or "arguments" in roles
        names |= {written[1:-2]} if "tool_name" in roles else set()


def _add_value(marks: dict[tuple[int, ...], ValueMarks], step: Transition) -> None:
    free = step.target.strict_transitions()[0]
    if free is not None and free.terminal.short == "ARG_VALUE":
        ends = {form for end in _markers(free.target) for form in distinct_forms(end)}
        openers, _, before = marks.get(free.target.stack, ValueMarks())
        rendered = step.terminal.canonical.lstrip()
        if len(rendered.strip()) > 1 or rendered[1:] == " ":
            before |= {rendered}
        if (token := _LAST_TOKEN.search(rendered.rstrip())) is not None:
            before |= {token[0]}  # a value that begins with it: the token was written twice
        if rendered.strip() == ">":
            before |= {">\n"}
        forms = written_forms(step.terminal)[: 1 if rendered.strip() else None]
        marks[free.target.stack] = ValueMarks(openers | {*forms}, frozenset(ends), before)


def distinct_forms(step: Transition) -> set[str]:
    """How a marker is written, as far as no text has that by chance; keys of JSON are left out."""
    return {form for form in written_forms(step.terminal) if is_distinct_marker(form) and not form.startswith('"')}


#: The special token that a longer marker ends with.
_LAST_TOKEN = lazy_pattern(r"(?<=.)<[|｜][^<>|｜\s]+[|｜]>\Z")
#: A marker of several words that does not occur by chance.
_PHRASE = lazy_pattern(r"(?=.{12})\(?[A-Za-z]\w+,? \w")
#: How an object, a list of objects or a key of JSON begins.
_STRUCTURE = lazy_pattern(r"[{\"']|\[\s*[{\"']")


@lru_cache(maxsize=2048)
def value_markup(value_end: Config) -> ValueMarkup:
    """What finds the end of a value in its text. The value leads to the configuration `value_end`."""
    closers, followers = set[str](), set[str]()
    for closer in value_end.strict_transitions()[2]:
        closers |= distinct_forms(closer)
        for step in closer.target.strict_transitions()[2]:
            followers |= distinct_forms(step)
            for first, second in _behind_name(step):
                closers |= first
                followers |= second
    return ValueMarkup(sorted(closers), sorted(followers), call_phrases(value_end.automaton))


def call_phrases(automaton: Automaton) -> list[str]:
    """The markers of several words that open a call."""
    if not has_terminal(automaton, "ARG_VALUE"):
        return []
    openers = [step for step in automaton.top_level_markers if not step.inserted]
    return sorted({w for step in openers for w in distinct_forms(step) if _PHRASE.match(w)})


@lru_cache(maxsize=512)
def has_terminal(automaton: Automaton, short: str) -> bool:
    """Has a format a terminal of this name?"""
    return any(terminal.short == short for terminal in automaton.tables.terminals.values())


def _behind_name(opener: Transition) -> list[tuple[set[str], set[str]]]:
    """The markers that follow each other between the name of an argument and its value."""
    names = [step for step in opener.target.strict_transitions()[2] if step.terminal.short == "ARG_NAME"]
    ends = [step for name in names for step in name.target.strict_transitions()[2]]
    pairs = [(distinct_forms(end), distinct_forms(step)) for end in ends for step in end.target.strict_transitions()[2]]
    return [(first, second) for first, second in pairs if first and second]


#: How the names of closing markers end.
_CLOSING = ("_CLOSE", "_END")


@lru_cache(maxsize=2048)
def loose_markup(value_end: Config) -> LooseMarkup:
    """What finds the markers of a format in a bare value, which leads to the configuration `value_end`.

    A value whose own marks are longer forms of the marks of other values is quoted, as by `<![CDATA[` and `]]>`: only
    the marks of its quotation count in it.
    """
    automaton = value_end.automaton
    marks = survey(automaton).value_marks
    openers, ends, before = own = marks.get(value_end.stack, ValueMarks())
    if any(_is_longer(own, others) for others in marks.values()):
        return LooseMarkup({*ends}, {form for form in openers if is_distinct_marker(form)})
    terminals = [terminal for terminal in automaton.tables.terminals.values() if terminal.short.startswith("_")]
    forms = {w for terminal in terminals for w in written_forms(terminal)}
    closers = closing_forms(automaton)
    distinct = {form for form in forms if is_distinct_marker(form) and not (form[:1] == '"' and form[-1:] in '":')}
    steps = [step for end in value_end.strict_transitions()[2] for step in end.target.strict_transitions()[2]]
    followers = {form for step in steps for form in distinct_forms(step)} - closers
    return LooseMarkup(distinct & closers, distinct - closers, ends, before, followers, openers)


@lru_cache(maxsize=256)
def value_ends(automaton: Automaton) -> frozenset[str]:
    """The markers behind the bare values of a format, and the quotation marks that end them."""
    found = {form.strip() for marks in survey(automaton).value_marks.values() for form in marks.ends}
    quoted = {form[-1] for form in survey(automaton).behind_arguments if form[-1:] in ("'", '"')}
    return frozenset(found | quoted if has_terminal(automaton, "ARG_VALUE") else found)


@lru_cache(maxsize=512)
def value_openers(automaton: Automaton) -> frozenset[str]:
    """The markers before the bare values of a format."""
    return frozenset([form.strip() for marks in survey(automaton).value_marks.values() for form in marks.openers])


def _is_longer(marks: ValueMarks, others: ValueMarks) -> bool:
    """Is each mark of a value a longer form of a mark of another value?"""
    return (
        bool(marks.openers and marks.ends)
        and all(any(form != one and form.startswith(one) for one in others.openers) for form in marks.openers)
        and all(any(form != one and form.endswith(one) for one in others.ends) for form in marks.ends)
    )


@lru_cache(maxsize=256)
def closing_forms(automaton: Automaton) -> frozenset[str]:
    """The closing markers of a format as they are written, brackets and quotes among them."""
    ends = [t for t in automaton.tables.terminals.values() if t.short.startswith("_") and t.short.endswith(_CLOSING)]
    return frozenset({form.strip() for terminal in ends for form in written_forms(terminal)} - {""})


@lru_cache(maxsize=256)
def loose_ends(automaton: Automaton) -> re.Pattern[str] | None:
    """What finds the end of a value, an argument or a call in text; None if no other text differs from these."""
    ends = value_ends(automaton) | closing_forms(automaton)
    forms = sorted(filter(is_distinct_marker, ends), key=len, reverse=True)
    return lazy_pattern("|".join(map(re.escape, forms))) if forms else None


@lru_cache(maxsize=256)
def opening_forms(automaton: Automaton) -> tuple[str, ...]:
    """The markers of a format that no other text has by chance, as they are written; brackets and keys are none."""
    forms = [form.strip() for t in automaton.tables.terminals.values() for form in written_forms(t)]
    return tuple(sorted({form for form in forms if is_distinct_marker(form) and not _STRUCTURE.match(form)}))


def openers_of_actions(automaton: Automaton) -> tuple[str, ...]:
    """What is written before the names of actions with bare values, if it is longer than a sign and no closing tag."""
    forms = survey(automaton).action_openers if has_terminal(automaton, "ARG_VALUE") else ()
    return tuple([form for form in forms if len(form) > 1 and not form.startswith("</")])


@lru_cache(maxsize=256)
def openers_at_end(automaton: Automaton) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The markers that open calls and their parts, and the pattern of a text that holds nothing else up to its end."""
    other = {
        form.strip()
        for step in automaton.top_level_markers
        if _begun_by(step) & {"think", "code"}
        for form in written_forms(step.terminal)
    }
    forms = tuple(form for form in opening_forms(automaton) if form not in closing_forms(automaton) | other)
    one = "|".join(map(re.escape, sorted(forms, key=len, reverse=True))) or "(?!)"
    return forms, re.compile(rf"\s*(?:(?:{one})\s*)+\Z")


@lru_cache(maxsize=256)
def has_fields(automaton: Automaton) -> bool:
    """Does white space alone stand before the names of arguments, as between fields?"""
    return "" in survey(automaton).argument_openers
