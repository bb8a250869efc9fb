"""What is done with a mouse or a finger. Where an action has a `point` and an `element`, either may name its target."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, Button, Direction, ElementRef


class Click(BaseAction):
    """Press and release a button, `clicks` times, or tap. Without a target: where the pointer is.

    `hold_seconds` is how long the button is held. `download` and `file_url` say that the click downloads a file or
    opens a file chooser for one; `desired_state` is what a switch should be in afterwards.
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
    """Press and hold, for so many seconds or as long as the device needs."""

    type: Literal["long_press"] = "long_press"
    point: Point | None = None
    element: ElementRef | None = None
    seconds: float | None = None


class Move(BaseAction):
    """Move the pointer there, and stay for `hold_seconds`: to hover."""

    type: Literal["move"] = "move"
    point: Point | None = None
    element: ElementRef | None = None
    hold_seconds: float | None = None


class MouseDown(BaseAction):
    """Press a button and keep it pressed."""

    type: Literal["mouse_down"] = "mouse_down"
    point: Point | None = None
    button: Button = "left"


class MouseUp(BaseAction):
    """Release a button."""

    type: Literal["mouse_up"] = "mouse_up"
    point: Point | None = None
    button: Button = "left"


class Drag(BaseAction):
    """Press at `start`, move over `via`, and release at `end`. Without a start: from where the pointer is.

    `select_text` says that text is to be selected, not something moved.
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
    """Scroll the content, at a target or at all.

    `direction` is where the view goes: "down" shows what is below. `dx` and `dy` say it as numbers, to the right and
    down where they are positive; `amount` goes with `direction`. `unit` is what these count.
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

    `direction` is where the finger goes: "up" shows what is below, the opposite of scrolling up.
    """

    type: Literal["swipe"] = "swipe"
    start: Point | None = None
    end: Point | None = None
    direction: Direction | None = None
    element: ElementRef | None = None
    amount: float | None = None
