"""Reads the fields of a request one by one, with their places, so that none is lost without a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from outspoken.providers.decode.json_object import describe_value
from outspoken.results.errors import OutspokenError

_T = TypeVar("_T")
_INDEX = re.compile(r"\[\d+\]")
_TEXT = {"type": "text"}
#: Why tools and items of other types are refused.
FUNCTIONS = ": the model runs on a server that has only functions"


class RequestError(OutspokenError, ValueError):
    """A request cannot be translated: the field at `place` is malformed or unsupported, as OpenAI's `code` says."""

    def __init__(self, place: str, problem: str, code: str = "unsupported_value") -> None:
        self.place, self.code = place, code
        super().__init__(f"`{place}` {problem}")


class Translated(NamedTuple):
    """A request as a chat completion, and the fields of the original that were dropped or passed on unchanged."""

    chat: dict[str, Any]
    ignored: list[str]
    forwarded: list[str]


class Fields:
    """An object of a request. Fields are taken out of it; a field with `null` counts as missing.

    `ignored` are the fields of the whole request that are dropped, each once, without indices.
    """

    def __init__(self, value: object, place: str, ignored: dict[str, None]) -> None:
        if not isinstance(value, dict):
            raise RequestError(place, f"is {describe_value(value)}; expected an object", "invalid_type")
        self._rest = {key: field for key, field in cast("dict[str, Any]", value).items() if field is not None}
        self.place, self.ignored = place, ignored

    def at(self, name: str) -> str:
        """The place of a field."""
        return f"{self.place}.{name}" if self.place else name

    def has(self, name: str) -> bool:
        """Is a field there, and not taken?"""
        return name in self._rest

    def take(self, name: str) -> Any:
        """Take a field of any type; None if it is missing."""
        return self._rest.pop(name, None)

    def typed(self, name: str, kind: type[_T], words: str) -> _T | None:
        """Take a field of one type; None if it is missing. Raises RequestError for another type."""
        value = self.take(name)
        if value is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise RequestError(self.at(name), f"is {describe_value(value)}; expected {words}", "invalid_type")

    def text(self, name: str) -> str | None:
        """Take a text; None if it is missing."""
        return self.typed(name, str, "a text")

    def required(self, name: str) -> str:
        """Take a text that must be there."""
        return self._present(name, self.text(name), "a text")

    def _present(self, name: str, value: _T | None, words: str) -> _T:
        if value is None:
            raise RequestError(self.at(name), f"is missing; expected {words}", "missing_required_parameter")
        return value

    def flag(self, name: str) -> bool | None:
        """Take a truth value; None if it is missing."""
        return self.typed(name, bool, "true or false")

    def items(self, name: str) -> list[Any]:
        """Take a list; empty if it is missing."""
        return self.typed(name, cast("type[list[Any]]", list), "a list") or []

    def object(self, name: str) -> Fields | None:
        """Take an object; None if it is missing."""
        value = self.take(name)
        return None if value is None else Fields(value, self.at(name), self.ignored)

    def needed(self, name: str) -> Fields:
        """Take an object that must be there."""
        return self._present(name, self.object(name), "an object")

    def children(self, name: str, words: str = "a list") -> list[Fields]:
        """Take a list of objects; empty if it is missing."""
        values = self.typed(name, cast("type[list[Any]]", list), words) or []
        return [Fields(value, f"{self.at(name)}[{index}]", self.ignored) for index, value in enumerate(values)]

    def contents(self, name: str, frame: Mapping[str, str] = _TEXT, key: str = "text") -> list[Fields]:
        """Take a list of objects that must be there, or a text, which stands for one: a `frame` with the text."""
        if isinstance(text := self._present(name, self._rest.get(name), "a text or a list"), str):
            self._rest[name] = [{**frame, key: text}]
        return self.children(name, "a text or a list")

    def unsupported(self, kind: str, why: str = "") -> RequestError:
        """Return the error for a type of which upstreams of chat completions have nothing."""
        return RequestError(self.at("type"), f"is {kind!r}, which is not supported{why}")

    def note(self, name: str) -> None:
        """Note a field as ignored."""
        self.ignored[_INDEX.sub("", self.at(name))] = None

    def refuse(self, *names: str, problem: str) -> None:
        """Raise RequestError if one of these fields is there."""
        for name in names:
            if self._rest.get(name) not in (None, False, [], {}):
                raise RequestError(self.at(name), problem)
            self._rest.pop(name, None)

    def ignore(self, *names: str, harmless: tuple[object, ...] = ()) -> None:
        """Drop these fields, and note those that are there with a value that is not among `harmless`."""
        for name in names:
            value = self.take(name)
            if value is not None and value not in harmless:
                self.note(name)

    def ignore_rest(self) -> None:
        """Drop all fields that were not taken, and note them."""
        self.ignore(*list(self._rest), harmless=([], {}))

    def forward(self, *names: str) -> dict[str, Any]:
        """Take these fields as they are, those that are there."""
        return {name: self._rest.pop(name) for name in names if name in self._rest}

    def move(self, name: str, to: dict[str, Any], key: str) -> None:
        """Take a field of any type, if it is there, and put it under another name."""
        if (value := self.take(name)) is not None:
            to[key] = value

    def rest(self) -> dict[str, Any]:
        """Take all fields that were not taken."""
        rest, self._rest = self._rest, {}
        return rest


def opened(
    body: dict[str, Any], refusals: Mapping[str, str], same: Iterable[str], one: str
) -> tuple[Fields, dict[str, Any]]:
    """Begin to translate a request: refuse some fields, and forward those that a chat completion has as well."""
    request = Fields(body, "", {})
    for name, problem in refusals.items():
        request.refuse(name, problem=problem)
    if request.take("n") not in (None, 1):
        raise RequestError("n", f"is not supported: {one} has one choice")
    stream = request.flag("stream")
    return request, request.forward(*same) | ({} if stream is None else {"stream": stream})


def functions(request: Fields, kind: str, schema: str, default: str | None = None) -> list[dict[str, Any]]:
    """Read the tools of a request, all of one type, by `default` if they have none; `schema` names their schemas."""
    tools: list[dict[str, Any]] = []
    for tool in request.children("tools"):
        if (given := tool.text("type") or default or tool.required("type")) != kind:
            raise tool.unsupported(given, FUNCTIONS)
        function = {"name": tool.required("name"), **tool.forward("description", "strict")}
        parameters = {} if (found := tool.take(schema)) is None else {"parameters": found}
        tools.append({"type": "function", "function": function | parameters})
        tool.ignore_rest()
    return tools


def named(choice: Fields, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Read the choice of one tool."""
    name = choice.required("name")
    if name not in [tool["function"]["name"] for tool in tools]:
        raise RequestError(choice.at("name"), f"is {name!r}, which is none of the `tools`")
    choice.ignore_rest()
    return {"type": "function", "function": {"name": name}}


def closed(request: Fields, chat: dict[str, Any]) -> Translated:
    """End the translation: all other fields are forwarded."""
    usage = {"stream_options": {"include_usage": True}} if chat.get("stream") is True else {}
    rest = request.rest()
    return Translated(chat | usage | rest, [*request.ignored], sorted(rest))
