"""`Action`, the union of all GUI actions, which validation and schemas need, and batches of any of them.

This module imports all models. Each format's grammar maps the model's own words to these actions
(`outspoken.actions.mapping`).
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

# isort: off
from .base import BaseAction, UnknownAction
from .keyboard import KeyDown, KeyUp, PressKeys, TypeText
from .pointer import Click, Drag, LongPress, MouseDown, MouseUp, Move, Scroll, Swipe
from .page import (
    Answer, AskUser, CallLlm, CloseTab, Complete, CursorPosition, DeviceButton, DownloadFile, Extract, Fail, FileOp,
    Find, GoBack, GoForward, ListOptions, Memorize, Navigate, NewTab, NoOp, OpenApp, OpenDevice, Quote, Reload,
    Restart, RunCode, Screenshot, SelectOption, SetCells, SetChecked, SetValue, SolveCaptcha, SwitchTab, UploadFile,
    VerificationCode, Wait, WebSearch,
)  # fmt: skip
# isort: on


class Batch(BaseAction):
    """Several actions to run together, in order."""

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

_CLASSES: tuple[type[BaseAction], ...] = get_args(get_args(Action)[0])

#: The action models by `type`.
MODELS: dict[str, type[BaseAction]] = {model.model_fields["type"].default: model for model in _CLASSES}
