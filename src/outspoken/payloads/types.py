"""`PayloadType`: what an application declares of a structured element that its assistant may write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from .page import Page

Kind = Literal["object", "array"]
Wrapping = Literal["plain", "emphasis", "tolerant"]

_KINDS = ("object", "array")
_WRAPPINGS = ("plain", "emphasis", "tolerant")
_NAME = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)
_MARKER = re.compile(r"[^\W\d_](?:[\w.\-]{0,62}\w)?")


@dataclass(frozen=True, kw_only=True, eq=False)
class _More:
    """The rest of a type, by name only."""

    kind: Kind = "object"
    wrapping: Wrapping = "tolerant"
    any_case: bool = False
    pages: tuple[str, ...] | None = None
    beside: bool = False
    instructions: str = ""
    example: Any = None
    summarize: Callable[[Any], str] | None = None
    parser: Callable[[Any], Any] | None = None
    check: Callable[[Any, Page], Iterable[str]] | None = None


@dataclass(frozen=True, eq=False)
class PayloadType(_More):
    """One kind of payload: its marker, what stands behind it, and how the model is taught it.

    `name` is the type of the payloads, in Python's spelling of names; `marker` is what the model writes, with its colon
    or without. `model` is the pydantic model, or any type that pydantic knows, of the object, or of one item where the
    `kind` is "array"; None takes any JSON. `pages` are the pages on which the payload counts, None all of them.
    Payloads that are `beside` have a key of their own in a message and may stand with others; of all others, a message
    holds one.

    `wrapping` says how the marker may be written: "plain"; in bold and italics, too ("emphasis"); or in all that is
    like it ("tolerant": underscores, a code span, a full-width colon), with a diagnostic. With `any_case` its case does
    not count. `parser` makes what the application wants of the JSON value before that is validated; a ValueError of it
    says that the payload is broken. `check` is given a valid value and its page, and returns what is odd about it.

    `instructions` is told the model before the fields; `example` is one payload as the model should write it, which
    must be valid; `summarize` says in a few words what the data of a payload are.

    Raises ValueError for a name or marker that cannot be used.
    """

    name: str
    marker: str
    model: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "marker", self.marker.strip().removesuffix(":").rstrip())
        if self.pages is not None:
            object.__setattr__(self, "pages", (self.pages,) if isinstance(self.pages, str) else tuple(self.pages))
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"`{self.name}` is no name of a payload; it is made of letters, digits and `_`")
        if not _MARKER.fullmatch(self.marker):
            raise ValueError(
                f"`{self.marker}` is no marker; it is a letter, and then letters, digits, `_`, `-` and `.`"
            )
        for key, given, known in (("kind", self.kind, _KINDS), ("wrapping", self.wrapping, _WRAPPINGS)):
            if given not in known:
                raise ValueError(
                    f"`{key}` of `{self.name}` is {given!r}; expected one of {', '.join(map(repr, known))}"
                )

    @cached_property
    def adapter(self) -> TypeAdapter[Any] | None:
        """What validates the object, or one item of the array; None where there is no model."""
        return None if self.model is None else TypeAdapter(self.model)

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of what stands behind the marker; None where nothing is known of it before the `parser`."""
        if self.adapter is None or self.parser is not None:
            return None
        schema = self.adapter.json_schema(by_alias=True)
        if self.kind == "object":
            return schema
        definitions = schema.pop("$defs", {})
        return {"type": "array", "items": schema, "$defs": definitions}

    def is_on(self, page: str | None) -> bool:
        """Does the payload count on a page? Where no page is named, all do."""
        return page is None or self.pages is None or page in self.pages
