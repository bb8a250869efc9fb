"""`ProviderReply`: a reply with what a provider sends beside the content."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from outspoken.results.construct import FrozenModel
from outspoken.results.finish_reasons import FinishReason
from outspoken.results.replies import Reply

from .usage import Usage

#: The key of the extension in a message, a chunk or a response. Exports put what a protocol has no field for under it,
#: and readers look for it there.
EXTENSION = "outspoken"
#: Its field for the blank lines that separate two blocks of reasoning.
REASONING_BREAKS = "breaks"
#: Its field for several blocks of text that have all white space between them.
JOINED_TEXT = "joined_text"


class ProviderError(FrozenModel):
    """An error that the provider reports, in its response or in the middle of a stream. `raw` is its object."""

    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    raw: Any = Field(default=None, repr=False)


class Signature(FrozenModel):
    """The signature of a reasoning block, by which a provider recognises its own.

    `segment` is the index in `Reply.segments` of the signed segment: reasoning, and with Gemini also a text or a call.
    `redacted` reasoning is encrypted in `data` and has no text. Reasoning without text is no segment; then `segment` is
    the index of the next one, or the number of segments.
    """

    segment: int
    data: str
    redacted: bool = False


class ProviderReply(Reply):
    """The reply of a provider.

    `raw` is the content, including the markup of its format; spans are offsets into it. Segments that the provider sent
    apart from the content (native calls, reasoning fields) have an empty span, at their place in it. `borders` are the
    offsets of the text blocks that something else separates from the text before them, with APIs that have blocks.
    """

    provider: str
    id: str | None = None
    model: str | None = None
    finish_reason: FinishReason | None = None
    #: the provider's word for `finish_reason`
    stop_reason: str | None = None
    usage: Usage | None = None
    refusal: str | None = None
    error: ProviderError | None = None
    signatures: list[Signature] = Field(default_factory=list[Signature])
