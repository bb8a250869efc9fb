"""Calls that the model read somewhere, and repeats: an attacker may have written them into a page, mail or file."""

from __future__ import annotations

import ast
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.arguments import kind_of

#: Whose messages are the caller's own: examples in them are no echo.
_INSTRUCTIONS = frozenset({"system", "developer"})
_ASSISTANT = frozenset({"assistant", "model", "ai"})
#: What a copy may change or leave out: all but the letters, and the signs that tell markup from words; and what of
#: that is ASCII.
_CHANGED = lazy_pattern(r"[^\w<(\[{=:]+")
_ASCII_CHANGED = bytes([code for code in range(128) if not (chr(code).isalnum() or chr(code) in "_<([{=:")])
#: What stands before a line of a mail that is quoted, of a listing, a change or a comment.
_LINE_SIGN = lazy_pattern(
    r"(?m)^[ \t]*(?:(?:> ?)+|\d{1,6}[ \t]*[\t→│|:.)]|(?://[/!]?|--|[+#;%*|-])(?=[ \t<\[{(]))[ \t]?"
)
#: The tags round words of a page, and characters that are not shown.
_UNSEEN = lazy_pattern(
    r"(?i)</?(?:p|br|div|span|b|i|u|em|strong|mark|font|a|li|[uo]l|t[dhr]|table)(?:\s[^<>]*)?/?>"
    r"|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
)
#: Characters that are written by their number, as in JSON.
_NUMBERED = lazy_pattern(r"\\u([0-9a-fA-F]{4})")
#: Characters that JSON escapes by a sign, as far as a copy has them.
_ESCAPED = lazy_pattern(r'\\(["\\/n])')
#: Fields of messages that hold no content.
_LABELS = frozenset({"role", "type", "id", "tool_call_id", "call_id", "tool_use_id", "name", "status", "mime_type"})
#: The fields of a call that the assistant made before, in the APIs of OpenAI and Anthropic.
_ARGUMENTS = ("arguments", "input", "args")
_WORD = lazy_pattern(r"\w+")
#: So many objects of a text are looked at.
_MAX_OBJECTS = 500
_LONGEST_EXPRESSION = 4000
#: A call that stands in a text has its words so near to its name, in characters, beside the length of its markup; so
#: many of them are looked for.
_REACH, _MAX_WORDS = 1000, 30
#: Content is nested no deeper than this.
_MAX_DEPTH = 12

#: Reads the calls that a text holds, quoted or not: their names and arguments.
ReadCalls = Callable[[str], Iterable[tuple[str, Mapping[str, Any]]]]


class _Text(NamedTuple):
    """A text of a message: its number, the text, and what a copy of that has in any case."""

    number: int
    text: str
    squeezed: str


class Echoes:
    """What the model had read before it answered, and which of its calls stand there.

    `messages` are those of the request, as dicts or objects of an SDK, or texts. What the system or developer says is
    no echo, and a call that the assistant made before it read the text may be tried again. A part of a text is searched
    for calls once, when a call is asked for whose name and words it holds. Threads may share it.
    """

    def __init__(self, messages: Sequence[Any]) -> None:
        self.messages = messages
        #: the calls in a part of a text
        self._found: dict[str, frozenset[str]] = {}

    def may_hold(self, name: str) -> bool:
        """May a message hold a call of this name?"""
        kept = _squeezed(name)
        return any(kept in squeezed for _, _, squeezed in self._read)

    def message_of(self, name: str, arguments: Mapping[str, Any], markup: str, read_calls: ReadCalls) -> int | None:
        """The number of the message, counted from 0, that holds a call or its markup; None if none does.

        A call that the assistant itself made before that message is none. One that it made only behind it may be an
        echo that was refused.
        """
        squeezed, kept, wanted = _squeezed(markup), _squeezed(name), _key(name, arguments)
        words = [*dict.fromkeys(_words(arguments))][:_MAX_WORDS]
        for number, text, copied in self._read:
            if kept not in copied:
                continue
            parts = _near(text, name or "".join(words[:1]), words, _REACH + 2 * len(markup))
            if squeezed in copied or any(self._holds(part, name, arguments, read_calls) for part in parts):
                is_made = any(self._makes(message, wanted, squeezed, read_calls) for message in self.messages[:number])
                return None if is_made else number
        return None

    def _holds(self, text: str, name: str, arguments: Mapping[str, Any], read_calls: ReadCalls) -> bool:
        """Does a part of a text hold a call in whatever notation?"""
        wanted, held = _key(name, arguments), self._calls_in(text, read_calls)
        return wanted in held or (bool(arguments) and _key("", arguments) in held) or wanted in _expressions(text, name)

    def _calls_in(self, text: str, read_calls: ReadCalls) -> frozenset[str]:
        found = self._found.get(text)
        if found is None:
            found = frozenset({_key(name, arguments) for name, arguments in read_calls(text)} | set(_objects(text)))
            self._found[text] = found
        return found

    @cached_property
    def _read(self) -> list[_Text]:
        """The texts that the model had read."""
        found: list[_Text] = []
        for number, message in enumerate(self.messages):
            if _role_of(message) not in _INSTRUCTIONS | _ASSISTANT:
                texts = dict.fromkeys(_texts_of(plain_message(message), 0))
                found += [_Text(number, text, _squeezed(text)) for text in texts]
        return found

    def _makes(self, message: Any, wanted: str, markup: str, read_calls: ReadCalls) -> bool:
        """Does the assistant make a call in a message, or write its markup?"""
        plain = plain_message(message)
        if _role_of(message) not in _ASSISTANT:
            is_call = isinstance(plain, dict) and cast("dict[str, Any]", plain).get("type") == "function_call"
            return is_call and wanted in _own_calls(plain, 0)
        texts = [*_texts_of(plain, 0)]
        return (
            any(markup in _squeezed(text) for text in texts)
            or wanted in _own_calls(plain, 0)
            or any(wanted in self._calls_in(text, read_calls) for text in texts)
        )


def _squeezed(text: str) -> str:
    """What a copy of a text has in any case."""
    if text.isascii():
        return text.encode().translate(None, _ASCII_CHANGED).decode()  # is faster
    return _CHANGED.sub("", unicodedata.normalize("NFKC", text))


def _words(value: Any) -> Iterator[str]:
    """The words in the texts of a value."""
    if isinstance(value, str):
        yield from _WORD.findall(value)
    elif isinstance(value, Mapping):
        yield from _words([*cast("Mapping[str, Any]", value).values()])
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _words(item)


def _near(text: str, name: str, words: Sequence[str], reach: int) -> Iterator[str]:
    """The parts of a text that have a name, and some words no farther from it than this; none without a name."""
    begin, end, at = 0, -1, text.find(name) if name else -1
    while at >= 0:
        start, stop = max(at - reach, 0), at + len(name) + reach
        if all(text.find(word, start, stop) >= 0 for word in words):
            if start > end >= 0:
                yield text[begin:end]
            begin, end = (start if start > end else begin), stop
        at = text.find(name, at + len(name))
    if end >= 0:
        yield text[begin:end]


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    """What is equal for calls of the same name and arguments, in whatever notation."""
    return f"{name}({json.dumps(arguments, sort_keys=True, default=str)})"


def _objects(text: str) -> Iterator[str]:
    """The JSON objects in a text, as arguments of a call without a name: a notation that is not detected has these."""
    decoder = json.JSONDecoder(strict=False)
    for brace in islice(re.finditer(r"\{", text), _MAX_OBJECTS):
        with suppress(ValueError, RecursionError):
            yield _key("", decoder.raw_decode(text, brace.start())[0])


def _expressions(text: str, name: str) -> Iterator[str]:
    """The calls of a name that stand in a text as expressions of Python."""
    for found in islice(re.finditer(rf"(?<!\w){re.escape(name)}\(", text), _MAX_OBJECTS):
        for closer in islice(re.finditer(r"\)", text[found.start() : found.start() + _LONGEST_EXPRESSION]), 20):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                call = ast.parse(text[found.start() : found.start() + closer.end()], mode="eval").body
                if isinstance(call, ast.Call) and not call.args:
                    yield _key(name, {str(given.arg): ast.literal_eval(given.value) for given in call.keywords})


def plain_message(value: Any) -> Any:
    """A message as plain data. Objects of SDKs write themselves."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", exclude_none=True) if callable(dump) else value


def _role_of(message: Any) -> str:
    plain = plain_message(message)
    if isinstance(plain, str):
        return ""
    if not isinstance(plain, Mapping):
        raise TypeError(f"a message of `context` is {kind_of(message)}; expected a dict, an object of an SDK or str")
    role: Any = cast("Mapping[str, Any]", plain).get("role") or ""
    return str(role).lower()


def _texts_of(value: Any, depth: int) -> Iterator[str]:
    """The texts in the content of a message, and in JSON that is written in them."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        written = _NUMBERED.sub(lambda found: chr(int(found[1], 16)), value) if "\\u" in value else value
        yield from (value, html.unescape(_UNSEEN.sub("", _LINE_SIGN.sub("", unquote(written)))))
        if '\\"' in value:  # JSON in a text that is none
            yield _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], written)
        if value.lstrip()[:1] in ("{", "[", '"'):
            with suppress(ValueError, RecursionError):
                inner = json.loads(value)
                if inner != value:
                    yield from _texts_of(inner, depth + 1)
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[Any, Any]", value).items():
            if key not in _LABELS:
                yield from _texts_of(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from _texts_of(item, depth + 1)


def _own_calls(value: Any, depth: int) -> Iterator[str]:
    """The calls that are recorded in a message, as APIs write them."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from _own_calls(item, depth + 1)
        return
    if not isinstance(value, Mapping):
        return
    fields = cast("Mapping[str, Any]", value)
    for key in _ARGUMENTS:
        arguments: Any = fields.get(key)
        if isinstance(arguments, str):
            with suppress(ValueError, RecursionError):
                arguments = json.loads(arguments)
        if isinstance(arguments, Mapping) and isinstance(fields.get("name"), str):
            yield _key(fields["name"], cast("Mapping[str, Any]", arguments))
    for key in ("tool_calls", "function", "content", "function_call"):
        yield from _own_calls(fields.get(key), depth + 1)
