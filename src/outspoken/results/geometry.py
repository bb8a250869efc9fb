"""Places on a screen: points and boxes, the spaces in which models write them, and the way to pixels and back.

The space is said by the format or by the caller. It is never guessed from the numbers: `(1, 1)` is a corner in one
space and the middle of nowhere in the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field

from .construct import construct

#: The spaces in which models write targets. `px`: pixels of the screen. `px_sent`: pixels of the image that was sent.
#: `px_smart28`, `px_smart32`: pixels of that image after it was resized to multiples of 28 or 32 (`smart_resize`).
#: `rel1000`, `rel999`, `unit`: from 0 to 1000, 999 or 1 on each axis. `mark`, `desc`: no coordinates, but the mark that
#: was drawn on an element, or words for it.
Space = Literal["px", "px_sent", "px_smart28", "px_smart32", "rel1000", "rel999", "unit", "mark", "desc"]

SPACES: tuple[str, ...] = get_args(Space)

_EXTENTS = {"rel1000": 1000.0, "rel999": 999.0, "unit": 1.0}
_FACTORS = {"px_smart28": 28, "px_smart32": 32}
_MAX_RATIO = 200


def smart_resize(
    width: int, height: int, factor: int = 28, min_pixels: int | None = None, max_pixels: int | None = None
) -> tuple[int, int]:
    """The size, `(width, height)` in pixels, to which a vision model's processor resizes an image.

    Each side becomes the nearest multiple of `factor`, and the area is kept between `min_pixels` (100 patches of
    `factor`² unless given) and `max_pixels` (16384 patches) with about the same ratio. Halves are rounded to the even
    multiple, as Python's `round` does it: a side of 1414 is 50.5 patches of 28 and becomes 1400. A port that rounds
    halves up, as JavaScript's does, gives 1428.

    Source: `smart_resize` of qwen_vl_utils (`vision_process.py`) and of bytedance/UI-TARS (`action_parser.py`).
    Raises ValueError for sides that are not positive, and for one that is more than 200 times the other.
    """
    if min(width, height) < 1:
        raise ValueError(f"an image of {width} by {height} pixels has no size")
    if max(width, height) > _MAX_RATIO * min(width, height):
        raise ValueError(f"an image of {width} by {height} pixels is too narrow: one side is over {_MAX_RATIO} others")
    least = 100 * factor * factor if min_pixels is None else min_pixels
    most = 16384 * factor * factor if max_pixels is None else max_pixels
    wide, high = [max(factor, round(side / factor) * factor) for side in (width, height)]
    if wide * high > most:
        shrink = math.sqrt(width * height / most)
        wide, high = [max(factor, math.floor(side / shrink / factor) * factor) for side in (width, height)]
    elif wide * high < least:
        grow = math.sqrt(least / (width * height))
        wide, high = [math.ceil(side * grow / factor) * factor for side in (width, height)]
    return wide, high


@dataclass(frozen=True, slots=True)
class Screen:
    """The screen, and what the model saw of it. All sizes are in pixels.

    `sent` is the size, `(width, height)`, of the image that was sent, where that is not the screen's. `min_pixels` and
    `max_pixels` are the limits of `smart_resize`, where the deployment has others. Raises ValueError for a size that
    is none.
    """

    width: int
    height: int
    sent: tuple[int, int] | None = None
    min_pixels: int | None = None
    max_pixels: int | None = None

    def __post_init__(self) -> None:
        for size in (self.width, self.height, *(self.sent or ())):
            if type(size) is not int or size < 1:
                raise ValueError(f"{size!r} is no size of a screen; expected a whole number from 1 on")

    def extent(self, space: Space) -> tuple[float, float]:
        """Which numbers stand for the right and the lower edge in a space. Raises ValueError where there are none."""
        if space in _EXTENTS:
            return _EXTENTS[space], _EXTENTS[space]
        if space == "px":
            return self.width, self.height
        wide, high = self.sent or (self.width, self.height)
        if space == "px_sent":
            return wide, high
        if space not in _FACTORS:
            raise ValueError(f"`{space}` names a target and has no coordinates; find out where the target is")
        return smart_resize(wide, high, _FACTORS[space], self.min_pixels, self.max_pixels)


class Box(NamedTuple):
    """A box, its edges in order; its space is that of the point that it belongs to."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, x1: float, y1: float, x2: float, y2: float) -> Box:
        """The box between two opposite corners, whichever they are."""
        return cls(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))

    @property
    def centre(self) -> tuple[float, float]:
        """The place in the middle."""
        return self.left + (self.right - self.left) / 2, self.top + (self.bottom - self.top) / 2


_Finite = Annotated[float, Field(allow_inf_nan=False)]


class Point(BaseModel):
    """A place on the screen. `space` says what its numbers count.

    `box` is the box that the model wrote, where it wrote one; the point is then its centre. Numbers beyond the screen
    are kept as they were written.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    x: _Finite
    y: _Finite
    space: Space = "px"
    box: Box | None = None

    @classmethod
    def of(cls, numbers: list[float], space: Space) -> Point:
        """A point from two numbers, or the centre of a box from four. Raises ValueError for any other count."""
        if len(numbers) == 2:
            return construct(cls, {"x": numbers[0], "y": numbers[1], "space": space, "box": None})
        if len(numbers) != 4:
            raise ValueError(f"a point has 2 numbers and a box has 4, not {len(numbers)}")
        box = Box.of(*numbers)
        x, y = box.centre
        return construct(cls, {"x": x, "y": y, "space": space, "box": box})

    def to_pixels(self, screen: Screen, *, clamp: bool = False) -> Point:
        """The same place in pixels of the screen, `(0, 0)` its upper left corner; not rounded to whole pixels.

        With `clamp`, a place beyond the screen becomes the nearest pixel of it. Raises ValueError for a mark or a
        description, which have no coordinates, and for an image that `smart_resize` refuses.
        """
        found = self._scaled(screen.extent(self.space), screen.extent("px"), "px")
        return found.clamped(screen.width - 1, screen.height - 1) if clamp else found

    def from_pixels(self, space: Space, screen: Screen) -> Point:
        """The inverse of `to_pixels`: this place, which is in pixels of the screen, in another space.

        Raises ValueError where this point is not in pixels, and what `to_pixels` raises.
        """
        if self.space != "px":
            raise ValueError(f"the point is not in pixels of the screen but in `{self.space}`")
        return self._scaled(screen.extent("px"), screen.extent(space), space)

    def clamped(self, right: float, bottom: float) -> Point:
        """The nearest point that is not above or left of 0, nor beyond these edges; its box is cut off there, too."""
        if 0 <= self.x <= right and 0 <= self.y <= bottom:
            return self
        box = self.box and Box(*[_within(v, (right, bottom)[i % 2]) for i, v in enumerate(self.box)])
        values: dict[str, Any] = {"x": _within(self.x, right), "y": _within(self.y, bottom), "space": self.space}
        return construct(Point, {**values, "box": box})

    def numbers(self) -> tuple[float, ...]:
        """The numbers that say it: those of its box, else its own two."""
        return self.box or (self.x, self.y)

    def _scaled(self, old: tuple[float, float], new: tuple[float, float], space: Space) -> Point:
        if old == new:
            return construct(Point, {"x": self.x, "y": self.y, "space": space, "box": self.box})
        place = [_ratio(v, new[i % 2], old[i % 2]) for i, v in enumerate((self.x, self.y, *(self.box or ())))]
        box = Box(*place[2:]) if self.box else None
        return construct(Point, {"x": place[0], "y": place[1], "space": space, "box": box})


def _ratio(value: float, new: float, old: float) -> float:
    """A value on another scale; multiplied first, so that whole numbers that divide evenly stay whole."""
    found = value * new / old
    return found if math.isfinite(found) else value / old * new


def _within(value: float, most: float) -> float:
    return min(max(value, 0.0), most)
