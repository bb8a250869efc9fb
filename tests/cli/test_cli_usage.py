"""What the command line does with what people type and where it writes: files, text, terminals, colours, signals."""

import io
import json
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from outspoken import __version__
from outspoken.results.packages import install_command
from outspoken.terminal.outputs import ProgressLine, wants_color
from tests.authoring.checkouts import GRAMMAR
from tests.cli.runner import COMMAND, Cli, Ran, Terminal
from tests.tables import tables

TABLES = tables(__file__)

# input


def test_several_files_are_read_in_their_order(cli: Cli) -> None:
    ran = cli("parse", "cut.txt", "call.txt")
    alone = [cli("parse", name).out for name in ("cut.txt", "call.txt")]
    assert ran == Ran(1, f"==> cut.txt <==\n{alone[0]}==> call.txt <==\n{alone[1]}")
    lines = [json.loads(line) for line in cli("parse", "cut.txt", "call.txt", "--json").out.splitlines()]
    assert [(one["file"], one["reply"]["status"]) for one in lines] == [("cut.txt", "truncated"), ("call.txt", "ok")]
    assert lines[1]["reply"] == json.loads(cli("parse", "call.txt", "--json").out)
    events = [json.loads(line) for line in cli("parse", "cut.txt", "call.txt", "-j", "--stream").out.splitlines()]
    assert {one["file"] for one in events} == {"cut.txt", "call.txt"}
    assert events[-1]["type"] == "done"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_byte_order_marks_are_no_part_of_a_response(encoding: str, cli: Cli) -> None:
    Path("r.txt").write_bytes("Grüße\r\n".encode(encoding))
    assert json.loads(cli.out("parse", "r.txt", "--json"))["raw"] == "Grüße\r\n"


def test_bytes_that_are_no_text_are_reported(cli: Cli) -> None:
    Path("r.txt").write_bytes(b"ab\xff\xe9")
    ran = cli("parse", "r.txt", "--json")
    assert (ran.code, json.loads(ran.out)["raw"]) == (0, "ab\ufffd\ufffd")
    assert ran.err == "outspoken: warning: byte 2 of `r.txt` is not UTF-8; such bytes are read as U+FFFD\n"


def test_arguments_of_authors_are_taken_as_they_are(cli: Cli) -> None:
    """A prefix may be empty though the case has one, and the name of a file may begin with a dash."""
    text = "Hm.\n</think>\nYes"
    Path("-arrows", "ok").mkdir(parents=True)
    for name, content in (
        ("-arrows.lark", GRAMMAR.replace(" arrows", " -arrows")),
        ("-arrows/ok/thought.txt", text),
        ("-arrows/ok/thought.toml", 'prefix = "<think>\\n"'),
        ("-r.txt", text),
    ):
        Path(name).write_text(content, "utf-8")
    for arguments, thinks in (
        (["--", "-arrows.lark", "ok/thought"], True),
        (["--prefix", "", "--", "-arrows.lark", "ok/thought"], False),
        (["--", "-arrows.lark", "-r.txt"], False),
        (["-p", r"<think>\n", "--", "-arrows.lark", "-r.txt"], True),
    ):
        assert ("reasoning 0-" in cli("grammar", "show", *arguments).out) == thinks, arguments


# output


@pytest.mark.parametrize("spelled", ["--version", "-V"])
def test_version_is_printed(spelled: str, cli: Cli) -> None:
    assert cli.out(spelled) == f"outspoken {__version__}\n"


@pytest.mark.parametrize(("command", "first", "shown", "rest", "end"), TABLES["LIVE"])
def test_output_is_live(command: str, first: str, shown: str, rest: str, end: str) -> None:
    """What has come is shown before the rest has."""
    with subprocess.Popen(
        [*COMMAND, *command.split()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(first.encode())
        assert process.stdout.readline() == shown.encode()
        process.stdin.write(rest.encode())
        process.stdin.close()
        assert process.stdout.read().startswith(end.encode())
    assert process.returncode in (0, 1)


def test_closed_output_pipe_is_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text('{"a": 1}\n' * 5_000, "utf-8")
    with subprocess.Popen([*COMMAND, "parse", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"format: json\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_output_that_cannot_be_written_is_an_error() -> None:
    command = f"{shlex.join(COMMAND)} -V"
    if Path("/dev/full").exists():  # Linux has it
        done = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True)
        message = "outspoken: error: the output cannot be written: No space left on device\n"
        assert (done.returncode, done.stderr) == (2, message)
    for redirection in (">&-", "2>&-"):
        done = subprocess.run(f"{command} {redirection}", shell=True, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), redirection


def test_an_interrupted_command_ends_with_130() -> None:
    with subprocess.Popen(
        [*COMMAND, "parse", "--stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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


@pytest.mark.parametrize(("variables", "on_terminal", "in_file"), TABLES["COLOURS_FOLLOW_THE_ENVIRONMENT"])
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


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    shown = "\r1 of 1,200 rows\r\r2 of 1,200 rows\r\r50%            \r\r   \r"
    for stream, wanted in ((Terminal(), shown), (io.StringIO(), "")):
        monkeypatch.setattr(sys, "stderr", stream)
        with ProgressLine("rows", 1200) as progress:
            progress.step()
            progress.step()
            progress.show("50%")
        assert stream.getvalue() == wanted


# what a command says to what it cannot run: one sentence with what to do instead, and exit code 2


ONE_TOOL = (
    "a dict with a `name` and `parameters`, a pydantic model class, a dataclass, a TypedDict, a function, a `partial` "
    "of one, a tool object of an SDK, of LangChain or of MCP, or a list of these"
)


def refused(ran: Ran, message: str) -> None:
    """Check that a command printed an error in one line, and nothing else."""
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("outspoken: error: ")
    assert message in ran.err


@pytest.mark.parametrize("line", TABLES["MISTAKES"])
def test_mistakes_are_answered_with_what_to_do(line: str, cli: Cli) -> None:
    refused(cli(*line.split(" ")), TABLES["MISTAKES"][line])


@pytest.mark.parametrize("given", ["Action: wait() and then", "<b>", '{"a":'])
def test_a_text_in_place_of_a_file_is_noticed(given: str, cli: Cli) -> None:
    refused(cli("parse", given), "; pass a response itself as `--text`")
    refused(cli("parse", ""), "FILE...: the name of a file is empty")


@pytest.mark.parametrize("command", ["parse", "explain", "stream", "stats"])
def test_a_terminal_is_not_waited_for(command: str, cli: Cli) -> None:
    text = "" if command == "stats" else ", pass `--text TEXT`,"
    message = f"nothing to read: name a file{text} or pipe one into `outspoken {command}`\n"
    refused(cli(command, stdin=Terminal()), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'[{"name": "f",\n  parameters: {}}]', ":2:3: this is not JSON\n"),
        (b"[" * 100_000, ": this JSON is nested too deeply\n"),
        (b"", ":1:1: this is not JSON, the file is empty\n"),
        (b"ab\xff", ": this is not JSON: byte 2 is not UTF-8\n"),
        (b'{"name": "f"}', ": `tools` is a dict; expected a list of tools\n"),
        (b'[{"name": "f"}, 3]', f": `tools[1]` is an int; expected {ONE_TOOL}\n"),
    ],
)
def test_errors_in_tools_name_their_place(cli: Cli, text: bytes, message: str) -> None:
    Path("tools.json").write_bytes(text)
    assert cli("parse", "--tools", "tools.json") == Ran(2, "", f"outspoken: error: tools.json{message}")


def test_an_unknown_shell(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    refused(cli("completion"), "which shell? Name it: `outspoken completion bash|zsh|fish`")


def test_serve_says_that_its_port_is_in_use(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        message = f"port {port} of 127.0.0.1 is in use; choose another with `--port`\n"
        refused(cli("serve", "--upstream", "http://127.0.0.1:9", "--port", str(port)), message)


@pytest.mark.parametrize(
    ("module", "line", "extra"),
    [("uvicorn", "serve --upstream http://x", "serve"), ("railroad", "grammar diagram a.lark", "grammar")],
)
def test_a_missing_package_is_answered_with_its_extra(
    module: str, line: str, extra: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.lark").write_text("start: TEXT", "utf-8")
    for name in [name for name in sys.modules if name.startswith("outspoken.authoring.diagram")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    refused(cli(*line.split(" ")), install_command(extra))
