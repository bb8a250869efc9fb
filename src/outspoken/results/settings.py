"""Settings of the reader."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .geometry import Screen, Space


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the reader, and what it is told of the screen.

    `max_chars` is the longest response, in characters; a longer one raises `LimitError` with what was read so far.
    `max_depth` is how deep values may nest; a deeper one is not read. `max_hold` is how many characters a stream may
    hold back while it is open which format they are in; then the likeliest is taken.

    `coordinates` is the space of an action's points, where that is not the format's own. With a `screen`, points are
    given in its pixels. `clamp` moves points beyond the screen, or beyond a space of fixed size, to its edge, with a
    diagnostic `clamped-point`; otherwise they stay where they are.
    """

    max_chars: int = 16_000_000
    max_depth: int = 128
    max_hold: int = 1_000_000
    coordinates: Space | None = None
    screen: Screen | None = None
    clamp: bool = False

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_depth", "max_hold"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"`Settings.{name}` is {value!r}; expected a whole number from 1 on")
        if self.coordinates is not None:
            from .geometry import SPACES

            if self.coordinates not in SPACES:
                names = ", ".join([f'"{space}"' for space in SPACES])
                raise ValueError(f"`coordinates` is {self.coordinates!r}; expected one of {names}")


DEFAULT = Settings()


def with_screen(settings: Settings | None, coordinates: Space | None, screen: Screen | None) -> Settings | None:
    """The settings with what a caller says of the screen beside them."""
    if coordinates is None and screen is None:
        return settings
    settings = settings or DEFAULT
    return replace(
        settings,
        coordinates=settings.coordinates if coordinates is None else coordinates,
        screen=settings.screen if screen is None else screen,
    )
