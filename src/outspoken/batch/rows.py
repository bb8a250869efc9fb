"""`RowReader`: one row to a reply, or to the reason why it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from outspoken.notations.tools import Tools
from outspoken.parsing.parser import Parser
from outspoken.results.arguments import kind_of
from outspoken.results.diagnostics import Diagnostic
from outspoken.results.errors import LimitError, ToolError, UnknownFormatError
from outspoken.results.settings import Settings

from .columns import Item, ReadRow, row_of
from .errors import RowError, UnreadableRowError

if TYPE_CHECKING:
    from outspoken.providers.registry import Provider
    from outspoken.providers.replies import ProviderReply

    from .options import BatchOptions

#: So many parsers are kept, one for each format and list of tools.
_MAX_PARSERS = 512
#: Messages of exceptions are not longer than this.
_MAX_MESSAGE = 500


class Hints(NamedTuple):
    """What the columns of a row say beside its response; None for what is not known."""

    format: Any = None
    tools: Any = None
    prefix: Any = None
    finish_reason: Any = None


NO_HINTS = Hints()


class RowReader:
    """Reads the rows of a batch. It keeps a parser for each format and list of tools."""

    def __init__(self, options: BatchOptions) -> None:
        self._options = options
        self._settings = Settings(max_chars=options.max_chars)
        self._tools = Tools.of(options.tools)
        self._parser_for = lru_cache(_MAX_PARSERS)(self._make_parser)
        self._tools_for = lru_cache(_MAX_PARSERS)(self._read_tools)
        self._parser = self._parser_of(NO_HINTS)

    def read(self, value: Any, hints: Hints) -> ReadRow:
        """Read one row. `value` is its response, or the reason why it has none that can be read."""
        options = self._options
        try:
            if value.__class__ is RowError:
                return ReadRow(error=value)
            if options.messages_column is not None:
                return self._read_messages(value, hints)
            if options.provider is not None:
                return self._read_body(value, options.provider, hints)
            return self._read_text(value if value.__class__ is str else _text_of(value, options.text_column), hints)
        except UnreadableRowError as failure:
            return ReadRow(error=failure.error)
        except Exception as error:  # whatever is wrong with one row must not cost another one
            return ReadRow(error=_error_of(error))

    def _read_text(self, text: str, hints: Hints) -> ReadRow:
        """Read a response in a format."""
        self._check_length(text)
        options = self._options
        if hints is NO_HINTS:
            parser, prefix, reason = self._parser, options.prefix, options.finish_reason
        else:
            parser = self._parser_of(hints)
            prefix, reason = self._hint(hints, "prefix"), self._hint(hints, "finish_reason")
        reply = parser.parse(text, prefix=prefix, finish_reason=reason)
        is_replaced = not text.isascii() and reply.raw is not text and reply.raw != text
        return row_of(reply, [_surrogates(text, reply.raw)] if is_replaced else ())

    def _read_body(self, value: Any, provider: Provider, hints: Hints) -> ReadRow:
        """Read the body of a provider's response."""
        from outspoken.providers import ProviderFormatError, parse_response  # rows of text do not need it
        from outspoken.providers.stream import PROVIDER_FORMAT

        if not isinstance(value, (str, bytes, Mapping)):
            raise UnreadableRowError("no-text" if value is None else "not-text", f"the body is {kind_of(value)}")
        if isinstance(value, (str, bytes)):
            self._check_length(value)
        options = self._options
        format = self._hint(hints, "format")
        try:
            reply = parse_response(
                cast("Any", value),
                provider=provider,
                format=PROVIDER_FORMAT if format is None else format,
                tools=self._tools_for(_tools_text(hints.tools)),
                prefix=self._hint(hints, "prefix"),
                repair=options.repair,
                settings=self._settings,
                screen=options.screen,
            )
        except ProviderFormatError as error:
            raise UnreadableRowError("not-a-response", _shortened(str(error))) from None
        return row_of(reply, response=_response_fields(reply))

    def _read_messages(self, value: Any, hints: Hints) -> ReadRow:
        """Read the last answer of a conversation: as text, or with what it has beside that as a provider's message."""
        answer = last_answer(value)
        if isinstance(answer, str):
            return self._read_text(answer, hints)
        body = {"choices": [{"index": 0, "message": answer, "finish_reason": self._hint(hints, "finish_reason")}]}
        hints = hints._replace(format=self._hint(hints, "format") or "auto")
        return self._read_body(body, self._options.provider or "openai", hints)

    def _check_length(self, text: str | bytes) -> None:
        limit = self._settings.max_chars
        if len(text) > limit:
            message = f"the response has {len(text):,} characters; the limit is {limit:,} (`max_chars`)"
            raise UnreadableRowError("too-long", message)

    def _hint(self, hints: Hints, name: str) -> str | None:
        """The value of an optional column of text, or that of all rows where it is null."""
        value = getattr(hints, name)
        if value is None:
            return getattr(self._options, name)
        if not isinstance(value, str):
            column = getattr(self._options, f"{name}_column")
            raise UnreadableRowError("invalid-column", f"`{column}` is {kind_of(value)}; expected text or null")
        return value

    # parsers

    def _parser_of(self, hints: Hints) -> Parser:
        """The parser for the format and the tools of a row."""
        return self._parser_for(self._hint(hints, "format") or "auto", _tools_text(hints.tools))

    def _make_parser(self, format: str, tools: str | None) -> Parser:
        options = self._options
        found, repair, screen = self._tools_for(tools), options.repair, options.screen
        return Parser(format, tools=found, repair=repair, settings=self._settings, screen=screen)

    def _read_tools(self, given: str | None) -> Tools | None:
        """The tools of a row: its own, or those of all."""
        try:
            return self._tools if given is None else Tools.of(json.loads(given))
        except (ValueError, RecursionError):
            raise UnreadableRowError("invalid-tools", "the tools of the row are not JSON") from None


def _tools_text(given: Any) -> str | None:
    """The tools of a row as JSON."""
    return given if given is None or isinstance(given, str) else json.dumps(given, default=str)


def _text_of(value: Any, column: str) -> str:
    """A response that is no str: bytes as UTF-8. Raises UnreadableRowError for anything else."""
    if value is None:
        raise UnreadableRowError("no-text", f"`{column}` is null")
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise UnreadableRowError("not-utf8", f"`{column}` is not UTF-8 at byte {error.start}") from None
    raise UnreadableRowError("not-text", f"`{column}` is {kind_of(value)}; expected text")


def _error_of(error: Exception) -> RowError:
    """What an exception says about a row."""
    if isinstance(error, LimitError):
        return RowError("too-long", str(error))
    if isinstance(error, UnknownFormatError):
        return RowError("unknown-format", str(error))
    if isinstance(error, ToolError):
        return RowError("invalid-tools", str(error))
    return RowError("failed", f"{type(error).__name__}: {_shortened(str(error))}")


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."


def _surrogates(text: str, raw: str) -> Diagnostic:
    """What tells that half characters of a response were replaced, at the first of them."""
    from outspoken.results.diagnostics import PendingDiagnostic, place_diagnostics

    places = [at for at, (one, other) in enumerate(zip(text, raw, strict=False)) if one != other]
    count = f"{len(places)} half characters were" if len(places) > 1 else "half a character was"
    message, at = f"{count} read as U+FFFD: a lone surrogate is no text", places[0]
    return place_diagnostics([PendingDiagnostic("lone-surrogate", message, (at, at + 1), "warning", None)], raw)[0]


def _response_fields(reply: ProviderReply) -> Item:
    """The fields of the column `response`, in the order of the schema."""
    usage, error = reply.usage, reply.error
    counts = ("input_tokens", "output_tokens", "total_tokens", "reasoning_tokens", "cached_tokens")
    return (
        reply.provider,
        reply.id,
        reply.model,
        reply.finish_reason,
        reply.stop_reason,
        reply.refusal,
        error and error.message,
        *[getattr(usage, name, None) for name in counts],
    )


def kept_value(value: Any, kind: str | None, name: str) -> Any:
    """A value of a kept column as its type has it. Raises UnreadableRowError for one that does not fit."""
    if value is None:
        return None
    if kind in (None, "string", "json"):
        is_text = kind != "json" and isinstance(value, str)
        return value if is_text else json.dumps(value, ensure_ascii=False, default=str)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "int64" and is_number and isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if kind == "float64" and is_number and (isinstance(value, float) or abs(value) <= 2**53):
        return float(value)
    shown = _shortened(json.dumps(value, ensure_ascii=False, default=str))
    raise UnreadableRowError("invalid-column", f"the kept column `{name}` is {shown}; expected {kind}")


def dig(value: Any, path: Sequence[str]) -> Any:
    """What a path leads to within objects; None if it leads nowhere. An object may be the JSON text of one."""
    for key in path:
        if isinstance(value, str) and value[:1] == "{":
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        if not isinstance(value, dict):
            return None
        value = cast("dict[str, Any]", value).get(key)
    return value


#: The roles of an assistant, in the words of OpenAI's messages and of ShareGPT's.
_ASSISTANTS = frozenset({"assistant", "model", "gpt", "chatgpt", "bot", "ai"})
#: The keys of a message that say no more than its content does.
_PLAIN = frozenset({"role", "from", "content", "value", "name", "weight", "id"})


def last_answer(messages: Any) -> str | dict[str, Any]:
    """The text of the last message of the assistant, or the message if it holds more than text.

    `messages` may be the JSON text of a list. Raises UnreadableRowError if there is no such message.
    """
    if isinstance(messages, str):
        try:
            messages = json.loads(messages)
        except (ValueError, RecursionError):
            raise UnreadableRowError("not-text", "the messages are text that is not JSON; expected a list") from None
    if messages is None:
        raise UnreadableRowError("no-text", "there are no messages")
    if not isinstance(messages, list):
        raise UnreadableRowError("not-text", f"the messages are {kind_of(messages)}; expected a list")
    for message in reversed(cast("list[Any]", messages)):
        if not isinstance(message, dict):
            raise UnreadableRowError("not-text", f"a message is {kind_of(message)}; expected an object")
        fields = cast("dict[str, Any]", message)
        role = fields.get("role", fields.get("from"))
        if isinstance(role, str) and role.lower() in _ASSISTANTS:
            return _answer(fields)
    raise UnreadableRowError("no-answer", "no message is of the assistant")


def _answer(message: dict[str, Any]) -> str | dict[str, Any]:
    content = message.get("content", message.get("value"))
    known = {key: value for key, value in message.items() if value not in (None, [], {}, "")}
    if isinstance(content, str) and known.keys() <= _PLAIN:
        return content
    if content is None and known.keys() <= _PLAIN:
        raise UnreadableRowError("no-text", "the last message of the assistant has no content")
    return {**known, "role": "assistant", "content": content}
