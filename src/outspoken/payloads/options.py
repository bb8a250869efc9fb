"""What a registry does with payloads that are not as they should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Validation = Literal["off", "warn", "strict"]
Extra = Literal["strip", "keep", "collect"]

_CHOICES = {
    "validation": ("off", "warn", "strict"),
    "extra": ("strip", "keep", "collect"),
    "precedence": ("text", "registration"),
    "suggestions_with_proposal": ("keep", "drop"),
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """How payloads are judged, and what becomes of their text.

    `validation`: "off" takes any JSON of the right kind; "warn" says what is wrong, leaves out items of an array that
    cannot be used, and keeps objects as they are; "strict" takes a payload that is wrong for a broken one.

    `strip_broken` leaves a payload that is broken or cut off out of the message, `strip_unregistered` one that belongs
    to another page; without them their text stays. `extra` is what becomes of all payloads but one where there may be
    one only: they are left out ("strip"), left out and listed in `extra_payloads` ("collect"), or stay as text
    ("keep"). That one is the first of the text, or with `precedence="registration"`, for whole texts, the one whose
    type was registered first. `suggestions_with_proposal="drop"` leaves out what stands `beside` where there is a
    payload that is not; in a stream, it is then held until the end.

    `markers_in_fences` lets markers count in code samples, too, where they are text otherwise.

    Raises ValueError for a value that is none of these.
    """

    validation: Validation = "warn"
    strip_broken: bool = False
    strip_unregistered: bool = False
    extra: Extra = "strip"
    precedence: Literal["text", "registration"] = "text"
    suggestions_with_proposal: Literal["keep", "drop"] = "keep"
    markers_in_fences: bool = False

    def __post_init__(self) -> None:
        for key, known in _CHOICES.items():
            if getattr(self, key) not in known:
                raise ValueError(f"`{key}` is {getattr(self, key)!r}; expected one of {', '.join(map(repr, known))}")
