"""What a grammar writes round names and values, found by one walk over all configurations of its automaton.

The walk takes longer than a damaged text, so it is made when a grammar is compiled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from outspoken.patterns.markup_search import is_distinct_marker

from .automaton import Automaton, Config, Transition
from .near_openers import written_forms

Forms = frozenset[str]


class ValueMarks(NamedTuple):
    """The markers before and behind a bare value, as they are written.

    `before` are those that no value begins with, as they are rendered: `="` or `: `, but not `>` or `:`.
    """

    openers: Forms
    ends: Forms
    before: Forms


class Survey(NamedTuple):
    """What stands round the names and values of a format.

    `keys` are the JSON keys that the grammar knows, each with whether the arguments of a call are its value, and
    `name_keys` those of the names of calls. `value_marks` are those of bare values, by the stack of the configuration
    behind the value. `call_openers` stand before the names of calls and `behind_calls` behind them, `argument_openers`
    before the names of arguments with bare values and `behind_arguments` behind them, as they are written.
    """

    keys: dict[str, bool]
    name_keys: tuple[str, ...]
    value_marks: dict[tuple[int, ...], ValueMarks]
    call_openers: tuple[str, ...]
    behind_calls: tuple[str, ...]
    argument_openers: tuple[str, ...]
    behind_arguments: tuple[str, ...]

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
    openers: dict[str, dict[str, None]] = {"TOOL_NAME": {}, "ARG_NAME": {}}
    behind: dict[str, dict[str, None]] = {"TOOL_NAME": {}, "ARG_NAME": {}}
    for config in automaton.configs:
        for step in _markers(config):
            _add_key(keys, names, step)
            _add_value(marks, step)
            for name in _markers(step.target):
                if (kind := name.terminal.short) in openers:
                    is_tool, written = kind == "TOOL_NAME", [step.terminal.canonical.strip()]
                    openers[kind] |= dict.fromkeys(written_forms(step.terminal) if is_tool else written)
                    ends = [form for end in _markers(name.target) for form in written_forms(end.terminal)]
                    behind[kind] |= dict.fromkeys(ends)
    around = [tuple(found[kind]) for kind in openers for found in (openers, behind)]
    return Survey(dict(sorted(keys.items())), tuple(sorted(names)), marks, *around)


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
        openers, _, before = marks.get(free.target.stack, ValueMarks(frozenset(), frozenset(), frozenset()))
        rendered = step.terminal.canonical.lstrip()
        if len(rendered.strip()) > 1 or rendered[1:] == " ":
            before |= {rendered}
        marks[free.target.stack] = ValueMarks(openers | {*written_forms(step.terminal)}, frozenset(ends), before)


def distinct_forms(step: Transition) -> set[str]:
    """How a marker is written, as far as no text has that by chance; keys of JSON are left out."""
    return {form for form in written_forms(step.terminal) if is_distinct_marker(form) and not form.startswith('"')}
