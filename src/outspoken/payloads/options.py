"""`Options`: how strictly payloads are validated, and which payloads remain in the message."""

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
    """How payloads are validated, and what remains in the message.

    `validation`: "off" accepts any JSON of the right kind; "warn" reports mistakes, leaves invalid items out of arrays
    and keeps objects as they are; "strict" makes a payload with mistakes invalid.

    `strip_broken` removes truncated and invalid payloads from the message, `strip_unregistered` those of other pages;
    otherwise their text stays. Of the payloads that are not `beside` others, one counts: the first in the text, or, for
    whole texts with `precedence="registration"`, the one whose type was registered first. `extra` is what happens to
    the rest: "strip" removes them, "collect" moves them to `extra_payloads`, "keep" leaves them as text.
    `suggestions_with_proposal="drop"` removes payloads `beside` a payload that is not; a stream then holds them back
    until the end.

    With `markers_in_fences`, markers count in code samples as well.

    Raises ValueError for any other value.
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
