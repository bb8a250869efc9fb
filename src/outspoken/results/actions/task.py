"""The task: its end, messages to the user, and waiting."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import BaseAction


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
