"""The command line: what it prints, whole, and how it ends."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from outspoken import __version__, formats, parse
from outspoken.cli.main import main

CALL = 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
CUT = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Pa'
COMMAND = [sys.executable, "-m", "outspoken"]
ONE_TOOL = "a dict with a `name` and `parameters`, a pydantic model class or a function"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Cli:
    """Runs a command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code = main(list(arguments))
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch)


@pytest.fixture
def tools(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "tools.json"
        path.write_text(text, "utf-8")
        return str(path)

    return write


# parse


def test_parse_shows_what_is_in_a_response(cli: Cli) -> None:
    assert cli("parse", stdin=CALL) == Ran(
        0,
        """\
format: hermes
status: ok

text 0-12
  Let me look.

tool call 13-93: get_weather
  ToolCall(get_weather, city='Paris')
""",
        "",
    )


def test_parse_shows_the_errors_of_a_response(cli: Cli) -> None:
    text = 'Hi.\n<tool_call>\n{"name": "get_weather", "arguments": [1]}\n</tool_call>'
    assert cli("parse", stdin=text) == Ran(
        1,
        """\
format: hermes
status: invalid

text 0-3
  Hi.

tool call 4-70: get_weather, invalid
  ToolCall(get_weather, status='invalid')

error[invalid-call]: the arguments of `get_weather` are not a JSON object
  --> hermes:2:1 (offset 4)
   |
 2 | <tool_call>
   | ^^^^^^^^^^^ (to offset 70)
 3 | {"name": "get_weather", "arguments": [1]}
 4 | </tool_call>
   |
   = help: the raw text is kept; nothing was guessed
""",
        "",
    )


def test_parse_shows_every_kind_of_segment(cli: Cli) -> None:
    text = (
        "SUGGESTED_VALUES: [1]\n<think>\nHm.\n</think>\n\x1b[31m Red.\n"
        "Action: wait()\nAction: click(start_box='(1,2)') {\"a\": 1}"
    )
    assert cli("parse", stdin=text) == Ran(
        0,
        r"""format: suggestions
status: ok

payload 0-21: suggested_values
  Payload(suggested_values, [1])

reasoning 30-33
  Hm.

text 43-53
  \x1b[31m Red.

action 62-68: wait
  Wait()

action 77-101: click
  Click(point=Point(1, 2, space='px_smart28'))

json 102-110
  {"a": 1}

note[ambiguous-space]: the space of its points may be px_smart28 or rel1000; they are as the model wrote them
  --> ui_tars:7:9 (offset 77)
   |
 7 | Action: click(start_box='(1,2)') {"a": 1}
   |         ^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = help: name the format, or the space: `Settings(coordinates=…)`
""",
        "",
    )


def test_parse_shows_the_parts_of_an_envelope(cli: Cli) -> None:
    text = '{"toolCalls": [{"id": "c1", "name": "a", "arguments": {}}], "needsMoreWork": false}'
    assert cli("parse", stdin=text).out == (
        "format: json\nstatus: ok\nneeds more work: no\n\ntool call 15-57: a (id c1)\n  ToolCall(a, id='c1')\n"
    )


def test_parse_writes_the_reply_as_json(cli: Cli) -> None:
    assert cli("parse", "-", "--json", stdin=CALL) == Ran(0, parse(CALL).model_dump_json(indent=2) + "\n", "")


def test_parse_reads_a_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "response.txt"
    path.write_bytes(b"Gr\xc3\xbc\xc3\x9fe \xff\r\n")
    assert json.loads(cli("parse", str(path), "--json").out)["raw"] == "Grüße \ufffd\r\n"


@pytest.mark.parametrize("more", [[], ["--stream", "3"]])
@pytest.mark.parametrize("payloads", [False, True])
def test_finish_reason_proves_the_end(cli: Cli, more: list[str], payloads: bool) -> None:
    text = CALL.removesuffix("</tool_call>")
    if payloads:
        text, more = 'SUGGESTED_VALUES: [{"label": "a", "value": "b"}', [
            *more, "--payloads", "outspoken.contrib.table_chat:tables_registry",
        ]  # fmt: skip
    for reason, status in (("stop", "repaired"), ("length", "truncated")):
        ran = cli("parse", "-", "--finish-reason", reason, "--json", *more, stdin=text)
        last = json.loads(ran.out.splitlines()[-1])["reply"] if "--stream" in more else json.loads(ran.out)
        assert last["status"] == status


def test_parse_accepts_a_format_tools_and_a_prefix(cli: Cli, tools: Any) -> None:
    schema = {"name": "get_weather", "parameters": {"properties": {"days": {"type": "string"}}}}
    text = 'Hm.\n</think>\n<invoke name="get_weather"><parameter name="days">3</parameter></invoke>'
    ran = cli(
        "parse", "--format", "claude-xml", "--tools", tools(json.dumps([schema])), "--prefix", r"<think>\n", stdin=text
    )
    assert ran == Ran(
        0,
        """\
format: anthropic_xml
status: ok

reasoning 0-3
  Hm.

tool call 13-85: get_weather
  ToolCall(get_weather, days='3')
""",
        "",
    )


# parse --stream


def test_stream_shows_events_one_a_line(cli: Cli) -> None:
    text = CALL + "\nSUGGESTED_VALUES: [1]\nAction: wait()"
    assert cli("parse", "--stream=40", stdin=text) == Ran(
        0,
        """\
TextDelta('Let me look.')
ToolCallStart(0, None, 'get_weather')
ToolCallDelta(0, '{"city": "Paris"}')
ToolCallEnd(0, ToolCall(get_weather, city='Paris'))
PayloadParsed(Payload(suggested_values, [1]))
ActionParsed(Wait())
Done(Reply(format='hermes'))
""",
        "",
    )


def test_stream_shows_how_a_cut_response_ends(cli: Cli) -> None:
    assert cli("parse", "--stream", stdin=CUT) == Ran(
        1,
        """\
TextDelta('Hi.')
ToolCallStart(0, None, 'get_weather')
ToolCallDelta(0, '{"city": "Pa')
ToolCallUnfinished(0, ToolCall(get_weather, city='Pa', status='truncated'))
Done(Reply(format='hermes', status='truncated'))
""",
        "",
    )


def test_stream_writes_json_lines(cli: Cli) -> None:
    ran = cli("parse", "--stream", "--json", stdin=CALL)
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["type"] for line in lines] == [
        "text_delta", "tool_call_start", "tool_call_delta", "tool_call_end", "done",
    ]  # fmt: skip
    assert lines[1] == {"type": "tool_call_start", "index": 0, "id": None, "name": "get_weather"}
    assert lines[3]["call"] == json.loads(parse(CALL).tool_calls[0].model_dump_json())
    assert lines[4]["reply"] == json.loads(parse(CALL).model_dump_json())


def test_stream_accepts_bytes_that_split_characters(cli: Cli) -> None:
    assert cli("parse", "--stream=1", stdin="é".encode() + b"\xff").out == (
        "TextDelta('é')\nTextDelta('\ufffd')\nDone(Reply(format=None))\n"
    )


def test_stream_shows_events_as_they_come() -> None:
    with subprocess.Popen([*COMMAND, "parse", "--stream"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"Hello")
        process.stdin.flush()
        assert process.stdout.readline() == b"TextDelta('Hello')\n"
        process.stdin.write(b" you")
        process.stdin.close()
        assert process.stdout.read() == b"TextDelta(' you')\nDone(Reply(format=None))\n"
    assert process.returncode == 0


# explain


EXPLAINED = """\
format: hermes (detected)
status: truncated
candidates:
  1. hermes  truncated, claims 95% of the text
  2. json    truncated, claims 76% of the text

text 0-3
  | Hi.

white space 3-4

tool call 4-65: get_weather, truncated
  | <tool_call>
  | {"name": "get_weather", "arguments": {"city": "Pa

error[unclosed-call]: the call of `get_weather` never ends
  --> hermes:2:1 (offset 4)
   |
 2 | <tool_call>
   | ^^^^^^^^^^^ opened here, and the text ends inside it (to offset 65)
 3 | {"name": "get_weather", "arguments": {"city": "Pa
"""


def test_explain_names_the_parts_and_the_candidates(cli: Cli) -> None:
    assert cli("explain", stdin=CUT) == Ran(1, EXPLAINED, "")


def test_explain_writes_json(cli: Cli) -> None:
    ran = cli("explain", "--json", stdin=CUT)
    found = json.loads(ran.out)
    assert (ran.code, found["reply"]) == (1, json.loads(parse(CUT).model_dump_json()))
    assert [(one["format"], one["status"]) for one in found["candidates"]] == [
        ("hermes", "truncated"), ("json", "truncated"),
    ]  # fmt: skip


def test_explain_names_the_format_that_fits_better(cli: Cli, tools: Any) -> None:
    given = tools('[{"name": "get_time"}]')
    assert cli("explain", "--format", "json", "--tools", given, stdin=CALL).out.splitlines()[:5] == [
        "format: json (as requested)",
        "status: ok",
        "candidates:",
        "  1. hermes  ok, claims 88% of the text, calls get_weather (not a given tool)",
        "  2. json    ok, claims 61% of the text, calls get_weather (not a given tool)",
    ]


def test_explain_shows_markup_on_its_own(cli: Cli) -> None:
    assert (
        cli("explain", stdin="Hi\n<think>Hm.</think>\nHo").out
        == """\
format: none, all of it is plain text
status: ok
candidates:
  1. text  ok, claims 82% of the text

text 0-2
  | Hi

markup 2-10
  |
  | <think>

reasoning 10-13
  | Hm.

markup 13-22
  | </think>
  |

text 22-24
  | Ho
"""
    )


def test_explain_shows_the_tree(cli: Cli) -> None:
    text = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert cli("explain", "--tree", stdin=text) == Ran(
        0,
        """\
format: hermes (detected)
status: ok

start 0-59
  TEXT 0-4 'Hi.\\n'
  tool_call 4-59
    _CALL_OPEN 4-15 '<tool_call>'
    _BRACE_OPEN 16-17 '{'
    _NAME_KEY 17-24 '"name":'
    tool_name 25-28
      JSON_STRING 25-28 '"f"'
    _COMMA 28-29 ','
    _ARGUMENTS_KEY 30-42 '"arguments":'
    arguments 43-45
      JSON_VALUE 43-45 '{}'
    _BRACE_CLOSE 45-46 '}'
    _CALL_CLOSE 47-59 '</tool_call>'
""",
        "",
    )


def test_explain_shows_the_tree_of_damage(cli: Cli) -> None:
    ran = cli("explain", "--tree", "--format", "hermes", stdin=CUT)
    assert ran.code == 1
    assert ran.out.splitlines()[:6] == [
        "format: hermes (as requested)",
        "status: truncated",
        "",
        "start 0-65",
        "  TEXT 0-4 'Hi.\\n'",
        "  tool_call (not completed) 4-65",
    ]
    assert "error[unclosed-call]" in ran.out


def test_explain_reports_that_nothing_was_found(cli: Cli) -> None:
    assert cli("explain", stdin="Hi").out == (
        "format: none, all of it is plain text\nstatus: ok\n"
        "candidates: none; every format reads it as plain text\n\ntext 0-2\n  | Hi\n"
    )


def test_explain_can_colour(cli: Cli) -> None:
    coloured = cli("explain", "--color", "always", stdin=CUT).out
    assert "\x1b[32mtool call 4-65: get_weather, truncated\x1b[0m\n" in coloured
    assert "\x1b[31merror[unclosed-call]: the call of `get_weather` never ends\x1b[0m\n" in coloured


def test_colour_needs_no_package(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    coloured = cli("explain", "--color", "always", stdin=CUT)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.out) == EXPLAINED
    assert coloured.out != EXPLAINED
    assert cli("explain", "--color", "auto", stdin=CUT) == Ran(1, EXPLAINED, "")


# formats


def test_formats_are_listed(cli: Cli) -> None:
    ran = cli("formats")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()[::3]] == [info.name for info in formats()]
    width = max(len(info.name) for info in formats())
    for info in formats():
        lines = [info.title, f"models: {', '.join(info.models)}", f"aliases: {', '.join(info.aliases) or 'none'}"]
        shown = [f"{name:<{width}}  {line}" for name, line in zip((info.name, "", ""), lines, strict=True)]
        assert "\n".join(shown) in ran.out


def test_formats_are_listed_as_json(cli: Cli) -> None:
    listed = json.loads(cli("formats", "--json").out)
    assert listed == [json.loads(info.model_dump_json()) for info in formats()]


# wrong use


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--json", "parse"],
            "`outspoken` itself has no option `--json`; options follow the command, as in `outspoken parse --json`",
        ),
        (["prase", "a.txt"], "there is no command `prase`; did you mean `parse`?"),
        (["fly"], "there is no command `fly` (`outspoken --help` lists the commands)"),
        (["grammar", "chekc", "a.lark"], "there is no command `chekc`; did you mean `check`?"),
        (["parse", "--fromat", "hermes"], "there is no option `--fromat`; did you mean `--format`?"),
        (["parse", "--fly"], "there is no option `--fly` (`outspoken parse --help` lists the options)"),
        (
            ["report", "a", "b"],
            "`outspoken report` takes no further argument `b`; quote a value that has spaces "
            "(see `outspoken report --help`)",
        ),
        (["parse", "--stream=a.txt"], "--stream: `a.txt` is not a whole number from 1 on"),
        (["parse", "--stream=0"], "--stream: `0` is not a whole number from 1 on"),
        (["parse", "--repair", "notaton"], "--repair: `notaton` is unknown; did you mean `notation`?"),
        (
            ["parse", "--repair", "9"],
            "--repair: `9` is unknown; expected none, notation, structure, strings, heuristic",
        ),
        (["parse", "--screen", "wide"], "--screen: `wide` is no size; write it as 1280x720"),
        (["parse", "--screen", "0x5"], "--screen: `0x5` is no size; write it as 1280x720"),
        (["parse", "--format"], "`--format` needs a value; see `outspoken parse --help`"),
        (["parse", "--json=1"], "`--json` takes no value"),
        (["parse", "-t", "a", "b.txt"], "`--text` is a response already; leave out `b.txt`, or the option"),
        (
            ["constrain", "hermes"],
            "`outspoken constrain` needs `--target NAME` (one of llguidance, xgrammar, ebnf, gbnf, outlines, "
            "vllm, sglang, llama_cpp); see `outspoken constrain --help`",
        ),
        (["constrain", "--target", "gbnf"], "`outspoken constrain` needs FORMAT; see `outspoken constrain --help`"),
        (["parse", "/no/such/file"], "cannot read `/no/such/file`: No such file or directory"),
        (["parse", "/no/such/file", "--stream"], "cannot read `/no/such/file`: No such file or directory"),
        (["parse", "--stream", "/no/such/file"], "cannot read `/no/such/file`: No such file or directory"),
        (["explain", "/"], "cannot read `/`: Is a directory; `outspoken batch` reads folders"),
        (["parse", "a\0b"], "cannot read `a\\x00b`: embedded null byte"),
        (["parse", "--tools", "/no/such/file"], "cannot read `/no/such/file`: No such file or directory"),
    ],
)
def test_wrong_use_prints_one_line(cli: Cli, arguments: list[str], message: str) -> None:
    assert cli(*arguments) == Ran(2, "", f"outspoken: error: {message}\n")


@pytest.mark.parametrize("command", [["parse"], ["parse", "--stream"], ["explain"]])
def test_an_unknown_format_is_named_with_the_nearest(cli: Cli, command: list[str]) -> None:
    ran = cli(*command, "--format", "hermess")
    assert ran.code == 2
    assert ran.err.startswith("outspoken: error: there is no format `hermess`; did you mean `hermes`")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[{"name": "f",\n  parameters: {}}]',
            ":2:3: this is not JSON: Expecting property name enclosed in double quotes",
        ),
        ("[" * 100_000, ": this JSON is nested too deeply"),
        ("", ":1:1: this is not JSON: the file is empty"),
        ('{"name": "f"}', ": `tools` is a dict; expected a list of tools"),
        ('[{"name": "f"}, 3]', f": `tools[1]` is an int; expected {ONE_TOOL}"),
    ],
)
def test_errors_in_tools_name_their_place(cli: Cli, tools: Any, text: str, message: str) -> None:
    path = tools(text)
    assert cli("parse", "--tools", path) == Ran(2, "", f"outspoken: error: {path}{message}\n")


def test_version_is_printed(cli: Cli) -> None:
    for spelled in ("--version", "-V"):
        assert cli(spelled) == Ran(0, f"outspoken {__version__}\n", "")


def test_closed_output_pipe_is_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text('{"a": 1}\n' * 20_000, "utf-8")
    with subprocess.Popen([*COMMAND, "parse", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"format: json\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_parse_respects_the_repair_limit(cli: Cli) -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": 1,}}</tool_call>'
    assert "status: repaired" in cli("parse", stdin=text).out
    assert "status: repaired" in cli("parse", "--repair", "notation", stdin=text).out
    strict = cli("parse", "--repair", "none", stdin=text)
    assert (strict.code, "status: invalid" in strict.out) == (1, True)
