"""The device, its applications and its screen."""

from __future__ import annotations

from typing import Literal

from outspoken.results.geometry import Point

from .base import BaseAction


class DeviceButton(BaseAction):
    """Press a hardware or system button of the device."""

    type: Literal["device_button"] = "device_button"
    button: Literal["home", "back", "enter", "menu", "recent", "power", "volume_up", "volume_down"]


class OpenApp(BaseAction):
    """Open an application by its name, or the one that handles a URL."""

    type: Literal["open_app"] = "open_app"
    app: str | None = None
    url: str | None = None


class OpenDevice(BaseAction):
    """Acquire the computer to work on."""

    type: Literal["open_device"] = "open_device"


class Screenshot(BaseAction):
    """Take a screenshot of the screen, or of the box of `region`."""

    type: Literal["screenshot"] = "screenshot"
    region: Point | None = None
    file_name: str | None = None


class CursorPosition(BaseAction):
    """Report the position of the pointer."""

    type: Literal["cursor_position"] = "cursor_position"
