"""What is done to an element as such, and not by a pointer."""

from __future__ import annotations

from typing import Literal

from outspoken.results.geometry import Point

from .base import BaseAction, ElementRef


class SelectOption(BaseAction):
    """Choose an option, by its label, its value or its place in the list."""

    type: Literal["select_option"] = "select_option"
    point: Point | None = None
    element: ElementRef | None = None
    label: str | None = None
    value: str | None = None
    index: int | None = None


class SetChecked(BaseAction):
    """Tick a box, or clear it."""

    type: Literal["set_checked"] = "set_checked"
    element: ElementRef | None = None
    point: Point | None = None
    checked: bool


class UploadFile(BaseAction):
    """Give a file, by its path or address, to an element that asks for one."""

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


class ListOptions(BaseAction):
    """List the options of an element."""

    type: Literal["list_options"] = "list_options"
    element: ElementRef | None = None


class SetValue(BaseAction):
    """Set the value of an element."""

    type: Literal["set_value"] = "set_value"
    element: ElementRef | None = None
    point: Point | None = None
    value: str
