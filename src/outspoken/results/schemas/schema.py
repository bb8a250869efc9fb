"""What a JSON schema says of a value and of its parts (JSON Schema 2020-12; references are JSON Pointers, RFC 6901).

No schema makes this raise: what is not understood says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import cache, cached_property
from typing import Any, TypeGuard
from urllib.parse import unquote

from pydantic import TypeAdapter
from typing_extensions import Self

Types = frozenset[str]

#: the JSON type of the values of each class of Python
KINDS: dict[type, str] = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array",
}  # fmt: skip
#: each JSON type alone
SINGLE_TYPES: dict[str, Types] = {name: frozenset({name}) for name in KINDS.values()}
#: the keywords of a schema that restrict its types besides `type`
RESTRICTING = frozenset({"const", "enum", "anyOf", "oneOf", "allOf", "$ref", "nullable"})
#: the keyword for the names of the values of `enum`, which is ours
NAMES = "x-names"
#: the keyword for the members whose fields have another name, by that name, which is ours
FIELDS = "x-fields"
_CHOICES = ("anyOf", "oneOf")
_NUMERIC = frozenset({"integer", "number"})
#: the keywords under which there are values, not schemas
_VALUES = frozenset({"properties", "enum", "const", "default", "examples"})
#: the formats of dates and times
_MOMENTS = {"date": date, "time": time, "date-time": datetime, "duration": timedelta}
_MAX_SECONDS = 0.05
#: an address as a link of Markdown, or in angle brackets
LINK = re.compile(r"\s*(?:\[[^\[\]]{0,300}\]\(\s*(?P<target>\S{1,2000}?)\s*\)|<(?P<address>[^<>\s]{1,2000})>)\s*")
_MAX_DEPTH = 64
_MAX_PARTS = 64
#: how many places of a value, or of a schema, are looked at
_MAX_PLACES = 2_000


class Schema:
    """One place of a schema. Nothing is known of its value if `node` is no object; `root` is the whole schema."""

    def __init__(self, node: Any, root: Any = None) -> None:
        self.node, self._root = node, node if root is None else root
        self._members: dict[str, Self] = {}

    def _at(self, node: Any) -> Self:
        """The same for another place of the schema."""
        return type(self)(node, self._root)

    @cached_property
    def types(self) -> Types | None:
        """The JSON types that the value may have; None if they are not known."""
        return _types_of(self.node, self._root, {}, 0) or None

    @cached_property
    def title(self) -> str:
        """The name of the type; "" if it has none."""
        return next((title for part in self._rules if isinstance(title := part.get("title"), str)), "")

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The members that an object must have."""
        found = (key for part in self._rules for key in items_of(part, "required"))
        return tuple(dict.fromkeys(key for key in found if isinstance(key, str)))

    @cached_property
    def properties(self) -> dict[str, Any]:
        """The schemas of the members that it names, those of its alternatives included, by name."""
        return _properties(self._parts)

    @cached_property
    def values(self) -> list[Any] | None:
        """The values that it lists, by `enum` or `const`; None if it lists none."""
        for part in self._rules:
            if "const" in part:
                return [part["const"]]
            if values := items_of(part, "enum"):
                return list(values)
        return None

    @cached_property
    def names(self) -> dict[str, Any]:
        """The values of an enumeration by their names, where they have any."""
        found = next((found for part in self._rules if (found := items_of(part, NAMES))), ())
        return dict(zip(found, self.values or (), strict=False))

    @cached_property
    def fields(self) -> dict[str, str]:
        """The members by the names of their fields, where those are others."""
        return {
            name: key for part in self._rules if is_object(found := part.get(FIELDS)) for name, key in found.items()
        }

    @cached_property
    def allows_others(self) -> bool:
        """May an object have members that the schema does not name? It must say so, if it names any."""
        return not any(is_object(part.get("properties")) for part in self._parts) or any(
            part.get("additionalProperties") or part.get("patternProperties") for part in self._parts
        )

    def may_have(self, key: str) -> bool:
        """May an object have this member, as far as is known?"""
        return self.allows_others or key in self.properties

    def member(self, key: str) -> Self:
        """The schema of a member."""
        known = self._members.get(key)
        if known is None:
            if key not in self.properties:
                return self._first("additionalProperties")
            known = self._members[key] = self._at(self.properties[key])
        return known

    @cached_property
    def item(self) -> Self:
        """The schema of the items of a list."""
        return self._first("items")

    def _first(self, keyword: str) -> Self:
        """The first schema under a keyword."""
        return self._at(next((found for part in self._parts if is_object(found := part.get(keyword))), None))

    @cached_property
    def _rules(self) -> list[dict[str, Any]]:
        """The schema, and all others that it says must hold, too: what it refers to, and its `allOf`."""
        return self._collected("allOf")

    @cached_property
    def _parts(self) -> list[dict[str, Any]]:
        """The same with its alternatives."""
        return self._collected("allOf", *_CHOICES)

    def _collected(self, *keywords: str) -> list[dict[str, Any]]:
        schemas: list[dict[str, Any]] = []
        waiting: list[Any] = [self.node]
        seen: set[int] = set()
        while waiting and len(seen) < _MAX_PARTS:
            schema = waiting.pop(0)
            if not is_object(schema) or id(schema) in seen:
                continue
            seen.add(id(schema))
            schemas.append(schema)
            if isinstance(ref := schema.get("$ref"), str):
                waiting.append(referred(ref, self._root))
            waiting += [option for key in keywords for option in items_of(schema, key)]
        return schemas

    # how well a value fits

    @cached_property
    def _own(self) -> dict[str, Self]:
        """The schemas of the members that it names without its alternatives, by name."""
        return {key: self._at(node) for key, node in _properties(self._rules).items()}

    @cached_property
    def formats(self) -> list[str]:
        """What a text must be, such as a date or an address."""
        return [part["format"] for part in self._rules if isinstance(part.get("format"), str)]

    def takes_text(self, text: str) -> bool:
        """Is a text of the formats and patterns that are due?

        Of formats, only dates and times are looked at, and whether an address is a link of Markdown.
        """
        patterns = [part["pattern"] for part in self._rules if isinstance(part.get("pattern"), str)]
        return all(_has_format(text, name) for name in self.formats) and all(_matches(text, one) for one in patterns)

    @cached_property
    def choices(self) -> list[list[Self]]:
        """The alternatives of which one must hold, for each list of them."""
        found = [options for part in self._rules for key in _CHOICES if (options := items_of(part, key))]
        return [[self._at(option) for option in options] for options in found]

    def own_member(self, key: str) -> Self:
        """The schema of a member, without what the alternatives say of it."""
        if key in self._own:
            return self._own[key]
        return self._at(next((found for p in self._rules if is_object(found := p.get("additionalProperties"))), None))

    @cached_property
    def all_names(self) -> frozenset[str]:
        """The names of all members anywhere in the schema."""
        names: set[str] = set()
        waiting: list[Any] = [self.node]
        for _ in range(_MAX_PLACES):
            if not waiting:
                break
            part = waiting.pop()
            if isinstance(part, list):
                waiting += part  # pyright: ignore[reportUnknownArgumentType]
            elif is_object(part):
                properties = _properties([part])
                names.update(properties)
                waiting += properties.values()
                waiting += [value for key, value in part.items() if key not in _VALUES]
        return frozenset(names)

    def unknown_names(self, value: Any) -> int:
        """How many names of a value's objects the schema does not have, where it names any."""
        return sum(found == "unknown" for found in self._misfits(value, frozenset(), [_MAX_PLACES]))

    def misfits(self, value: Any) -> int:
        """How many parts of a value do not fit: unknown names, wrong types, missing members."""
        return sum(1 for _ in self._misfits(value, frozenset(), [_MAX_PLACES]))

    def _misfits(self, value: Any, known: frozenset[str], left: list[int]) -> Iterator[str]:
        """What does not fit in a value. `known` are names that schemas beside this one know; `left` is counted down."""
        left[0] -= 1
        if left[0] < 0 or not self._rules:
            return
        if not fits(value, self.types):
            yield "type"
            return
        choices = self.choices
        if is_object(value):
            yield from ["missing" for key in self.required if key not in value]
            own = self._own
            known |= own.keys()
            if not choices and known and not self.allows_others:
                yield from ["unknown" for key in value if key not in known]
            for key in value.keys() & own.keys():
                yield from own[key]._misfits(value[key], frozenset(), left)
        elif isinstance(value, list):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from self.item._misfits(item, frozenset(), left)
        if len(choices) > 1:
            known |= self.properties.keys()
        for options in choices:
            fitting = [option for option in options if fits(value, option.types)]
            yield from min(
                [list(option._misfits(value, known, left)) for option in fitting], key=len, default=list[str]()
            )


def _has_format(text: str, name: str) -> bool:
    if name not in _MOMENTS:
        return name != "uri" or LINK.fullmatch(text) is None
    try:
        _adapter(_MOMENTS[name]).validate_python(text)
    except ValueError:
        return False
    return True


@cache
def _adapter(made: type) -> TypeAdapter[Any]:
    return TypeAdapter(made)


def _matches(text: str, pattern: str) -> bool:
    """Does a text match a pattern? True if that cannot be told."""
    import regex  # has a limit of time; few schemas have patterns

    try:
        return regex.search(pattern, text, timeout=_MAX_SECONDS) is not None
    except (regex.error, TimeoutError):
        return True


def _properties(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The members that parts of a schema name. Of several with a name, the first counts."""
    found: dict[str, Any] = {}
    for part in parts:
        properties = part.get("properties")
        if is_object(properties):
            found.update({key: inner for key, inner in properties.items() if key not in found})
    return found


def fits(value: Any, types: frozenset[str] | None) -> bool:
    """Is the value of one of the JSON types? True if they are not known."""
    if types is None:
        return True
    if isinstance(value, float):
        return "number" in types or ("integer" in types and value.is_integer())
    if isinstance(value, int) and not isinstance(value, bool):
        return not _NUMERIC.isdisjoint(types)
    return KINDS.get(value.__class__) in types


# -- the types that a schema allows


def _types_of(schema: Any, root: Any, seen: dict[str, Types | None], depth: int) -> Types | None:
    """The types that a schema allows; None if it does not say. `seen` holds those of references."""
    if not is_object(schema) or depth > _MAX_DEPTH:
        return None
    types = _declared(schema.get("type"))
    if RESTRICTING.isdisjoint(schema):
        return types
    if "const" in schema:
        types = _both(types, _kinds([schema["const"]]))
    if values := items_of(schema, "enum"):
        types = _both(types, _kinds(values))
    for key in _CHOICES:
        if options := items_of(schema, key):
            types = _both(types, _either([_types_of(option, root, seen, depth + 1) for option in options]))
    for part in items_of(schema, "allOf"):
        types = _both(types, _types_of(part, root, seen, depth + 1))
    if isinstance(ref := schema.get("$ref"), str):
        if ref not in seen:
            seen[ref] = None
            seen[ref] = _types_of(referred(ref, root), root, seen, depth + 1)
        types = _both(types, seen[ref])
    return types | {"null"} if types is not None and schema.get("nullable") is True else types


def items_of(schema: dict[str, Any], key: str) -> Sequence[Any]:
    """The list that a schema has under a key; empty if there is none."""
    items = schema.get(key)
    return items if is_list(items) else ()


def plain_types(schema: Any, key: str) -> Types | None:
    """The types of a member whose schema gives them by a single `type` alone; else None. This is fast."""
    try:
        found = schema["properties"][key]
        kind = found["type"]
        return SINGLE_TYPES[kind] if RESTRICTING.isdisjoint(found) else None
    except (KeyError, TypeError):
        return None


def _declared(declared: Any) -> Types | None:
    """The types that `type` names."""
    if isinstance(declared, str):
        return SINGLE_TYPES.get(declared)
    if not is_list(declared) or not all(isinstance(name, str) for name in declared):
        return None
    return frozenset(declared) if SINGLE_TYPES.keys() >= set(declared) else None


def _kinds(values: Iterable[Any]) -> Types | None:
    """The types of the values of an enumeration."""
    return frozenset([KINDS[type(value)] for value in values if type(value) in KINDS]) or None


def _either(options: list[Types | None]) -> Types | None:
    """The types that at least one of several schemas allows."""
    known = [option for option in options if option is not None]
    return frozenset[str]().union(*known) if len(known) == len(options) else None


def _both(one: Types | None, other: Types | None) -> Types | None:
    """The types that two schemas both allow. Every integer is a number."""
    if one is None or other is None:
        return one if other is None else other
    whole = one | other
    shared = (one | {"integer"} if "number" in one else one) & (other | {"integer"} if "number" in other else other)
    return shared & whole


def pointer_of(path: Iterable[str | int]) -> str:
    """A path as a JSON Pointer."""
    return "".join(["/" + str(key).replace("~", "~0").replace("/", "~1") for key in path])


def dotted(path: Iterable[str | int]) -> str:
    """A path as text: `operations[0].row_id`."""
    return "".join([f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]).removeprefix(".")


def referred(ref: str, root: Any) -> Any:
    """The part of the schema that a reference names; None if there is none."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    node = root
    for part in ref.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if is_object(node):
            node = node.get(key)
        elif is_list(node) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple)) or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
