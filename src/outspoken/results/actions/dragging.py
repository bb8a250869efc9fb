"""Drags, scrolls and swipes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, Button, Direction, ElementRef


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
