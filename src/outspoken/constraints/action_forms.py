"""The forms of a format's actions: each word tied to its own arguments, in the notation of the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from outspoken.grammar.automaton import Automaton
from outspoken.results.geometry import Screen

from .action_paths import ActionPaths
from .action_skeleton import action_hole, ends_actions_with_code
from .action_words import Usage, kind_of, usages
from .bare_values import BareForms
from .call_forms import Arguments, CallForms, Progress
from .forms import EMPTY, NOTHING, Form, Grammar, Literal, choice, seq
from .schema_forms import SchemaForms
from .schema_parts import TYPES
from .skeleton import Hole, Skeleton
from .styles import PythonStyle

#: If more fields may be there or not, and each has two arguments, an object has all of them or none.
_MOST_PAIRS = 3


class ActionForms:
    """Builds the forms of actions by the hole that stands for them."""

    def __init__(
        self,
        skeleton: Skeleton,
        automaton: Automaton,
        paths: Iterable[ActionPaths],
        screen: Screen | None,
        grammar: Grammar,
        end_of: Callable[[Hole], str],
    ) -> None:
        self._skeleton, self._automaton, self.grammar, self._end_of = skeleton, automaton, grammar, end_of
        header = automaton.tables.header
        self._paths = list(paths)
        self._usages = {(id(one.rule), one.word): one for one in usages(header, screen)}
        self.point = header.point
        inner = Skeleton(skeleton.format, skeleton.terminals)
        for one in self._paths:
            inner.configs |= {hole: (config,) for hole, config in one.configs.items()}
        self.values = CallForms(inner, automaton, None, grammar, end_of)
        self._known: dict[Hole, Form] | None = None

    def actions(self, hole: Hole) -> dict[Hole, Form]:
        """All actions that stand in a hole."""
        if self._known is None:
            by_hole: dict[Hole, list[Form]] = {}
            for path in self._paths:
                for (first, last), form in _Action(self, path, self._with_screen(path.usage)).spans().items():
                    whole = self._skeleton.joined.get(action_hole(first, last))
                    if whole is not None:
                        by_hole.setdefault(whole, []).append(form)
            self._known = {
                whole: self.grammar.rule("action", seq(choice(options), Literal(self._end_of(whole))))
                for whole, options in by_hole.items()
            }
        return {hole: self._known[hole]} if hole in self._known else {}

    def _with_screen(self, usage: Usage) -> Usage:
        """The usage as the options of the caller limit it, with the arguments that could be rendered."""
        return self._usages.get((id(usage.rule), usage.word), usage)

    def value(self, hole: Hole, schema: Any, usage: Usage, key: str, *, is_point: bool) -> Form:
        """The form of a value in a hole."""
        name = usage.word or usage.type
        forms = self.values.forms(hole, schema, name)
        if is_point and self.point == "tuple" and not isinstance(forms, BareForms):
            forms = SchemaForms(_TupleStyle(), self.grammar, schema, self.grammar.warn)
        if isinstance(forms, BareForms) and schema == {"type": "string"}:
            schema = {"type": "string", "minLength": 1}  # white space may belong to the markers
        elif schema == {"type": "string"} and ends_actions_with_code(self._automaton):
            schema = {"type": "string", "pattern": "^[^`]*$"}
        return forms.value(schema, key, TYPES)

    def object(self, hole: Hole, schema: dict[str, Any], usage: Usage) -> Form:
        """The form of all arguments in a hole."""
        forms = self.values.forms(hole, schema, usage.word or usage.type)
        return NOTHING if isinstance(forms, BareForms) else forms.object(schema, "")


class _TupleStyle(PythonStyle):
    """Python literals with tuples."""

    brackets = ("(", ")")


class _Action(Arguments):
    """The actions of one usage."""

    def __init__(self, forms: ActionForms, paths: ActionPaths, usage: Usage) -> None:
        super().__init__(forms.grammar, paths.inner)
        self._forms, self._paths, self._usage = forms, paths, usage
        kept = {group.field for group in paths.usage.groups}
        required = {group.keys for group in paths.usage.groups if group.required}
        self._groups = sorted(
            [
                replace(group, required=group.keys in required)
                for group in usage.groups
                if group.field in kept and {*group.keys} <= {*paths.order}
            ],
            key=lambda group: paths.order.index(group.keys[0]),
        )
        #: each argument with the number of its group
        self._arguments = [(key, at) for at, group in enumerate(self._groups) for key in group.keys]
        self._lasts = {last for _, last in paths.spans}

    def spans(self) -> dict[tuple[Hole, Hole], Form]:
        """The form between each pair of holes with which actions were seen to begin and to end."""
        begun = {first: self.from_hole(first, (0, not self._paths.needs)) for first, _ in self._paths.spans}
        spans = [(first, last) for first, forms in begun.items() for last in forms]
        return {(first, last): begun[first][last] for first, last in spans if (first, last) in self._paths.spans}

    def end(self, hole: Hole, at: Progress) -> Form:
        number, sated = at
        arguments = self._arguments
        is_inside = 0 < number < len(arguments) and arguments[number][1] == arguments[number - 1][1]
        is_left = any(self._groups[group].required for _, group in arguments[number:])
        return EMPTY if sated and hole in self._lasts and not is_inside and not is_left else NOTHING

    def is_shared(self, hole: Hole, at: Progress) -> bool:
        return len(self._arguments) - at[0] > 1

    def written(self, hole: Hole, at: Progress) -> Iterator[tuple[Form, Hole, Progress]]:
        number, sated = at
        if hole.role == "name":
            yield Literal(self._paths.name_text), hole, at
        elif hole.role in ("id", "index"):
            yield self._forms.values.number(hole), hole, at
        elif hole.role == "arguments" and number == 0:
            whole = choice([self._forms.object(hole, member, self._usage) for member in self._objects()])
            yield whole, hole, (len(self._arguments), True)
        elif hole.role == "value" and number < len(self._arguments):
            if self._arguments[number][0].startswith("$"):
                yield self._value(hole, number), hole, self._after(number, sated)
        elif hole.role == "key":
            for place in self._next(number):
                for form, last in self._pair(hole, place):
                    yield form, last, self._after(place, sated)

    def _after(self, number: int, sated: bool) -> Progress:
        """How far the arguments are written behind one."""
        return number + 1, sated or self._groups[self._arguments[number][1]].field in self._paths.needs

    def _pair(self, hole: Hole, at: int) -> Iterator[tuple[Form, Hole]]:
        """An argument with its key, and the last hole of it."""
        key = self._arguments[at][0]
        terminals = self._paths.keys.get((key, hole))
        is_word = any(word == key and not written for (word, _), written in self._paths.keys.items())
        if terminals is None or (terminals and is_word):
            return
        if not terminals:
            yield Literal(key), hole
        for target, between in self.inner.get(hole, {}).items():
            if target.role == "value" and target.terminal in terminals:
                yield seq(Literal(key + between), self._value(target, at)), target

    def _next(self, number: int) -> Iterator[int]:
        """The numbers of the arguments that may come next."""
        for at in range(number, len(self._arguments)):
            key, group = self._arguments[at]
            is_first = at == 0 or self._arguments[at - 1][1] != group
            if not key.startswith("$") and (is_first or at == number):
                yield at
            if self._groups[group].required or (at == number and not is_first) or key.startswith("$"):
                return

    def _value(self, hole: Hole, number: int) -> Form:
        key, group = self._arguments[number]
        field = self._groups[group].field
        rule = self._usage.rule
        is_point = bool(field) and not rule.is_path(field) and kind_of(rule, field).reader == "point"
        return self._forms.value(hole, self._schema(group, key), self._usage, key, is_point=is_point)

    def _schema(self, group: int, key: str) -> dict[str, Any]:
        """The schema of an argument, with what is nested in it."""
        found: dict[str, Any] = {}
        for argument in self._groups[group].arguments:
            if argument.path[0] == key:
                if len(argument.path) == 1:
                    return argument.schema
                required = argument.required or ".".join(argument.path) in self._paths.nested
                _put(found, argument.path[1:], argument.schema, required=required)
        return found

    def _objects(self) -> Iterator[dict[str, Any]]:
        """The schemas of the whole arguments: fields with two arguments have both or none."""
        pairs = [at for at, group in enumerate(self._groups) if len(group.keys) > 1 and not group.required]
        needs = [at for at, group in enumerate(self._groups) if group.field in self._paths.needs]
        for chosen in product((False, True), repeat=len(pairs)) if len(pairs) <= _MOST_PAIRS else ():
            written = {at for at, is_there in zip(pairs, chosen, strict=True) if is_there}
            properties = {k: self._schema(at, k) for k, at in self._arguments if at not in pairs or at in written}
            for needed in needs or [-1]:
                if needed not in pairs or needed in written:
                    forced = {needed, *written}
                    required = [k for k, at in self._arguments if at in forced or self._groups[at].required]
                    yield {"type": "object", "properties": properties, "required": required}


def _put(schema: dict[str, Any], path: tuple[str, ...], inner: dict[str, Any], *, required: bool) -> None:
    """Add a property to the schema of an object, at a path."""
    schema.setdefault("type", "object")
    schema.setdefault("required", [])
    properties: dict[str, Any] = schema.setdefault("properties", {})
    if required and path[0] not in schema["required"]:
        schema["required"].append(path[0])
    if len(path) == 1:
        properties[path[0]] = inner
    else:
        _put(properties.setdefault(path[0], {}), path[1:], inner, required=required)
