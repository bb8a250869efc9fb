"""The tools that a model was given: their names, and the JSON schemas of their arguments.

Names are read at once, schemas on first use.
"""

from __future__ import annotations

import inspect
import marshal
import re
from collections.abc import Callable, Iterable, KeysView, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from outspoken.results.errors import ToolError
from outspoken.results.schemas.schema import KINDS, Schema, Types, is_object, plain_types
from outspoken.results.signatures import (
    ToolType,
    callable_name,
    each_tool,
    field,
    has_fields,
    is_mapping,
    is_partial,
    is_typed_dict,
    model,
    name_of,
    readable,
)

from .coerce import ANY, SchemaView

if TYPE_CHECKING:
    from pydantic import BaseModel


class NamedTool(Protocol):
    """A tool as an object of an SDK. The schema of its arguments is its `parameters` or its `input_schema`, if any."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        ...


class FunctionTool(Protocol):
    """A tool as an object of OpenAI's SDK for chat completions."""

    @property
    def function(self) -> NamedTool | Mapping[str, Any]:
        """The name and the schema of the tool."""
        ...


class ListedTools(Protocol):
    """What `list_tools` of MCP returns."""

    @property
    def tools(self) -> list[Any]:
        """The tools."""
        ...


#: Tools in a list of tools.
ToolList: TypeAlias = "list[Any] | tuple[Any, ...] | ListedTools"
#: A tool that a model was given: a dict as for OpenAI or Anthropic, an object of an SDK, of LangChain or of MCP, a
#: class (a pydantic model, a dataclass, a TypedDict), or a function with annotations, or a `partial` of one.
ToolLike: TypeAlias = "Mapping[str, Any] | NamedTool | FunctionTool | type[BaseModel] | Callable[..., Any] | ToolList"

_TOOL = (
    "a dict with a `name` and `parameters`, a pydantic model class, a dataclass, a TypedDict, a function, a `partial` "
    "of one, a tool object of an SDK, of LangChain or of MCP, or a list of these"
)
#: where objects hold the schema of their arguments; LangChain's `input_schema` is not what the model was given
_SCHEMA_KEYS = ("tool_call_schema", "parameters", "input_schema", "inputSchema", "params_json_schema")
_MAX_KEPT = 1000
#: What each name holds.
_IN_WORD = re.compile(r"\w")
#: What no name begins or ends with, but for quotes in pairs.
_NO_EDGE, _QUOTES = frozenset(" \t\r\n\"'\\<>{},:"), frozenset("\"'")
_UNKNOWN: Any = object()
#: The version of `marshal` that writes equal values alike.
_PLAIN = 2


class ToolFacts(NamedTuple):
    """What a tool's schema says of its arguments.

    These are those that it requires, those that it names, the values that it lists for others, and for others the
    classes of values that fit in any case; whether the names are odd, and whether all that it requires are named.
    """

    required: tuple[str, ...]
    properties: tuple[str, ...]
    listed: dict[str, list[Any]]
    fitting: dict[str, frozenset[type]]
    has_odd_name: bool
    lists_required: bool


class Tools:
    """The tools that a model was given, by name."""

    __slots__ = (
        "_envelopes", "_facts", "_notes", "_sources", "_types", "destructive", "fitting", "names", "schema_views",
        "types_by_name",
    )  # fmt: skip

    def __init__(
        self, sources: dict[str, Any], destructive: frozenset[str] = frozenset(), notes: dict[str, Any] | None = None
    ) -> None:
        #: a schema, None, or a model or function whose schema is made on first use
        self._sources = sources
        #: the types and functions among them
        self.types_by_name = {
            name: ToolType(source) for name, source in sources.items() if source is not None and not is_object(source)
        }
        #: what else is said of a tool: the dict as it was given, or its description
        self._notes = notes or {}
        #: the names of the tools
        self.names: KeysView[str] = sources.keys()
        #: the names of those that say that they destroy something (`annotations` of MCP with `destructiveHint`)
        self.destructive = destructive
        self._types: dict[tuple[str, str], Types | None] = {}
        self._facts: dict[str, ToolFacts] = {}
        self._envelopes: dict[tuple[str, frozenset[str], frozenset[str]], Schema] = {}
        #: by tool, `ToolFacts.fitting` where nothing is wrong with a call of which all arguments fit; as far as made
        self.fitting: dict[str, dict[str, frozenset[type]]] = {}
        #: the views of the tools' arguments, made on first use
        self.schema_views: dict[tuple[str, str], SchemaView] = {}

    @classmethod
    def of(cls, tools: Tools | Sequence[ToolLike] | ListedTools | None) -> Tools | None:
        """Read a list of tools; None if it is empty. Of two tools with the same name, the later one counts.

        Raises ToolError, a TypeError, for anything but a list of tools.
        """
        if tools is None or isinstance(tools, Tools):
            return tools
        sources: dict[str, Any] = {}
        notes: dict[str, Any] = {}
        destructive: list[str] = []
        for index, tool in each_tool(tools):
            name, source = _read(index, tool)
            sources[name] = source
            notes[name] = tool if tool.__class__ is dict else _description(tool, source)
            if not (tool.__class__ is dict and "annotations" not in tool) and _hint(field(tool, "annotations")):
                destructive.append(name)
        return cls(sources, frozenset(destructive), notes) if sources else None

    def __reduce__(self) -> tuple[type[Tools], tuple[dict[str, Any], frozenset[str], dict[str, Any]]]:
        """A pickle holds nothing that is made on first use, and the schema of a type that cannot be imported."""
        sources = {
            name: self.schema(name) if "<" in getattr(source, "__qualname__", "") else source
            for name, source in [(name, self._source(name)) for name in self.names]
        }
        return Tools, (sources, self.destructive, self._notes)

    def __deepcopy__(self, memo: object) -> Tools:
        """A parser and its copy have the same tools."""
        return self

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def schema(self, name: str) -> dict[str, Any] | None:
        """The JSON schema of a tool's arguments; None if it is not known."""
        source = self._sources.get(name)
        if source is None or is_object(source):
            return source
        schema = self._sources[name] = _made_schema(source)
        return schema

    def _source(self, name: str) -> Any:
        """What a tool was given as."""
        return self.types_by_name[name].type if name in self.types_by_name else self._sources[name]

    def attach_type(self, segment: Any) -> None:
        """Let a call know the type or the function that its tool was given as."""
        if segment.kind == "tool_call" and segment.name in self.types_by_name:
            vars(segment)[segment.TYPE] = self.types_by_name[segment.name]

    def only(self, *names: str) -> Tools:
        """Some of the tools alone."""
        notes = {name: self._notes[name] for name in names if name in self._notes}
        return Tools({name: self._source(name) for name in names}, self.destructive.intersection(names), notes)

    def to_openai(self) -> list[dict[str, Any]]:
        """The tools as chat completions and chat templates take them."""
        described_tools: list[dict[str, Any]] = []
        for name in self.names:
            note: Any = self._notes.get(name)
            if is_mapping(note) and is_mapping(note.get("function")):
                described_tools.append(dict(note))
                continue
            schema = self.schema(name) or {"type": "object", "properties": {}}
            about: Any = note.get("description") if is_mapping(note) else note
            described = {"description": inspect.cleandoc(about)} if about else {}
            described_tools.append({"type": "function", "function": {"name": name, **described, "parameters": schema}})
        return described_tools

    def arguments(self, name: str) -> Schema:
        """What the schema of a tool's arguments says; made on first use."""
        return schema_view_of(self, name, None, "json")

    def envelope(self, name: str, keys: frozenset[str], argument_keys: frozenset[str]) -> Schema:
        """What is known of an object with some keys that calls a tool; some of them hold its arguments."""
        key = name, keys, argument_keys
        if key not in self._envelopes:
            properties = {k: self.schema(name) or {} if k in argument_keys else {} for k in keys}
            self._envelopes[key] = Schema({"type": "object", "properties": properties})
        return self._envelopes[key]

    def facts(self, name: str) -> ToolFacts:
        """What a tool's schema says of its arguments; made on first use."""
        facts = self._facts.get(name)
        if facts is None:
            schema = self.schema(name)
            try:
                facts = _kept_facts(marshal.dumps(schema, _PLAIN))
            except ValueError:  # it holds objects that are no JSON
                facts = _made_facts(schema)
            if odd_name((name,)) is not None:
                facts = facts._replace(has_odd_name=True)
            self._facts[name] = facts
            is_plain = name in self._sources and name not in self.types_by_name and not facts.has_odd_name
            if is_plain and facts.lists_required and len(facts.fitting) == len(facts.properties):
                self.fitting[name] = facts.fitting
        return facts

    def only_argument(self, name: str) -> str | None:
        """The only argument that a tool has; None if it has several or none."""
        keys = list(self.arguments(name).properties) if name in self._sources else []
        return keys[0] if len(keys) == 1 else None

    def types(self, name: str, key: str) -> Types | None:
        """The JSON types that an argument's schema allows; None if it does not say."""
        types = self._types.get((name, key), _UNKNOWN)
        if types is not _UNKNOWN:
            return types
        source = self._sources.get(name)
        types = plain_types(source, key) if source.__class__ is dict else None
        if types is None:
            types = self.arguments(name).member(key).types
        if len(self._types) < _MAX_KEPT:
            self._types[name, key] = types
        return types


@lru_cache(maxsize=128)
def _kept_facts(schema: bytes) -> ToolFacts:
    """What a schema says, which is given by its content: callers may change theirs."""
    return _made_facts(marshal.loads(schema))


def _made_facts(schema: dict[str, Any] | None) -> ToolFacts:
    view = Schema(schema)
    listed: dict[str, list[Any]] = {}
    fitting: dict[str, frozenset[type]] = {}
    for key in view.properties:
        argument = view.member(key)
        if argument.values:
            listed[key] = argument.values
        elif argument.types:
            fitting[key] = frozenset([python_type for python_type, kind in KINDS.items() if kind in argument.types])
    names = tuple(view.properties)
    is_odd, lists_required = odd_name(names) is not None, set(view.required).issubset(names)
    return ToolFacts(view.required, names, listed, fitting, is_odd, lists_required)


def odd_name(names: Iterable[str]) -> str | None:
    """The first of some names without a word, or with white space, a quote or a sign of markup at its edge; or None."""
    for name in names:
        if not name or not (name.isidentifier() or _IN_WORD.search(name)):
            return name
        for edge in (name[0], name[-1]):
            if edge in _NO_EDGE and (edge not in _QUOTES or name.count(edge) % 2):
                return name
    return None


def may_have(tools: Tools, name: str, key: str) -> bool:
    """May a tool have an argument of this name, as far as is known?"""
    return name not in tools or tools.arguments(name).may_have(key)


def _read(index: int, tool: Any) -> tuple[str, Any]:
    """The name of a tool, and its schema or the source of it. Raises `ToolError`."""
    body = tool
    if tool.__class__ is dict:
        body = tool.get("function", tool)
    if body.__class__ is dict:
        name = body.get("name")
        schema = body.get("parameters", body.get("input_schema", body.get("inputSchema")))
        if name.__class__ is str and name and schema.__class__ is dict:
            return name, schema
    return _read_other(index, tool)


def _read_other(index: int, tool: Any) -> tuple[str, Any]:
    """The same for a tool that is not a plain dict, or not a tool."""
    name = callable_name(tool)
    if inspect.isclass(tool):
        if has_fields(tool):
            return tool.__name__, tool
    elif callable(tool) and name is not None:
        if name != "<lambda>":
            return name, tool
    elif is_mapping(tool) or field(tool, "function") or field(tool, "name"):
        return _read_fields(index, tool)
    raise ToolError(index, name_of(tool), _TOOL)


def _read_fields(index: int, tool: Any) -> tuple[str, Any]:
    """The same for a mapping or an object with attributes."""
    body = field(tool, "function") or tool
    where = name_of(tool) if body is tool else f"{name_of(tool)} whose `function` is {name_of(body)}"
    name = field(body, "name")
    if name is None:
        raise ToolError(index, f"{where} without a `name`", _TOOL)
    if not isinstance(name, str) or not name:
        raise ToolError(index, f"{where} whose `name` is {name_of(name)}", "a name that is a str")
    for key in _SCHEMA_KEYS:
        schema = field(body, key)
        if is_mapping(schema):
            return name, dict(schema)
        if key == "tool_call_schema" and hasattr(schema, "model_json_schema"):
            return name, schema
        if schema is not None:
            raise ToolError(index, f"the tool `{name}` whose `{key}` is {name_of(schema)}", "a JSON schema as a dict")
    return name, None


def _description(tool: Any, source: Any) -> str | None:
    """What a tool that is no dict says of itself; a function or a class does so in its docstring."""
    if source is not tool:
        found: Any = field(field(tool, "function") or tool, "description")
    else:
        found = getattr(tool.func if is_partial(tool) else tool, "__doc__", None)
        if inspect.isclass(tool) and found and found.startswith(f"{tool.__name__}("):
            return None  # what `dataclass` writes by itself
    return found if isinstance(found, str) else None


def _hint(annotations: Any) -> bool:
    """Do the annotations of a tool of MCP say that it destroys something?"""
    return annotations is not None and field(annotations, "destructiveHint") is True


def _made_schema(source: Any) -> dict[str, Any] | None:
    """The schema of a class, or of a function's arguments; None where none can be made."""
    try:
        from pydantic import TypeAdapter

        from outspoken.results.schemas.fitting import LenientSchemas

        is_read = hasattr(source, "model_json_schema") or is_typed_dict(source)
        described = TypeAdapter[Any](readable(source) if is_read else model(source))
        return described.json_schema(schema_generator=LenientSchemas)
    except Exception:  # what is in the caller's annotations is no reason to lose what the model wrote
        return None


def schema_view_of(tools: Tools | None, name: str | None, key: str | None, fallback: str) -> SchemaView:
    """The view of the arguments of a tool, or of one argument; `name` and `key` may be unknown."""
    if tools is None or name is None or name not in tools:
        return ANY if fallback == "json" else SchemaView(None, None, fallback)
    whole = tools.schema_views.get((name, fallback))
    if whole is None:
        schema = tools.schema(name)
        whole = tools.schema_views[name, fallback] = SchemaView(schema, schema, fallback)
    return whole.member(key) if key else whole
