"""`read_answer`: the answer of a model as a value of a type, in whichever way the model gave it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, cast, overload

from pydantic import Field

from outspoken.json.read import read_json
from outspoken.json.typed import Reading
from outspoken.parsing.parser import Parser
from outspoken.providers.registry import Provider
from outspoken.results.construct import construct
from outspoken.results.edits import RepairLimit
from outspoken.results.finish_reasons import is_filtered
from outspoken.results.replies import Reply, Status, ToolCall
from outspoken.results.schemas.fitting import ConvertMode, target_of
from outspoken.results.settings import Settings

from .responses import ResponseLike, read_response, with_native

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from typing_extensions import Unpack

T = TypeVar("T")
#: What holds an answer: a text, the response of a provider, the chunks of either, or a reply that was read before.
AnswerLike: TypeAlias = "ResponseLike | Reply | Iterable[Any]"
#: The same, awaited or with chunks that arrive asynchronously.
AsyncAnswer: TypeAlias = "AnswerLike | Awaitable[Any] | AsyncIterator[Any]"
#: So often a model is asked again, unless the caller says it.
_RETRIES = 2
#: The diagnostics of calls that are only said.
_SAID = frozenset({"quoted-call", "thought-call", "echoed-call", "invented-result"})
_VISIBLE = re.compile(r"[^\n]")


class TypedAnswer(Reading[T], Generic[T]):
    """The value of a type in an answer; see `Reading`.

    `source` says where it was read: in the arguments of a "call", or in the "text"; `raw` is that JSON or that
    text. `reply` is all that the answer holds, with the repairs of its markup, which count for `status`. `earlier`
    are the answers for which `ask` had to ask again.
    """

    source: Literal["call", "text"] = "text"
    reply: Reply = Field(repr=False)
    earlier: tuple[Reading[Any], ...] = Field(default=(), repr=False)


class AnswerOptions(TypedDict, total=False):
    """The options of `read_answer`."""

    tool: str
    format: str
    provider: Provider
    convert: ConvertMode
    repair: RepairLimit
    retries: int
    settings: Settings


def _reader(
    schema: Any, how: AnswerOptions
) -> Callable[[Any, tuple[Reading[Any], ...]], tuple[TypedAnswer[Any], bool]]:
    """What reads answers as a type."""
    answer_schema = target_of(schema).schema
    name = how.get("tool") or answer_schema.get("title")
    tools = [{"name": name, "parameters": answer_schema}] if isinstance(name, str) else None
    settings = how.get("settings")
    parser = Parser(how.get("format", "auto"), tools=tools, repair=how.get("repair"), settings=settings)
    as_type = partial(
        read_json, schema=schema, repair=parser.repair, convert=how.get("convert", "on"), settings=settings
    )

    def read(response: Any, earlier: tuple[Reading[Any], ...]) -> tuple[TypedAnswer[Any], bool]:
        may_ask = True
        if isinstance(response, Reply):
            reply = response
        else:
            said = read_response(response, how.get("provider", "openai"), parser, "response")
            reply = with_native(parser.parse(said.text, finish_reason=said.finish_reason), said.native)
            may_ask = not said.problems and not is_filtered(said.finish_reason)
        calls = [conversion for conversion in reply.segments if isinstance(conversion, ToolCall)]
        meant = next((call for call in calls if call.name == name), None)
        if meant is None:
            reading: Reading[Any] = as_type(reply.text if calls else _unquoted(reply))
            if any(conversion.code == "call-arguments" for conversion in reading.conversions):
                reading = _without_value(reading, "invalid", f"Your call of `{name}` cannot be read.")
        else:
            reading = as_type(meant.arguments_text)
            if meant.status not in ("ok", "repaired"):
                reading = _without_value(reading, meant.status, f"Your call of `{meant.name}` is {meant.status}.")
            elif reply.status == "repaired" and reading.status == "ok":
                reading = reading.model_copy(update={"status": "repaired"})
        fields = {name: getattr(reading, name) for name in Reading.model_fields}
        fields |= {"source": "text" if meant is None else "call", "reply": reply, "earlier": earlier}
        return cast("TypedAnswer[Any]", construct(TypedAnswer, fields)), may_ask and not reading.is_valid

    return read


def _unquoted(reply: Reply) -> str:
    """The text of a response, with blanks for the calls in it that are no calls, as they were only said."""
    raw = reply.raw
    for one in reply.diagnostics:
        if one.code in _SAID:
            start, end = one.span
            raw = f"{raw[:start]}{_VISIBLE.sub(' ', raw[start:end])}{raw[end:]}"
    return raw


def _without_value(reading: Reading[Any], status: Status, why: str) -> Reading[Any]:
    """The same for the arguments of a call that must not be used."""
    retry = f"{why} {reading.retry or 'Write the whole call again.'}"
    return reading.model_copy(update={"typed": None, "is_valid": False, "status": status, "retry": retry})


def _whole(response: Any) -> Any:
    """The chunks of an answer as one response; anything else as it is."""
    is_list = isinstance(response, (list, tuple))
    if not is_list and not isinstance(response, Iterator):
        return response
    chunks: list[Any] = [*cast("Iterable[Any]", response)]
    return "".join(chunks) if all(isinstance(chunk, str) for chunk in chunks) else chunks


@overload
def read_answer(
    response: AnswerLike,
    schema: type[T] | TypeAdapter[T],
    *,
    ask: Callable[[str], AnswerLike] | None = None,
    **how: Unpack[AnswerOptions],
) -> TypedAnswer[T]: ...
@overload
def read_answer(
    response: AnswerLike,
    schema: Any,
    *,
    ask: Callable[[str], AnswerLike] | None = None,
    **how: Unpack[AnswerOptions],
) -> TypedAnswer[Any]: ...
def read_answer(
    response: AnswerLike,
    schema: Any,
    *,
    ask: Callable[[str], AnswerLike] | None = None,
    **how: Unpack[AnswerOptions],
) -> TypedAnswer[Any]:
    """Read an answer as a value of a type, whichever way the model gave it.

    `response` is a text, the response of a provider (a dict or an object of its SDK), the chunks of either, or a
    `Reply`. The value is in the arguments of a call of the tool that has the name of the type, if there is one, and
    otherwise in the text, as `read_json` finds it. The calls of other tools are no answers.

    `ask` is called with a message for the model if there is no value, at most `retries` times (2), and returns its new
    answer. A model that refused, or was stopped by a filter, is not asked again.

    `schema` and `convert` are as in `read_json`. `tool` is the name of the tool, if it is not that of the type.
    `format` is the format of the text ("auto"), and `provider` the API of a response that does not show it, as in
    `ResponseProcessor.process`. `settings` and `repair` are as in `Parser`.

    Raises ProviderFormatError for what no provider sends, what `Parser` and `read_json` raise, and what `ask` raises.
    """
    read = _reader(schema, how)
    answer, may_ask = read(_whole(response), ())
    while ask is not None and may_ask and len(answer.earlier) < how.get("retries", _RETRIES):
        answer, may_ask = read(_whole(ask(answer.retry)), (*answer.earlier, answer))
    return answer


@overload
async def aread_answer(
    response: AsyncAnswer,
    schema: type[T] | TypeAdapter[T],
    *,
    ask: Callable[[str], AsyncAnswer] | None = None,
    **how: Unpack[AnswerOptions],
) -> TypedAnswer[T]: ...
@overload
async def aread_answer(
    response: AsyncAnswer,
    schema: Any,
    *,
    ask: Callable[[str], AsyncAnswer] | None = None,
    **how: Unpack[AnswerOptions],
) -> TypedAnswer[Any]: ...
async def aread_answer(
    response: AsyncAnswer,
    schema: Any,
    *,
    ask: Callable[[str], AsyncAnswer] | None = None,
    **how: Unpack[AnswerOptions],
) -> TypedAnswer[Any]:
    """`read_answer` for answers that are awaited, or whose chunks arrive asynchronously."""
    read = _reader(schema, how)
    answer, may_ask = read(await _awhole(response), ())
    while ask is not None and may_ask and len(answer.earlier) < how.get("retries", _RETRIES):
        answer, may_ask = read(await _awhole(ask(answer.retry)), (*answer.earlier, answer))
    return answer


async def _awhole(response: Any) -> Any:
    if isawaitable(response):
        response = await response
    if isinstance(response, AsyncIterator):
        response = [chunk async for chunk in cast("AsyncIterator[Any]", response)]
    return _whole(response)
