"""GUI actions: the mapping between a format's words and the action models, and the page that actions are checked on.

Exports every action model, their union `Action`, `MODELS` (the models by `type`), `ActionText`, `Point`, `Box`,
`PageContext`, `PageElement`, `ElementLike` and `playwright_key`. The names are imported on first use, because the fifty
models take time to build. May import `results`, `patterns`, `grammar`, `json` and `notations`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.results.actions.base import (
        PROVENANCE as PROVENANCE, BaseAction as BaseAction, ElementRef as ElementRef, UnknownAction as UnknownAction,
    )  # fmt: skip
    from outspoken.results.actions.keyboard import (
        KeyDown as KeyDown, KeyUp as KeyUp, PressKeys as PressKeys, TypeText as TypeText,
    )  # fmt: skip
    from outspoken.results.actions.pointer import (
        Click as Click, Drag as Drag, LongPress as LongPress, MouseDown as MouseDown, MouseUp as MouseUp, Move as Move,
        Scroll as Scroll, Swipe as Swipe,
    )  # fmt: skip
    from outspoken.results.actions.page import (
        Answer as Answer, AskUser as AskUser, CallLlm as CallLlm, CloseTab as CloseTab, Complete as Complete,
        CursorPosition as CursorPosition, DeviceButton as DeviceButton, DownloadFile as DownloadFile,
        Extract as Extract, Fail as Fail, FileOp as FileOp, Find as Find, GoBack as GoBack, GoForward as GoForward,
        ListOptions as ListOptions, Memorize as Memorize, Navigate as Navigate, NewTab as NewTab, NoOp as NoOp,
        OpenApp as OpenApp, OpenDevice as OpenDevice, Quote as Quote, Reload as Reload, Restart as Restart,
        RunCode as RunCode, Screenshot as Screenshot, SelectOption as SelectOption, SetCells as SetCells,
        SetChecked as SetChecked, SetValue as SetValue, SolveCaptcha as SolveCaptcha, SwitchTab as SwitchTab,
        UploadFile as UploadFile, VerificationCode as VerificationCode, Wait as Wait, WebSearch as WebSearch,
    )  # fmt: skip
    from outspoken.results.actions.union import MODELS as MODELS, Action as Action, Batch as Batch
    from outspoken.results.events import ActionText as ActionText
    from outspoken.results.geometry import Box as Box, Point as Point

    from .key_names import playwright_key as playwright_key
    from .page import ElementLike as ElementLike, PageContext as PageContext, PageElement as PageElement

export_lazily(__name__)
