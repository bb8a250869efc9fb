"""`render_history`: the messages of a chat as a model wrote and read them that was told its format in the prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from pydantic import TypeAdapter

from outspoken.grammar import registry
from outspoken.models.messages import REASONING, content_of
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.actions.base import BaseAction
from outspoken.results.arguments import kind_of
from outspoken.results.call_ids import is_made
from outspoken.results.errors import RenderError
from outspoken.results.replies import Reasoning, Text, ToolCall
from outspoken.results.signatures import is_mapping
from outspoken.semantics.echoes import plain_message

from .reasoning_tags import reasoning_tags
from .render import render

#: How the result of a call is told in a format that does not say how.
_RESULT = "The result of `{name}`:\n{result}"
#: Where messages have what is not of chat completions, such as GUI actions.
_EXTENSION = "outspoken"
#: So many turns are kept, since each request repeats those before it.
_KEPT = 1024


def render_history(
    messages: Sequence[Any],
    format: str,
    *,
    tools: Tools | Sequence[ToolLike] | None = None,
    action_tool: str | None = None,
) -> list[Any]:
    """The messages of a chat as text, for a model that was told a format in its prompt and knows no fields for calls.

    `messages` are those of chat completions, as dicts or objects of an SDK. Reasoning, calls and GUI actions of the
    assistant become text in the format, which is read back and compared. A call that was refused and has what the model
    wrote in `written` becomes that. Actions are the calls of `action_tool`, and those in the field `outspoken` of a
    message. Results of tools become a message of the user, together with the text of the user behind them, as the
    header of the grammar says (`result`). All other messages stay as they are.

    Raises RenderError for what the format cannot carry; UnknownFormatError and ToolError as `parse` does, and TypeError
    for what is no message.
    """
    turns = rendered_messages(messages, format, Tools.of(tools), action_tool)
    return [message for message in turns if message is not None]


def rendered_messages(
    messages: Sequence[Any], format: str, tools: Tools | None, action_tool: str | None = None
) -> list[Any]:
    """What each message becomes, as `render_history` says; None for one that is a part of the one before it."""
    history = _History(format, tools, action_tool)
    for number, message in enumerate(messages):
        plain = plain_message(message)
        if not is_mapping(plain):
            raise TypeError(f"a message is {kind_of(message)}; expected a dict with `role`, or an SDK's object")
        try:
            history.add(message, plain)
        except RenderError as error:
            raise RenderError(f"message {number} of the history: {error}") from error
    return history.made


class _History:
    """Renders messages, one after the other; `made` has one for each."""

    def __init__(self, format: str, tools: Tools | None, action_tool: str | None) -> None:
        self._format, self._action_tool = registry.resolve(format), action_tool
        self._tools = "[]" if tools is None else json.dumps(tools.to_openai())
        self._called: dict[Any, str] = {}
        self._told: dict[str, Any] | None = None  # a message with results, to which more may be added
        self.made: list[Any] = []

    def add(self, message: Any, plain: Mapping[str, Any]) -> None:
        """Add a message. Raises RenderError."""
        role, content = plain.get("role"), content_of(plain.get("content"))
        if role in ("tool", "function"):
            parts: list[Any] = [content] if isinstance(content, str) else [*content]
            others = [part for part in parts if is_mapping(part) and "text" not in part]
            text = "\n".join([part["text"] if is_mapping(part) else part for part in parts if part not in others])
            name = self._called.get(plain.get("tool_call_id")) or plain.get("name") or "the call"
            self._tell(_result(self._format, name, text), others, "\n")
        elif role == "user" and self._told is not None and isinstance(content, str):
            self._tell(content, [], "\n\n")
        else:
            turn = self._turn(plain, content) if role == "assistant" else None
            self._told = None
            self.made.append(message if turn is None else {"role": "assistant", "content": turn})

    def _tell(self, text: str, others: list[Any], gap: str) -> None:
        """Add text for the model to the message that tells of results. Other parts, such as images, begin a new one."""
        if self._told is not None and not others:
            self._told["content"] += gap + text
            self.made.append(None)
            return
        made = {"role": "user", "content": [{"type": "text", "text": text}, *others] if others else text}
        self._told = None if others else made
        self.made.append(made)

    def _turn(self, plain: Mapping[str, Any], content: Any) -> str | None:
        """The text of the assistant's message; None if it is text already. Raises RenderError."""
        calls: list[list[Any]] = []
        about: dict[str, Any] = plain.get(_EXTENSION) or {}
        actions: list[dict[str, Any]] = [*about.get("actions", ())]
        written: list[str] = []
        for call in map(plain_message, plain.get("tool_calls") or ()):
            name, arguments = _name_and_arguments(call)
            self._called[call.get("id")] = name
            if "written" in call:
                written.append(call["written"])
            elif arguments is None:
                raise RenderError(f"the arguments of the call of `{name}` are no JSON object")
            elif name == self._action_tool:
                actions.append(arguments)
            else:
                id = call.get("id")
                calls.append([name, arguments, None if id is None or is_made(id) else id])
        written += [action["raw"] for action in about.get("unfinished_actions", ())]
        reasoning = next((plain[key] for key in REASONING if plain.get(key)), "")
        if not (calls or actions or written or reasoning):
            return None
        if not isinstance(content, str):
            raise RenderError("the assistant's message has other content than text beside calls or reasoning")
        said = content
        if calls or actions or reasoning:
            try:
                as_json = json.dumps([reasoning, content, calls, actions], ensure_ascii=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise RenderError(f"a call has values that are no JSON: {error}") from error
            said = _written(self._format, as_json, self._tools)
        return "\n".join([text for text in (said, *written) if text])


def _result(format: str, name: str, result: str) -> str:
    """The result of a tool as a format tells it."""
    before, _, behind = (registry.header(format).result or _RESULT).partition("{result}")
    return before.replace("{name}", name) + result + behind.replace("{name}", name)


def _name_and_arguments(call: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """The name and the arguments of a call; None for arguments that are none."""
    function = call.get("function") or call
    arguments: Any = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return function["name"], None
    return function["name"], {**arguments} if is_mapping(arguments) else {} if arguments is None else None


@cache
def _actions() -> TypeAdapter[BaseAction]:
    from outspoken.results.actions.union import Action  # imports all models of actions

    return TypeAdapter(Action)


@lru_cache(_KEPT)
def _written(format: str, said: str, tools: str) -> str:
    """What the model wrote: reasoning, text, calls and actions, as JSON. Raises RenderError."""
    reasoning, text, calls, actions = json.loads(said)
    requests: list[Any] = [ToolCall(name=name, arguments=call_arguments, id=id) for name, call_arguments, id in calls]
    requests += map(_actions().validate_python, actions)
    thought: list[Any] = [Reasoning(text=reasoning, span=(0, 0))] if reasoning else []
    # a call without a marker is a part of the sentence before it, unless it begins a line
    texts = [[Text(text=each, span=(0, 0))] for each in (text, f"{text}\n") if each.strip()] or [list[Any]()]
    orders = [order for said in texts for order in ([*thought, *said], [*said, *thought])]
    if requests and reasoning_tags(format) is None:  # the reasoning is a line of its own, before the call
        orders.sort(key=lambda order: order[:1] == thought)
    refused: list[RenderError] = []
    for order in orders:
        try:
            return render([*order, *requests], format, tools=json.loads(tools))
        except RenderError as error:
            refused.append(error)
    raise refused[0]
