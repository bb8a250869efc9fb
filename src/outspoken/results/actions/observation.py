"""What is done to see, to read and to keep what was read."""

from __future__ import annotations

from typing import Any, Literal

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef


class Screenshot(BaseAction):
    """Look at the screen again, or at a part of it: the box of `region`."""

    type: Literal["screenshot"] = "screenshot"
    region: Point | None = None
    file_name: str | None = None


class CursorPosition(BaseAction):
    """Say where the pointer is."""

    type: Literal["cursor_position"] = "cursor_position"


class Wait(BaseAction):
    """Wait, for so many seconds or as long as it takes."""

    type: Literal["wait"] = "wait"
    seconds: float | None = None


class Extract(BaseAction):
    """Get data from the page; `data_schema` is a JSON schema of what is wanted."""

    type: Literal["extract"] = "extract"
    query: str | None = None
    data_schema: dict[str, Any] | None = None


class Find(BaseAction):
    """Find text or elements on the page."""

    type: Literal["find"] = "find"
    text: str | None = None
    selector: str | None = None


class Memorize(BaseAction):
    """Remember a text."""

    type: Literal["memorize"] = "memorize"
    text: str
    variable: str | None = None


class Quote(BaseAction):
    """Take what stands at a target into a variable."""

    type: Literal["quote"] = "quote"
    point: Point | None = None
    element: ElementRef | None = None
    variable: str
    value: str | None = None


class RunCode(BaseAction):
    """Run code. It is handed on as text and never run here."""

    type: Literal["run_code"] = "run_code"
    language: str | None = None
    code: str


class CallLlm(BaseAction):
    """Ask a model, and keep its answer in a variable."""

    type: Literal["call_llm"] = "call_llm"
    prompt: str
    variable: str | None = None


class SetCells(BaseAction):
    """Set cells of a table: their names and values."""

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
    """Get, or enter, a verification code."""

    type: Literal["verification_code"] = "verification_code"
    code: str | None = None
