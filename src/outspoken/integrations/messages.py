"""What frameworks need of a reply: calls with ids, what is damaged as JSON, and a message that asks the model again."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any, NamedTuple

from outspoken.results.diagnostics import Diagnostic
from outspoken.results.replies import Reply, Status, ToolCall

#: The key of `damage` in the metadata of a framework's message.
METADATA = "outspoken"

#: The most problems in a retry message, and the most characters of each.
_MAX_PROBLEMS, _MAX_LENGTH = 5, 200


class CallIds:
    """Gives each call of one response an id that no other call of the response has.

    An id that the model wrote is kept. Other ids are derived from the position of the call and from a `seed`, such as
    the id of the response, which is random by default: calls of different responses get different ids.
    """

    def __init__(self, seed: str | None = None) -> None:
        self._seed = seed or secrets.token_hex(12)
        self._given: set[str] = set()
        self._count = 0

    def next(self, written: str | None = None) -> str:
        """The id of the next call; `written` is the one that the model wrote, if any."""
        position, self._count = self._count, self._count + 1
        if not written or written in self._given:
            written = "call_" + hashlib.sha256(f"{self._seed}:{position}".encode()).hexdigest()[:24]
        self._given.add(written)
        return written


class IdentifiedCall(NamedTuple):
    """A call with its id. `problem` says why it must not be run; it is None for a call that is ok or repaired."""

    id: str
    call: ToolCall
    problem: str | None

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.call.name

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments; for a call with a problem, what could be read of them."""
        return self.call.arguments

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text; for a call with a problem, what the model wrote, which may be no JSON."""
        return self.call.arguments_text

    @property
    def status(self) -> Status:
        """The status of the call."""
        return self.call.status


def identified_calls(reply: Reply, ids: CallIds | None = None) -> list[IdentifiedCall]:
    """All calls of a reply with ids, in order: those to run, and those with a problem."""
    ids = ids or CallIds()
    calls = [segment for segment in reply.segments if isinstance(segment, ToolCall)]
    return [IdentifiedCall(ids.next(call.id), call, problem_of(call, reply)) for call in calls]


def problem_of(call: ToolCall, reply: Reply) -> str | None:
    """Why a call must not be run, in one sentence; None for a call that is ok or repaired."""
    if call.status in ("ok", "repaired"):
        return None
    start, end = call.span
    found = [d for d in reply.diagnostics if start <= d.span[0] and d.span[1] <= end and d.severity != "note"]
    found.sort(key=lambda d: d.severity != "error")
    reason = f": {_shortened(found[0].message)}" if found else ""
    return f"the call of `{call.name}` is {call.status} and was not run{reason}"


def damage(reply: Reply) -> dict[str, Any]:
    """What is not sound in a reply, as JSON; {} if nothing is.

    The keys are `status`, `repairs`, `problems` (errors and warnings), and `unfinished_calls`, with the arguments as
    the model wrote them. Empty ones are left out.
    """
    found: dict[str, Any] = {
        "repairs": [repair.model_dump(mode="json") for repair in reply.repairs],
        "problems": [_problem(d) for d in reply.diagnostics if d.severity != "note"],
        "unfinished_calls": [
            {"name": call.name, "arguments": call.arguments_text, "status": call.status, "id": call.id}
            for call in reply.unfinished_tool_calls
        ],
    }
    found = {key: value for key, value in found.items() if value}
    return {"status": reply.status, **found} if found or reply.status != "ok" else {}


def has_failed_call(reply: Reply) -> bool:
    """True if the model should be asked again: a call is truncated or invalid, or its markup could not be read."""
    return bool(reply.unfinished_tool_calls) or reply.looks_like_failed_tool_call


def retry_message(reply: Reply) -> str:
    """A message for the model: what is wrong with its response, and a request to write the call again."""
    found = [d for d in reply.diagnostics if d.severity != "note"]
    found.sort(key=lambda d: d.severity != "error")
    lines = [f"- line {d.line}, column {d.column}: {_shortened(d.message)}" for d in found[:_MAX_PROBLEMS]]
    if len(found) > _MAX_PROBLEMS:
        lines.append(f"- and {len(found) - _MAX_PROBLEMS} more")
    advice = "Write the whole response again, without these mistakes."
    if reply.status == "truncated":
        advice += " It broke off before its end: make it shorter."
    return "\n".join(["Your last response could not be used, and no tool was run:", *lines, advice])


def _problem(diagnostic: Diagnostic) -> dict[str, Any]:
    return diagnostic.model_dump(mode="json", include={"code", "message", "severity", "span", "line", "column"})


def _shortened(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 3]}..."
