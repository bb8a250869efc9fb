"""What frameworks share: their packages and models, damage as JSON, refusals of calls, and what asks a model again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from outspoken.grammar import registry
from outspoken.rendering.reasoning_tags import reasoning_tags
from outspoken.results.errors import UnknownFormatError
from outspoken.results.packages import Package
from outspoken.results.replies import Reply, ToolCall, has_failed_call, retry_of
from outspoken.results.running import problem_of

#: The key of `metadata` in the metadata of a framework's message.
METADATA = "outspoken"

#: The index of the first call from the text in a stream; what the model sends itself counts from 0.
FIRST_INDEX = 1000
#: What servers and frameworks call the finish reason.
REASONS = ("finish_reason", "stop_reason", "done_reason")
#: What separates the problem of a refused call from what the model wrote.
_WRITTEN = "; it was written as "
#: Where models of frameworks keep their name.
_NAMES = ("model_name", "model", "model_id")


def framework(extra: str, distribution: str, lowest: str) -> Package:
    """A framework: the `extra` of its name, the `distribution` that pip installs, and the `lowest` version of it."""
    return Package(extra, distribution, lowest, needed_by=f"`outspoken.integrations.{extra}`")


def format_of(format: str | None, model: Any) -> str:
    """The `format` if one is given, or else the name of a model, if its format is known; "auto" if it is not.

    `model` is the name or what has it.
    """
    names = [model] if isinstance(model, str) else [getattr(model, key, None) for key in _NAMES]
    return format or next((one for one in names if isinstance(one, str) and _is_known(one, registry.edition())), "auto")


@registry.cached
def _is_known(name: str, edition: int) -> bool:
    """Is the format of a model known? A name with commas is that of several."""
    try:
        return "," not in name and bool(registry.resolve(name))
    except UnknownFormatError:
        return False


def object_of(arguments: Any) -> dict[str, Any] | None:
    """The arguments of a call in a history as an object, as servers want them; None for a refusal, which is none."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError:
            return None
    return cast("dict[str, Any]", arguments or {}) if isinstance(arguments, dict | None) else None


def refusal_of(call: ToolCall, reply: Reply) -> str:
    """For a call that must not be run, a sentence to stand in place of its arguments; "" for other calls.

    It is no JSON, and says why, with what the model wrote.
    """
    problem = problem_of(call, reply)
    return f"{problem}{_WRITTEN}{written_of(call, reply)}" if problem else ""


def refused_calls(reply: Reply) -> Iterator[tuple[int, ToolCall, str]]:
    """The calls of a reply that must not be run: each with its index among all calls, and its refusal."""
    for index, call in enumerate([one for one in reply.segments if one.kind == "tool_call"]):
        if refusal := refusal_of(call, reply):
            yield index, call, refusal


def written_of(call: ToolCall, reply: Reply) -> str:
    """What the model wrote of a call, with the markup that opens and closes it outside of its span (`Action: `).

    Of that between two calls, it is what stands on the line of the second one.
    """
    (start, end), segments = call.span, reply.segments
    at = [segment.span for segment in segments].index(call.span)
    before = segments[at - 1] if at else None
    lead = reply.raw[before.span[1] if before else 0 : start]
    if before is not None and before.kind in ("tool_call", "action"):
        lead = lead.rpartition("\n")[2].lstrip(" ,")
    elif tags := reasoning_tags(reply.format or "auto"):
        lead = lead.rpartition(tags.close)[2]
    rest = "" if at + 1 < len(segments) else reply.raw[end:]
    return (lead + reply.raw[start:end] + rest).strip("\n")


def parts_of(refusal: str) -> tuple[str, str]:
    """The problem of a call, and what the model wrote, by the sentence in place of its arguments."""
    problem, _, written = refusal.partition(_WRITTEN)
    return problem, written


def call_of(id: Any, name: str, arguments: Any, written: str = "") -> dict[str, Any]:
    """A call of a history, as chat completions have it; of one that was refused, what the model wrote."""
    given = object_of(arguments)
    if given is None:
        written = written or parts_of(arguments)[1] or arguments
    function = {"name": name} if given is None else {"name": name, "arguments": given}
    return {"id": id, "type": "function", "function": function, **({"written": written} if written else {})}


def content_of(text: str, others: Iterable[Any] = ()) -> Any:
    """The content of a message of a history: a text, or that and other parts, which belong to the framework."""
    parts = [{"type": "other", "other": part} for part in others]
    return [{"type": "text", "text": text}, *parts] if parts else text


def chat_message(role: str, text: str, others: list[Any], kind: str = "text") -> dict[str, Any]:
    """A message of chat completions, whose text has a `kind` if there are other parts."""
    return {"role": role, "content": [{"type": kind, "text": text}, *others] if others else text}


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
            {"name": c.name, "arguments": c.arguments_text, "status": c.status, "written": written_of(c, reply)}
            for c in reply.unfinished_tool_calls
        ],
    }
    is_sound = reply.status == "ok" and not any(about.values())
    about["actions"] = [a.model_dump(**action) for a in reply.actions]
    about["payloads"] = [{"type": payload.type, "data": payload.data} for payload in reply.payloads]
    about["unfinished_actions"] = [a.model_dump(**action) for a in reply.unfinished_actions]
    status = {} if is_sound else {"status": reply.status}
    return {**status, **{key: value for key, value in about.items() if value}}


def noted(*replies: Reply, **more: Any) -> dict[str, Any]:
    """The `metadata` of replies under its key, with a retry message if the model should be asked again, and `more`."""
    about: dict[str, Any] = {}
    for reply in replies:
        retry = {"retry": retry_of(reply)} if has_failed_call(reply) else {}
        for key, value in {**metadata(reply), **retry}.items():
            about[key] = about[key] + value if isinstance(value, list) and key in about else value
    about |= more
    return {METADATA: about} if about else {}
