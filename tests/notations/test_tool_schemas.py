"""Tool definitions of every accepted shape, and the messages for those that are refused."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import NotRequired, TypedDict

from outspoken import Parser
from outspoken.notations.tools import Tools
from outspoken.results.errors import ToolError
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
ONE_TOOL = (
    "a dict with a `name` and `parameters`, a pydantic model class, a dataclass, a TypedDict, a function, a `partial` "
    "of one, a tool object of an SDK, of LangChain or of MCP, or a list of these"
)


class Weather(BaseModel):
    city: str
    days: int | None = None


class Function(BaseModel):
    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None


class Wrapped(BaseModel):
    type: Literal["function"] = "function"
    function: Function


def get_weather(
    city: str,
    days: int | None = None,
    *rest: int,
    where=None,  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    **more: str,
) -> str:
    return f"{city} {days} {rest} {where} {more}"


class Home:
    def light(self, on: bool, level: Annotated[float, Field(description="0 to 1")] = 1.0) -> None: ...


HOME = Home()


def odd_names(
    model_config: int, schema: str, _hidden: bool, unknown: Home, *, copy: list[Weather], fallback: Any = HOME
) -> None: ...


def unresolvable(city: Nowhere, days: int) -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]


class Job(BaseModel):
    name: str
    run: Callable[[], None]


#: What stands in the tables under these names.
OBJECTS: dict[str, Any] = {
    "@Weather": Weather, "@get_weather": get_weather, "@int": int, "@a lambda": lambda: None, "@a set": {"get"},
    "@an instance": Weather(city="Rome"), "@PARAMETERS": PARAMETERS, "@a function of a class": Home.light,
    "@a bound method": HOME.light, "@odd_names": odd_names, "@unresolvable": unresolvable, "@Job": Job,
    "@breakpoint": breakpoint,
}  # fmt: skip


def made(value: Any) -> Any:
    """A value of a table with its objects."""
    if isinstance(value, dict):
        return {key: made(part) for key, part in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [made(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
    return OBJECTS.get(value, value) if isinstance(value, str) else value


def tools_of(*tools: Any) -> Tools:
    found = Tools.of(list(tools))
    assert found is not None
    return found


def of_schema(schema: dict[str, Any]) -> Tools:
    return tools_of({"name": "f", "parameters": schema})


def types_of(argument: Any, **more: Any) -> list[str] | None:
    types = of_schema({"type": "object", "properties": {"a": argument}, **more}).types("f", "a")
    return None if types is None else sorted(types)


def test_no_tools_and_tools_that_are_read() -> None:
    nothing: list[Any] = [None, [], ()]
    assert [Tools.of(none) for none in nothing] == [None] * 3
    tools = tools_of(Weather)
    assert Tools.of(tools) is tools


SHAPES: dict[str, Any] = {
    **made(TABLES["SHAPES"]),
    "ordered": OrderedDict[str, Any](
        type="function", function=OrderedDict[str, Any](name="get", parameters=PARAMETERS)
    ),
    "read_only": MappingProxyType({"name": "get", "parameters": MappingProxyType(PARAMETERS)}),
    "model_instance": Function(name="get", parameters=PARAMETERS),
    "wrapped_instance": Wrapped(function=Function(name="get", parameters=PARAMETERS)),
    "dict_with_instance": {"type": "function", "function": Function(name="get", parameters=PARAMETERS)},
    "namespace": SimpleNamespace(name="get", input_schema=PARAMETERS),
}


@in_one_item("tool", SHAPES.values())
@in_one_item("as_list", [list, tuple])
def test_shapes(tool: Any, as_list: Callable[[Any], Any]) -> None:
    tools = Tools.of(as_list([tool]))
    assert tools is not None
    assert list(tools.names) == ["get"]
    assert "get" in tools
    assert "got" not in tools
    assert tools.schema("get") == PARAMETERS
    assert tools.arguments("get").member("city").node == {"type": "string"}
    assert tools.types("get", "city") == {"string"}


def test_a_tool_without_parameters_and_an_unknown_tool_have_no_schema() -> None:
    tools = tools_of({"type": "function", "function": {"name": "now"}}, Function(name="then"), Weather)
    for name in ("now", "then", "Wether"):
        assert tools.schema(name) is None
        assert tools.arguments(name).member("city").node is None
        assert tools.types(name, "city") is None


def test_last_tool_of_a_name_counts() -> None:
    tools = tools_of({"name": "f", "parameters": {}}, {"name": "f", "parameters": PARAMETERS})
    assert tools.schema("f") == PARAMETERS


def test_schemas_of_classes_and_methods() -> None:
    tools = tools_of(Weather, HOME.light)
    assert tools.schema("Weather") == Weather.model_json_schema()
    assert tools.schema("Weather") is tools.schema("Weather")
    assert tools.arguments("light").member("level").node == TABLES["A_METHOD"]
    assert (tools_of(get_weather).schema("get_weather") or {})["required"] == ["city"]


@in_one_item("tool, name, types", TABLES["ARGUMENTS"])
def test_arguments_of_classes_and_functions(tool: str, name: str, types: dict[str, list[str] | None]) -> None:
    tools = tools_of(OBJECTS[tool])
    assert list(tools.names) == [name]
    assert {key: sorted(tools.types(name, key) or ()) or None for key in types} == types
    assert tool == "@breakpoint" or list((tools.schema(name) or {})["properties"]) == list(types)


def test_lists_within_lists() -> None:
    listed: Any = SimpleNamespace(tools=[SimpleNamespace(name="get", inputSchema=PARAMETERS)], nextCursor=None)
    ways: list[list[Any]] = [
        [Weather, [get_weather, [HOME.light]], listed],
        [[Weather], (get_weather, HOME.light), listed],
    ]
    for tools in ways:
        assert list(tools_of(*tools).names) == ["Weather", "get_weather", "light", "get"]
    found = Tools.of(listed)
    assert found is not None
    assert found.schema("get") == PARAMETERS
    assert Tools.of([[]]) is None
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ToolError):
        Tools.of(endless)


@in_one_item("tools, message", TABLES["REFUSED"])
def test_rejected_tools(tools: Any, message: str) -> None:
    with pytest.raises(ToolError) as caught:
        Tools.of(made(tools))
    assert str(caught.value) == message.replace("ONE_TOOL", ONE_TOOL)
    assert caught.value.index == (int(message[7]) if message.startswith("`tools[") else -1)


@in_one_item("schema, name, argument, types", TABLES["MEMBERS"])
def test_members_of_a_schema(schema: dict[str, Any], name: str, argument: Any, types: list[str] | None) -> None:
    tools = of_schema(made(schema))
    assert tools.arguments("f").member(name).node == argument
    assert tools.types("f", name) == (None if types is None else {*types})


@in_one_item("argument, types", TABLES["TYPES"])
def test_types(argument: Any, types: list[str] | None) -> None:
    assert types_of(argument, **TABLES["DEFINITIONS"]) == types


def test_types_of_hostile_schemas() -> None:
    deep: Any = {"type": "string"}
    for _ in range(500):
        deep = {"anyOf": [deep]}
    assert types_of(deep) is None
    doubling = {f"D{n}": {"anyOf": [{"$ref": f"#/$defs/D{n + 1}"}] * 2} for n in range(60)}
    assert types_of({"$ref": "#/$defs/D40"}, **{"$defs": {**doubling, "D60": {"type": "null"}}}) == ["null"]


def test_type_cache_is_bounded() -> None:
    tools = of_schema({"additionalProperties": {"type": "integer"}})
    for number in range(2000):
        assert tools.types("f", str(number)) == {"integer"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "nullable", "properties", "a"]
            ),
            inner | st.sampled_from(["string", "integer", "#", "#/properties/a", "#/anyOf/0"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_types_never_raise(schema: Any) -> None:
    types = types_of(schema)
    assert types is None or types
    if isinstance(schema, dict):
        of_schema(schema).types("f", "a")  # pyright: ignore[reportUnknownArgumentType]


@dataclass
class Ferry:
    city: str
    days: int = 1


class Berth(TypedDict):
    city: str
    days: NotRequired[int]


async def sail(city: str, days: int = 1, *, token: str = "") -> None:
    """An async function."""


class Harbour:
    def dock(self, city: str, days: int = 1) -> None:
        """A bound method."""


class Runnable:
    """A tool as LangChain's: its `input_schema` is a class, and so is what the model was given."""

    name = "weather"
    input_schema = Function
    tool_call_schema = Weather


AGENTS_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {}, "days": {}}, "required": ["city"]}


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (Ferry, "Ferry"),
        (Berth, "Berth"),
        (partial(sail, token="kept"), "sail"),
        (partial(partial(sail, token="kept")), "sail"),
        (Harbour().dock, "dock"),
        (Runnable(), "weather"),
        (SimpleNamespace(name="agents", params_json_schema=AGENTS_SCHEMA), "agents"),
    ],
    ids=["dataclass", "typed dict", "partial", "partial of partial", "method", "langchain", "agents"],
)
def test_tools_of_every_kind(tool: Any, name: str) -> None:
    tools = Tools.of([tool])
    assert tools is not None
    assert list(tools.names) == [name]
    facts = tools.facts(name)
    assert (facts.required, facts.properties) == (("city",), ("city", "days"))


def test_tools_are_copied_and_pickled() -> None:
    tools = Tools.of(
        [Weather, Ferry, {"name": "book", "parameters": PARAMETERS, "annotations": {"destructiveHint": True}}]
    )
    assert tools is not None
    for made in (copy.copy(tools), copy.deepcopy(tools), pickle.loads(pickle.dumps(tools))):
        assert list(made.names) == list(tools.names)
        assert made.destructive == {"book"}
        assert [made.schema(name) for name in made.names] == [tools.schema(name) for name in tools.names]


def test_parsers_with_tools_are_copied_and_pickled() -> None:
    parser = Parser("hermes", tools=[Weather])
    text = '<tool_call>{"name": "Weather", "arguments": {"city": "Rome"}}</tool_call>'
    for made in (copy.copy(parser), copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        assert made.parse(text) == parser.parse(text)
        assert made.parse(text).tool_calls[0].value == Weather(city="Rome")


def test_a_pickle_holds_the_schema_of_a_local_tool() -> None:
    class Local(BaseModel):
        city: str

    made = pickle.loads(pickle.dumps(Parser("hermes", tools=[Local])))
    reply = made.parse('<tool_call>{"name": "Local", "arguments": {"city": []}}</tool_call>')
    assert [one.code for one in reply.diagnostics] == ["mistyped-argument"]
