"""Settings of the reader."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the reader.

    `max_chars` is the longest response, in characters; a longer one raises `LimitError` with what was read so far.
    `max_depth` is how deep values may nest; a deeper one is not read. `max_hold` is how many characters a stream may
    hold back while it is open which format they are in; then the likeliest is taken.
    """

    max_chars: int = 16_000_000
    max_depth: int = 128
    max_hold: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_depth", "max_hold"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"`Settings.{name}` is {value!r}; expected a whole number from 1 on")


DEFAULT = Settings()
