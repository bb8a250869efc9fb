"""Skyvern's actions: their types, names and fields, for programs that handle them as Skyvern does.

They are mutable, as Skyvern fills in what becomes of an action. If the program has imported Skyvern's own models, the
functions of this package make those; see `model_named`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from outspoken.results.actions.base import REDACTED

from .action_types import ActionStatus, ActionType, CaptchaType
from .errors import UnsupportedActionError

if TYPE_CHECKING:
    from typing_extensions import Self

#: The module of Skyvern with its models.
SKYVERN = "skyvern.webeye.actions.actions"


class UserDefinedError(BaseModel):
    """An error that the task defines, as the model reports it. `confidence_float` is from 0 to 1."""

    error_code: str
    reasoning: str
    confidence_float: float = Field(ge=0, le=1)
    error_type: Literal["USER_DEFINED_ERROR"] = "USER_DEFINED_ERROR"


class SelectOption(BaseModel):
    """An option of a list, by its label, its value or its position (from 0)."""

    label: str | None = None
    value: str | None = None
    index: int | None = None


class InputOrSelectContext(BaseModel):
    """What the model says of a field that is filled in."""

    intention: str | None = None
    field: str | None = None
    is_required: bool | None = None
    is_search_bar: bool | None = None
    is_location_input: bool | None = None
    is_date_related: bool | None = None
    date_format: str | None = None
    is_text_captcha: bool | None = None


class ClickContext(BaseModel):
    """What the model says of a click; `desired_state` is the state of a switch afterwards."""

    thought: str | None = None
    single_option_click: bool | None = None
    desired_state: bool | None = None


class Action(BaseModel):
    """The fields of all actions. Those of the task and of the outcome are None until they are known."""

    model_config = ConfigDict(from_attributes=True)

    #: The fields without which there is no such action.
    required: ClassVar[tuple[str, ...]] = ()

    action_type: ActionType
    status: ActionStatus = ActionStatus.pending
    action_id: str | None = None
    source_action_id: str | None = None
    organization_id: str | None = None
    workflow_run_id: str | None = None
    task_id: str | None = None
    step_id: str | None = None
    step_order: int | None = None
    action_order: int | None = None
    confidence_float: float | None = None
    description: str | None = None
    reasoning: str | None = None
    intention: str | None = None
    response: str | None = None
    element_id: Annotated[str, Field(coerce_numbers_to_str=True)] | None = None
    skyvern_element_hash: str | None = None
    skyvern_element_data: dict[str, Any] | None = None
    screenshot_artifact_id: str | None = None
    tool_call_id: str | None = None
    xpath: str | None = None
    errors: list[UserDefinedError] | None = None
    terminal_user_errors: bool = False
    data_extraction_goal: str | None = None
    output: dict[str, Any] | list[Any] | str | None = None
    file_name: str | None = None
    file_url: str | None = None
    download: bool | None = None
    download_triggered: bool | None = None
    downloaded_files: list[str] | None = None
    is_upload_file_tag: bool | None = None
    text: str | None = None
    input_or_select_context: InputOrSelectContext | None = None
    option: SelectOption | None = None
    is_checked: bool | None = None
    verified: bool = False
    click_context: ClickContext | None = None
    totp_timing_info: dict[str, Any] | None = None
    has_mini_agent: bool | None = None
    skip_auto_complete_tab: bool = False
    stop_batch_after_dropdown_select: bool = Field(default=False, exclude=True)
    prefilter_typeahead: bool = Field(default=False, exclude=True)
    tel_input_outcome: Any = Field(default=None, exclude=True)
    observation_epoch: int | None = Field(default=None, exclude=True)
    observation_digest: str | None = Field(default=None, exclude=True)
    started_at: Any = None
    finished_at: Any = None
    created_at: Any = None
    modified_at: Any = None
    created_by: str | None = None

    @model_validator(mode="after")
    def _has_required(self) -> Self:
        missing = [name for name in self.required if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{type(self).__name__} needs {' and '.join([f'`{name}`' for name in missing])}")
        return self

    def set_has_mini_agent(self) -> None:
        """Mark that another model helps to carry out the action."""
        self.has_mini_agent = True

    def get_xpath(self) -> str | None:
        """The XPath of the element, if it is known."""
        return self.xpath or (self.skyvern_element_data or {}).get("xpath")

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields that are set, without secrets."""
        secrets = {"verification_code"} | ({"text"} if getattr(self, "totp_code_required", False) else set[str]())
        for name, value in super().__repr_args__():
            if name in self.model_fields_set and value is not None:
                yield name, REDACTED if name in secrets and value else value


class WebAction(Action):
    """An action on an element; `element_id` is "" for one at a point."""

    required = ("element_id",)


class DecisiveAction(Action):
    """An action that ends the task."""

    errors: list[UserDefinedError] | None = Field(default_factory=list[UserDefinedError])


class ClickAction(WebAction):
    """Click an element, or the point `x`, `y` in pixels; `repeat` times."""

    action_type: ActionType = ActionType.CLICK
    download: bool | None = False
    x: int | None = None
    y: int | None = None
    button: str = "left"
    repeat: int = 1


class InputTextAction(WebAction):
    """Type text. `totp_code_required` marks a field for a code that the model does not know."""

    required = ("element_id", "text")
    action_type: ActionType = ActionType.INPUT_TEXT
    totp_code_required: bool = False
    totp_identifier: str | None = None
    totp_url: str | None = None


class PasteTextAction(WebAction):
    """Paste text."""

    required = ("element_id", "text")
    action_type: ActionType = ActionType.PASTE_TEXT


class UploadFileAction(WebAction):
    """Upload the file at a URL."""

    required = ("element_id", "file_url")
    action_type: ActionType = ActionType.UPLOAD_FILE
    is_upload_file_tag: bool | None = True


class DownloadFileAction(Action):
    """Download a file."""

    required = ("file_name",)
    action_type: ActionType = ActionType.DOWNLOAD_FILE
    download: bool | None = True
    byte: bytes | None = Field(default=None, exclude=True)
    download_url: str | None = None


class SelectOptionAction(WebAction):
    """Select an option of a list."""

    required = ("element_id", "option")
    action_type: ActionType = ActionType.SELECT_OPTION
    download: bool | None = False


class CheckboxAction(WebAction):
    """Check or uncheck a checkbox."""

    required = ("element_id", "is_checked")
    action_type: ActionType = ActionType.CHECKBOX


class HoverAction(WebAction):
    """Hold the pointer over an element."""

    action_type: ActionType = ActionType.HOVER
    hold_seconds: float = 0.0


class NullAction(Action):
    """Do nothing."""

    action_type: ActionType = ActionType.NULL_ACTION


class SolveCaptchaAction(Action):
    """Solve a captcha."""

    action_type: ActionType = ActionType.SOLVE_CAPTCHA
    captcha_type: CaptchaType | None = None


class WaitAction(Action):
    """Wait for `seconds`."""

    action_type: ActionType = ActionType.WAIT
    seconds: int = 20


class TerminateAction(DecisiveAction):
    """The task cannot be completed."""

    action_type: ActionType = ActionType.TERMINATE
    failure_categories: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


class CompleteAction(DecisiveAction):
    """The task is complete; `verified` if nothing needs to check that."""

    action_type: ActionType = ActionType.COMPLETE


class ExtractAction(Action):
    """Extract data from the page."""

    action_type: ActionType = ActionType.EXTRACT
    data_extraction_schema: dict[str, Any] | list[Any] | str | None = None


class ScrollAction(Action):
    """Scroll by `scroll_x` and `scroll_y` pixels, positive to the right and down."""

    action_type: ActionType = ActionType.SCROLL
    x: int | None = None
    y: int | None = None
    scroll_x: int | None = None
    scroll_y: int | None = None


class KeypressAction(Action):
    """Press keys together, `repeat` times, or with `hold` for `duration` seconds. The names are Playwright's."""

    action_type: ActionType = ActionType.KEYPRESS
    keys: list[str] = Field(default_factory=list[str])
    hold: bool = False
    duration: int = 0
    repeat: int = 1


class GotoUrlAction(Action):
    """Open a URL in this tab."""

    required = ("url",)
    action_type: ActionType = ActionType.GOTO_URL
    url: str | None = None
    is_magic_link: bool = False


class NewTabAction(Action):
    """Open a URL in a new tab."""

    required = ("url",)
    action_type: ActionType = ActionType.NEW_TAB
    url: str | None = None


class SwitchTabAction(Action):
    """Switch to a tab, counted from 0."""

    required = ("tab_index",)
    action_type: ActionType = ActionType.SWITCH_TAB
    tab_index: int | None = None


class ClosePageAction(Action):
    """Close a tab, counted from 0, or the current one."""

    action_type: ActionType = ActionType.CLOSE_PAGE
    tab_index: int | None = None


class ReloadPageAction(Action):
    """Reload the page."""

    action_type: ActionType = ActionType.RELOAD_PAGE


class GoBackAction(Action):
    """Go back to the previous page."""

    action_type: ActionType = ActionType.GO_BACK


class GoForwardAction(Action):
    """Go forward to the next page."""

    action_type: ActionType = ActionType.GO_FORWARD


class MoveAction(Action):
    """Move the pointer."""

    action_type: ActionType = ActionType.MOVE
    x: int | None = None
    y: int | None = None


class DragAction(Action):
    """Drag from the start along a path of points; without a start, from where the pointer is."""

    action_type: ActionType = ActionType.DRAG
    start_x: int | None = None
    start_y: int | None = None
    path: list[tuple[int, int]] = Field(default_factory=list[tuple[int, int]], max_length=1_000)


class VerificationCodeAction(Action):
    """A verification code that the program has received."""

    required = ("verification_code",)
    action_type: ActionType = ActionType.VERIFICATION_CODE
    verification_code: str | None = None


class LeftMouseAction(Action):
    """Press or release the left button of the mouse."""

    action_type: ActionType = ActionType.LEFT_MOUSE
    direction: Literal["down", "up"]
    x: int | None = None
    y: int | None = None


class ExecuteJsAction(Action):
    """Run JavaScript. No function of this package makes one from what a model wrote."""

    required = ("js_code",)
    action_type: ActionType = ActionType.EXECUTE_JS
    js_code: str | None = None


def model_named(name: str) -> Any:
    """A class of this module, or Skyvern's own if the program has imported `skyvern.webeye.actions.actions`.

    Raises UnsupportedActionError if that version of Skyvern lacks it.
    """
    home = sys.modules.get(SKYVERN) or sys.modules[__name__]
    found = getattr(home, name, None)
    if found is None:
        raise UnsupportedActionError(name)
    return found
