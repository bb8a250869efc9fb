"""What the readers of all APIs share: the base class, tool calls' arguments, token counts, and errors."""

from __future__ import annotations

import json
from typing import Any, cast

from outspoken.notations.coerce import to_json
from outspoken.providers.assembly.assembler import Assembler
from outspoken.providers.assembly.blocks import Key
from outspoken.providers.decode.json_object import JsonObject, describe_value
from outspoken.providers.replies import EXTENSION, JOINED_TEXT, ProviderError
from outspoken.providers.usage import Usage, UsageKeys
from outspoken.results.replies import STATUSES, Status


class ApiReader:
    """Reads the objects of one API, whole responses and the chunks of streams alike, and feeds the assembler."""

    #: the content is one string, whatever the provider sends in between
    joins_content = False

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        #: how many calls have begun
        self._call_count = 0
        #: the blocks of the provider's own that have begun, by their index
        self._payloads: dict[int, OpenPayload] = {}
        if self.joins_content:
            assembler.separates = False

    def read(self, body: JsonObject) -> None:
        """Read one object. Raises ProviderFormatError if the API has no such object."""
        raise NotImplementedError

    def content_of(self, chunk: dict[str, Any]) -> str | None:
        """The text of a chunk that `read` would only add to the content; None if it might do more."""
        return None

    def read_extension(self, body: JsonObject) -> None:
        """Read the payloads and signatures that an export of this library put into the extension.

        Unfinished calls and actions are skipped, since the provider's own end of the response speaks for them.
        """
        fields = body.value.get(EXTENSION)
        if not isinstance(fields, dict):
            return
        extension = JsonObject(fields, EXTENSION)
        for item in extension.objects("payloads"):
            status = item.string("status")
            if item.has("type", "data"):
                payload_status: Status = status if status in STATUSES else "ok"
                self._assembler.payload(
                    item.string("type") or "payload", item.get("data"), aside=True, status=payload_status
                )
        for item in extension.objects("signatures"):
            self._assembler.sign(item.string("data"), redacted=bool(item.get("redacted")))

    def _read_joined(self, body: JsonObject) -> None:
        """Put no white space between blocks of text if an export of this library says that they have all of it."""
        extension = body.value.get(EXTENSION)
        if isinstance(extension, dict) and JOINED_TEXT in extension:
            self._assembler.separates = False

    def _selected(self, choices: list[JsonObject]) -> list[JsonObject]:
        """The choices that are read: those with the index that was asked for. Others are reported."""
        wanted = self._assembler.choice
        selected: list[JsonObject] = []
        for place, choice in enumerate(choices):
            index = choice.integer("index")
            if (place if index is None else index) == wanted:
                selected.append(choice)
            else:
                message = f"the response has other choices than the one with the index {wanted}, which is read"
                self._assembler.warn("other-choices", message)
        return selected

    def end(self) -> None:
        """End the response, and keep what has arrived of the provider's own blocks that never ended."""
        for payload in self._payloads.values():
            payload.end(self._assembler, "truncated")

    def _add_whole_call(self, id: str | None, name: str | None, arguments: str | None) -> None:
        """Add a call that has arrived whole."""
        key = (self._call_count,)
        self._call_count += 1
        self._assembler.arguments(self._assembler.call(key, id, name), arguments)
        self._assembler.end_part("call", key)

    def _add_call(self, key: Key, call: JsonObject, function: JsonObject) -> None:
        """Add a call or a piece of one, whose name and arguments are in `function`."""
        block = self._assembler.call(key, call.string("id"), function.string("name"))
        self._assembler.arguments(block, arguments_text(function, "arguments"))

    def _report_usage(self, usage: JsonObject | None, keys: UsageKeys) -> None:
        """Report a usage object. Raises ProviderFormatError if a count is no integer."""
        if usage is not None:
            counts: dict[str, Any] = {name: _first_count(usage, paths) for name, paths in keys._asdict().items()}
            self._assembler.usage(Usage(**counts, raw=usage.value))

    def _fail(self, body: JsonObject, key: str, expected: str) -> None:
        """Report the error of an object. Raises ProviderFormatError for the field `key` if it reports none."""
        error = find_error(body)
        if error is None:
            raise body.invalid(key, expected)
        self._assembler.failed(error)

    def _read_error_event(self, event: JsonObject, key: str, expected: str) -> None:
        """Read an event `error`; its error may be only a message."""
        error = event.get("error")
        if error and isinstance(error, str):
            self._assembler.failed(parse_error(error))
        else:
            self._fail(event, key, expected)


class OpenPayload:
    """A block of the provider's own, such as a call that it runs: what has arrived of it, until it is a payload."""

    def __init__(self, type: str, fields: dict[str, Any]) -> None:
        self.type, self.fields = type, {**fields}

    def extend(self, delta: dict[str, Any]) -> None:
        """Add a delta: texts and lists grow, other fields are replaced."""
        for key, value in delta.items():
            before = self.fields.get(key)
            grows = isinstance(value, type(before)) and isinstance(value, (str, list)) and key != "type"
            self.fields[key] = before + value if grows else value  # pyright: ignore[reportOperatorIssue]

    def end(self, assembler: Assembler, status: Status) -> None:
        """Add the payload; an input that arrived as text is decoded, if it is JSON."""
        text = self.fields.get("input")
        fields = {**self.fields, "input": json_or_text(text or "{}")} if isinstance(text, str) else self.fields
        assembler.payload(self.type, fields, aside=True, status=status)


def arguments_text(body: JsonObject, *keys: str) -> str | None:
    """Return arguments as JSON text: the text that was sent, or the object that was sent, serialised."""
    found = body.get(*keys)
    if found is None or isinstance(found, str):
        return found
    try:
        return to_json(found)
    except ValueError:  # infinity, which JSON does not have
        return json.dumps(found, ensure_ascii=False)


def json_or_text(text: str) -> Any:
    """Decode JSON; text that is no JSON stays text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def list_of(value: Any) -> list[Any]:
    """Return a list as it is, nothing as an empty list, and any other value as a list of it."""
    return cast("list[Any]", value) if isinstance(value, list) else [value] if value else []


def parse_error(found: Any) -> ProviderError:
    """Read an error of any shape: a text, or an object with a message under one of many keys."""
    if not isinstance(found, dict):
        return ProviderError(message=str(found), raw=found)
    body = JsonObject(found)
    text = body.get("message", "Message", "detail", "status_msg", "msg", "error")
    message = text if isinstance(text, str) else to_json(text) if text else describe_value(body.value)
    kind, code, status = body.get("type", "__type", "status"), body.get("code", "status_code"), body.get("status_code")
    numbers = [number for number in (status, code) if isinstance(number, int) and 400 <= number <= 599]
    return ProviderError(
        message=message,
        type=kind if isinstance(kind, str) else None,
        code=str(code) if isinstance(code, (str, int)) else None,
        status=numbers[0] if numbers else None,
        raw=body.value,
    )


def find_error(body: JsonObject) -> ProviderError | None:
    """Return the error that an object reports, in any of the ways of servers and gateways; None if it reports none."""
    error = body.get("error", "errors")
    if error:
        return parse_error(body.value if isinstance(error, str) else error)
    base = body.value.get("base_resp")  # MiniMax
    if isinstance(base, dict) and JsonObject(base).get("status_code") not in (None, 0):
        return parse_error(base)
    has_text = any(isinstance(body.get(key), str) for key in ("detail", "message", "Message"))
    if body.value.get("object") == "error" or has_text or body.has("detail"):
        return parse_error(body.value)
    return None


def _first_count(body: JsonObject, paths: tuple[str, ...]) -> int | None:
    for path in paths:
        *parents, last = path.split(".")
        inner: JsonObject | None = body
        for key in parents:
            inner = inner.object(key) if inner is not None else None
        count = inner.integer(last) if inner is not None else None
        if count is not None:
            return count
    return None
