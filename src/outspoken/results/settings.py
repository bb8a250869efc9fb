"""The limits of the reader, and the screen that coordinates refer to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .geometry import Screen, Space


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the reader, and the screen for the coordinates of actions.

    `max_chars` is the maximal length of a response in characters; a longer one raises `LimitError` with what was read
    so far. `max_depth` is the maximal nesting of values; deeper values are not read. `max_hold` is the number of
    characters that a stream may hold back while the format is undecided; then the most likely format is chosen.

    With `tolerant_grammar`, Lark's Earley parser reads damage that the search for a recovery path cannot read.

    `coordinates` is the space of an action's points, if it is not the format's own. With a `screen`, points are
    converted to its pixels. `clamp` moves points outside the screen, or outside a space of fixed size, to its edge and
    reports `clamped-point`; otherwise they stay as written.

    Raises ValueError for a limit below 1 and for an unknown coordinate space.
    """

    max_chars: int = 16_000_000
    max_depth: int = 128
    max_hold: int = 1_000_000
    tolerant_grammar: bool = True
    coordinates: Space | None = None
    screen: Screen | None = None
    clamp: bool = False

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_depth", "max_hold"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"`Settings.{name}` is {value!r}; expected an integer of at least 1")
        if self.coordinates is not None:
            from .geometry import SPACES

            if self.coordinates not in SPACES:
                names = ", ".join([f'"{space}"' for space in SPACES])
                raise ValueError(f"`coordinates` is {self.coordinates!r}; expected one of {names}")


DEFAULT = Settings()


def with_screen(settings: Settings | None, screen: Screen | None) -> Settings | None:
    """The settings with the `screen` that a caller passes separately, if any."""
    return settings if screen is None else replace(settings or DEFAULT, screen=screen)
