"""What the functions of this package read of Skyvern's tasks, steps and pages, and write on the actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypedDict


class TaskLike(Protocol):
    """A task; each attribute may be None."""

    @property
    def task_id(self) -> str | None: ...
    @property
    def organization_id(self) -> str | None: ...
    @property
    def workflow_run_id(self) -> str | None: ...
    @property
    def data_extraction_goal(self) -> str | None: ...
    @property
    def extracted_information_schema(self) -> Any: ...


class StepLike(Protocol):
    """A step of a task."""

    @property
    def step_id(self) -> str | None: ...
    @property
    def order(self) -> int | None: ...


class ScrapedPageLike(Protocol):
    """A page: the hash and the data of its elements by id, and its URL."""

    @property
    def id_to_element_hash(self) -> Mapping[str, str]: ...
    @property
    def id_to_element_dict(self) -> Mapping[str, dict[str, Any]]: ...
    @property
    def url(self) -> str: ...


class Resolution(TypedDict):
    """The size of an image or a window, in pixels."""

    width: int
    height: int


def belonging(task: TaskLike, step_id: str | None, step_order: int | None, order: int) -> dict[str, Any]:
    """The fields of an action that say where it belongs; `order` counts the actions of a step from 0."""
    return {
        "organization_id": task.organization_id,
        "workflow_run_id": task.workflow_run_id,
        "task_id": task.task_id,
        "step_id": step_id,
        "step_order": step_order,
        "action_order": order,
    }
