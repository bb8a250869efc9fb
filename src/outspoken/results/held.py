"""`Held`: what a stream has read and cannot decide yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HeldReason = Literal["prompt", "format", "marker", "damage", "quotation", "reasoning"]


@dataclass(frozen=True)
class Held:
    """What a stream has read and cannot decide yet: the `text` from the offset `start` on, for a `reason`.

    - `prompt`: the response may begin by repeating the end of its prompt
    - `format`: several formats are tried
    - `marker`: the end of the text may become a marker, or belongs to one
    - `damage`: the grammar refuses a segment, which is read again when its end has come
    - `quotation`: a call or action may be quoted
    - `reasoning`: a call or action may stand in reasoning that goes on behind it

    The events of the text before `start` were sent, and perhaps some of what follows. White space at the end of text
    is held without being mentioned here.
    """

    reason: HeldReason
    start: int
    text: str
