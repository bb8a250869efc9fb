"""What a command says to what it cannot run: one sentence with what to do instead, and exit code 2."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

from outspoken.results.packages import install_command
from tests.cli.runner import Cli, Ran, Terminal

TABLES = "outspoken.contrib.table_chat:tables_registry"
ONE_TOOL = "a dict with a `name` and `parameters`, a pydantic model class or a function"

#: Command lines and what is said of them; the words of an argument's type are Click's, of which a part is here.
MISTAKES = {
    # commands
    "prase a.txt": "there is no command `prase`; did you mean `parse`?",
    "PARSE": "there is no command `PARSE`; did you mean `parse`?",
    "version": "there is no command `version`; did you mean `--version`?",
    "fly": "there is no command `fly`; see `outspoken --help`",
    "call.txt": "`call.txt` is no command; did you mean `outspoken parse call.txt`?",
    "help stat": "there is no command `stat`; did you mean `stats`?",
    "grammar chekc a.lark": "there is no command `chekc`; did you mean `check`?",
    # options
    "--json parse": "there is no option `--json`; options follow the command, as in `outspoken parse --json`",
    "parse --fromat hermes": "there is no option `--fromat`; did you mean `--format`?",
    "parse --finish stop": "there is no option `--finish`; did you mean `--finish-reason`?",
    "parse --fly": "there is no option `--fly`; see `outspoken parse --help`",
    "parse --version": "there is no option `--version`; see `outspoken parse --help`",
    "stats --text x": "there is no option `--text`; see `outspoken stats --help`",
    "parse --format": "'--format' requires an argument; see `outspoken parse --help`",
    "parse --json=1": "'--json' does not take a value; see `outspoken parse --help`",
    "report a b": "extra argument (b); quote a value that has spaces (see `outspoken report --help`)",
    "serve": "'--upstream'; write it as `--upstream URL` (see `outspoken serve --help`)",
    "batch call.txt": "'--out'; write it as `--out DIR` (see `outspoken batch --help`)",
    "batch": "'IN...'; see `outspoken batch --help`",
    "constrain hermes": "xgrammar, ebnf, gbnf",
    "constrain --target gbnf": "1 of the following parameters must be set: [FORMAT] --format (-f); see",
    # values
    "parse --stream=a.txt": "--stream: 'a.txt'",
    "parse --stream=0": "--stream: 0 is not in the range x>=1; see `outspoken parse --help`",
    "parse --stream 0": "--stream: 0 is not in the range x>=1",
    "parse --repair notaton": "--repair: 'notaton' is not one of 'none', 'notation', 'structure', 'strings', ",
    "parse --screen wide": "--screen: `wide` is no size; write it as 1280x720",
    "parse --screen 0x5": "--screen: `0x5` is no size; write it as 1280x720",
    "parse --format hermess": "there is no format `hermess`; did you mean `hermes`",
    "parse --stream --format hermess": "there is no format `hermess`; did you mean `hermes`",
    "explain --format hermess": "there is no format `hermess`; did you mean `hermes`",
    "stats - --format hermess": "there is no format `hermess`; did you mean `hermes`",
    "stats --expect tool_call": "--expect: 'tool_call' is not one of 'anything', 'tool_calls'",
    "formats hermse": "there is no format `hermse`; did you mean `hermes`",
    "stream -P opnai call.txt": "there is no provider 'opnai'; the providers are anthropic, ",
    "stream --format mosses": "there is no format `mosses`",
    "serve -u mosses": "`mosses` is not a server's URL",
    "serve -u http://x --format mosses": "there is no format `mosses`",
    "serve -u http://x --max-body 0": "`max_body` is 0; expected more than 0",
    "serve -u http://x --port 99999": "--port: 99999 is not in the range 0<=x<=65535",
    "batch call.txt -o x --row-timeout nan": "--row-timeout: `nan` is not a number of more than 0",
    "constrain hermes -f json --target gbnf": "1 of the following parameters must be set: [FORMAT] --format (-f); see",
    "constrain mosses --target gbnf": "there is no format `mosses`",
    "constrain hermes --target mosses": "--target: 'mosses' is not one of 'llguidance', ",
    "constrain hermes --target gbnf --tool-choice required": "`tool_choice` is 'required', but there are no `tools`",
    "constrain hermes --target gbnf --max-calls 0": "`max_calls` is 0; expected a number from 1 on",
    "constrain hermes --target gbnf --tools no/file": "cannot read `no/file`",
    "constrain ui_tars --target gbnf --action fly": "the format has no action `fly`",
    "grammar check none.lark": "none.lark: it cannot be read: No such file or directory",
    "grammar check call.txt": "call.txt: the name of a grammar ends in `.lark`",
    "grammar new a.lark b.txt": "one grammar is written; name the file `b.txt` behind `--from` if it is a response",
    "grammar fuzz a.lark --minutes 0": "--minutes: `0` is not a number of more than 0",
    "grammar fuzz a.lark --minutes 1 --runs 1": "parameters are mutually exclusive: --runs --minutes --replay; see",
    "completion powershell": "SHELL: 'powershell' is not one of 'bash', 'zsh', 'fish'",
    f"parse --payloads {TABLES} --page table_veiw": "there is no page `table_veiw`; did you mean `table_view`?",
    "parse --payloads tables": "`tables` is not a registry; write it as `module:name`",
    "parse --payloads no_such_module:x": "cannot load `no_such_module:x`: ModuleNotFoundError: ",
    "parse --payloads outspoken.contrib.table_chat:TYPES": "is of type tuple; expected a PayloadRegistry",
    "parse --page table_view": "`--page` needs `--payloads`; neither can be used with `--format`, `--tools`",
    f"parse --payloads {TABLES} --format hermes": "`--page` needs `--payloads`; neither can be used with",
    # files
    "parse -t a b.txt": "`--text` is a response already; leave out `b.txt`, or the option",
    "parse /no/such/file": "cannot read `/no/such/file`: No such file or directory",
    "parse /no/such/file --stream": "cannot read `/no/such/file`: No such file or directory",
    "parse --stream /no/such/file": "cannot read `/no/such/file`: No such file or directory",
    "parse --tools /no/such/file": "cannot read `/no/such/file`: No such file or directory",
    "parse --tools= call.txt": "--tools: the name of a file is empty",
    "parse call.txt cal.txt": "cannot read `cal.txt`: No such file or directory; did you mean `call.txt`?",
    "explain call.txt cal.txt": "cannot read `cal.txt`: No such file or directory; did you mean `call.txt`?",
    "stats call.txt cal.txt": "cannot read `cal.txt`: No such file or directory; did you mean `call.txt`?",
    "stream call.txt cal.txt": "cannot read `cal.txt`: No such file or directory; did you mean `call.txt`?",
    "stream call.txt": "expected server-sent events or JSON; `outspoken parse` reads the text of a response",
    "explain /": "cannot read `/`: Is a directory; `outspoken batch` reads folders",
    "parse a\0b": "cannot read `a\\x00b`: no file can have this name",
    "parse " + "x" * 300: f"cannot read `{'x' * 200}…`: File name too long",
}


def refused(ran: Ran, message: str) -> None:
    """Check that a command printed an error in one line, and nothing else."""
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("outspoken: error: ")
    assert message in ran.err


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_are_answered_with_what_to_do(line: str, cli: Cli) -> None:
    refused(cli(*line.split(" ")), MISTAKES[line])


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


def test_what_is_not_enforced_is_a_warning_or_an_error(cli: Cli) -> None:
    loose = {"properties": {"of": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}}}
    Path("tools.json").write_text(json.dumps([{"name": "count", "parameters": loose}]), "utf-8")
    given = ["constrain", "hermes", "--tools", "tools.json", "--target", "gbnf"]
    ran = cli(*given)
    assert (ran.code, ran.err) == (0, "outspoken: warning: count: of: `uniqueItems` is not enforced\n")
    assert "root ::= " in ran.out
    refused(cli(*given, "--strict"), "`hermes` has no such constraint: count: of: `uniqueItems` is not enforced\n")


def test_serve_without_the_extra_installed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused(cli("serve", "--upstream", "http://x"), install_command("serve"))
