"""Runs the calls of a reply, and writes their results as messages for the next turn."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from pydantic_core import to_json

from . import diagnostics
from .arguments import check_choice
from .call_ids import CallIds
from .encoding import replace_surrogates
from .errors import CallError, ToolError
from .signatures import callable_name, each_tool, field, function_of, has_fields, is_function, is_mapping, name_of
from .typed_calls import check_names, converted, into

if TYPE_CHECKING:
    from .replies import Reply, ToolCall

#: The APIs for which results are written: chat completions and responses of OpenAI, and messages of Anthropic.
ResultWire: TypeAlias = Literal["openai", "openai_responses", "anthropic"]
#: What becomes of an error: a result for the model, or an exception.
OnToolError: TypeAlias = Literal["keep", "raise"]

_RUNNABLE = "a function, a class with fields, or a tool object with `invoke`"


class Outcome(NamedTuple):
    """What a call came to. `id` is None for a refused call that no message of the model has."""

    id: str | None
    content: str
    is_error: bool = False


class _Tool(NamedTuple):
    """How a tool is run: its function, and the one for `arun` if that is another."""

    run: Callable[[ToolCall], Any]
    arun: Callable[[ToolCall], Any] | None = None
    is_async: bool = False


class Runner:
    """Runs calls by the tools of their names."""

    def __init__(self, tools: Any, provider: ResultWire, on_error: OnToolError) -> None:
        check_choice(provider, get_args(ResultWire), "provider")
        check_choice(on_error, get_args(OnToolError), "on_error")
        self._provider: ResultWire = provider
        self._raises = on_error == "raise"
        self._tools = _tools(tools)

    def run(self, reply: Reply, id: str | None) -> list[dict[str, Any]]:
        """Run the calls in order."""
        for name, tool in self._tools.items():
            if tool.is_async:
                raise TypeError(f"the tool `{name}` is asynchronous; call `arun`")
        return self._messages(reply, id, [self._outcome(call) for call in reply.tool_calls])

    async def arun(self, reply: Reply, id: str | None, *, concurrent: bool) -> list[dict[str, Any]]:
        """Run the calls in order, or at once."""
        if not concurrent:
            return self._messages(reply, id, [await self._aoutcome(call) for call in reply.tool_calls])
        tasks = [asyncio.ensure_future(self._aoutcome(call)) for call in reply.tool_calls]
        try:
            return self._messages(reply, id, list(await asyncio.gather(*tasks)))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _outcome(self, call: ToolCall) -> Outcome:
        try:
            value = self._tool(call.name).run(call)
        except Exception as error:
            return self._failed(call, error)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise TypeError(f"the tool `{call.name}` returned an awaitable; call `arun`")
        return Outcome(call.id, text_of_result(value))

    async def _aoutcome(self, call: ToolCall) -> Outcome:
        try:
            tool = self._tool(call.name)
            if tool.is_async or tool.arun:
                value, error = (tool.arun or tool.run)(call), None
            else:
                value, error = await asyncio.to_thread(_attempt, tool.run, call)
            if error is not None:
                return self._failed(call, error)
            return Outcome(call.id, text_of_result(await value if inspect.isawaitable(value) else value))
        except Exception as error:
            return self._failed(call, error)

    def _tool(self, name: str) -> _Tool:
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(f"`{known}`" for known in self._tools) or "none"
            raise CallError(name, [("", f"there is no such tool; those that there are: {known}")])
        return tool

    def _failed(self, call: ToolCall, error: Exception) -> Outcome:
        """The result that says what went wrong, unless errors are raised."""
        if self._raises:
            raise error
        is_ours = isinstance(error, CallError) and error.tool == call.name
        reason = str(error) if is_ours else f"the tool `{call.name}` failed: {type(error).__name__}: {error}"
        return Outcome(call.id, replace_surrogates(f"Error: {reason}"), True)

    def _messages(self, reply: Reply, id: str | None, outcomes: list[Outcome]) -> list[dict[str, Any]]:
        """The messages; the ids are those that `to_wire` writes, and calls that the provider sent keep theirs."""
        prefix = "toolu_" if self._provider == "anthropic" else "call_"
        ids = CallIds(id or getattr(reply, "id", None), prefix=prefix)
        by_id = {by_id: outcome._replace(id=by_id) for outcome in outcomes if (by_id := ids.next(outcome.id))}
        refused = [
            Outcome(_sent_id(call), replace_surrogates(f"Error: {problem_of(call, reply)}"), True)
            for call in reply.unfinished_tool_calls
        ]
        answers = [*by_id.values()]
        for outcome in refused:
            if outcome.id in by_id:
                outcome = outcome._replace(id=None)
            elif outcome.id:
                by_id[outcome.id] = outcome
            answers.append(outcome)
        return written(answers, self._provider)


def _sent_id(call: ToolCall) -> str | None:
    """The id of a call that the provider sent beside the text, so that its message has it; otherwise None."""
    start, end = call.span
    return call.id if start == end else None


def _attempt(run: Callable[[ToolCall], Any], call: ToolCall) -> tuple[Any, Exception | None]:
    """What a function returns or raises. A future of a thread takes no StopIteration as an exception."""
    try:
        return run(call), None
    except Exception as error:
        return None, error


def written(outcomes: Iterable[Outcome], provider: ResultWire) -> list[dict[str, Any]]:
    """The messages of an API for the outcomes of calls. What has no id stands in the words of the user, at the end."""
    outcomes = list(outcomes)
    answers = [outcome for outcome in outcomes if outcome.id]
    rest = "\n".join(outcome.content for outcome in outcomes if not outcome.id)
    told: list[dict[str, Any]] = [{"role": "user", "content": rest}] if rest else []
    if provider == "openai":
        return [*({"role": "tool", "tool_call_id": o.id, "content": o.content} for o in answers), *told]
    if provider == "openai_responses":
        return [*({"type": "function_call_output", "call_id": o.id, "output": o.content} for o in answers), *told]
    blocks: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": o.id, "content": o.content, "is_error": o.is_error} for o in answers
    ]
    blocks += [{"type": "text", "text": rest}] if rest else []
    return [{"role": "user", "content": blocks}] if blocks else []


def text_of_result(value: Any) -> str:
    """What a tool returned, for the model: text as it is, anything else as JSON, or its `repr` if it has none."""
    if isinstance(value, str):
        return replace_surrogates(value)
    try:
        return to_json(value, inf_nan_mode="strings", fallback=repr).decode()
    except ValueError:  # a cycle, bytes that are no text
        return replace_surrogates(repr(value))


def problem_of(call: ToolCall, reply: Reply) -> str | None:
    """Why a call must not be run, in one sentence; None for a call that is ok or repaired."""
    if call.status in ("ok", "repaired"):
        return None
    start, end = call.span
    found = [d for d in reply.diagnostics if start <= d.span[0] and d.span[1] <= end and d.severity != "note"]
    found.sort(key=lambda d: d.severity != "error")
    reason = f": {diagnostics.shortened(found[0].message)}" if found else ""
    return f"the call of `{call.name}` is {call.status} and was not run{reason}"


def _tools(tools: Any) -> dict[str, _Tool]:
    """The tools by name. Of two with the same name, the later one counts. Raises ToolError."""
    named = (
        [(index, name, tool) for index, (name, tool) in enumerate(tools.items())]
        if is_mapping(tools)
        else [
            (index, callable_name(tool) or field(field(tool, "function") or tool, "name"), tool)
            for index, tool in each_tool(tools)
        ]
    )
    return {name: _read(index, name, tool) for index, name, tool in named}


def _read(index: int, name: Any, tool: Any) -> _Tool:
    """How a tool is run. Raises ToolError."""
    if isinstance(name, str) and name:
        if inspect.isclass(tool):
            if has_fields(tool):
                return _Tool(partial(_validated, tool))
        elif callable(getattr(tool, "invoke", None)):
            return _invoked(tool)
        elif is_function(tool):
            return _called(tool)
    raise ToolError(index, name_of(tool), _RUNNABLE)


def _validated(type_: Any, call: ToolCall) -> Any:
    return into(call, type_)


def _called(function: Callable[..., Any]) -> _Tool:
    """A function, which is called with its bound arguments."""

    def run(call: ToolCall) -> Any:
        bound: inspect.BoundArguments = into(call, function)
        return function(*bound.args, **bound.kwargs)

    return _Tool(run, is_async=inspect.iscoroutinefunction(function_of(function)))


def _invoked(tool: Any) -> _Tool:
    """A tool of LangChain, which validates its arguments; those that it injects are not the model's to give."""

    def run(invoke: Callable[[dict[str, Any]], Any], call: ToolCall) -> Any:
        schema, arguments = getattr(tool, "tool_call_schema", None), call.arguments
        fields = getattr(schema, "model_fields", None)
        if fields is not None:
            arguments = converted(call, schema)
            check_names(call.name, arguments, {field.alias or name for name, field in fields.items()})
        return invoke(arguments)

    return _Tool(partial(run, tool.invoke), partial(run, tool.ainvoke) if hasattr(tool, "ainvoke") else None)
