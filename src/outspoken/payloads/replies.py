"""The reply of a registry, and its typed payloads."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outspoken.results.replies import Payload, Reply, Span, Text


class TypedPayload(Payload):
    """A payload of a registered type.

    `data` is its JSON, and `value` the same as an instance of the type's model, or a list of instances; None without a
    model or if the data is invalid. `marker` is the marker of the type.
    """

    marker: str = Field(default="", repr=False)
    value: Any = Field(default=None, exclude=True, repr=False)


class PayloadReply(Reply):
    """The reply of a registry.

    `text` is the message to show, without payloads. `payloads` are safe to use. `broken_payloads` are `truncated` or
    `invalid`; they are no segments, since the message keeps or omits their text. `unfinished_payloads` returns them.
    `extra_payloads` are sound payloads that do not count because another one does, with `extra="collect"`. `beside`
    are the types with their own key in `to_message`. `blocks` are the spans of the text blocks of the response.
    """

    page: str | None = None
    beside: tuple[str, ...] = Field(default=(), repr=False)
    broken_payloads: list[TypedPayload] = Field(default_factory=list[TypedPayload])
    extra_payloads: list[TypedPayload] = Field(default_factory=list[TypedPayload])
    blocks: tuple[Span, ...] = Field(default=(), repr=False)

    @property
    def unfinished_payloads(self) -> list[Payload]:
        """The `truncated` and `invalid` payloads. Never use these."""
        return [*self.broken_payloads]

    def text_pieces(self) -> list[str]:
        """What each segment adds to `text`: its own text, since that is joined already."""
        return [segment.text if isinstance(segment, Text) else "" for segment in self.segments]

    def message_keys(self) -> tuple[str, ...]:
        """The types of the payloads that have their own key in `to_message`."""
        return self.beside
