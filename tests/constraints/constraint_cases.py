"""Sets of tools for the tests of constraints, arguments that their schemas admit, and random registries of payloads."""

import random
from collections.abc import Callable, Sequence
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, create_model

from outspoken.notations.tools import ToolLike
from outspoken.payloads import PayloadRegistry, PayloadType
from tests.tables import tables

TABLES = tables(__file__)

Schema: TypeAlias = dict[str, Any]


def _object(properties: Schema, required: Sequence[str] = (), **more: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def _tool(name: str, properties: Schema, required: Sequence[str] = (), **more: Any) -> Schema:
    return {"name": name, "description": f"Does {name}.", "parameters": _object(properties, required, **more)}


_TEXT: Schema = {"type": "string"}


class Priority(str, Enum):
    """How urgent a ticket is."""

    LOW = "low"
    HIGH = "high"


class Person(BaseModel):
    """Someone who works on a ticket."""

    name: str
    age: int | None = None


class OpenTicket(BaseModel):
    """Opens a ticket."""

    title: str = Field(min_length=1, max_length=40)
    priority: Priority
    people: list[Person] = Field(default_factory=list[Person], max_length=3)
    kind: Literal["bug", "wish"] = "bug"


def set_alarm(hour: int, minute: int = 0, label: str | None = None, *, loud: bool = False) -> None:
    """Sets an alarm."""


#: Twenty sets of tools by what is special about them.
TOOL_SETS: dict[str, Sequence[ToolLike]] = {
    **TABLES["TOOL_SETS"],
    "ten tools": [
        _tool(f"tool_{number}", {"first": _TEXT, f"value_{number}": {"type": "integer"}}, ["first"])
        for number in range(10)
    ],
    "models and functions": [OpenTicket, set_alarm],
}


#: Arguments that the schemas of the first tools of a set admit, by the names of sets and tools.
ARGUMENTS: dict[str, dict[str, dict[str, Any]]] = TABLES["ARGUMENTS"]


# random registries of payloads, with models of all kinds of fields


_NAMES = ("title", "value", "kind", "items", "note", "count", "from_", "isOpen", "data", "x")
#: Some begin with others, or stand in text as words.
_MARKERS = ("CARD", "CARDS", "SUGGESTED_VALUES", "Next-Step", "mode", "FORM_DATA", "Plan.v2", "CARD_LIST", "答案", "A")


class Size(Enum):
    """How large something is."""

    SMALL = "small"
    LARGE = "very large"


#: Makes a type of a field; of those behind the first ones, only if it does not lie too deep.
_Make = Callable[[random.Random, int], Any]
_SIMPLE: tuple[_Make, ...] = (
    *[lambda draw, depth, kind=kind: kind for kind in (str, int, float, bool, date, Size, Literal["fast", "slow", 3])],
    lambda draw, depth: Annotated[str, Field(min_length=draw.randint(0, 2), max_length=draw.randint(2, 9))],
    lambda draw, depth: Annotated[str, Field(pattern="^[a-z]+(-[a-z]+)*$")],
    lambda draw, depth: Annotated[int, Field(ge=draw.randint(-9, 3), le=draw.randint(4, 200))],
    lambda draw, depth: Annotated[float, Field(gt=-1.5, lt=99.5)],
    lambda draw, depth: dict[str, int],
    lambda draw, depth: str | int | None,
)
_NESTED: tuple[_Make, ...] = (
    lambda draw, depth: list[_field(draw, depth + 1)],
    lambda draw, depth: Annotated[list[_field(draw, depth + 1)], Field(min_length=1, max_length=3)],
    lambda draw, depth: tuple[int, str],
    lambda draw, depth: _model(draw, depth + 1),
    lambda draw, depth: _model(draw, depth + 1) | None,
    lambda draw, depth: dict[str, Any],
)


def _field(draw: random.Random, depth: int) -> Any:
    return draw.choice([*_SIMPLE, *_NESTED] if depth < 3 else _SIMPLE)(draw, depth)


def _model(draw: random.Random, depth: int = 0) -> type[BaseModel]:
    """A model with up to five fields, required or not."""
    fields: dict[str, Any] = {}
    for name in draw.sample(_NAMES, draw.randint(1, 5)):
        kind = _field(draw, depth)
        fields[name] = draw.choice([(kind, ...), (kind | None, None)])
    return create_model(f"Model{draw.randrange(1000)}", **fields)


def random_registry(draw: random.Random) -> PayloadRegistry:
    """One to five types of payloads, on all pages or on some of three."""
    registry = PayloadRegistry()
    for number, marker in enumerate(draw.sample(_MARKERS, draw.randint(1, 5))):
        pages = draw.choice([None, None, ("form",), ("form", "list")])
        model = draw.choice([None, *[_model(draw)] * 5, *[_field(draw, 1)] * 2])
        more: dict[str, Any] = {"kind": "array"}
        if model is None or isinstance(model, type):
            more = {
                "kind": draw.choice(["object", "array"]),
                "wrapping": draw.choice(["plain", "emphasis", "tolerant"]),
                "any_case": draw.random() < 0.2,
                "beside": draw.random() < 0.4,
            }
        try:
            registry.add(PayloadType(f"type{number}", marker, model, pages=pages, **more))
        except ValueError:  # the same marker in another case
            continue
    registry.add_page("start")
    return registry
