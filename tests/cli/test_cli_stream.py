"""`outspoken stream`, live and whole, and how `outspoken serve` refuses what it cannot serve."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from outspoken.cli.main import main
from outspoken.results.packages import install_command


def sse(*pieces: str, finish: str = "stop", **last: Any) -> bytes:
    """A stream of OpenAI's chunks with these pieces of content."""
    deltas = [{"content": piece} for piece in pieces]
    chunks: list[Any] = [{"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **last})
    return "".join([f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]).encode() + b"data: [DONE]\n\n"


CALL = sse(
    "<think>\nHm.\n</think>\nLet me look.\n<tool_",
    'call>\n{"name": "get_weather", "arguments": {"city": "Par',
    'is"}}\n</tool_call>',
    usage={"prompt_tokens": 1200, "completion_tokens": 7, "total_tokens": 1207},
)
SHOWN = """\
thinking
Hm.
text
Let me look.
call 0: get_weather
{"city": "Paris"}
finished: tool_calls (stop)
tokens: 1,200 in, 7 out
"""


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code = main(["stream", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_plain_output(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, monkeypatch, CALL, "--format", "hermes") == (0, SHOWN, "")


def test_coloured_output(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(capsys, monkeypatch, CALL, "--format", "hermes", "--color", "always")
    assert code == 0
    assert "\x1b[3;35mHm.\x1b[0m" in out


def test_truncated_call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = sse('<tool_call>\n{"name": "f", "arguments": {"a": [1', finish="length")
    code, out, _ = run(capsys, monkeypatch, data, "--format", "hermes")
    assert code == 1
    assert "call 0: f is truncated; do not run it\nfinished: length\n" in out


def test_without_a_format_it_is_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(capsys, monkeypatch, sse("<think>\x1b[2JHm."))
    assert (code, out) == (0, "text\n<think>\\x1b[2JHm.\nfinished: stop\n")


def test_other_providers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Any] = [
        {"type": "message_start", "message": {"id": "m", "model": "c", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ]
    data = "".join([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]).encode()
    code, out, _ = run(capsys, monkeypatch, data, "--provider", "anthropic")
    assert (code, out) == (1, "thinking\nHm.\nerror: Overloaded\n")


def test_as_json_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run(capsys, monkeypatch, CALL, "--format", "hermes", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert (found[0]["type"], found[-1]["type"]) == ("started", "done")
    assert found[-1]["reply"]["provider"] == "openai"


@pytest.mark.parametrize(
    ("arguments", "data", "expected"),
    [
        (["--provider", "mosses"], b"", "there is no provider 'mosses'"),
        (["--format", "mosses"], b"", "mosses"),
        ([], b"<html>", "expected server-sent events or JSON"),
    ],
)
def test_wrong_use(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    data: bytes,
    expected: str,
) -> None:
    code, _, err = run(capsys, monkeypatch, data + b"\n", *arguments)
    assert code == 2
    assert expected in err


def test_output_is_live() -> None:
    """What has come is shown before the rest has."""
    command = [sys.executable, "-m", "outspoken", "stream", "--format", "hermes"]
    first = CALL.index(b"\n\n") + 2
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.write(CALL[:first])
        running.stdin.flush()
        assert running.stdout.readline() == b"thinking\n"
        running.stdin.write(CALL[first:])
        running.stdin.close()
        assert running.stdout.read().decode() == SHOWN.removeprefix("thinking\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--upstream", "mosses"], "`mosses` is not a server's URL"),
        (["--upstream", "http://x", "--format", "mosses"], "mosses"),
        (["--upstream", "http://x", "--max-body", "0"], "`max_body` is 0; expected more than 0"),
        ([], "--upstream"),
    ],
)
def test_serve_rejects_wrong_options(capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str) -> None:
    assert main(["serve", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_serve_without_the_extra_installed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", "--upstream", "http://x"]) == 2
    assert install_command("serve") in capsys.readouterr().err
