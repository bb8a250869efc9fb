"""The raw text, as the parts of a builder see it."""

from __future__ import annotations

from collections.abc import Callable


def closed_source(start: int, end: int) -> str:
    """Stands in for the text of a parser that has ended, so that parser and builder hold no reference to each other."""
    raise AssertionError("the text has ended")


class Source:
    """Gives the raw text between two offsets: `source.slice(start, end)`."""

    slice: Callable[[int, int], str] = staticmethod(closed_source)
