"""The words of Skyvern's actions."""

from __future__ import annotations

from enum import Enum


class _Word(str, Enum):
    """Words that are equal to their text, as `StrEnum` of Python 3.11 has them."""

    __str__ = str.__str__
    __format__ = str.__format__


class ActionType(_Word):
    """What an action does."""

    CLICK = "click"
    INPUT_TEXT = "input_text"
    PASTE_TEXT = "paste_text"
    UPLOAD_FILE = "upload_file"
    DOWNLOAD_FILE = "download_file"
    SELECT_OPTION = "select_option"
    CHECKBOX = "checkbox"
    WAIT = "wait"
    HOVER = "hover"
    NULL_ACTION = "null_action"
    SOLVE_CAPTCHA = "solve_captcha"
    TERMINATE = "terminate"
    COMPLETE = "complete"
    RELOAD_PAGE = "reload_page"
    CLOSE_PAGE = "close_page"
    NEW_TAB = "new_tab"
    SWITCH_TAB = "switch_tab"
    EXTRACT = "extract"
    VERIFICATION_CODE = "verification_code"
    GOTO_URL = "goto_url"
    GO_BACK = "go_back"
    GO_FORWARD = "go_forward"
    SCROLL = "scroll"
    KEYPRESS = "keypress"
    MOVE = "move"
    DRAG = "drag"
    LEFT_MOUSE = "left_mouse"
    EXECUTE_JS = "execute_js"

    def is_web_action(self) -> bool:
        """True for an action on an element of the page."""
        return self.value in _ON_ELEMENTS


_ON_ELEMENTS = frozenset(
    ("click", "input_text", "paste_text", "upload_file", "download_file", "select_option", "checkbox", "hover")
)


class ActionStatus(_Word):
    """What became of an action."""

    pending = "pending"
    skipped = "skipped"
    failed = "failed"
    completed = "completed"


class CaptchaType(_Word):
    """A kind of captcha."""

    TEXT_CAPTCHA = "text_captcha"
    RECAPTCHA = "recaptcha"
    HCAPTCHA = "hcaptcha"
    MTCAPTCHA = "mtcaptcha"
    FUNCAPTCHA = "funcaptcha"
    CLOUDFLARE = "cloudflare"
    OTHER = "other"
