"""Sets of tools for the tests of constraints, arguments that their schemas admit, and schemas that are changed."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from outspoken.notations.tools import ToolLike
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
