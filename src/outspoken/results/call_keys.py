"""The keys of an object that calls a tool, and what such an object calls."""

from __future__ import annotations

from typing import Any, cast

#: What models write in place of a format's own keys.
ARGUMENTS_KEYS = ("arguments", "parameters", "params", "args", "input", "action_input", "tool_input")
NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
#: What models write of a call beside its name and its arguments.
CALL_KEYS = frozenset({
    "id", "call_id", "tool_call_id", "type", "index", "status", "thought", "thoughts", "thinking", "reasoning",
    "reason", "explanation", "comment", "description", "title",
})  # fmt: skip


CALL_WORDS = CALL_KEYS.union(NAME_KEYS, ARGUMENTS_KEYS)


def called(value: dict[str, Any]) -> tuple[str, str] | None:
    """The name of the tool that an object calls, and the key of the arguments; None if it is no call.

    The arguments are an object, or the JSON text of one.
    """
    name = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), None)
    key = next((key for key in ARGUMENTS_KEYS if key in value), None)
    if name is None or key is None:
        return None
    holds = value[key]
    is_call = isinstance(holds, dict) or (isinstance(holds, str) and holds.lstrip().startswith("{"))
    return (cast("str", name), key) if is_call else None


#: The keys whose values are actions, in lower case.
ACTION_KEYS = ("action", "actions")
