"""OpenAI's Responses API: whole responses, and the events of a stream.

Events that repeat a whole item add only what did not arrive in pieces, so that streams of any detail are read.
Source: https://platform.openai.com/docs/api-reference/responses and /responses-streaming
"""

from __future__ import annotations

from typing import Literal

from outspoken.providers.assembly.assembler import Assembler
from outspoken.providers.assembly.blocks import Key
from outspoken.providers.assembly.tool_calls import ToolCallBlock
from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.wire.reader import ApiReader, arguments_text, parse_error

from . import USAGE

_TextKind = Literal["text", "reasoning"]

#: events about text: what they begin with, the kind of part, and the key of the part's number in its item
_TEXT_EVENTS: dict[str, tuple[_TextKind, str]] = {
    "response.output_text": ("text", "content_index"),
    "response.reasoning_text": ("reasoning", "content_index"),
    "response.reasoning_summary_text": ("reasoning", "summary_index"),
}
#: the types of calls, the key of their input, and the name of the tool where the client has it built in
_CALLS = {
    "function_call": ("arguments", None),
    "custom_tool_call": ("input", None),
    "apply_patch_call": ("operation", "apply_patch"),
    "shell_call": ("action", "shell"),
    "local_shell_call": ("action", "local_shell"),
}
_INPUT_EVENTS = ("response.function_call_arguments.", "response.custom_tool_call_input.")
_STATE_EVENTS = ("response.created", "response.in_progress", "response.queued")
_END_EVENTS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done")


class ResponsesReader(ApiReader):
    """Reads responses and events. Items have an index in the output, and may arrive in any order."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__(assembler)
        self._done: set[int] = set()
        self._calls: dict[int, ToolCallBlock] = {}
        self._refused: set[tuple[int, int]] = set()

    def read(self, body: JsonObject) -> None:
        """Read a response, an event, or an error. Events of unknown types are skipped."""
        kind = body.string("type") or ""
        if kind in _STATE_EVENTS or kind in _END_EVENTS:
            self._read_response(body.required_object("response"), ended=kind in _END_EVENTS)
        elif kind == "error" or (not body.has("output") and not kind):
            self._read_error_event(body, "output", "a list, or an event with a `type`")
        elif not kind:
            self._read_response(body, ended=True)
        else:
            self._read_event(kind, body)

    def _read_response(self, response: JsonObject, *, ended: bool) -> None:
        to = self._assembler
        to.started(response.string("id"), response.string("model"))
        self._read_joined(response)
        for index, item in enumerate(response.objects("output")):
            self._read_item(index, item, done=ended)
        if ended:
            self.read_extension(response)
        self._report_usage(response.object("usage"), USAGE)
        if error := response.get("error"):
            to.failed(parse_error(error))
        status = response.string("status") or "completed"
        if ended and status not in ("in_progress", "queued"):
            details = response.object("incomplete_details")
            to.finished((details.string("reason") if details is not None else None) or status)

    def _read_event(self, kind: str, event: JsonObject) -> None:
        index = event.integer("output_index") or 0
        subject, _, verb = kind.rpartition(".")
        if subject in _TEXT_EVENTS and verb in ("delta", "done"):
            part_kind, number = _TEXT_EVENTS[subject]
            key = (index, number, event.integer(number) or 0)
            if verb == "done":
                self._read_whole_text(part_kind, key, event.string("text"))
            else:
                self._assembler.add(part_kind, event.string("delta"), key)
        elif kind == "response.refusal.delta":
            self._assembler.refuse(event.string("delta"))
            self._refused.add((index, event.integer("content_index") or 0))
        elif kind.startswith(_INPUT_EVENTS):
            self._read_input(index, kind, event)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._read_joined(event)
            self._read_item(index, event.required_object("item"), done=verb == "done")

    def _read_whole_text(self, kind: _TextKind, key: Key, text: str | None) -> None:
        self._assembler.add_rest(kind, key, text)
        self._assembler.end_part(kind, key)

    def _read_input(self, index: int, kind: str, event: JsonObject) -> None:
        """Read a piece of a call's input, or all of it."""
        call = self._calls.get(index)
        if call is None:
            raise event.invalid("output_index", "the place of a call that has begun")
        if kind.endswith(".delta"):
            self._assembler.arguments(call, event.string("delta"))
        else:
            self._add_rest(call, event.string("arguments", "input"))

    def _add_rest(self, call: ToolCallBlock, whole: str | None) -> None:
        if not call.done:
            self._assembler.arguments(call, (whole or "")[call.length :])

    # items

    def _read_item(self, index: int, item: JsonObject, *, done: bool) -> None:
        """Read an item that has begun, or is `done`."""
        kind = item.string("type") or ""
        if index in self._done:
            return
        is_call = kind in _CALLS and not _runs_at_the_provider(item)
        if is_call:
            self._read_call(index, item, kind, done=done)
        if not done:
            return
        self._done.add(index)
        if kind == "message":
            for number, part in enumerate(item.objects("content")):
                self._read_part(index, number, part)
        elif kind == "reasoning":
            self._read_reasoning(index, item)
        elif not is_call:
            self._assembler.payload(kind or "item", item.value)

    def _read_call(self, index: int, item: JsonObject, kind: str, *, done: bool) -> None:
        free_text = kind == "custom_tool_call"
        key, builtin = _CALLS[kind]
        name = builtin or item.string("name")
        call = self._assembler.call((index,), item.string("call_id", "id"), name, free_text=free_text)
        self._calls[index] = call
        if done:
            is_cut = item.string("status") == "incomplete"
            if not (is_cut and builtin):  # their arguments are an object, of which nothing shows what is missing
                self._add_rest(call, arguments_text(item, key))
            if is_cut:
                call.cut()
            else:
                self._assembler.end_part("call", (index,))

    def _read_part(self, index: int, number: int, part: JsonObject) -> None:
        kind = part.string("type") or ""
        if kind == "refusal":
            if (index, number) not in self._refused:
                self._refused.add((index, number))
                self._assembler.refuse(part.string("refusal"))
        elif kind.endswith("text"):
            self._read_whole_text("text", (index, "content_index", number), part.string("text"))
            for note in part.objects("annotations"):
                self._assembler.payload(note.string("type") or "annotation", note.value)
        else:
            self._assembler.payload(kind or "part", part.value)

    def _read_reasoning(self, index: int, item: JsonObject) -> None:
        """Read a reasoning item: its summary, its text, and its encrypted content."""
        last: Key | None = None
        parts = 0
        for field, count in (("summary", "summary_index"), ("content", "content_index")):
            for number, part in enumerate(item.objects(field)):
                key = (index, count, number)
                text = part.string("text")
                self._read_whole_text("reasoning", key, text)
                last = key if text else last
                parts += 1
        self._assembler.sign(item.string("encrypted_content"), last or (index,), redacted=not parts)


def _runs_at_the_provider(call: JsonObject) -> bool:
    """Is a call of a shell run in a container of the provider?"""
    environment = call.object("environment")
    return environment is not None and (environment.string("type") or "").startswith("container")
