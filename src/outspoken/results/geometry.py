"""Points and boxes on a screen, the coordinate spaces in which models write them, and conversion to and from pixels.

The format or the caller determines the space. It is never guessed from the numbers: `(1, 1)` is the lower right corner
in one space and next to the upper left corner in another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from .arguments import check_count
from .construct import FrozenModel, construct

#: The spaces in which models write targets. `px`: pixels of the screen. `px_sent`: pixels of the image that was sent.
#: `px_smart28`, `px_smart32`: pixels of that image resized to multiples of 28 or 32 (`smart_resize`). `rel1000`,
#: `rel999`, `unit`: from 0 to 1000, 999 or 1 on each axis. `mark`, `desc`: no coordinates, but the label drawn on an
#: element, or a description of it.
Space = Literal["px", "px_sent", "px_smart28", "px_smart32", "rel1000", "rel999", "unit", "mark", "desc"]

SPACES: tuple[str, ...] = get_args(Space)

_EXTENTS = {"rel1000": 1000.0, "rel999": 999.0, "unit": 1.0}
_FACTORS = {"px_smart28": 28, "px_smart32": 32}
_MAX_RATIO = 200


def smart_resize(
    width: int, height: int, factor: int = 28, min_pixels: int | None = None, max_pixels: int | None = None
) -> tuple[int, int]:
    """The size `(width, height)`, in pixels, to which a vision model's processor resizes an image.

    Each side becomes the nearest multiple of `factor`; the area stays between `min_pixels` (default: 100 patches of
    `factor`² pixels) and `max_pixels` (16384 patches) at about the same aspect ratio. Halves round to the even
    multiple, like Python's `round`: a side of 1414 is 50.5 patches of 28 and becomes 1400. A port that rounds halves
    up, as in JavaScript, gives 1428.

    Source: `smart_resize` of qwen_vl_utils (`vision_process.py`) and of bytedance/UI-TARS (`action_parser.py`).
    Raises ValueError for a side below 1 and for an aspect ratio above 200.
    """
    if min(width, height) < 1:
        raise ValueError(f"an image of {width} by {height} pixels is empty")
    if max(width, height) > _MAX_RATIO * min(width, height):
        raise ValueError(f"an image of {width} by {height} pixels has an aspect ratio above {_MAX_RATIO}")
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
    """The size of the screen and of the image that the model saw, in pixels.

    `sent` is the size `(width, height)` of the image that was sent, if it differs from the screen. `min_pixels` and
    `max_pixels` override the limits of `smart_resize`. Raises ValueError for a size below 1.
    """

    width: int
    height: int
    sent: tuple[int, int] | None = None
    min_pixels: int | None = None
    max_pixels: int | None = None

    def __post_init__(self) -> None:
        sizes = [("width", self.width), ("height", self.height), *[("sent", size) for size in self.sent or ()]]
        for name, size in sizes:
            check_count(size, f"Screen.{name}", 1)

    def extent(self, space: Space) -> tuple[float, float]:
        """The coordinates of the right and lower edge in a space. Raises ValueError for `mark` and `desc`."""
        if space in _EXTENTS:
            return _EXTENTS[space], _EXTENTS[space]
        if space == "px":
            return self.width, self.height
        wide, high = self.sent or (self.width, self.height)
        if space == "px_sent":
            return wide, high
        if space not in _FACTORS:
            raise ValueError(f"`{space}` names a target without coordinates; locate the target first")
        return smart_resize(wide, high, _FACTORS[space], self.min_pixels, self.max_pixels)


class Box(NamedTuple):
    """A box with ordered edges, in the space of the point that it belongs to."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, x1: float, y1: float, x2: float, y2: float) -> Box:
        """The box between any two opposite corners."""
        return cls(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))

    def __repr__(self) -> str:
        return f"Box({', '.join([repr(_number(edge)) for edge in self])})"

    @property
    def centre(self) -> tuple[float, float]:
        """The point `(x, y)` in the middle."""
        return self.left / 2 + self.right / 2, self.top / 2 + self.bottom / 2


_Finite = Annotated[float, Field(allow_inf_nan=False)]


class Point(FrozenModel):
    """A point on the screen, with the coordinate `space` of its numbers.

    If the model wrote a box, `box` is that box and the point is its centre. Numbers outside the screen stay as written.
    """

    x: _Finite
    y: _Finite
    space: Space = "px"
    box: Box | None = None

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield (None, _number(value)) if name in ("x", "y") else (name, value)

    @classmethod
    def of(cls, numbers: list[float], space: Space) -> Point:
        """A point from two numbers, or from the four of a box. Raises ValueError for any other count."""
        if len(numbers) == 2:
            return construct(cls, {"x": numbers[0], "y": numbers[1], "space": space, "box": None})
        if len(numbers) != 4:
            raise ValueError(f"a point has 2 numbers and a box has 4, not {len(numbers)}")
        box = Box.of(*numbers)
        x, y = box.centre
        return construct(cls, {"x": x, "y": y, "space": space, "box": box})

    def to_pixels(self, screen: Screen, *, clamp: bool = False) -> Point:
        """The same point in pixels of the screen, with `(0, 0)` as the upper left corner, not rounded.

        With `clamp`, a point outside the screen becomes its nearest pixel. Raises ValueError for a mark or a
        description, which have no coordinates, and for an image size that `smart_resize` rejects.
        """
        found = self._scaled(screen.extent(self.space), screen.extent("px"), "px")
        return found.clamped(screen.width - 1, screen.height - 1) if clamp else found

    def from_pixels(self, space: Space, screen: Screen) -> Point:
        """The inverse of `to_pixels`: convert this point from screen pixels to another space.

        Raises ValueError if this point is not in pixels, and in the cases in which `to_pixels` does.
        """
        if self.space != "px":
            raise ValueError(f"the point is in `{self.space}`, not in pixels of the screen")
        return self._scaled(screen.extent("px"), screen.extent(space), space)

    def clamped(self, right: float, bottom: float) -> Point:
        """The nearest point between 0 and these edges; its box is clamped as well."""
        if all(0 <= v <= (right, bottom)[i % 2] for i, v in enumerate((self.x, self.y, *(self.box or ())))):
            return self
        box = self.box and Box(*[_clamp(v, (right, bottom)[i % 2]) for i, v in enumerate(self.box)])
        values: dict[str, Any] = {"x": _clamp(self.x, right), "y": _clamp(self.y, bottom), "space": self.space}
        return construct(Point, {**values, "box": box})

    def numbers(self) -> tuple[float, ...]:
        """The four numbers of its box, or else its own two."""
        return self.box or (self.x, self.y)

    def _scaled(self, old: tuple[float, float], new: tuple[float, float], space: Space) -> Point:
        if old == new:
            return construct(Point, {"x": self.x, "y": self.y, "space": space, "box": self.box})
        place = [_ratio(v, new[i % 2], old[i % 2]) for i, v in enumerate((self.x, self.y, *(self.box or ())))]
        box = Box(*place[2:]) if self.box else None
        return construct(Point, {"x": place[0], "y": place[1], "space": space, "box": box})


def _ratio(value: float, new: float, old: float) -> float:
    """A value on another scale. Multiplying first keeps integers that divide evenly exact."""
    found = value * new / old
    return found if math.isfinite(found) else value / old * new


def _number(value: float) -> float:
    """A number as it prints: without `.0` if it is whole, and not too large to be exact."""
    return int(value) if abs(value) < 2**53 and value == int(value) else value


def _clamp(value: float, most: float) -> float:
    return min(max(value, 0.0), most)
