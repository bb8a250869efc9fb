"""Delta debugging: shortens a text as long as it shows the same problem."""

from __future__ import annotations

from collections.abc import Callable

#: How often it is asked whether a shorter text still shows it.
TRIES = 3000


def minimise(text: str, shows: Callable[[str], bool], tries: int = TRIES) -> str:
    """The text without everything that can be left out, one piece at a time, so that `shows` still holds.

    `shows` holds for the text itself. Where `tries` are spent, what is left by then is returned.
    """
    size = max(len(text) // 2, 1)
    while tries > 0:
        shorter, tries = _without_pieces(text, size, shows, tries)
        if shorter == text and size == 1:
            return text
        size = max(size // 2, 1) if shorter == text else min(size, max(len(shorter) // 2, 1))
        text = shorter
    return text


def _without_pieces(text: str, size: int, shows: Callable[[str], bool], tries: int) -> tuple[str, int]:
    """The text without the pieces of one size that can be left out, and the tries that are left."""
    at = 0
    while at < len(text) and tries > 0:
        shorter = text[:at] + text[at + size :]
        tries -= 1
        if shows(shorter):
            text = shorter
        else:
            at += size
    return text, tries
