"""`PayloadSettings`: how strictly payloads are read, and what happens to those that do not count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from outspoken.results.old_names import with_old_names
from outspoken.results.settings import Settings

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
