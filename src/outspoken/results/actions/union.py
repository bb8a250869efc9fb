"""Actions without a pointer target (browser, device, data, the task), and `Action`, the union of all GUI actions.

Each format's grammar maps the model's own words to these actions (`outspoken.actions.mapping`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from outspoken.results.geometry import Point

from .base import PROVENANCE, BaseAction, ElementRef
from .input import (
    Click,
    DownloadFile,
    Drag,
    KeyDown,
    KeyUp,
    ListOptions,
    LongPress,
    MouseDown,
    MouseUp,
    Move,
    PressKeys,
    Scroll,
    SelectOption,
    SetChecked,
    SetValue,
    Swipe,
    TypeText,
    UploadFile,
)


class Navigate(BaseAction):
    """Open a URL."""

    type: Literal["navigate"] = "navigate"
    url: str
    new_tab: bool = False


class GoBack(BaseAction):
    """Go back to the previous page."""

    type: Literal["go_back"] = "go_back"


class GoForward(BaseAction):
    """Go forward to the next page."""

    type: Literal["go_forward"] = "go_forward"


class Reload(BaseAction):
    """Reload the page."""

    type: Literal["reload"] = "reload"


class WebSearch(BaseAction):
    """Search the web; without a query, open the search engine."""

    type: Literal["web_search"] = "web_search"
    query: str | None = None
    engine: str | None = None


class NewTab(BaseAction):
    """Open a new tab."""

    type: Literal["new_tab"] = "new_tab"
    url: str | None = None


class SwitchTab(BaseAction):
    """Switch to a tab by its index (from 0) or its id."""

    type: Literal["switch_tab"] = "switch_tab"
    index: int | None = None
    tab_id: str | None = None


class CloseTab(BaseAction):
    """Close a tab by its index (from 0) or its id, or the current tab."""

    type: Literal["close_tab"] = "close_tab"
    index: int | None = None
    tab_id: str | None = None


class Restart(BaseAction):
    """Start again from the first page."""

    type: Literal["restart"] = "restart"


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


class Wait(BaseAction):
    """Wait for `seconds`, or until the page is ready."""

    type: Literal["wait"] = "wait"
    seconds: float | None = None


class Extract(BaseAction):
    """Extract data from the page; `data_schema` is the JSON schema of the result."""

    type: Literal["extract"] = "extract"
    query: str | None = None
    data_schema: dict[str, Any] | None = None


class Find(BaseAction):
    """Find text or elements on the page."""

    type: Literal["find"] = "find"
    text: str | None = None
    selector: str | None = None


class Memorize(BaseAction):
    """Store a text."""

    type: Literal["memorize"] = "memorize"
    text: str
    variable: str | None = None


class Quote(BaseAction):
    """Store the content of the target in a variable."""

    type: Literal["quote"] = "quote"
    point: Point | None = None
    element: ElementRef | None = None
    variable: str
    value: str | None = None


class RunCode(BaseAction):
    """Run code. The library passes it on as text and never runs it."""

    type: Literal["run_code"] = "run_code"
    language: str | None = None
    code: str


class CallLlm(BaseAction):
    """Send a prompt to a model and store its answer in a variable."""

    type: Literal["call_llm"] = "call_llm"
    prompt: str
    variable: str | None = None


class SetCells(BaseAction):
    """Set cells of a spreadsheet; `cells` maps their names to values."""

    type: Literal["set_cells"] = "set_cells"
    cells: dict[str, Any]
    app: str | None = None
    sheet: str | None = None


class FileOp(BaseAction):
    """Read, write or change a file."""

    type: Literal["file_op"] = "file_op"
    operation: Literal["read", "write", "append", "replace", "save_page"]
    path: str | None = None
    content: str | None = None
    old: str | None = None


class SolveCaptcha(BaseAction):
    """Solve a captcha."""

    type: Literal["solve_captcha"] = "solve_captcha"
    captcha: str | None = None


class VerificationCode(BaseAction):
    """Get or enter a verification code."""

    type: Literal["verification_code"] = "verification_code"
    code: str | None = None


class Complete(BaseAction):
    """The task is complete; `answer` is the result for the user."""

    type: Literal["complete"] = "complete"
    answer: str | None = None


class Answer(BaseAction):
    """Send a message to the user and continue."""

    type: Literal["answer"] = "answer"
    text: str


class Fail(BaseAction):
    """The task cannot be completed."""

    type: Literal["fail"] = "fail"
    reason: str | None = None
    errors: list[str] = Field(default_factory=list[str])


class AskUser(BaseAction):
    """Ask the user to do, decide or provide something."""

    type: Literal["ask_user"] = "ask_user"
    text: str | None = None


class NoOp(BaseAction):
    """Do nothing."""

    type: Literal["no_op"] = "no_op"
    reason: str | None = None


class UnknownAction(BaseAction):
    """An action that is not in the format's vocabulary or has invalid arguments, which are in `extra`."""

    type: Literal["unknown"] = "unknown"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield None, self.name
        yield from super().__repr_args__()


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

__all__ = [
    "MODELS", "PROVENANCE", "Action", "Answer", "AskUser", "BaseAction", "Batch", "CallLlm", "Click", "CloseTab",
    "Complete", "CursorPosition", "DeviceButton", "DownloadFile", "Drag", "ElementRef", "Extract", "Fail", "FileOp",
    "Find", "GoBack", "GoForward", "KeyDown", "KeyUp", "ListOptions", "LongPress", "Memorize", "MouseDown", "MouseUp",
    "Move", "Navigate", "NewTab", "NoOp", "OpenApp", "OpenDevice", "Point", "PressKeys", "Quote", "Reload", "Restart",
    "RunCode", "Screenshot", "Scroll", "SelectOption", "SetCells", "SetChecked", "SetValue", "SolveCaptcha", "Swipe",
    "SwitchTab", "TypeText", "UnknownAction", "UploadFile", "VerificationCode", "Wait", "WebSearch",
]  # fmt: skip
