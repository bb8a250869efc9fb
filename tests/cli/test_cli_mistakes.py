"""What a command says to what it cannot run: one sentence with what to do instead, and exit code 2."""

import socket
import sys
from pathlib import Path

import pytest

from outspoken.results.packages import install_command
from tests.cli.runner import Cli, Ran, Terminal
from tests.tables import tables

TABLES = tables(__file__)

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
