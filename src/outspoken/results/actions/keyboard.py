"""What is done with a keyboard. Keys have small names (`enter`, `ctrl`, `page_down`); see `action_values.key_named`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef


class TypeText(BaseAction):
    """Type text, into the target or where the focus is.

    `submit` says that Enter follows, `clear` that what is there goes first; None where the model says nothing of it.
    `paste` says that the text is to be pasted. Where a format writes a line break at the end for Enter, it is in
    `submit` and not in `text`.
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

    `modifiers` are keys that are held meanwhile, where they are said apart.
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
