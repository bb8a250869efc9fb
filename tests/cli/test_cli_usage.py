"""What the command line does with what people type: files, text, terminals, colours, and mistakes."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from outspoken.cli.main import main
from outspoken.terminal.outputs import wants_color
from outspoken.terminal.progress import ProgressLine

CALL = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with responses."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "call.txt").write_text(CALL, "utf-8")
    (tmp_path / "cut.txt").write_text(CALL[:50], "utf-8")
    return tmp_path


# input


@pytest.mark.parametrize("command", ["parse", "explain", "stream", "stats"])
def test_a_terminal_is_not_waited_for(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    code, out, err = ran(capsys, command)
    text = "" if command == "stats" else ", pass `--text TEXT`,"
    wanted = f"outspoken: error: nothing to read: name a file{text} or pipe one into `outspoken {command}`\n"
    assert (code, out, err) == (2, "", wanted)


def test_text_is_an_argument(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = ran(capsys, "parse", "call.txt")
    assert expected[0] == 0
    assert ran(capsys, "parse", "-t", CALL) == ran(capsys, "parse", f"--text={CALL}") == expected
    assert ran(capsys, "parse", "-t", CALL, "--stream", "7") == ran(capsys, "parse", "call.txt", "--stream", "7")
    chunk = 'data: {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]}\n\n'
    assert ran(capsys, "stream", "-t", chunk)[1] == "text\nHi.\nfinished: stop\n"


def test_several_files_are_read_in_their_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ran(capsys, "parse", "cut.txt", "call.txt")
    assert (code, err) == (1, "")
    alone = [ran(capsys, "parse", name)[1] for name in ("cut.txt", "call.txt")]
    assert out == f"==> cut.txt <==\n{alone[0]}==> call.txt <==\n{alone[1]}"
    lines = [json.loads(line) for line in ran(capsys, "parse", "cut.txt", "call.txt", "--json")[1].splitlines()]
    assert [(one["file"], one["reply"]["status"]) for one in lines] == [("cut.txt", "truncated"), ("call.txt", "ok")]
    assert lines[1]["reply"] == json.loads(ran(capsys, "parse", "call.txt", "--json")[1])
    events = ran(capsys, "parse", "cut.txt", "call.txt", "--json", "--stream")[1].splitlines()
    assert {json.loads(line)["file"] for line in events} == {"cut.txt", "call.txt"}
    assert json.loads(events[-1])["type"] == "done"


def test_nothing_is_read_if_a_file_is_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = "outspoken: error: cannot read `cal.txt`: No such file or directory; did you mean `call.txt`?\n"
    for command in ("parse", "explain", "stats", "stream"):
        assert ran(capsys, command, "call.txt", "cal.txt") == (2, "", message)


@pytest.mark.parametrize("given", ["Action: wait() and then", "<b>", '{"a":'])
def test_a_text_in_place_of_a_file_is_noticed(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ran(capsys, "parse", given)
    assert (code, err.rstrip().endswith("; pass a response itself as `--text`")) == (2, True)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_byte_order_marks_are_no_part_of_a_response(
    encoding: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "r.txt").write_bytes("Grüße".encode(encoding))
    code, out, err = ran(capsys, "parse", "r.txt", "--json")
    assert (code, json.loads(out)["raw"], err) == (0, "Grüße", "")


def test_bytes_that_are_no_text_are_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "r.txt").write_bytes(b"ab\xff\xe9")
    code, out, err = ran(capsys, "parse", "r.txt", "--json")
    assert (code, json.loads(out)["raw"]) == (0, "ab\ufffd\ufffd")
    assert err == "outspoken: warning: byte 2 of `r.txt` is not UTF-8; such bytes are read as U+FFFD\n"
    assert ran(capsys, "parse", "-T", "r.txt", "call.txt")[::2] == (
        2,
        "outspoken: error: r.txt: this is not JSON: byte 2 is not UTF-8\n",
    )


def test_an_empty_stream_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.txt").touch()
    assert ran(capsys, "stream", "empty.txt") == (0, "", "outspoken: warning: nothing arrived from empty.txt\n")
    code, _, err = ran(capsys, "stream", "call.txt")
    assert (code, "expected server-sent events or JSON; `outspoken parse` reads the text" in err) == (2, True)


def test_screen_prefix_and_finish_reason(capsys: pytest.CaptureFixture[str]) -> None:
    act = "Action: click(start_box='(500,500)')"
    clicked = ran(capsys, "parse", "-f", "ui_tars_1_0", "-s", "1920x1080", "-t", act)[1]
    assert "Click(point=Point(960, 540))" in clicked
    assert clicked == ran(capsys, "parse", "--format=ui_tars_1_0", "--screen", "1920X1080", "-t", act)[1]
    assert "reasoning 0-3" in ran(capsys, "parse", "-p", r"<think>\n", "-t", "Hm.</think>Yes")[1]
    assert "status: repaired" in ran(capsys, "parse", "--finish-reason", "stop", "-t", CALL[:-12])[1]
    assert "status: truncated" in ran(capsys, "parse", "--finish-reason", "stop", "-r", "none", "-t", CALL[:-20])[1]


def test_formats_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "formats", "qwen3", "hermes")
    assert (code, out.count("example:"), out.startswith("hermes  ")) == (0, 1, True)
    assert ran(capsys, "formats", "hermse")[0] == 2


# commands


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["call.txt"], "`call.txt` is no command; did you mean `outspoken parse call.txt`?"),
        (["PARSE"], "there is no command `PARSE`; did you mean `parse`?"),
        (["version"], "there is no command `version`; did you mean `outspoken --version`?"),
        (["help", "stat"], "there is no command `stat`; did you mean `stats`?"),
        (["stream", "-P", "opnai", "call.txt"], "there is no provider `opnai`; did you mean `openai`?"),
        (["parse", "--version"], "`outspoken parse` has no option `--version`; it is `outspoken --version`"),
        (["parse", "--finish", "stop"], "there is no option `--finish`; did you mean `--finish-reason`?"),
        (["stats", "--text", "x"], "there is no option `--text` (`outspoken stats --help` lists the options)"),
        (["parse", "--tools=", "call.txt"], "--tools: the name of a file is empty"),
        (["parse", ""], "FILE...: the name of a file is empty"),
        (["constrain", "hermes", "-f", "json", "--target", "gbnf"], "the format is `hermes` or `json`; name one"),
        (["parse", "x" * 300], f"cannot read `{'x' * 200}…`: File name too long"),
        (["serve"], "`outspoken serve` needs `--upstream URL`; see `outspoken serve --help`"),
        (["batch", "call.txt"], "`outspoken batch` needs `--out DIR`; see `outspoken batch --help`"),
        (["batch"], "`outspoken batch` needs IN...; see `outspoken batch --help`"),
        (["serve", "-u", "http://x", "--port", "99999"], "--port: `99999` is not a whole number from 0 to 65535"),
        (["grammar", "check", "none.lark"], "none.lark: it cannot be read: No such file or directory"),
        (["grammar", "check", "call.txt"], "call.txt: the name of a grammar ends in `.lark`"),
        (["grammar", "fuzz", "a.lark", "--minutes", "0"], "--minutes: `0` is not a number of more than 0"),
        (["grammar", "fuzz", "a.lark", "--minutes", "1", "--runs", "1"], "give one of `--runs`, `--minutes` and `--replay`"),
    ],
)
def test_mistakes_are_answered_with_what_was_meant(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(capsys, *arguments) == (2, "", f"outspoken: error: {message}\n")


def test_serve_says_that_its_port_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        message = f"port {port} of 127.0.0.1 is in use; choose another with `--port`"
        wanted = (2, "", f"outspoken: error: {message}\n")
        assert ran(capsys, "serve", "--upstream", "http://127.0.0.1:9", "--port", str(port)) == wanted


def test_output_that_cannot_be_written_is_an_error(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = f"{shlex.quote(sys.executable)} -m outspoken -V"
    if Path("/dev/full").exists():  # Linux has it
        done = subprocess.run(f"{command} > /dev/full", shell=True, env=environment, capture_output=True, text=True)
        message = "outspoken: error: the output cannot be written: No space left on device\n"
        assert (done.returncode, done.stderr) == (2, message)
    for redirection in (">&-", "2>&-"):
        done = subprocess.run(f"{command} {redirection}", shell=True, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), redirection


def test_an_interrupted_command_ends_with_130(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "outspoken", "parse", "--stream"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"Hello")
        process.stdin.flush()
        assert process.stdout.readline() == b"TextDelta('Hello')\n"  # it runs
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert (process.wait(20), process.stderr.read()) == (130, b"")


# terminals


@pytest.mark.parametrize(
    ("variables", "on_terminal", "in_file"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colours_follow_the_environment(
    variables: dict[str, str], on_terminal: bool, in_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (wants_color("auto", Terminal()), wants_color("auto", io.StringIO())) == (on_terminal, in_file)
    assert wants_color("always", io.StringIO())
    assert not wants_color("never", Terminal())


def test_colours_of_a_command(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = ran(capsys, "parse", "call.txt")[1]
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m  ToolCall(get_weather, city='Paris')\x1b[0m\n" in ran(capsys, "parse", "call.txt")[1]
    assert ran(capsys, "parse", "call.txt", "--color", "never")[1] == plain
    assert "\x1b" not in ran(capsys, "parse", "call.txt", "--json", "--color", "always")[1]


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    for stream, wanted in (
        (Terminal(), "\r1 of 1,200 rows\r\r2 of 1,200 rows\r\r               \r"),
        (io.StringIO(), ""),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        with ProgressLine("rows", 1200) as progress:
            progress.step()
            progress.step()
        assert stream.getvalue() == wanted
