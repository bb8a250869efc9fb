"""The answers of typed_texts.yaml, and their types by the names that stand there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, HttpUrl

from tests.tables import tables


class Severity(str, Enum):
    """Single words."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Board(Enum):
    """Words of two parts."""

    FULL = "full_board"
    HALF = "half_board"
    BREAKFAST = "bed_and_breakfast"
    NONE = "none"


class Deck(IntEnum):
    """Numbers."""

    LOWER = 1
    MIDDLE = 2
    UPPER = 3


class Person(BaseModel):
    """Plain members."""

    name: str
    age: int
    email: str | None = None


class Ticket(BaseModel):
    """An enumeration, a truth value and a list."""

    title: str
    severity: Severity
    is_open: bool = True
    labels: list[str] = []


class Stay(BaseModel):
    """Words of two parts, numbers that may be fractions or absent."""

    hotel: str
    board: Board
    nights: int
    price_per_night: float | None = None


class Invoice(BaseModel):
    """A date and a decimal number."""

    number: str
    issued: date
    total: Decimal
    is_paid: bool = False


class Concert(BaseModel):
    """A moment and a time."""

    title: str
    starts: datetime
    doors: time | None = None


class Line(BaseModel):
    """A line of an order."""

    sku: str
    quantity: int


class Order(BaseModel):
    """Objects in objects."""

    customer: Person
    lines: list[Line]
    coupon: str | None = None


class Folder(BaseModel):
    """A type that names itself."""

    name: str
    children: list[Folder] = []


class Circle(BaseModel):
    """One shape."""

    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    """Another shape."""

    kind: Literal["square"]
    side: float


class Found(BaseModel):
    """One answer, without a tag."""

    url: str
    title: str


class Missing(BaseModel):
    """The other answer."""

    reason: str


class Product(BaseModel):
    """Keys that are not the names of the fields."""

    name: str = Field(alias="productName")
    unit_price: float = Field(alias="unitPrice")
    in_stock: bool = Field(alias="inStock")


class Rating(BaseModel):
    """Bounds, a length and a pattern."""

    score: int = Field(ge=1, le=5)
    comment: str = Field(max_length=30)
    code: str = Field(pattern="^[A-Z]{3}$")


class Search(BaseModel):
    """No members but these, lists by keys, and a number or a word."""

    model_config = ConfigDict(extra="forbid")

    query: str
    filters: dict[str, list[str]] = {}
    limit: int | Literal["all"] = 10


class Account(BaseModel):
    """Texts with formats."""

    id: UUID
    site: HttpUrl


@dataclass
class Point:
    """A dataclass."""

    x: float
    y: float


class Row(typing_extensions.TypedDict):
    """A TypedDict."""

    place: str
    count: int
    note: typing_extensions.NotRequired[str]


_CLASSES: list[Any] = [
    Person, Ticket, Severity, Stay, Deck, Invoice, Concert, Order, Folder, Product, Rating, Search, Account, Point, Row,
    int, bool, date, Decimal,
]  # fmt: skip
TYPES: dict[str, Any] = {
    **{one.__name__: one for one in _CLASSES},
    "list[Person]": list[Person],
    "list[Severity]": list[Severity],
    "Sentiment": Literal["positive", "negative", "neutral"],
    "Shape": Annotated[Circle | Square, Field(discriminator="kind")],
    "Answer": Found | Missing,
    "dict[str, int]": dict[str, int],
    "list[list[float]]": list[list[float]],
    "tuple[str, int]": tuple[str, int],
    "int | None": int | None,
}


class Answer(NamedTuple):
    """A text, the name of the type that was asked for, what is odd about it, and what it means as JSON, if anything."""

    type: str
    kind: str
    text: str
    meant: str | None


#: Read once: all tests of typed texts ask for it.
TABLE = tables(str(Path(__file__).with_name("typed_texts")))


def answers() -> list[Answer]:
    """All of them."""
    return [
        Answer(name, kind, text.replace("⏎", "\n"), json.dumps(meant[0]) if meant else None)
        for name, kinds in TABLE.items()
        if name in TYPES
        for kind, rows in kinds.items()
        for text, *meant in rows
    ]


def misses() -> dict[str, str]:
    """The texts that are not read as they are meant, and why."""
    return {text.replace("⏎", "\n"): why for why, texts in TABLE["MISSES"].items() for text in texts}
