"""What comes of processing a response, and what the model is told where it is asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from outspoken.results.actions.base import BaseAction
from outspoken.results.actions.control import NoOp
from outspoken.results.actions.union import Action
from outspoken.results.diagnostics import Diagnostic
from outspoken.results.replies import Reply, ToolCall

from .categories import ErrorCategory
from .stats import Outcome

#: The way that a response went: read as it stands, with repairs, in another way than was asked for; and where it is of
#: no use, that the model may be asked again, or that somebody has to look at it.
Route = Literal["primary", "recovery", "fallback", "retry", "manual"]
#: What a caller checks of a reply, with what is known of the context: a list of what is wrong, errors or warnings.
Check = Callable[[Reply, Any], Iterable[Diagnostic]]

#: At most so many mistakes are told to the model, each with so many characters.
_TOLD, _LONG = 5, 200


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


def null_action(reason: str, instead_of: BaseAction | None = None) -> NoOp:
    """The action that does nothing. `reason` says why. It has the name and place of what it stands for."""
    shared = BaseAction.model_fields.keys() - {"kind", "status", "repairs", "extra"}
    own = {field: getattr(instead_of, field) for field in shared} if instead_of is not None else {}
    return NoOp(reason=reason, **own)


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONG else f"{line[: _LONG - 3]}..."
