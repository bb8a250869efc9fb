"""The keyboard. Key names are lowercase (`enter`, `ctrl`, `page_down`); see `outspoken.actions.fields.key_name`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef


class TypeText(BaseAction):
    """Type text into the target or the focused element.

    `submit` presses Enter afterwards, and `clear` removes the existing text first; both are None if the model does not
    say. `paste` pastes the text instead of typing it. In formats where a final line break means Enter, it sets
    `submit` and is not part of `text`.
    """

    type: Literal["type_text"] = "type_text"
    text: str
    point: Point | None = None
    element: ElementRef | None = None
    clear: bool | None = None
    submit: bool | None = None
    paste: bool = False


class PressKeys(BaseAction):
    """Press keys: together ("chord"), one after the other ("sequence"), or down for `seconds` ("hold").

    `modifiers` are keys held down meanwhile, in formats that list them separately.
    """

    type: Literal["press_keys"] = "press_keys"
    keys: list[str]
    mode: Literal["chord", "sequence", "hold"] = "chord"
    repeat: int = 1
    seconds: float | None = None
    point: Point | None = None
    modifiers: list[str] = Field(default_factory=list[str])


class KeyDown(BaseAction):
    """Press a key and keep it pressed."""

    type: Literal["key_down"] = "key_down"
    key: str


class KeyUp(BaseAction):
    """Release a key."""

    type: Literal["key_up"] = "key_up"
    key: str
