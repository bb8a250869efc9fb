"""The result of processing a response, and the message that asks the model again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field

from outspoken.results.actions.base import BaseAction
from outspoken.results.actions.union import Action, NoOp
from outspoken.results.codes import ErrorCategory
from outspoken.results.construct import FrozenModel
from outspoken.results.diagnostics import Diagnostic, retry_message
from outspoken.results.old_names import with_old_names
from outspoken.results.replies import Reply, Status, ToolCall

if TYPE_CHECKING:
    from outspoken.providers.decode.sdk_objects import ChunkLike

#: How a response was read: as it is, with repairs or lost parts, or in another way than requested.
Strategy = Literal["primary", "recovery", "fallback"]
#: A caller's check of a reply and its context; returns errors and warnings.
Check = Callable[[Reply, Any], Iterable[Diagnostic]]


@with_old_names
class Processed(FrozenModel):
    """The result of processing a response.

    `status` is "ok" if nothing is wrong and "repaired" if the response is usable anyway. If it is not usable, `status`
    is "truncated" if it is incomplete, otherwise "invalid"; then `needs_retry` is True if the model may be asked again,
    and `needs_manual` if it cannot or should not be asked. `strategy` is how the response was read: "primary", as it
    is; "recovery", with repairs or lost parts; "fallback", in another way than requested.

    `actions` and `tool_calls` are safe to carry out, in order; if the response is not usable, there are no calls and at
    most the action that does nothing. `reply` is everything that was read. `problems` are its errors and warnings and
    the findings of the checks; `categories` are their categories, at least one unless the status is "ok". `format` is
    the requested format, or the detected one ("text" if none was detected).

    `values` are the JSON values of the response. `metadata` is what the caller passed with the response; the actions
    have it, too.

    `attempts` counts the responses so far, including this one; `earlier` are the results of the others.
    """

    reply: Reply = Field(repr=False)
    format: str
    status: Status
    strategy: Strategy
    actions: list[Action]
    tool_calls: list[ToolCall]
    problems: tuple[Diagnostic, ...] = ()
    categories: tuple[ErrorCategory, ...] = ()
    needs_retry: bool = False
    needs_manual: bool = False
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])
    attempts: int = 1
    earlier: tuple[Processed, ...] = Field(default=(), repr=False)

    @property
    def is_usable(self) -> bool:
        """True if the status is "ok" or "repaired"."""
        return self.status in ("ok", "repaired")

    @property
    def values(self) -> list[Any]:
        """The JSON values of a usable response, in order."""
        return [s.value for s in self.reply.segments if s.kind == "json"] if self.is_usable else []

    def retry_message(self) -> str:
        """A message for the model: what is wrong with its response, and a request to answer again."""
        is_truncated = ErrorCategory.TRUNCATED in self.categories
        return retry_message("Your last response could not be used:", self.problems, is_truncated=is_truncated)


class RetryRequest(NamedTuple):
    """A request to ask the model again: its `number` (from 1), the `message` to send, and the result so far."""

    number: int
    message: str
    result: Processed


#: The new response, alone or with its finish reason; None to give up.
Answer: TypeAlias = "str | ChunkLike | tuple[str | ChunkLike, str | None] | None"


def null_action(reason: str, instead_of: BaseAction | None = None) -> NoOp:
    """An action that does nothing, for a `reason`, with the name and place of the action that it replaces."""
    shared = BaseAction.model_fields.keys() - {"kind", "status", "repairs", "extra"}
    own = {field: getattr(instead_of, field) for field in shared} if instead_of is not None else {}
    return NoOp(reason=reason, **own)
