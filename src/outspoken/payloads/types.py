"""What an application declares: payload types, the payloads that count on a page, and how strictly they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import TypeAdapter

from outspoken.results.arguments import check_type
from outspoken.results.old_names import with_old_names
from outspoken.results.schemas.fitting import target_of_call
from outspoken.results.schemas.schema import Schema
from outspoken.results.settings import Settings

if TYPE_CHECKING:
    from outspoken.json.stream import JsonStream

Validation = Literal["off", "warn", "strict"]
Extra = Literal["strip", "keep", "collect"]

_CHOICES = {
    "validation": ("off", "warn", "strict"),
    "extra": ("strip", "keep", "collect"),
    "precedence": ("text", "registration"),
    "suggestions_with_proposal": ("keep", "drop"),
}


@with_old_names
@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadSettings(Settings):
    """How payloads are validated, what remains in the message, and the limits of `Settings`.

    `validation`: "off" accepts any JSON of the right kind; "warn" reports mistakes, leaves invalid items out of arrays
    and keeps objects as they are; "strict" makes a payload with mistakes invalid.

    `strip_unfinished` removes truncated and invalid payloads from the message, `strip_unregistered` those of other
    pages; otherwise their text stays. Of the payloads that are not `beside` others, one counts: the first in the text,
    or, for whole texts with `precedence="registration"`, the one whose type was registered first. `extra` is what
    happens to the rest: "strip" removes them, "collect" moves them to `extra_payloads`, "keep" leaves them as text.
    `suggestions_with_proposal="drop"` removes payloads `beside` a payload that is not; a stream then holds them back
    until the end.

    With `markers_in_fences`, markers count in code samples as well.

    Raises ValueError for any other value.
    """

    validation: Validation = "warn"
    strip_unfinished: bool = False
    strip_unregistered: bool = False
    extra: Extra = "strip"
    precedence: Literal["text", "registration"] = "text"
    suggestions_with_proposal: Literal["keep", "drop"] = "keep"
    markers_in_fences: bool = False

    def __post_init__(self) -> None:
        Settings.__post_init__(self)  # `super()` does not work in a class with slots
        for key, known in _CHOICES.items():
            if getattr(self, key) not in known:
                raise ValueError(f"`{key}` is {getattr(self, key)!r}; expected one of {', '.join(map(repr, known))}")


Kind = Literal["object", "array"]
Wrapping = Literal["plain", "emphasis", "tolerant"]

_NAME = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)
_MARKER = re.compile(r"[^\W\d_](?:[\w.\-]{0,62}\w)?")


@dataclass(frozen=True, eq=False)
class PayloadType:
    """One type of payload: its marker, its JSON, and how prompts describe it.

    `name` is the type of the payloads, a Python identifier; `marker` is what the model writes, with or without its
    colon. `model` is the pydantic model, or any type that pydantic supports, of the object, or of one item if `kind` is
    "array"; None accepts any JSON. `pages` are the pages on which the payload counts; None means all. A payload that
    is `beside` others has its own key in a message; of all other payloads, a message contains one.

    `wrapping` is how the marker may be written: "plain"; also in bold and italics ("emphasis"); or in similar ways
    ("tolerant": underscores, a code span, a full-width colon), with a diagnostic. With `any_case`, the marker is
    case-insensitive. `parser` transforms the JSON value before validation; a ValueError makes the payload invalid.
    `check` receives a valid value and its page and returns messages about anything unusual.

    In prompts, `instructions` precede the fields; `example` is a valid payload to imitate. `summarize`
    describes the data of a payload in a few words.

    Raises ValueError for an invalid name, marker, kind or wrapping.
    """

    name: str
    marker: str
    model: Any = None
    _: KW_ONLY
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

    def __post_init__(self) -> None:
        check_type(self.name, str, "name")
        check_type(self.marker, str, "marker")
        object.__setattr__(self, "marker", self.marker.strip().removesuffix(":").rstrip())
        if self.pages is not None:
            object.__setattr__(self, "pages", (self.pages,) if isinstance(self.pages, str) else tuple(self.pages))
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"`{self.name}` is not a payload name; use letters, digits and `_`")
        if not _MARKER.fullmatch(self.marker):
            raise ValueError(f"`{self.marker}` is not a marker; use a letter, then letters, digits, `_`, `-` and `.`")
        for key, choice, choices in (
            ("kind", self.kind, get_args(Kind)),
            ("wrapping", self.wrapping, get_args(Wrapping)),
        ):
            if choice not in choices:
                raise ValueError(
                    f"`{key}` of `{self.name}` is {choice!r}; expected one of {', '.join(map(repr, choices))}"
                )

    @cached_property
    def adapter(self) -> TypeAdapter[Any] | None:
        """The validator of the object, or of one item of the array; None without a model."""
        return None if self.model is None else TypeAdapter(self.model)

    @cached_property
    def view(self) -> Schema:
        """What is known of the object, or of one item of the array."""
        return Schema({}) if self.model is None else target_of_call(self.model).view

    @cached_property
    def whole_model(self) -> Any:
        """The model of the payload: that of the object, or a list of that of the items; None without a model."""
        return list[self.model] if self.kind == "array" and self.model is not None else self.model

    def stream(self, settings: Settings) -> JsonStream[Any]:
        """What shows a payload while it arrives: as the model, or as plain JSON if that says nothing of its JSON."""
        from outspoken.json.stream import JsonStream

        with suppress(TypeError):  # JSON schema cannot express it
            return JsonStream(self.whole_model if self.parser is None else None, settings=settings)
        return JsonStream(settings=settings)

    @cached_property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the payload; None without a model, and with a `parser`, which takes any JSON."""
        if self.adapter is None or self.parser is not None:
            return None
        schema = self.adapter.json_schema(by_alias=True)
        if self.kind == "object":
            return schema
        definitions = schema.pop("$defs", {})
        return {"type": "array", "items": schema, "$defs": definitions}

    def is_on(self, page: str | None) -> bool:
        """True if the payload counts on a page; without a page, all do."""
        return page is None or self.pages is None or page in self.pages


@dataclass(frozen=True)
class Page:
    """The payloads and client actions of a page; `name` is None if no page was named, so that all of them count.

    `types` are the payloads that count, in the order of registration; `elsewhere` are those of other pages. `actions`
    maps the names of client actions to their descriptions for the model.
    """

    name: str | None
    types: tuple[PayloadType, ...]
    elsewhere: tuple[PayloadType, ...]
    actions: dict[str, str]

    def of(self, marker: str) -> PayloadType | None:
        """The type with a marker; None if it does not count on this page."""
        return next((one for one in self.types if one.marker == marker), None)

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of the types that have their own key in a message."""
        return tuple([one.name for one in self.types if one.beside])
