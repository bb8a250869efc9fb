"""The vocabulary of GUI actions: one typed action for what every computer-use model has a word of its own.

`Action` is the union of all of them; `type` tells them apart. Which of a format's words means which, and where its
fields are found, is data in the format's grammar (`mapping`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import PROVENANCE, BaseAction, ElementRef
from .control import Answer, AskUser, Complete, Fail, NoOp, UnknownAction
from .device import DeviceButton, OpenApp, OpenDevice
from .element import DownloadFile, ListOptions, SelectOption, SetChecked, SetValue, UploadFile
from .keyboard import KeyDown, KeyUp, PressKeys, TypeText
from .navigation import CloseTab, GoBack, GoForward, Navigate, NewTab, Reload, Restart, SwitchTab, WebSearch
from .observation import (
    CallLlm,
    CursorPosition,
    Extract,
    FileOp,
    Find,
    Memorize,
    Quote,
    RunCode,
    Screenshot,
    SetCells,
    SolveCaptcha,
    VerificationCode,
    Wait,
)
from .pointer import Click, Drag, LongPress, MouseDown, MouseUp, Move, Scroll, Swipe


class Batch(BaseAction):
    """Several actions that the model wants done together, in order."""

    type: Literal["batch"] = "batch"
    actions: list[Action]


Action = Annotated[
    Click | LongPress | Move | MouseDown | MouseUp | Drag | Scroll | Swipe
    | TypeText | PressKeys | KeyDown | KeyUp
    | SelectOption | SetChecked | UploadFile | DownloadFile | ListOptions | SetValue
    | Navigate | GoBack | GoForward | Reload | WebSearch | NewTab | SwitchTab | CloseTab | Restart
    | DeviceButton | OpenApp | OpenDevice
    | Screenshot | CursorPosition | Wait | Extract | Find | Memorize | Quote | RunCode | CallLlm | SetCells | FileOp
    | SolveCaptcha | VerificationCode
    | Complete | Answer | Fail | AskUser | NoOp | Batch | UnknownAction,
    Field(discriminator="type"),
]  # fmt: skip

_CLASSES: tuple[type[BaseAction], ...] = (
    Click, LongPress, Move, MouseDown, MouseUp, Drag, Scroll, Swipe,
    TypeText, PressKeys, KeyDown, KeyUp,
    SelectOption, SetChecked, UploadFile, DownloadFile, ListOptions, SetValue,
    Navigate, GoBack, GoForward, Reload, WebSearch, NewTab, SwitchTab, CloseTab, Restart,
    DeviceButton, OpenApp, OpenDevice,
    Screenshot, CursorPosition, Wait, Extract, Find, Memorize, Quote, RunCode, CallLlm, SetCells, FileOp,
    SolveCaptcha, VerificationCode,
    Complete, Answer, Fail, AskUser, NoOp, Batch, UnknownAction,
)  # fmt: skip

#: The models by their `type`.
MODELS: dict[str, type[BaseAction]] = {model.model_fields["type"].default: model for model in _CLASSES}

__all__ = [
    "MODELS", "PROVENANCE", "Action", "Answer", "AskUser", "BaseAction", "Batch", "CallLlm", "Click", "CloseTab",
    "Complete", "CursorPosition", "DeviceButton", "DownloadFile", "Drag", "ElementRef", "Extract", "Fail", "FileOp",
    "Find", "GoBack", "GoForward", "KeyDown", "KeyUp", "ListOptions", "LongPress", "Memorize", "MouseDown", "MouseUp",
    "Move", "Navigate", "NewTab", "NoOp", "OpenApp", "OpenDevice", "Point", "PressKeys", "Quote", "Reload", "Restart",
    "RunCode", "Screenshot", "Scroll", "SelectOption", "SetCells", "SetChecked", "SetValue", "SolveCaptcha", "Swipe",
    "SwitchTab", "TypeText", "UnknownAction", "UploadFile", "VerificationCode", "Wait", "WebSearch",
]  # fmt: skip
