"""Forms, the browser, the device, data and the task."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef

# elements of forms, and files


class SelectOption(BaseAction):
    """Select an option by its label, its value or its position in the list (from 0)."""

    type: Literal["select_option"] = "select_option"
    point: Point | None = None
    element: ElementRef | None = None
    label: str | None = None
    value: str | None = None
    index: int | None = None


class SetChecked(BaseAction):
    """Check or uncheck a checkbox."""

    type: Literal["set_checked"] = "set_checked"
    element: ElementRef | None = None
    point: Point | None = None
    checked: bool


class SetValue(BaseAction):
    """Set the value of an element."""

    type: Literal["set_value"] = "set_value"
    element: ElementRef | None = None
    point: Point | None = None
    value: str


class ListOptions(BaseAction):
    """List the options of an element."""

    type: Literal["list_options"] = "list_options"
    element: ElementRef | None = None


class UploadFile(BaseAction):
    """Upload the file at the path or URL `source` to a file input."""

    type: Literal["upload_file"] = "upload_file"
    element: ElementRef | None = None
    point: Point | None = None
    source: str


class DownloadFile(BaseAction):
    """Download a file."""

    type: Literal["download_file"] = "download_file"
    file_name: str | None = None
    url: str | None = None
    element: ElementRef | None = None


# pages and tabs


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


# the device, its applications and its screen


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


# data: what is read, stored, computed and written


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


# the task: its end, messages to the user, and waiting


class Complete(BaseAction):
    """The task is complete; `answer` is the result for the user."""

    type: Literal["complete"] = "complete"
    answer: str | None = None


class Answer(BaseAction):
    """Send a message to the user and continue."""

    type: Literal["answer"] = "answer"
    text: str


class Fail(BaseAction):
    """The task cannot be completed. `errors` are what the model says of it, as texts and objects."""

    type: Literal["fail"] = "fail"
    reason: str | None = None
    errors: list[str | dict[str, Any]] = Field(default_factory=list[str | dict[str, Any]])


class AskUser(BaseAction):
    """Ask the user to do, decide or provide something."""

    type: Literal["ask_user"] = "ask_user"
    text: str | None = None


class NoOp(BaseAction):
    """Do nothing."""

    type: Literal["no_op"] = "no_op"
    reason: str | None = None


class Wait(BaseAction):
    """Wait for `seconds`, or until the page is ready."""

    type: Literal["wait"] = "wait"
    seconds: float | None = None


class SolveCaptcha(BaseAction):
    """Solve a captcha."""

    type: Literal["solve_captcha"] = "solve_captcha"
    captcha: str | None = None


class VerificationCode(BaseAction):
    """Get or enter a verification code. With `link`, get the link of a message that confirms a sign-in."""

    type: Literal["verification_code"] = "verification_code"
    code: str | None = None

    def secrets(self) -> frozenset[str]:
        """See `BaseAction.secrets`: also a code that the model did not mark."""
        return super().secrets() | {"code"}

    link: bool = False
