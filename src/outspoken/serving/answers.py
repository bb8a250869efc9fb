"""Answers that a request wants as JSON: read by its schema, with repairs, while they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pydantic_core import to_json

from outspoken.json.read import JsonLimitError, read_json
from outspoken.providers.assembly.tool_calls import JsonPrefix
from outspoken.providers.events import ProviderEvent
from outspoken.providers.replies import ProviderReply
from outspoken.results.diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.events import Done, TextDelta
from outspoken.results.replies import STATUSES, Text
from outspoken.results.schemas.fitting import target_of

#: The schema of an answer of which only is known that it is an object.
_OBJECT = {"type": "object"}


def schema_of(request: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the answer that a chat completion wants by its `response_format`; None if it wants text."""
    wanted = object_of(request.get("response_format"))
    if wanted.get("type") == "json_object":
        return _OBJECT
    if wanted.get("type") != "json_schema":
        return None
    schema = object_of(object_of(wanted.get("json_schema")).get("schema"))
    try:
        target_of(schema)
    except (ValueError, TypeError, RecursionError):  # the upstream says what is wrong with it
        return _OBJECT
    return schema or _OBJECT


def object_of(value: Any) -> dict[str, Any]:
    """A value of a request or response as an object; an empty one if it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class JsonAnswer:
    """Reads the text of one response as JSON of a schema.

    A stream sends the text as far as it is the beginning of a sound object, and the rest at the end, repaired. One
    that `holds` it sends all of it at the end.
    """

    def __init__(self, schema: dict[str, Any], *, holds: bool) -> None:
        self._schema, self._sent, self._is_streamed = schema, "", False
        self._prefix = None if holds else JsonPrefix()
        #: the message that asks the model again, if the answer is none
        self.retry = ""

    def events(self, event: ProviderEvent) -> Iterator[ProviderEvent]:
        """Return the events to send for one of the response."""
        if isinstance(event, TextDelta):
            self._is_streamed = True
            if self._prefix is not None and (certain := self._prefix.feed(event.text)):
                self._sent += certain
                yield TextDelta(certain)
        elif isinstance(event, Done):
            reply = self.read(event.reply)
            if rest := reply.text[len(self._sent) :]:
                yield TextDelta(rest)
            yield Done(reply)
        else:
            yield event

    def read(self, reply: ProviderReply) -> ProviderReply:
        """Return a reply whose text is the answer, with what was repaired and is wrong; one with calls as it is."""
        text = reply.text
        if reply.tool_calls or not text.strip() or reply.finish_reason == "length":
            return reply
        try:
            reading = read_json(text, self._schema)
        except JsonLimitError:
            return reply
        is_read = reading.is_valid or reading.status in ("ok", "repaired")
        answer = reading.texts[0] if is_read and len(reading.texts) == 1 else text
        if reading.is_valid and (reading.conversions or len(reading.texts) > 1):
            answer = to_json(reading.data).decode()
        if self._prefix is not None and not self._is_streamed:
            self._sent = self._prefix.feed(text)  # what a stream would have sent
        is_valid = reading.is_valid
        if not answer.startswith(self._sent):
            answer, is_valid = text, is_valid and not reading.conversions  # a part that a repair would change was sent
        changed: dict[str, Any] = {}
        if answer != text:
            at = next(s.span[0] for s in reply.segments if s.kind in ("text", "json"))
            others = [s for s in reply.segments if s.kind not in ("text", "json")]
            changed["segments"] = [*others, Text(text=answer, span=(at, len(reply.raw)))]
            changed["repairs"] = [*reply.repairs, *reading.repairs]
            changed["status"] = max(reply.status, "repaired" if reading.repairs else "ok", key=STATUSES.index)
        diagnostics = [*reply.diagnostics, *reading.diagnostics]
        if not is_valid:
            self.retry = reading.retry
            end = len(reply.raw)
            message = "the answer is not the JSON that was asked for"
            problem = PendingDiagnostic("invalid-answer", message, (end, end), "error", None)
            diagnostics += place_diagnostics([problem], reply.raw)
        return reply.model_copy(update={**changed, "diagnostics": diagnostics})
