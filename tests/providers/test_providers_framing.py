"""How bodies are split: server-sent events, JSON lines, JSON lists, binary frames, objects of any kind."""

import json
import random
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from struct import pack
from typing import Any
from zlib import crc32

import pytest

from outspoken import LimitError, Settings
from outspoken.parsing import StreamClosedError
from outspoken.providers import ProviderFormatError, UnknownProviderError, parse_response
from outspoken.providers import ProviderStream as Stream
from tests.providers.provider_events import dumped, feed
from tests.tables import tables

TABLES = tables(__file__)


def piece(text: str, finish: str | None = None) -> str:
    """A chunk of a chat, as JSON."""
    return json.dumps({"id": "c", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]})


FIRST, SECOND, LAST = piece("Mosses {grow} "), piece('in "shade".\n漢'), piece("", "stop")
TEXT = 'Mosses {grow} in "shade".\n漢'
#: The same three chunks, as servers may write them.
BODIES = TABLES["BODIES"]


@pytest.mark.parametrize("name", BODIES)
def test_result_does_not_depend_on_splits(name: str) -> None:
    body = BODIES[name].encode()
    whole = dumped(feed([body], "openai"))
    assert (whole["raw"], whole["finish_reason"], whole["diagnostics"]) == (TEXT, "stop", [])
    for place in range(1, len(body)):
        assert dumped(feed([body[:place], body[place:]], "openai")) == whole, place
    assert dumped(feed([body[i : i + 1] for i in range(len(body))], "openai")) == whole
    assert dumped(feed(body.decode(), "openai")) == whole
    assert dumped(feed([bytearray(body), b""], "openai")) == whole


#: A line of data that is no JSON yet may go on, so of data on several lines the ends have to be there.
NOT_LINES = ("json in a row", "data on several lines")


@pytest.mark.parametrize("name", [name for name in BODIES if name not in NOT_LINES])
def test_lines_without_line_breaks(name: str) -> None:
    lines = BODIES[name].splitlines()
    assert feed(lines, "openai").raw == TEXT
    assert feed([line.encode() for line in lines if line], "openai").raw == TEXT


def test_split_field_name_is_not_a_line() -> None:
    body = 'event: message_start\ndata: {"id": "c", "choices": []}\n\ndata: [DONE]\n\n'
    for place in range(1, len(body)):
        assert feed([body[:place], "", body[place:]], "openai").id == "c"


def test_a_stream_that_ends_inside_a_chunk() -> None:
    for body in (f"data: {FIRST}\n\ndata: {SECOND[:20]}", f"{FIRST}\n{SECOND[:20]}"):
        reply = feed([body], "openai")
        assert (reply.raw, reply.status, reply.finish_reason) == ("Mosses {grow} ", "truncated", None)
        assert [(d.code, d.severity) for d in reply.diagnostics] == [("cut-chunk", "error")]
        with pytest.raises(ProviderFormatError, match="cut off"):
            parse_response(body, provider="openai")


# binary frames


def frame(payload: bytes, **headers: str) -> bytes:
    """A frame of an event stream; `message_type` becomes `:message-type`."""
    text = b""
    for name, value in headers.items():
        key = f":{name.replace('_', '-')}".encode()
        text += bytes([len(key)]) + key + b"\x07" + pack(">H", len(value)) + value.encode()
    text += b"\x03:no" + b"\x04" + pack(">I", 7) + b"\x03yes\x00"  # headers of other types
    prelude = pack(">II", 16 + len(text) + len(payload), len(text))
    body = prelude + pack(">I", crc32(prelude)) + text + payload
    return body + pack(">I", crc32(body))


def event(kind: str, **payload: Any) -> bytes:
    """An event as a frame."""
    return frame(json.dumps(payload).encode(), event_type=kind, message_type="event")


FRAMES = b"".join(
    [
        event("messageStart", role="assistant", p="abc"),
        event("contentBlockDelta", contentBlockIndex=0, delta={"text": "Mosses "}),
        event("contentBlockDelta", contentBlockIndex=0, delta={"text": "grow."}),
        event("contentBlockStop", contentBlockIndex=0),
        event("messageStop", stopReason="end_turn"),
        event("metadata", usage={"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}),
    ]
)


def test_frames_at_every_split() -> None:
    whole = dumped(feed([FRAMES], "bedrock"))
    assert (whole["raw"], whole["stop_reason"], whole["usage"]["total_tokens"]) == ("Mosses grow.", "end_turn", 3)
    for place in range(1, len(FRAMES)):
        assert dumped(feed([FRAMES[:place], FRAMES[place:]], "bedrock")) == whole
    assert dumped(feed([FRAMES[i : i + 1] for i in range(len(FRAMES))], "bedrock")) == whole


def test_frames_that_are_damaged_or_cut() -> None:
    chosen = random.Random(3)
    for place in [*range(12), *chosen.sample(range(12, len(FRAMES)), 40)]:
        damaged = FRAMES[:place] + bytes([FRAMES[place] ^ 4]) + FRAMES[place + 1 :]
        try:
            reply = parse_response(damaged, provider="bedrock")
        except ProviderFormatError:
            continue
        pytest.fail(f"the damage at {place} was not seen: {reply}")
    assert [d.code for d in feed([FRAMES[:-3]], "bedrock").diagnostics] == ["cut-chunk"]


def test_exceptions_and_wrapped_events_in_frames() -> None:
    failed = frame(b'{"message": "Too many"}', exception_type="throttlingException", message_type="exception")
    error = feed([event("messageStart") + failed], "bedrock").error
    assert error is not None
    assert (error.type, error.message) == ("throttlingException", "Too many")
    broken = frame(b"", error_code="internal", error_message="It broke", message_type="error")
    gone = feed([event("messageStart") + broken], "bedrock").error
    assert gone is not None
    assert (gone.type, gone.message) == ("internal", "It broke")
    message = {"type": "message", "id": "m", "content": [{"type": "text", "text": "Moss."}], "stop_reason": "end_turn"}
    inner = event("chunk", bytes=b64encode(json.dumps(message).encode()).decode())
    assert feed([inner], "bedrock").text == "Moss."


# objects


class Reason(Enum):
    STOP = "stop"


class Delta:
    """An object with attributes, and nothing else."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)
        self._hidden = object()


class Dumped:
    """An object that can be made a dict, as of SDKs of an older kind."""

    def model_dump(self) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": Delta(content="grow.")}]}


class ToDict:
    def to_dict(self) -> dict[str, Any]:
        return {"choices": (Delta(index=0, delta=Delta(content=""), finish_reason=Reason.STOP),)}


@dataclass
class Chunk:
    choices: list[Any]
    id: str = "c"


def test_objects_of_any_kind_are_chunks() -> None:
    chunks = [Chunk([{"index": 0, "delta": {"content": "Mosses "}}]), Dumped(), ToDict()]
    reply = feed(chunks, "openai")
    assert (reply.text, reply.finish_reason, reply.id) == ("Mosses grow.", "stop", "c")


def test_bytes_and_unreadable_objects() -> None:
    reply = parse_response(
        {
            "output": {"message": {"content": [{"reasoningContent": {"redactedContent": b"moss"}}]}},
            "stopReason": "end_turn",
        },
        provider="bedrock",
    )
    assert [(s.data, s.redacted, s.segment) for s in reply.signatures] == [("bW9zcw==", True, 0)]
    odd: list[tuple[Any, str]] = [
        (object(), "an object"), (Chunk, "the class `Chunk`"), (3.5, "a float"), ({1, 2}, "a set"), (None, "None"),
    ]  # fmt: skip
    for given, kind in odd:
        functions: list[tuple[str, Callable[[Any], object]]] = [("response", parse_response), ("chunk", Stream().feed)]
        for name, read in functions:
            with pytest.raises(TypeError) as caught:
                read(given)
            expected = "expected a dict, an object of an SDK, str or bytes"
            assert str(caught.value) == f"`{name}` is {kind}; {expected}"
    with pytest.raises(ProviderFormatError, match="of type object; expected a dict"):
        parse_response({"choices": [object()]})


# the stream itself


def test_imports_are_lazy_and_never_load_an_sdk() -> None:
    code = """
import sys
import outspoken.providers
assert not [name for name in sys.modules if name.startswith("outspoken.providers.")]
outspoken.providers.parse_response({"choices": [{"message": {"content": "Moss"}}]})
sdks = {"openai", "anthropic", "google.genai", "mistralai", "groq", "cohere", "boto3", "httpx", "ollama"}
print(sorted(sdks & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_unknown_provider() -> None:
    with pytest.raises(UnknownProviderError, match=r"there is no provider 'opnai'; the providers are .*openai"):
        Stream("opnai")  # type: ignore[arg-type]
    assert feed([piece("a")], "OpenAI").text == "a"


def test_options_are_checked() -> None:
    for options in ({"repair": "some"}, {"on_error": "stop"}, {"format": "hermse"}):
        with pytest.raises(ValueError, match=r"some|stop|hermse"):
            Stream("openai", **options)  # pyright: ignore[reportArgumentType]


def test_closed_stream_rejects_input() -> None:
    stream = Stream("openai")
    assert stream.reply is None
    assert stream.close() != []
    assert stream.close() == []
    with pytest.raises(StreamClosedError):
        stream.feed(piece("a"))


def test_limit_counts_all_input() -> None:
    stream = Stream("openai", settings=Settings(max_chars=10))
    stream.feed(piece("Mosses"))
    with pytest.raises(LimitError) as caught:
        stream.feed(piece(" grow."))
    assert caught.value.reply.text == "Mosses"
    assert stream.reply is caught.value.reply
    endless = Stream("openai", settings=Settings(max_chars=10))
    with pytest.raises(ProviderFormatError, match="a line of at most 40 characters"):
        endless.feed("data: " + "x" * 40)


def test_errors_can_be_raised() -> None:
    from outspoken import ResponseError

    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{'a': 1}"}}
    body = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    with pytest.raises(ResponseError, match="not a JSON object") as caught:
        parse_response(body, on_error="raise")
    assert [c.status for c in caught.value.reply.unfinished_tool_calls] == ["invalid"]
    assert parse_response(body, on_error="raise", repair="notation").tool_calls[0].arguments == {"a": 1}
