"""Mouse and touch: clicks, long presses and moves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, Button, ElementRef


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
