"""What is done with a phone or a computer as such."""

from __future__ import annotations

from typing import Literal

from .base import BaseAction


class DeviceButton(BaseAction):
    """Press a button of the device."""

    type: Literal["device_button"] = "device_button"
    button: Literal["home", "back", "enter", "menu", "recent", "power", "volume_up", "volume_down"]


class OpenApp(BaseAction):
    """Open an application, by its name, or the one for an address."""

    type: Literal["open_app"] = "open_app"
    app: str | None = None
    url: str | None = None


class OpenDevice(BaseAction):
    """Get the computer that is to be used."""

    type: Literal["open_device"] = "open_device"
