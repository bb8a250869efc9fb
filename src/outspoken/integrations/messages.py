"""What frameworks need of a reply: calls with ids, what is damaged as JSON, and a message that asks the model again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from outspoken.processing.answers import TypedAnswer, read_answer
from outspoken.results.call_ids import CallIds as CallIds
from outspoken.results.finish_reasons import to_finish_reason
from outspoken.results.replies import Reply, ToolCall, retry_of
from outspoken.results.replies import has_failed_call as has_failed_call
from outspoken.results.running import problem_of

from .framework import value_of

#: The key of `metadata` in the metadata of a framework's message.
METADATA = "outspoken"

#: The index of the first call from the text in a stream; what the model sends itself counts from 0.
FIRST_INDEX = 1000
#: What servers and frameworks call the finish reason.
REASONS = ("finish_reason", "stop_reason", "done_reason")
#: What separates the problem of a refused call from what the model wrote.
_WRITTEN = "; it was written as "


class IdentifiedCall(NamedTuple):
    """A call with its id.

    `problem` says why it must not be run; it is None for a call that is ok or repaired. `written` is what the model
    wrote of a call with a problem, with its markup; "" for other calls.
    """

    id: str
    call: ToolCall
    problem: str | None = None
    written: str = ""

    @classmethod
    def of(cls, id: str, call: ToolCall, reply: Reply) -> IdentifiedCall:
        """A call of a reply."""
        problem = problem_of(call, reply)
        return cls(id, call, problem, reply.raw[slice(*call.span)] if problem else "")

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
        """The arguments as JSON text; for a call with a problem, what could be read, which may be no JSON."""
        return self.call.arguments_text

    @property
    def refusal(self) -> str:
        """For a call with a problem, a sentence to stand in place of its arguments: it is no JSON, and says why."""
        return f"{self.problem}{_WRITTEN}{self.written}"

    @property
    def refused_name(self) -> str:
        """For a call with a problem, a name that no tool has: frameworks tell the model that its tool is not found."""
        return refused_name(self.refusal)


def is_object(arguments: Any) -> bool:
    """Are the arguments of a call a JSON object, as servers want them in a history? A refusal is none."""
    if isinstance(arguments, str):
        try:
            return isinstance(json.loads(arguments), dict)
        except ValueError:
            return not arguments.strip()
    return arguments is None or isinstance(arguments, dict)


def reason_of(refusal: str) -> str:
    """The problem of a call, by the sentence in place of its arguments."""
    return refusal.partition(_WRITTEN)[0]


def typed_answer(text: str, calls: Iterable[tuple[str, str]], schema: Any, tool: str) -> TypedAnswer[Any]:
    """The value of a type in a message that was read: in a call of a tool, or in the text as `read_answer` finds it.

    `calls` are the names and arguments of the calls, which are no JSON if a call was refused.
    """
    listed = [{"type": "function", "function": {"name": name, "arguments": args}} for name, args in calls]
    message = {"role": "assistant", "content": text, **({"tool_calls": listed} if listed else {})}
    completion = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return read_answer(completion, schema, tool=tool, format="text")


def refused_name(refusal: str) -> str:
    """The name of a tool of a call that must not run, for a sentence such as "Tool … not found"."""
    return f"call was refused ({refusal}); write it again without this mistake. As it stands, its tool was"


def metadata(reply: Reply) -> dict[str, Any]:
    """What a framework's message has no field for, as JSON; {} if there is nothing.

    The keys are `status`, `repairs`, `problems` (errors and warnings), `unfinished_calls`, with what could be read of
    the arguments, and all of the call as it was written, and `actions`, `payloads` and `unfinished_actions`. Empty ones
    are left out, and the status if all of the reply is sound.
    """
    action: Any = {"exclude": {"kind", "span", "repairs", "metadata"}, "exclude_none": True, "mode": "json"}
    problem: Any = {"include": {"code", "message", "severity", "span", "line", "column"}, "mode": "json"}
    about: dict[str, Any] = {
        "repairs": [repair.model_dump(mode="json") for repair in reply.repairs],
        "problems": [d.model_dump(**problem) for d in reply.diagnostics if d.severity != "note"],
        "unfinished_calls": [
            {"name": c.name, "arguments": c.arguments_text, "status": c.status, "written": reply.raw[slice(*c.span)]}
            for c in reply.unfinished_tool_calls
        ],
    }
    is_sound = reply.status == "ok" and not any(about.values())
    about["actions"] = [a.model_dump(**action) for a in reply.actions]
    about["payloads"] = [{"type": payload.type, "data": payload.data} for payload in reply.payloads]
    about["unfinished_actions"] = [a.model_dump(**action) for a in reply.unfinished_actions]
    status = {} if is_sound else {"status": reply.status}
    return {**status, **{key: value for key, value in about.items() if value}}


def noted(reply: Reply, **more: Any) -> dict[str, Any]:
    """The `metadata` of a reply under its key, with a retry message if the model should be asked again, and `more`."""
    retry = {"retry": retry_of(reply)} if has_failed_call(reply) else {}
    about = {**metadata(reply), **retry, **more}
    return {METADATA: about} if about else {}


def merged_metadata(replies: Iterable[Reply]) -> dict[str, Any]:
    """The `noted` of several replies, under one key."""
    about: dict[str, Any] = {}
    for reply in replies:
        for key, value in noted(reply).get(METADATA, {}).items():
            about[key] = about[key] + value if isinstance(value, list) and key in about else value
    return about


def finish_reason(*places: Any, stop: Any = None) -> str | None:
    """Why a response ended, as one of the places says: dicts or objects, which may be chat completions.

    `stop` are the texts at which the request let the model stop: with them, "stop" does not prove that it was done.
    """
    chosen = [choices[0] for place in places if (choices := value_of(place, "choices"))]
    reasons = [value_of(place, key) for place in (*chosen, *places) for key in REASONS]
    words = [reason for reason in reasons if isinstance(reason, str)]
    is_stopped = bool(stop) or any(to_finish_reason(word) == "other" for word in words[1:])
    return "stop_sequence" if words and is_stopped and to_finish_reason(words[0]) == "stop" else next(iter(words), None)
