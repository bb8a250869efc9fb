"""Processing a response: its settings, what it is asked for, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict

from .actions import Action, BaseAction, Wait
from .categories import ErrorCategory
from .diagnostics import Diagnostic
from .replies import Reply, ToolCall
from .stats import Outcome

#: What a response has to hold to be of use. "anything" is also text, if nothing else was begun in it.
Expect = Literal["anything", "tool_calls", "actions", "payloads", "json"]
#: The way that a response went: read as it stands, with repairs, in another way than was asked for; and where it is of
#: no use, that the model may be asked again, or that somebody has to look at it.
Route = Literal["primary", "recovery", "fallback", "retry", "manual"]
#: What a caller checks of a reply, with what is known of the context: a list of what is wrong, errors or warnings.
Check = Callable[[Reply, Any], Iterable[Diagnostic]]

#: At most so many mistakes are told to the model, each with so many characters.
_TOLD, _LONG = 5, 200


@dataclass(frozen=True, slots=True)
class ParserConfig:
    """How responses are processed.

    - `max_retry_attempts`: how often the model may be asked again for one response.
    - `enable_recovery_strategies`: whether damage is repaired, and other ways of reading are tried. Without it, what is
      damaged is of no use.
    - `strict_validation`: whether only a response with which nothing is wrong is of use: no repair, no warning.
    - `log_failed_parses`: whether the log `outspoken` has a warning of each response that is of no use.
    - `fallback_to_null_action`: whether an action that does nothing takes the place of one that is invalid, and is all
      that there is to do in a response that is of no use. Without it, there is nothing in their place.
    - `expect`: what a response has to hold to be of use.
    """

    max_retry_attempts: int = 3
    enable_recovery_strategies: bool = True
    strict_validation: bool = False
    log_failed_parses: bool = True
    fallback_to_null_action: bool = True
    expect: Expect = "anything"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "bool" and type(value) is not bool:
                raise ValueError(f"`ParserConfig.{field.name}` is {value!r}; expected True or False")
        if type(self.max_retry_attempts) is not int or self.max_retry_attempts < 0:
            found = self.max_retry_attempts
            raise ValueError(f"`ParserConfig.max_retry_attempts` is {found!r}; expected a whole number from 0 on")
        if self.expect not in get_args(Expect):
            names = ", ".join(get_args(Expect))
            raise ValueError(f"`ParserConfig.expect` is {self.expect!r}; expected one of {names}")


class Processed(BaseModel):
    """What became of a response.

    `outcome` is "success" where nothing is wrong, "recovered" where it is of use all the same, else "failed". `route`
    says on which way that was found: "primary", read as it stands; "recovery", with repairs or with parts lost;
    "fallback", read in another way than was asked for; of those that failed, "retry" where the model may be asked
    again, and "manual" where that is used up or of no use.

    `actions` and `tool_calls` are what may be carried out, in order; after a failure no calls, and no actions but the
    one that does nothing. `reply` is all that was read. `problems` are its errors and warnings, and what was checked
    besides; `categories` says of which kinds they are, at least one where the outcome is no success. `format` is the
    one that was asked for, else the one that was found; "text" if none was.

    `attempts` counts the responses that were read, this one included; the ones before it are in `earlier`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    reply: Reply
    format: str
    outcome: Outcome
    route: Route
    actions: list[Action]
    tool_calls: list[ToolCall]
    problems: tuple[Diagnostic, ...] = ()
    categories: tuple[ErrorCategory, ...] = ()
    attempts: int = 1
    earlier: tuple[Processed, ...] = ()

    @property
    def needs_retry(self) -> bool:
        """Is the response of no use, and may the model be asked again?"""
        return self.route == "retry"

    @property
    def needs_manual(self) -> bool:
        """Is the response of no use, and is it of no use either to ask the model again?"""
        return self.route == "manual"

    def retry_message(self) -> str:
        """What to tell the model: what is wrong with its response, and that it should answer again."""
        problems = sorted(self.problems, key=lambda d: d.severity != "error")
        lines = [f"- line {d.line}, column {d.column}: {_short(d.message)}" for d in problems[:_TOLD]]
        if len(problems) > _TOLD:
            lines.append(f"- and {len(problems) - _TOLD} more")
        advice = "Write the whole response again, without these mistakes."
        if ErrorCategory.INCOMPLETE in self.categories:
            advice += " It broke off before its end: make it shorter."
        return "\n".join(["Your last response could not be used:", *lines, advice])


class RetryRequest(NamedTuple):
    """A question to the model: its `number` (from 1), the `message` that says what was wrong, and the result so far."""

    number: int
    message: str
    result: Processed


#: What a retry gives: the new response, alone or with its finish reason; None to give up.
Answer = str | tuple[str, str | None] | None


def null_action(reason: str, instead_of: BaseAction | None = None) -> Wait:
    """The action that does nothing. `reason` says why, in `extra`; its place and name are those of what it replaces."""
    own = instead_of or BaseAction()
    return Wait(seconds=0, extra={"reason": reason}, name=own.name, raw=own.raw, span=own.span)


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONG else f"{line[: _LONG - 3]}..."
