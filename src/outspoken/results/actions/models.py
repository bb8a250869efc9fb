"""The modules of the action models, and a model by its `type`.

A model takes long to build, and a response needs few of them. So what reads actions takes their models from here, and a
module is imported when one of its models is first needed. `union` imports all others.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from .base import BaseAction

#: The models that each module has, separated by blanks.
MODULES = {
    "pointer": "Click LongPress Move MouseDown MouseUp Drag Scroll Swipe",
    "keyboard": "TypeText PressKeys KeyDown KeyUp",
    "page": (
        "SelectOption SetChecked SetValue ListOptions UploadFile DownloadFile "
        "Navigate GoBack GoForward Reload WebSearch NewTab SwitchTab CloseTab Restart "
        "DeviceButton OpenApp OpenDevice Screenshot CursorPosition "
        "Extract Find Memorize Quote RunCode CallLlm SetCells FileOp "
        "Complete Answer Fail AskUser NoOp Wait SolveCaptcha VerificationCode"
    ),
    "base": "UnknownAction",
    "union": "Batch",
}

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _type_of(name: str) -> str:
    """The `type` of a model by its name: that of `GoBack` is `go_back`, and that of `UnknownAction` is `unknown`."""
    return _CAPITAL.sub("_", name.removesuffix("Action")).lower()


_HOMES = {_type_of(name): (module, name) for module, names in MODULES.items() for name in names.split()}

#: The types of all actions.
TYPES = tuple(_HOMES)


@cache
def model_of(type: str) -> type[BaseAction]:
    """The model with a `type`. Raises KeyError for an unknown type."""
    module, name = _HOMES[type]
    return cast("type[BaseAction]", getattr(import_module(f"{__package__}.{module}"), name))
