"""Mouse and touch: clicks, buttons, drags, scrolls and swipes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, Button, Direction, ElementRef

# mouse and touch


class Click(BaseAction):
    """Click or tap, `clicks` times; without a target, at the current pointer position.

    `hold_seconds` is how long the button stays pressed. `download` marks a click that downloads a file, `file_url` is
    the file to choose in the dialog that the click opens, and `desired_state` is the state of a switch afterwards.
    """

    type: Literal["click"] = "click"
    point: Point | None = None
    element: ElementRef | None = None
    button: Button = "left"
    clicks: int = 1
    modifiers: list[str] = Field(default_factory=list[str])
    hold_seconds: float | None = None
    download: bool | None = None
    file_url: str | None = None
    desired_state: str | None = None


class LongPress(BaseAction):
    """Press and hold for `seconds`, or for the default time of the device."""

    type: Literal["long_press"] = "long_press"
    point: Point | None = None
    element: ElementRef | None = None
    seconds: float | None = None


class Move(BaseAction):
    """Move the pointer to the target and hover for `hold_seconds`."""

    type: Literal["move"] = "move"
    point: Point | None = None
    element: ElementRef | None = None
    hold_seconds: float | None = None


class MouseDown(BaseAction):
    """Press a mouse button and keep it pressed."""

    type: Literal["mouse_down"] = "mouse_down"
    point: Point | None = None
    button: Button = "left"


class MouseUp(BaseAction):
    """Release a mouse button."""

    type: Literal["mouse_up"] = "mouse_up"
    point: Point | None = None
    button: Button = "left"


# drags, scrolls and swipes


class Drag(BaseAction):
    """Press at `start`, move through `via`, release at `end`; without a start, from the current pointer position.

    `select_text` marks a drag that selects text.
    """

    type: Literal["drag"] = "drag"
    start: Point | None = None
    end: Point | None = None
    via: list[Point] = Field(default_factory=list[Point])
    start_element: ElementRef | None = None
    end_element: ElementRef | None = None
    button: Button = "left"
    modifiers: list[str] = Field(default_factory=list[str])
    select_text: bool = False


class Scroll(BaseAction):
    """Scroll the target, or the page.

    `direction` is the direction in which the view moves: "down" shows content further down. Use `amount` with
    `direction`, or `dx` and `dy`, which are positive to the right and down; `unit` is the unit of all three.
    """

    type: Literal["scroll"] = "scroll"
    point: Point | None = None
    element: ElementRef | None = None
    direction: Direction | None = None
    dx: float | None = None
    dy: float | None = None
    amount: float | None = None
    unit: Literal["px", "steps", "pages", "screen"] | None = None
    modifiers: list[str] = Field(default_factory=list[str])


class Swipe(BaseAction):
    """Move a finger from `start` to `end`, or in a direction.

    `direction` is the direction in which the finger moves: "up" shows content further down, unlike scrolling up.
    """

    type: Literal["swipe"] = "swipe"
    start: Point | None = None
    end: Point | None = None
    direction: Direction | None = None
    element: ElementRef | None = None
    amount: float | None = None
