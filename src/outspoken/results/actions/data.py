"""Data: what is read, stored, computed and written."""

from __future__ import annotations

from typing import Any, Literal

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef


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
