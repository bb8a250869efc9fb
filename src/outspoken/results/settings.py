"""The limits of the reader, and how it reads coordinates."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from .arguments import check_choice, check_count
from .old_names import with_old_names

if TYPE_CHECKING:
    from .geometry import Screen, Space


#: What becomes of a sound call that violates the schema of its tool.
SchemaCheck = Literal["report", "refuse", "off"]
SCHEMA_CHECKS: tuple[SchemaCheck, ...] = ("report", "refuse", "off")


@with_old_names
@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the reader, and how it reads the coordinates of actions.

    `max_chars` is the maximal length of a response in characters; a longer one raises `LimitError` with what was read
    so far. `max_depth` is the maximal nesting of values; deeper values are not read. `max_hold` is the number of
    characters that a stream may hold back while the format is undecided; then the most likely format is chosen.

    With `tolerant_grammar`, Lark's Earley parser reads damage that the search for a recovery path cannot read.

    `coordinates` is the space of an action's points, if it is not the format's own. `clamp` moves points outside the
    screen, or outside a space of fixed size, to its edge and reports `clamped-point`; otherwise they stay as written,
    and `outside-point` is reported.

    `schema_check` says what becomes of a sound call that violates the schema of its tool: with "report" it is usable
    and has a diagnostic (`missing-argument`, `unknown-argument`, `mistyped-argument`, `unlisted-value`, `unknown-tool`,
    `type-mismatch` for what a type says beyond its schema), with "refuse" it is invalid, with "off" nothing is checked.
    A repaired call that violates its schema is invalid, unless it is "off".

    Raises ValueError for a limit below 1, for an unknown coordinate space and for an unknown `schema_check`.
    """

    max_chars: int = 16_000_000
    max_depth: int = 128
    max_hold: int = 1_000_000
    tolerant_grammar: bool = True
    coordinates: Space | None = None
    clamp: bool = False
    schema_check: SchemaCheck = "report"
    #: that of a `Parser`, which sets it (`with_screen`)
    screen: Screen | None = field(default_factory=lambda: None, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_depth", "max_hold"):
            check_count(getattr(self, name), f"Settings.{name}", 1)
        check_choice(self.schema_check, SCHEMA_CHECKS, "Settings.schema_check")
        if self.coordinates is not None:
            from .geometry import SPACES

            check_choice(self.coordinates, SPACES, "coordinates")


DEFAULT = Settings()


def with_screen(settings: Settings | None, screen: Screen | None) -> Settings:
    """The settings with the `screen` of a parser."""
    settings = settings or DEFAULT
    if settings.screen == screen:
        return settings
    made = copy(settings)
    object.__setattr__(made, "screen", screen)
    return made
