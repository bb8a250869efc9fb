"""Elements of forms, and files."""

from __future__ import annotations

from typing import Literal

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef


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
