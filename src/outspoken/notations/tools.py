"""The tools that a model was given: their names, and the JSON schemas of their arguments.

Names are read at once, schemas on first use.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard, get_type_hints
from urllib.parse import unquote

from outspoken.results.errors import ToolError

Types = frozenset[str]

_TOOL = "a dict with a `name` and `parameters`, a pydantic model class or a function"
_JSON_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "object", "array"})
_KINDS: dict[type, str] = {
    type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array",
}  # fmt: skip
_ONE: dict[str, Types] = {name: frozenset({name}) for name in _JSON_TYPES}
_TELLING = frozenset({"const", "enum", "anyOf", "oneOf", "allOf", "$ref", "nullable"})
_MAX_DEPTH = 64
_MAX_KEPT = 1000
_UNKNOWN: Any = object()

#: Each type alone, and the keys of a schema that restrict its types besides `type`.
_SINGLE = {k: frozenset({k}) for k in ("null", "boolean", "integer", "number", "string", "object", "array")}
_SHAPING = frozenset({"$ref", "enum", "const", "anyOf", "oneOf", "allOf", "nullable"})


class Tools:
    """The tools that a model was given, by name."""

    __slots__ = ("_sources", "_types", "names", "schema_views")

    def __init__(self, sources: dict[str, Any]) -> None:
        #: a schema, None, or a model or function whose schema is made on first use
        self._sources = sources
        #: the names of the tools
        self.names: KeysView[str] = sources.keys()
        self._types: dict[tuple[str, str], Types | None] = {}
        #: the views of the tools' arguments, made on first use
        self.schema_views: dict[tuple[str, str], Any] = {}

    @classmethod
    def of(cls, tools: Any) -> Tools | None:
        """Read a list of tools; None if it is empty. Raises `ToolError`.

        A tool is a dict as for OpenAI or Anthropic, an object with such attributes, a pydantic model class or a
        function. Of two tools with the same name, the later one counts.
        """
        if tools is None or isinstance(tools, Tools):
            return tools
        if not _is_list(tools):
            raise ToolError(-1, _name_of(tools), "a list of tools")
        sources = dict([_read(index, tool) for index, tool in enumerate(tools)])
        return cls(sources) if sources else None

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def schema(self, name: str) -> dict[str, Any] | None:
        """The JSON schema of a tool's arguments; None if it is not known."""
        source = self._sources.get(name)
        if source is None or _is_object(source):
            return source
        schema = self._sources[name] = _made_schema(source)
        return schema

    def argument(self, name: str, key: str) -> dict[str, Any] | bool | None:
        """The JSON schema of one argument; None if it is not known."""
        schema = _target(self.schema(name))
        properties: Any = schema.get("properties")
        if _is_object(properties) and key in properties:
            found = properties[key]
            return found if _is_object(found) or isinstance(found, bool) else None
        others: Any = schema.get("additionalProperties")
        return others if _is_object(others) else None

    def required(self, name: str) -> list[str]:
        """The arguments that a tool's schema requires."""
        required: Any = _target(self.schema(name)).get("required")
        return [key for key in required if isinstance(key, str)] if _is_list(required) else []

    def types(self, name: str, key: str) -> Types | None:
        """The JSON types that an argument's schema allows; None if it does not say."""
        types = self._types.get((name, key), _UNKNOWN)
        if types is not _UNKNOWN:
            return types
        source = self._sources.get(name)
        types = _plain_types(source, key) if source.__class__ is dict else None
        if types is None:
            types = types_of(self.argument(name, key), self.schema(name), {}, 0) or None
        if len(self._types) < _MAX_KEPT:
            self._types[name, key] = types
        return types


def _plain_types(schema: Any, key: str) -> Types | None:
    """The types of an argument whose schema gives them by a single `type` alone; else None."""
    try:
        found = schema["properties"][key]
        kind = found["type"]
        return _SINGLE[kind] if _SHAPING.isdisjoint(found) else None
    except (KeyError, TypeError):
        return None


def _read(index: int, tool: Any) -> tuple[str, Any]:
    """The name of a tool, and its schema or the source of it. Raises `ToolError`."""
    body = tool
    if tool.__class__ is dict:
        body = tool.get("function", tool)
    if body.__class__ is dict:
        name = body.get("name")
        schema = body.get("parameters", body.get("input_schema"))
        if name.__class__ is str and name and schema.__class__ is dict:
            return name, schema
    return _read_other(index, tool)


def _read_other(index: int, tool: Any) -> tuple[str, Any]:
    """The same for a tool that is not a plain dict, or not a tool."""
    name = getattr(tool, "__name__", None)
    if isinstance(tool, type):
        if hasattr(tool, "model_json_schema"):
            return tool.__name__, tool
    elif isinstance(name, str) and callable(tool):
        if name != "<lambda>":
            return name, tool
    elif _is_mapping(tool) or _field(tool, "function") or _field(tool, "name"):
        return _read_fields(index, tool)
    raise ToolError(index, _name_of(tool), _TOOL)


def _read_fields(index: int, tool: Any) -> tuple[str, Any]:
    """The same for a mapping or an object with attributes."""
    body = _field(tool, "function") or tool
    where = _name_of(tool) if body is tool else f"{_name_of(tool)} whose `function` is {_name_of(body)}"
    name = _field(body, "name")
    if name is None:
        raise ToolError(index, f"{where} without a `name`", _TOOL)
    if not isinstance(name, str) or not name:
        raise ToolError(index, f"{where} whose `name` is {_name_of(name)}", "a name that is a str")
    for key in ("parameters", "input_schema"):
        schema = _field(body, key)
        if _is_mapping(schema):
            return name, dict(schema)
        if schema is not None:
            raise ToolError(index, f"the tool `{name}` whose `{key}` is {_name_of(schema)}", "a JSON schema as a dict")
    return name, None


def _field(value: Any, key: str) -> Any:
    """A field of a mapping or an object; None if there is none."""
    return value.get(key) if _is_mapping(value) else getattr(value, key, None)


def _name_of(value: Any) -> str:
    """What a value is, for a message."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    if isinstance(value, str) and not value:
        return "an empty str"
    if getattr(value, "__name__", "") == "<lambda>":
        return "a lambda"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (list, tuple)) or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _made_schema(source: Any) -> dict[str, Any] | None:
    """The schema of a pydantic model class or of a function's arguments; None where none can be made."""
    try:
        model: Any = source if inspect.isclass(source) else _model(source)
        return model.model_json_schema(schema_generator=_generator())
    except Exception:  # what is in the caller's annotations is no reason to lose what the model wrote
        return None


def _model(function: Callable[..., Any]) -> Any:
    """A model with a field for each parameter that a call can name."""
    from pydantic import ConfigDict, Field, create_model

    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # an annotation whose name does not resolve
        hints = {}
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name in ("self", "cls"):
            continue
        default: Any = ... if parameter.default is parameter.empty else parameter.default
        fields[f"p{number}"] = (hints.get(parameter.name, Any), Field(default, alias=parameter.name))
    return create_model("Arguments", __config__=ConfigDict(arbitrary_types_allowed=True), **fields)


@lru_cache(maxsize=1)
def _generator() -> Any:
    """A schema generator that skips what JSON schema cannot express, instead of raising."""
    from pydantic.json_schema import GenerateJsonSchema

    class Lenient(GenerateJsonSchema):
        def handle_invalid_for_json_schema(self, *_: Any, **__: Any) -> dict[str, Any]:
            return {}

        def emit_warning(self, *_: Any, **__: Any) -> None:
            pass

    return Lenient


def types_of(schema: Any, root: Any, seen: dict[str, Types | None], depth: int) -> Types | None:
    """The types that a schema allows; None if it does not say. `seen` holds those of references."""
    if not _is_object(schema) or depth > _MAX_DEPTH:
        return None
    known = _declared(schema.get("type"))
    if _TELLING.isdisjoint(schema):
        return known
    if "const" in schema:
        known = _both(known, _kinds([schema["const"]]))
    if values := items_of(schema, "enum"):
        known = _both(known, _kinds(values))
    for key in ("anyOf", "oneOf"):
        if options := items_of(schema, key):
            known = _both(known, _either([types_of(option, root, seen, depth + 1) for option in options]))
    for part in items_of(schema, "allOf"):
        known = _both(known, types_of(part, root, seen, depth + 1))
    if isinstance(ref := schema.get("$ref"), str):
        if ref not in seen:
            seen[ref] = None
            seen[ref] = types_of(referred(ref, root), root, seen, depth + 1)
        known = _both(known, seen[ref])
    return known | {"null"} if known is not None and schema.get("nullable") is True else known


def items_of(schema: dict[str, Any], key: str) -> Sequence[Any]:
    """The list that a schema has under a key; empty if there is none."""
    items = schema.get(key)
    return items if _is_list(items) else ()


def _declared(declared: Any) -> Types | None:
    """The types that `type` names."""
    if isinstance(declared, str):
        return _ONE.get(declared)
    if not _is_list(declared) or not all(isinstance(name, str) for name in declared):
        return None
    return frozenset(declared) if _JSON_TYPES.issuperset(declared) else None


def _kinds(values: Iterable[Any]) -> Types | None:
    """The types of the values of an enumeration."""
    return frozenset([_KINDS[type(value)] for value in values if type(value) in _KINDS]) or None


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


def _target(root: dict[str, Any] | None) -> dict[str, Any]:
    """The schema itself, or the one that it refers to."""
    schema: Any = root
    seen: set[str] = set()
    while _is_object(schema) and isinstance(ref := schema.get("$ref"), str) and ref not in seen:
        seen.add(ref)
        schema = referred(ref, root)
    return schema if _is_object(schema) else {}


def referred(ref: str, root: Any) -> Any:
    """The part of the schema that a reference names; None if there is none."""
    if ref != "#" and not ref.startswith("#/"):
        return None
    node = root
    for part in ref.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if _is_object(node):
            node = node.get(key)
        elif _is_list(node) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node
