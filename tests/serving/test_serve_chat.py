"""Streams, requests and answers, wherever split and whatever is in them: rewritten, or a clear error; no key."""

import copy
import json
import logging
import re
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from random import Random
from typing import Any, cast

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import Response

from outspoken.serving.apis.chat import CompletionRewriter
from outspoken.serving.app import Proxy
from outspoken.serving.http_errors import HttpError
from outspoken.serving.settings import ServerSettings
from tests.loops import SEED, some
from tests.serving import serving
from tests.serving.serving import OFFERED, OFFERED_TO, chunk, completion, event, proxied, until, written
from tests.tables import tables

TEXT = """<think>Hm.</think>Über Moose.
<tool_call>
{"name": "find", "arguments": {"title": "Das \\"Moos\\""}}
</tool_call>"""
BODY = b"".join(written(TEXT, 40))


def rewriter(**settings: Any) -> CompletionRewriter:
    given: dict[str, Any] = {"upstream": "http://upstream", "format": "hermes", **settings}
    return CompletionRewriter(ServerSettings(**given), {"tools": OFFERED})


def joined(parts: list[Any]) -> tuple[Any, ...]:
    """What a client makes of chunks: its strings, and why it ends."""
    content = reasoning = name = arguments = ""
    reasons: list[str] = []
    for part in parts:
        for choice in part["choices"]:
            delta = choice["delta"]
            content += delta.get("content") or ""
            reasoning += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls", []):
                name += call["function"].get("name", "")
                arguments += call["function"].get("arguments", "")
            reasons += [choice["finish_reason"]] if choice["finish_reason"] else []
    return content, reasoning, name, arguments, reasons


WHOLE = ("Über Moose.", "Hm.", "find", '{"title": "Das \\"Moos\\""}', ["tool_calls"])


def test_split_at_every_byte() -> None:
    for place in some(range(len(BODY)), "split", 0.34):
        stream = rewriter()
        assert joined(stream.feed(BODY[:place]) + stream.feed(BODY[place:]) + stream.close()) == WHOLE


def test_byte_by_byte() -> None:
    stream = rewriter()
    parts = [part for place in range(len(BODY)) for part in stream.feed(BODY[place : place + 1])]
    assert joined(parts + stream.close()) == WHOLE


def test_stream_cut_at_any_byte_is_never_complete() -> None:
    """Unless all was said but the `[DONE]`."""
    ends = BODY.index(b'"finish_reason": "stop"') + len(b'"finish_reason": "stop"}]}')
    for place in some(range(ends), "cut", 0.34):
        stream = rewriter()
        parts = stream.feed(BODY[:place])
        try:
            parts += stream.close()
        except HttpError as error:
            parts += stream.abort(error)
            assert "error" in parts.pop()
        else:
            assert place >= ends - 1
            continue
        assert joined(parts)[-1] == []


def test_a_whole_completion_in_place_of_a_stream() -> None:
    stream = rewriter()
    parts = stream.feed(json.dumps(completion({"content": TEXT})).encode())
    assert joined(parts + stream.close()) == WHOLE


KEYS = ["choices", "delta", "message", "content", "tool_calls", "function", "index", "arguments", "name", "usage", "id"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=4), st.booleans())
def test_any_chunk_is_rewritten_or_rejected(values: list[Any], begun: bool) -> None:
    stream = rewriter()
    body = event(chunk({"content": "A"})) * begun + b"".join([event(value) for value in values])
    try:
        parts = stream.feed(body) + stream.close()
    except HttpError as error:
        parts = [*stream.abort(error), {}]
    for part in parts:
        json.dumps(part)


@given(JSON)
def test_any_response_is_rewritten_or_rejected(value: Any) -> None:
    body = cast("dict[str, Any]", value) if isinstance(value, dict) else {"choices": value}
    with suppress(HttpError):
        json.dumps(rewriter().rewrite(body))


# malformed requests and answers of an upstream, those of the tables and random ones: an answer or a clear error; no key


KEY = "sk-secret-4711"
HEADERS = {"authorization": f"Bearer {KEY}", "x-api-key": KEY}
TABLES = tables(__file__)
REQUESTS: dict[str, dict[str, Any]] = TABLES["REQUESTS"]
#: What words of the tables stand for.
WORDS = {'"HALF"': '"\\ud800"', "HALF": '"\\ud800"', "BIG": "9" * 5000, "LONG": "/" + "x" * 3000}
WORDS["DEEP"] = "[" * 100_000 + "]" * 100_000
CALLED = '<tool_call>\n{"name": "tide", "arguments": {"a": }}\n</tool_call>'


def filled(value: Any, encoding: str = "utf-8") -> bytes:
    """A text of a table with what its words stand for, or JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    return text.encode(encoding)


def bodies(value: Any, count: int) -> Iterator[bytes]:
    """JSON with a value or a name replaced anywhere, some of it cut."""
    random, text = Random(SEED), json.dumps(value)
    places = [found.span() for found in re.finditer(r'"[^"]*"|[\d.]+|null|true|false|\{\}|\[\]', text)]
    for number in range(count):
        start, end = random.choice(places)
        made = (text[:start] + random.choice(TABLES["ODD"]) + text[end:]).encode()
        yield made if number % 10 else made[: random.randrange(len(made))]


def requested(path: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "tools": OFFERED_TO[path], **REQUESTS[path], **more}


def malformed(path: str) -> Iterator[tuple[bytes, set[int]]]:
    """The bodies of malformed requests, with the statuses that may answer them."""
    for status, fields in TABLES["FIELDS"][path].items():
        for field, values in fields.items():
            yield from [(filled(requested(path, **{field: value})), {status}) for value in values]
    for status, texts in TABLES["BODIES"].items():
        yield from [(filled(text), {status} if path == "chat/completions" else {200, 400}) for text in texts]
    yield from [(body, {200, 400, 404, 413, 422}) for body in bodies(requested(path), 30)]


def over_http(path: str, case: dict[str, Any]) -> bytes:
    """A request of the table `HTTP`."""
    body = json.dumps(requested(path, user="é"), ensure_ascii=False).encode(case.get("encoding", "utf-8"))
    frame = case.get("body", "{body}").encode()
    sent = frame.replace(b"{body}", body).replace(b"{x}", b"%x" % len(body))
    lines = ["host: x", "connection: close", *[f"{name}: {value}" for name, value in HEADERS.items()]]
    lines += [case.get("length", f"content-length: {len(body)}"), *case.get("headers", ())]
    start = f"{case.get('method', 'POST')} {case.get('path', '{path}')} {case.get('version', 'HTTP/1.1')}"
    head = case.get("raw", "\r\n".join([start, *lines, "", ""]))
    head = head.replace("{path}", f"/v1/{path}").replace("{n}", str(len(body))).replace("LONG", WORDS["LONG"])
    return head.encode("latin-1").replace(b"{body}", body) + (b"" if "raw" in case else sent)


def exchanged(port: int, sent: bytes, leaves: bool) -> bytes:
    """What a server answers to bytes until it closes the connection. A client that leaves sends no more."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened, suppress(ConnectionError):
        opened.sendall(sent)
        if leaves:
            opened.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: opened.recv(65536), b""))
    return b""


@pytest.mark.parametrize("path", REQUESTS)
def test_malformed_requests(path: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def answer(asked: dict[str, Any]) -> Response:
        text = CALLED + CALLED.replace("}}", '1, "b": [1]}}') if asked.get("tools") else '{"a": 1,}'
        return await serving.answering(text, size=40)(asked)

    with proxied(answer, ask_again=1) as (front, proxy, _), httpx.Client(timeout=20, headers=HEADERS) as client:
        for number, (body, statuses) in enumerate(malformed(path)):
            stream = b'{"stream": true, "model"' if Random(f"{SEED} {number}").random() < 0.5 else b'{"model"'
            found = client.post(f"{front.url}/v1/{path}", content=body.replace(b'{"model"', stream, 1))
            assert found.status_code in statuses, (stream, body[:2000], found.text)
            assert found.status_code == 200 or found.json()["error"]["message"]
            assert not re.search(rf"{KEY}|internal_error", found.text), (stream, body[:2000])
        for status, cases in TABLES["HTTP"].items():
            for case in cases:
                got = exchanged(front.port, over_http(path, case), leaves=status == 0)
                statuses = {int(code) for code in re.findall(rb"HTTP/1\.1 (\d+)", got)} - {100}
                assert (statuses or {0}) <= {status} | ({0, 404} if "raw" in case else set()), (case, got)
                assert KEY.encode() not in got
        assert KEY not in client.get(f"{front.url}/metrics").text
        until(lambda: not proxy.active)
    assert KEY not in caplog.text
    assert "Traceback" not in caplog.text


USAGE = {"prompt_tokens": 1, "total_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 1}}
CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
COMPLETION = completion({"content": "Hi.", "reasoning_content": "Hm.", "tool_calls": [CALL]}, usage=USAGE)
CHUNKS = [
    chunk({"role": "assistant", "content": "Hi."}),
    chunk({"tool_calls": [{**CALL, "index": 0}]}),
    chunk({}, "stop"),
]
DONE = b"data: [DONE]\n\n"
STOP = event(CHUNKS[2]) + DONE
#: The events that the table `STREAMS` names.
EVENTS = {
    **{name: event(value if name == "ERROR" else chunk({}) | value) for name, value in TABLES["EVENTS"].items()},
    **{"CALL": event(CHUNKS[1]), "STOP": event(CHUNKS[2]), "WHOLE": event(COMPLETION), "NIL": event(None)},
    "DONE": DONE,
}


def over(body: bytes, status: object = "200 OK", *headers: str, stream: bool = False) -> bytes:
    """A response with a status and headers in place of, or beside, its own."""
    kind = "content-type: " + ("text/event-stream" if stream else "application/json")
    lines = [f"HTTP/1.1 {status}", kind, *headers, f"content-length: {len(body)}", "connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def answers(stream: bool) -> Iterator[tuple[bytes, set[int]]]:
    """Malformed answers of an upstream, with the statuses that a client may get for them."""
    sound = event(chunk({"content": CALLED})) + STOP if stream else json.dumps(COMPLETION).encode()
    either = {200, 502}
    for at, fields in TABLES["ANSWERS"].items():
        for field, values in fields.items():
            for value in values:
                body = copy.deepcopy(CHUNKS[0] if stream else COMPLETION)
                (choice,) = body["choices"]
                message = choice["delta" if stream else "message"]
                {"message": message, "choice": choice, "body": body}[at][field] = value
                sent = filled(body)
                yield over(b"data: " + sent + b"\n\n" + STOP if stream else sent, stream=stream), either
    for text in TABLES["ANSWER_BODIES"]:
        for as_stream in (False, True):
            yield over(filled(text), stream=as_stream), either
        yield from [(over(filled(text), status), {status}) for status in (400, 500)]
    for names in TABLES["STREAMS"]:
        sent = b"".join([EVENTS[name] for name in names.split()])
        yield from [(over(part, stream=True), either) for part in (sent, sent[:-7])]
    for kind, statuses in TABLES["STATUSES"].items():
        yield from [
            (over(sound, status, "location: http://127.0.0.1:9/x"), {status if kind == "same" else 502})
            for status in statuses
        ]
    for header in TABLES["HEADERS"]:
        yield over(sound, "200 OK", header.replace("LONG", WORDS["LONG"]), stream=stream), either
        if not header.startswith(("content-length", "transfer-encoding")):
            yield over(sound, 429, header, stream=stream), {429, 502}
    head = over(b"", stream=stream).partition(b"content-length")[0]
    for raw in TABLES["RAW"]:
        made = raw.encode("latin-1").replace(b"{head}", head).replace(b"{body}", sound)
        yield made.replace(b"{x}", b"%x" % len(sound)), {*either, 504}
    for body in bodies(CHUNKS if stream else COMPLETION, 20):
        with suppress(ValueError):
            body = b"".join(map(event, json.loads(body))) + DONE if stream else body
        yield over(body, stream=stream), either


class _Raw(socketserver.StreamRequestHandler):
    """Answers a request with the bytes that its server is told."""

    def handle(self) -> None:
        length = 0
        while line := self.rfile.readline().strip():
            length = int(line.partition(b":")[2]) if line.lower().startswith(b"content-length") else length
        self.rfile.read(length)
        self.wfile.write(self.server.sent)  # pyright: ignore


#: How a stream of each API ends.
ENDS = {
    "chat/completions": r"data: \[DONE\]\n\n\Z",
    "responses": r"event: response\.(completed|failed|incomplete)\n",
    "messages": r"event: (message_stop|error)\n",
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", REQUESTS)
def test_malformed_answers(path: str, stream: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    body = requested(path, stream=stream)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Raw) as upstream, ExitStack() as left:
        threading.Thread(target=upstream.serve_forever, args=(0.01,)).start()
        left.callback(upstream.shutdown)
        proxy = Proxy(ServerSettings(f"http://127.0.0.1:{upstream.server_address[1]}", "hermes", read_timeout=5))
        with serving.Server(proxy.app()) as front, httpx.Client(timeout=20, headers=HEADERS) as client:
            for sent, statuses in some(answers(stream), f"{path} {stream}", 0.34):
                upstream.sent = sent  # pyright: ignore
                text = (found := client.post(f"{front.url}/v1/{path}", json=body)).content.decode()
                assert found.status_code in statuses, (sent[:2000], text)
                assert not re.search(rf"{KEY}|internal_error", text), sent[:2000]
                assert found.status_code != 502 or json.loads(text)["error"]["type"] in ("upstream_error", "api_error")
                is_stream = stream and found.is_success and "event-stream" in found.headers["content-type"]
                assert not is_stream or re.search(ENDS[path], text), (sent[:2000], text)
            metrics = client.get(f"{front.url}/metrics").text
            until(lambda: not proxy.active)
    assert KEY not in metrics + caplog.text
    assert "Traceback" not in caplog.text
