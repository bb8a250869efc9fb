"""What a registry makes of a response."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outspoken.results.replies import Payload, Reply, Span


class TypedPayload(Payload):
    """A payload whose type is registered.

    `data` is its JSON; `value` the same as an instance of the type's model (or a list of them), None where there is no
    model or it is not valid. `marker` is what was written before it.
    """

    marker: str = ""
    value: Any = Field(default=None, exclude=True, repr=False)


class PayloadReply(Reply):
    """A response that was read with a registry's payloads.

    `text` is the message: what is to be shown, without payloads. `payloads` are those that may be used.
    `unfinished_payloads` broke off (`truncated`) or cannot be used (`invalid`), and never may be; `extra_payloads` are
    those for which there was no place, with `extra="collect"`. `blocks` are the spans of the text blocks that the
    response came in.
    """

    page: str | None = None
    beside: tuple[str, ...] = ()
    unfinished_payloads: list[TypedPayload] = Field(default_factory=list[TypedPayload])
    extra_payloads: list[TypedPayload] = Field(default_factory=list[TypedPayload])
    blocks: tuple[Span, ...] = ()

    def message_text(self) -> str:
        """The text, which is the message already."""
        return self.text

    def message_keys(self) -> tuple[str, ...]:
        """The payloads that have keys of their own in a message."""
        return self.beside
