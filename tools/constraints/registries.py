"""Random registries of payloads, with models of all kinds of fields."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from outspoken.payloads import PayloadRegistry, PayloadType

_NAMES = ("title", "value", "kind", "items", "note", "count", "from_", "isOpen", "data", "x")
#: Some begin with others, or stand in text as words.
_MARKERS = ("CARD", "CARDS", "SUGGESTED_VALUES", "Next-Step", "mode", "FORM_DATA", "Plan.v2", "CARD_LIST", "答案", "A")


class Size(Enum):
    """How large something is."""

    SMALL = "small"
    LARGE = "very large"


def random_registry(draw: random.Random) -> PayloadRegistry:
    """One to five types of payloads, on all pages or on some of three."""
    found: list[PayloadType] = []
    for number, marker in enumerate(draw.sample(_MARKERS, draw.randint(1, 5))):
        pages = draw.choice([None, None, ("form",), ("form", "list")])
        model = draw.choice([None, *[random_model(draw)] * 5, *[_field(draw, 1)] * 2])
        found.append(
            PayloadType(
                f"type{number}",
                marker,
                model,
                kind=draw.choice(["object", "array"]),
                wrapping=draw.choice(["plain", "emphasis", "tolerant"]),
                any_case=draw.random() < 0.2,
                pages=pages,
                beside=draw.random() < 0.4,
            )
            if model is None or isinstance(model, type)
            else PayloadType(f"type{number}", marker, model, kind="array", pages=pages)
        )
    registry = PayloadRegistry()
    for one in found:
        try:
            registry.add(one)
        except ValueError:  # the same marker in another case
            continue
    registry.add_page("start")
    return registry


def random_model(draw: random.Random, depth: int = 0) -> type[BaseModel]:
    """A model with up to five fields, required or not."""
    fields: dict[str, Any] = {}
    for name in draw.sample(_NAMES, draw.randint(1, 5)):
        kind = _field(draw, depth)
        fields[name] = draw.choice([(kind, ...), (kind | None, None)])
    return create_model(f"Model{draw.randrange(1000)}", **fields)


def _field(draw: random.Random, depth: int) -> Any:
    """A type of a field."""
    simple: list[Callable[[], Any]] = [
        lambda: str,
        lambda: int,
        lambda: float,
        lambda: bool,
        lambda: date,
        lambda: Size,
        lambda: Literal["fast", "slow", 3],
        lambda: _limited(str, min_length=draw.randint(0, 2), max_length=draw.randint(2, 9)),
        lambda: _limited(str, pattern="^[a-z]+(-[a-z]+)*$"),
        lambda: _limited(int, ge=draw.randint(-9, 3), le=draw.randint(4, 200)),
        lambda: _limited(float, gt=-1.5, lt=99.5),
        lambda: dict[str, int],
        lambda: str | int | None,
    ]
    nested: list[Callable[[], Any]] = [
        lambda: list[_field(draw, depth + 1)],
        lambda: _limited(list[_field(draw, depth + 1)], min_length=1, max_length=3),
        lambda: tuple[int, str],
        lambda: random_model(draw, depth + 1),
        lambda: random_model(draw, depth + 1) | None,
        lambda: dict[str, Any],
    ]
    return draw.choice([*simple, *nested] if depth < 3 else simple)()


def _limited(kind: Any, **limits: Any) -> Any:
    from typing import Annotated

    return Annotated[kind, Field(**limits)]
