"""The reply of a registry, its typed payloads, and the events of its streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_origin

from pydantic import Field

from outspoken.results.events import CommonEvent, Done, PayloadParsed, PayloadPreview, PayloadUnfinished
from outspoken.results.replies import Action, JsonValue, Payload, Reasoning, Reply, Span, Text, ToolCall

_T = TypeVar("_T")


class TypedPayload(Payload):
    """A payload of a registered type.

    `data` is its JSON, and `value` the same as an instance of the type's model, or a list of instances; None without a
    model or if the data is invalid. `model` is that model, or `list[…]` of it. `marker` is the marker of the type. JSON
    has neither value nor model.
    """

    marker: str = Field(default="", repr=False)
    value: Any = Field(default=None, exclude=True, repr=False)
    model: Any = Field(default=None, exclude=True, repr=False)


class PayloadReply(Reply):
    """The reply of a registry.

    `text` is the message to show, without payloads. `payloads` are safe to use; `payload(Card)` is the first of them
    with this model. `broken_payloads` are `truncated` or `invalid`; they are no segments, since the message keeps or
    omits their text. `unfinished_payloads` returns them. `extra_payloads` are sound payloads that do not count because
    another one does, with `extra="collect"`. `beside` are the types with their own key in `to_message`. `blocks` are
    the spans of the text blocks of the response.
    """

    if not TYPE_CHECKING:  # a list of more specific segments is no `list[Segment]`
        segments: list[
            Annotated[
                Text | Reasoning | ToolCall | Action | TypedPayload | JsonValue,
                Field(discriminator="kind"),
            ]
        ]
    page: str | None = None
    beside: tuple[str, ...] = Field(default=(), repr=False)
    broken_payloads: list[TypedPayload] = Field(default_factory=list[TypedPayload])
    extra_payloads: list[TypedPayload] = Field(default_factory=list[TypedPayload])
    blocks: tuple[Span, ...] = Field(default=(), repr=False)

    @property
    def payloads(self) -> list[TypedPayload]:  # pyright: ignore[reportIncompatibleMethodOverride] (a new list)
        """The complete payloads (`ok` or `repaired`), in order. Use only these."""
        return [one for one in super().payloads if isinstance(one, TypedPayload)]

    @property
    def unfinished_payloads(self) -> list[TypedPayload]:  # pyright: ignore[reportIncompatibleMethodOverride] (a new list)
        """The `truncated` and `invalid` payloads. Never use these."""
        return [*self.broken_payloads]

    def payload(self, model: type[_T]) -> _T | None:
        """The value of the first payload of a type with this model; None if there is none.

        For a type of the kind "array", pass `list[…]` of its model. A reply that was read from JSON has no values.
        """
        for one in self.payloads:
            is_model = one.model == model or (get_origin(model) is None and isinstance(one.value, model))
            if is_model and one.value is not None:
                return one.value
        return None

    def text_pieces(self) -> list[str]:
        """What each segment adds to `text`: its own text, since that is joined already."""
        return [segment.text if isinstance(segment, Text) else "" for segment in self.segments]

    def message_keys(self) -> tuple[str, ...]:
        """The types of the payloads that have their own key in `to_message`."""
        return self.beside


#: The events of a registry's stream.
PayloadEvent = Annotated[
    CommonEvent | PayloadParsed[TypedPayload] | PayloadPreview | PayloadUnfinished[TypedPayload] | Done[PayloadReply],
    Field(discriminator="type"),
]
