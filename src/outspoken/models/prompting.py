"""The prompt for messages, by the chat template of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from outspoken.notations.tools import Tools
from outspoken.results.arguments import kind_of
from outspoken.results.errors import PromptError
from outspoken.results.signatures import is_mapping
from outspoken.semantics.echoes import plain_message

from .chat_template import ChatTemplate, TemplateError, mode, prompt_of

#: The names that reasoning has in messages; each template reads another one.
_REASONING = ("reasoning_content", "reasoning", "thinking")


def write_prompt(
    template: ChatTemplate,
    messages: Sequence[Any],
    tools: Tools | None,
    thinking: bool | None,
    values: Mapping[str, Any],
) -> tuple[str, str]:
    """The prompt for messages of chat completions, and the end of it that begins the answer.

    `values` are other variables of the template. Raises PromptError if the template refuses them or the messages, and
    TypeError for what is no message.
    """
    read = [_message(message, as_text=template.takes_text) for message in messages]
    given: dict[str, Any] = {"tools": None if tools is None else tools.to_openai(), **mode(thinking), **values}
    try:
        return prompt_of(template, read, given)
    except TemplateError as error:
        raise PromptError(f"the chat template refuses the messages: {error}") from error


def _message(message: Any, *, as_text: bool) -> dict[str, Any]:
    """A message as templates take it: the content as one text, and the arguments of calls as objects or `as_text`."""
    plain = plain_message(message)
    if not is_mapping(plain):
        raise TypeError(
            f"a message is {kind_of(message)}; expected a dict with `role` and `content`, or an SDK's object"
        )
    made = {**plain}
    made["content"] = _content(made.get("content"))
    if reasoning := next((made[name] for name in _REASONING if made.get(name)), None):
        made |= dict.fromkeys(_REASONING, reasoning)
    if calls := made.get("tool_calls"):
        made["tool_calls"] = [_call(plain_message(call), as_text=as_text) for call in calls]
    return made


def _content(content: Any) -> Any:
    """Content that is only text as one text; templates write other parts, such as images, by themselves."""
    if not isinstance(content, list | tuple):
        return "" if content is None else content
    parts = [plain_message(part) for part in cast("Sequence[Any]", content)]
    texts: list[Any] = [part.get("text") if is_mapping(part) else part for part in parts]
    return "\n".join(texts) if all(isinstance(text, str) for text in texts) else parts


def _call(call: dict[str, Any], *, as_text: bool) -> dict[str, Any]:
    function: dict[str, Any] = call.get("function") or call
    arguments: Any = function.get("arguments")
    if as_text and not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    elif not as_text and isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return {**call, "function": {**function, "arguments": arguments}}
