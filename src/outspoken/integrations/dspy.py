"""DSPy: `OutspokenAdapter` is a `ChatAdapter` that also reads calls as the model writes them, in its own format."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from functools import partial
from json import dumps
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from outspoken.json import read_json
from outspoken.processing.answers import read_answer
from outspoken.results.replies import Reply, has_failed_call, retry_of

from .assembler import Assembler, ReaderOptions
from .messages import call_of, framework

_DSPY = framework("dspy", "dspy", "3.4")
_dspy = _DSPY.load("dspy")
_adapters = _dspy.adapters

#: The output fields of `dspy.ReAct` that a call fills.
_NAME, _ARGUMENTS, _THOUGHT = "next_tool_name", "next_tool_args", "next_thought"
_ONE_CALL = "(Only the first of {} calls was run. Write one call at a time.)"
_BROKEN = "The JSON of `{1}` in your last response is {0}, and no tool was run. Write the whole response again."
#: What the header of each section begins with.
_SECTION = "[[ ## "


class OutspokenAdapter(_dspy.ChatAdapter):
    """A `ChatAdapter` that reads calls in a format, with or without sections of fields around them.

    `format` and its options are those of `Assembler`; DSPy does not pass on why a response ended. `on_reply` is
    called with each response that was read. The other options are those of `dspy.ChatAdapter`: with
    `use_native_function_calling`, DSPy sends the tools to servers that can render them.
    """

    def __init__(
        self, format: str | None = None, *, on_reply: Callable[[Reply], None] | None = None, **options: Any
    ) -> None:
        own: Any = {key: options.pop(key) for key in ReaderOptions.__annotations__ if key in options}
        _dspy.ChatAdapter.__init__(self, **options)
        self._begin, self._on_reply = Assembler.maker(format, **own), on_reply
        #: of one request: its messages, and those behind it if the model is asked again
        self._history: list[dict[str, Any]] = []
        self._told: list[dict[str, Any]] = []
        #: a response that was refused, and what the model should know, as messages
        self._refusal: list[dict[str, Any]] = []

    def __call__(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> Any:
        return _dspy.ChatAdapter.__call__(self._of(lm, inputs), lm, lm_kwargs, signature, demos, inputs)

    async def acall(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> Any:
        return await _dspy.ChatAdapter.acall(self._of(lm, inputs), lm, lm_kwargs, signature, demos, inputs)

    def format(self, signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        """The messages of a request; if the model is asked again, with what it wrote and what is wrong with it."""
        messages = _dspy.ChatAdapter.format(self, signature, demos, inputs)
        self._history = _read_by_model(messages, inputs)
        return [*filter(None, self._begin(history=messages).to_send(messages)), *self._told]

    def format_user_message_content(self, signature: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> str:
        """The inputs as text; the trajectory of `dspy.ReAct` knows which calls and results it holds."""
        text = _dspy.ChatAdapter.format_user_message_content(self, signature, inputs, *args, **kwargs)
        return _Trajectory(text, inputs) if "tool_name_0" in inputs else text

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Read a response into the fields of a signature. Raises AdapterParseError if a call cannot be run."""
        return self._fields(signature, completion, self._read(completion))

    def _make_json_adapter_fallback(self) -> Any:
        if not self._refusal:
            return _dspy.ChatAdapter._make_json_adapter_fallback(self)
        again: Any = copy(self)
        again.use_json_adapter_fallback, again._told = False, self._refusal
        return again

    def _of(self, lm: Any, inputs: dict[str, Any]) -> OutspokenAdapter:
        """The adapter for one request, which may have tools among its inputs."""
        made = copy(self)
        listed: list[list[Any]] = [value if isinstance(value, list) else [value] for value in inputs.values()]
        given: list[Any] = [one for some in listed for one in some if isinstance(one, _dspy.Tool)]
        tools = [tool.format_as_litellm_function_call() for tool in given]
        made._begin, made._refusal = partial(self._begin, model=lm, tools=tools), []
        return made

    def _call_postprocess(self, processed: Any, original: Any, outputs: Any, lm: Any, lm_kwargs: Any) -> Any:
        return [self._values(processed, original, output, lm, lm_kwargs) for output in outputs]

    def _values(self, processed: Any, original: Any, output: Any, lm: Any, lm_kwargs: Any) -> Any:
        """The fields of an output of the LM. If DSPy expects calls of the server, there may be calls in the text."""
        fields = {"text": output} if isinstance(output, str) else output
        name, text = self._get_tool_call_output_field_name(original), fields.get("text") or ""
        if text and name and name not in processed.output_fields:
            read = self._read(text)
            reply = read.reply
            if reply.tool_calls or has_failed_call(reply):
                own = [
                    _adapters.base._provider_tool_call_to_tool_call_dict(call)
                    for call in fields.get("tool_calls") or ()
                ]
                own_values = self._fields(original, text, read)
                own_values[name].tool_calls[:0] = _dspy.ToolCalls.from_dict_list(own).tool_calls
                return {**own_values, **({"logprobs": fields["logprobs"]} if fields.get("logprobs") else {})}
            output = {"reasoning_content": reply.reasoning, **fields} if reply.reasoning else output
        return _dspy.ChatAdapter._call_postprocess(self, processed, original, [output], lm, lm_kwargs)[0]

    def _read(self, text: str) -> Assembler:
        assembler = self._begin(calls=True, history=self._history)
        assembler.whole(text)
        return assembler

    def _fields(self, signature: Any, completion: str, read: Assembler) -> dict[str, Any]:
        """The fields of a signature: of calls, of sections, and of reasoning and text without a section."""
        reply = read.reply
        if self._on_reply is not None:
            self._on_reply(reply)
        values = self._of_calls(signature, read)
        of_calls = [*values] if reply.tool_calls else []
        text = reply.text if of_calls or (reply.reasoning and not reply.tool_calls) else completion
        said = reply.reasoning or ("" if _SECTION in reply.text else reply.text)
        rest = signature
        for name, field in signature.output_fields.items():
            section = _section(text, name)
            if name not in values and section and _is_read(field.annotation):
                answer = read_answer(section, field.annotation, tool=name, format="text")
                values |= {name: answer.value} if answer.is_valid else {}
            elif name not in values and section is None:
                is_thought = field.annotation is _dspy.Reasoning or (name == "reasoning" and field.annotation is str)
                if is_thought and said and (of_calls or reply.reasoning):
                    values[name] = said if field.annotation is str else _dspy.Reasoning(content=said)
                elif of_calls and field.is_required():
                    values[name] = said if field.annotation is str else None
            rest = rest.delete(name) if name in values else rest
        values |= _dspy.ChatAdapter.parse(self, rest, text) if rest.output_fields else {}
        if _NAME in of_calls and len(reply.tool_calls) > 1 and isinstance(values.get(_THOUGHT), str):
            values[_THOUGHT] = f"{values[_THOUGHT]}\n{_ONE_CALL.format(len(reply.tool_calls))}".strip()
        return {name: values[name] for name in signature.output_fields}

    def _of_calls(self, signature: Any, read: Assembler) -> dict[str, Any]:
        """The fields for calls, if there are calls and a place for them. Raises AdapterParseError if one cannot run."""
        field = self._get_tool_call_output_field_name(signature)
        if not field and not {_NAME, _ARGUMENTS} <= set(signature.output_fields):
            return {}
        reply, calls = read.reply, [] if has_failed_call(read.reply) else read.calls
        if calls and field:
            as_dicts = [{"id": call.id, "name": call.name, "args": call.call.arguments} for call in calls]
            return {field: _dspy.ToolCalls.from_dict_list(as_dicts)}
        if calls:
            return {_NAME: calls[0].name, _ARGUMENTS: calls[0].call.arguments}
        section = _section(reply.text if reply.reasoning else reply.raw, field or _ARGUMENTS)
        if reply.unfinished_tool_calls or (has_failed_call(reply) and not section):
            raise self._refused(signature, reply.raw, retry_of(reply))
        if not section:
            return {}
        name, reading = field or _ARGUMENTS, read_json(section)  # DSPy would complete it if it were cut
        if reading.status in ("truncated", "invalid"):
            raise self._refused(signature, reply.raw, _BROKEN.format(reading.status, name))
        return {name: _adapters.utils.parse_value(dumps(reading.value), signature.output_fields[name].annotation)}

    def _refused(self, signature: Any, raw: str, told: str) -> Exception:
        self._refusal = [{"role": "assistant", "content": raw}, {"role": "user", "content": told}]
        return _dspy.utils.exceptions.AdapterParseError("OutspokenAdapter", signature, raw, message=told)


class _Trajectory(str):
    """The text of a trajectory, with what it holds as messages of chat completions."""

    __slots__ = ("messages",)
    messages: list[dict[str, Any]]

    def __new__(cls, text: str, steps: dict[str, Any]) -> _Trajectory:
        made = str.__new__(cls, text)
        made.messages = []
        for number in range(len(steps)):
            if name := steps.get(f"tool_name_{number}"):
                call = call_of(f"step_{number}", name, steps.get(f"tool_args_{number}"))
                made.messages += [{"role": "assistant", "content": "", "tool_calls": [call]}]
                made.messages += [{"role": "tool", "content": str(steps.get(f"observation_{number}", ""))}]
        return made


def _read_by_model(messages: list[dict[str, Any]], inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request, with trajectories as the calls and results that they hold."""
    made = [{**message} for message in messages]
    for one in [value for value in inputs.values() if isinstance(value, _Trajectory)]:
        for message in [message for message in made if isinstance(message.get("content"), str)]:
            message["content"] = message["content"].replace(one.strip(), "")
        made += one.messages
    return made


def _is_read(annotation: Any) -> bool:
    """True for a type whose values are JSON. DSPy reads texts, words of a choice, and its own types."""
    kinds = (annotation, get_origin(annotation), *get_args(annotation))
    return any(isinstance(kind, type) and issubclass(kind, (BaseModel, dict, list)) for kind in kinds) and not any(
        isinstance(kind, type) and issubclass(kind, _dspy.Type) for kind in kinds
    )


def _section(text: str, name: str) -> str | None:
    """The first section of a name; None if there is none."""
    found = re.search(rf"^[ \t]*\[\[ ## {name} ## \]\](.*?)(?=^[ \t]*\[\[ ## \w+ ## \]\]|\Z)", text, re.M | re.S)
    return found and found[1].strip()


# Listeners of streams know the layout of the sections by the name of the adapter.
OutspokenAdapter.__name__ = _dspy.ChatAdapter.__name__
