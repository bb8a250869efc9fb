"""Mouse buttons that are pressed and released separately."""

from __future__ import annotations

from typing import Literal

from outspoken.results.geometry import Point

from .base import BaseAction, Button


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
