"""`describe` and `describe_tools`: what prompts say of types and tools, and that their examples are read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any, Literal

import pytest
from pydantic import AnyUrl, BaseModel, Field, TypeAdapter

from outspoken import formats, parse
from outspoken.json import describe
from outspoken.json.descriptions import sample_of
from outspoken.rendering import describe_tools
from outspoken.results.errors import RenderError, ToolError
from outspoken.results.schemas.fitting import target_of
from tests.tables import tables

TABLES = tables(__file__)


class Deck(Enum):
    """Words and a number."""

    LOWER = "lower deck"
    UPPER = 2


class Walk(BaseModel):
    """On foot.

    As far as it goes.
    """

    kind: Literal["walk"]
    km: float = Field(gt=0, le=40)


class Sail(BaseModel):
    kind: Literal["sail"]
    ship: str = Field(min_length=1, description="Its\n  name")


class Node(BaseModel):
    """A tree."""

    name: str
    leaves: list[Node] = []


@dataclass
class Odd:
    """All that is not plain."""

    pair: tuple[int, str]
    deck: Deck
    at: datetime
    on: date
    by: time
    url: AnyUrl
    price: Decimal
    legs: list[Walk | Sail]
    words: dict[str, list[int]]
    any_of_them: Any
    tree: Node
    none: None = None


def test_every_kind_of_type() -> None:
    """One line for each field, and a name for what contains itself."""
    assert describe(Odd) == TABLES["EVERY_KIND_OF_TYPE"]
    assert describe(Node).startswith("Node\nNode = {\n")
    assert describe(list[Deck]) == '("lower deck" | 2)[]'
    assert describe({"type": ["string", "null"], "properties": 3}) == "string | null"
    assert describe({"properties": {"a b": {"$ref": "#/none"}}}) == '{\n  "a b"?: any,\n}'
    with pytest.raises(TypeError, match="schema"):
        describe(object())


@pytest.mark.parametrize("type_", [Odd, Node, Walk, Sail, Deck, list[Walk], dict[str, int], int, str, Any, date | None])
def test_samples_are_of_their_type(type_: Any) -> None:
    """The example of a type validates."""
    TypeAdapter(type_).validate_python(sample_of(target_of(type_).schema))


def book(ferry: str, seats: int, wish: str | None = None) -> None:
    """Book seats.

    On a ferry.
    """


def test_tools_with_their_arguments_and_a_call() -> None:
    """What each says of itself, wherever it says it."""
    now = {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {"type": "object"}}}
    assert describe_tools("react", [book, now, Sail, partial(book, seats=1)]) == TABLES["TOOLS"]
    assert describe_tools("react", []) == "# Tools\n"
    with pytest.raises(RenderError, match="ui_tars"):
        describe_tools("ui_tars", [book])
    with pytest.raises(ToolError):
        describe_tools("react", [3])  # pyright: ignore


@pytest.mark.parametrize("format", [one.name for one in formats()])
def test_the_call_is_one_of_the_format(format: str) -> None:
    """In each format that has calls, the example is one call and nothing else."""
    try:
        text = describe_tools(format, [book])
    except RenderError:
        return
    reply = parse(text.partition("and its arguments:\n\n")[2], format, tools=[book])
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("book", {"ferry": "ferry", "seats": 1})]
    assert (reply.status, reply.text.strip()) == ("ok", "")
