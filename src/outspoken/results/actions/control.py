"""What ends, hands over or says something about the task."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import BaseAction


class Complete(BaseAction):
    """The task is done; `answer` is what the user gets of it."""

    type: Literal["complete"] = "complete"
    answer: str | None = None


class Answer(BaseAction):
    """Say something to the user, and go on."""

    type: Literal["answer"] = "answer"
    text: str


class Fail(BaseAction):
    """The task cannot be done."""

    type: Literal["fail"] = "fail"
    reason: str | None = None
    errors: list[str] = Field(default_factory=list[str])


class AskUser(BaseAction):
    """The user must do, decide or say something."""

    type: Literal["ask_user"] = "ask_user"
    text: str | None = None


class NoOp(BaseAction):
    """Do nothing."""

    type: Literal["no_op"] = "no_op"
    reason: str | None = None


class UnknownAction(BaseAction):
    """An action that the format's vocabulary does not have, or whose arguments do not fit; they are in `extra`."""

    type: Literal["unknown"] = "unknown"
