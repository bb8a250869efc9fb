"""A new format is written from responses, from a chat template, from another format, or with blanks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from outspoken import Reasoning, Text, parse, render
from outspoken.authoring.check import check
from outspoken.authoring.new_format import main
from outspoken.authoring.new_format.messages import MESSAGES
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import Case, cases, sources
from outspoken.grammar import registry
from outspoken.grammar.registry import compiled_path

OWN = Checkout()
#: What `check` says of a format that was just written: what its author fills in, and what other tools write.
LEFT = {"missing-field", "stale-compiled", "stale-snapshot", "shared-opener", "no-cases", "other-spelling"}


#: The formats that are there already.
HERE = {
    "anthropic_xml",
    "deepseek_v3",
    "deepseek_v3_1",
    "function_calls_json",
    "glm_4_5",
    "harmony",
    "hermes",
    "json",
    "kimi_k2",
    "pythonic",
    "qwen3_coder",
    "text",
    "token_markers",
    "ui_tars",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with some grammars, and no corpus."""
    made = Checkout(tmp_path)
    shutil.copytree(OWN.grammars, made.grammars, ignore=shutil.ignore_patterns("pages", "*.md"))
    for name in made.names():
        if name not in HERE:
            made.grammar(name).unlink()
            compiled_path(made.grammar(name)).unlink()
    return made


def run(checkout: Checkout, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments), checkout)
    out, err = capsys.readouterr()
    return code, out, err


def responses(folder: Path, texts: dict[str, str]) -> list[str]:
    """Files with responses in a folder; their paths."""
    for name, text in texts.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    return [str(folder / f"{name}.txt") for name in texts]


def lines(checkout: Checkout, name: str) -> int:
    """How many lines a grammar has besides its example."""
    header = registry.header(name)
    return len(checkout.grammar(name).read_text("utf-8").splitlines()) - len(header.example.splitlines())


def streamed(case: Case) -> Any:
    session = case.session()
    for character in case.text:
        session.feed(character)
    session.close()
    return session.reply


def sound(checkout: Checkout, name: str) -> list[Case]:
    """The cases of a format that was just written, once all that must hold of them is checked."""
    written = cases(checkout, name)
    with checkout.in_use():
        assert registry.header(name).format == name
        assert lines(checkout, name) <= 30
        for case in written:
            reply = case.parse()
            assert bool(reply.diagnostics) == (case.kind == "err"), case
            assert streamed(case) == reply, case
        assert registry.header(name).example in "\n".join(case.text for case in written)
    assert sorted(sources(checkout, name)) == sorted(case.name for case in written)
    assert all(entry["origin"] for entry in sources(checkout, name).values())
    assert {diagnostic.code for diagnostic in check(checkout, name)} <= LEFT
    return written


# from responses

ONE, TWO = ("get_weather", {"city": "Paris"}), ("find_hotels", {"area": "Montmartre", "stars": 3})

#: By family: the format that has it, and the same calls with other markup: one call, and text with two calls.
FAMILIES: dict[str, tuple[str, str, str]] = {
    "json_in_tags": (
        "hermes",
        '<fn>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</fn>',
        'Let me see.\n<fn>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</fn>\n'
        '<fn>\n{"name": "find_hotels", "arguments": {"area": "Montmartre", "stars": 3}}\n</fn>',
    ),
    "json_behind_a_token": (
        "hermes",
        '[CALL]{"name": "get_weather", "arguments": {"city": "Paris"}}',
        'Let me see.[CALL]{"name": "get_weather", "arguments": {"city": "Paris"}}'
        '[CALL]{"name": "find_hotels", "arguments": {"area": "Montmartre", "stars": 3}}',
    ),
    "json_list": (
        "function_calls_json",
        '<|jobs|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|/jobs|>',
        'Let me see.<|jobs|>[{"name": "get_weather", "arguments": {"city": "Paris"}}, '
        '{"name": "find_hotels", "arguments": {"area": "Montmartre", "stars": 3}}]<|/jobs|>',
    ),
    "list_behind_a_word": (
        "function_calls_json",
        'jobs[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
        'Let me see. jobs[{"name": "get_weather", "arguments": {"city": "Paris"}}, '
        '{"name": "find_hotels", "arguments": {"area": "Montmartre", "stars": 3}}]',
    ),
    "name_is_the_key": (
        "function_calls_json",
        '<|jobs|>[{"get_weather": {"city": "Paris"}}]<|/jobs|>',
        'Let me see.<|jobs|>[{"get_weather": {"city": "Paris"}}, '
        '{"find_hotels": {"area": "Montmartre", "stars": 3}}]<|/jobs|>',
    ),
    "name_then_json": (
        "deepseek_v3_1",
        '<|call|>get_weather<|args|>{"city": "Paris"}<|end|>',
        'Let me see.<|call|>get_weather<|args|>{"city": "Paris"}<|end|>'
        '<|call|>find_hotels<|args|>{"area": "Montmartre", "stars": 3}<|end|>',
    ),
    "name_then_json_without_an_end": (
        "deepseek_v3_1",
        '[USE]get_weather[WITH]{"city": "Paris"}',
        'Let me see.[USE]get_weather[WITH]{"city": "Paris"}[USE]find_hotels[WITH]{"area": "Montmartre", "stars": 3}',
    ),
    "section_tokens": (
        "deepseek_v3_1",
        '<|calls|><|one|>get_weather<|with|>{"city": "Paris"}<|/one|><|/calls|>',
        'Let me see.<|calls|><|one|>get_weather<|with|>{"city": "Paris"}<|/one|>'
        '<|one|>find_hotels<|with|>{"area": "Montmartre", "stars": 3}<|/one|><|/calls|>',
    ),
    "numbered_tokens": (
        "kimi_k2",
        '<|calls|><|one|>functions.get_weather:0<|with|>{"city": "Paris"}<|/one|><|/calls|>',
        'Let me see.<|calls|><|one|>functions.get_weather:0<|with|>{"city": "Paris"}<|/one|>'
        '<|one|>functions.find_hotels:1<|with|>{"area": "Montmartre", "stars": 3}<|/one|><|/calls|>',
    ),
    "xml_parameters": (
        "qwen3_coder",
        "<my:use>\n<tool=get_weather>\n<arg=city>Paris</arg>\n</tool>\n</my:use>",
        "Let me see.\n<my:use>\n<tool=get_weather>\n<arg=city>Paris</arg>\n</tool>\n</my:use>\n"
        "<my:use>\n<tool=find_hotels>\n<arg=area>Montmartre</arg>\n<arg=stars>3</arg>\n</tool>\n</my:use>",
    ),
    "xml_attributes": (
        "anthropic_xml",
        '<jobs>\n<job name="get_weather">\n<with name="city">Paris</with>\n</job>\n</jobs>',
        'Let me see.\n<jobs>\n<job name="get_weather">\n<with name="city">Paris</with>\n</job>\n'
        '<job name="find_hotels">\n<with name="area">Montmartre</with>\n<with name="stars">3</with>\n</job>\n</jobs>',
    ),
    "pairs": (
        "glm_4_5",
        "<do>get_weather\n<k>city</k>\n<v>Paris</v>\n</do>",
        "Let me see.\n<do>get_weather\n<k>city</k>\n<v>Paris</v>\n</do>\n"
        "<do>find_hotels\n<k>area</k>\n<v>Montmartre</v>\n<k>stars</k>\n<v>3</v>\n</do>",
    ),
    "pythonic": (
        "pythonic",
        "<|py|>[get_weather(city='Paris')]<|/py|>",
        "Let me see.<|py|>[get_weather(city='Paris'), find_hotels(area='Montmartre', stars=3)]<|/py|>",
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_from_responses(family: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    like, one, two = FAMILIES[family]
    name_ = f"my_{family}"
    code, out, err = run(checkout, capsys, name_, "--from", *responses(tmp_path, {"one": one, "two": two}))
    assert (code, err) == (0, "")
    assert out.startswith(f"calls are built as in `{like}`, with other markup in ")
    assert "\n2 of 2 responses read without complaint, 3 calls\n" in out
    written = {case.name: case for case in sound(checkout, name_)}
    assert {name: case.kind for name, case in written.items()} == {
        "one": "ok",
        "two": "ok",
        "cut_inside_arguments": "err",
    }
    assert (written["one"].text, written["two"].text) == (one, two)
    with checkout.in_use():
        for name, calls, text in (("one", [ONE], ""), ("two", [ONE, TWO], "Let me see.")):
            reply = written[name].parse()
            assert [(call.name, call.arguments) for call in reply.tool_calls] == calls
            assert reply.text.strip() == text
            said: list[Any] = [Text(text=text, span=(0, 0))] if text else []
            again = render([*said, *reply.tool_calls], name_)
            assert again.split() == written[name].text.split()
        alone = parse(f"{one} Done.", name_)
        assert [(call.name, call.arguments) for call in alone.tool_calls] == [ONE]
        assert alone.text.strip() == "Done."


def test_the_whole_report(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, one, _ = FAMILIES["section_tokens"]
    code, out, _ = run(checkout, capsys, "calls_one", "--from", *responses(tmp_path, {"First one": one}))
    assert code == 0
    assert out == (
        "calls are built as in `deepseek_v3_1`, with other markup in 5 places:\n"
        "  call open: '<|one|>' for '<｜tool▁call▁begin｜>'\n"
        "  section open: '<|calls|>' for '<｜tool▁calls▁begin｜>'\n"
        "  before the object: '<|with|>' for '<｜tool▁sep｜>'\n"
        "  call close: '<|/one|>' for '<｜tool▁call▁end｜>'\n"
        "  section close: '<|/calls|>' for '<｜tool▁calls▁end｜>'\n"
        "1 of 1 response read without complaint, 1 call\n"
        "no response has two calls in a row: what stands between them is not known\n"
        "\n"
        "written: 4 files\n"
        "  grammars/calls_one.lark\n"
        "  tests/corpus/calls_one/ok/first_one.txt\n"
        "  tests/corpus/calls_one/err/cut_inside_arguments.txt\n"
        "  tests/corpus/calls_one/sources.toml\n"
        "\n"
        "next:\n"
        "  edit grammars/calls_one.lark\n"
        "      fill in what the header leaves open\n"
        "  python -m tools.check calls_one\n"
        "      what is wrong or missing\n"
        "  python -m tools.show calls_one tests/corpus/calls_one/ok/first_one.txt\n"
        "      how a response is read\n"
        "  ./tools/test tests/test_formats.py -k calls_one --snapshot-update\n"
        "      then read the snapshot\n"
        "  python -m tools.compile\n"
        "      so that users need no Lark\n"
        "  python -m tools.docs\n"
        "      the table of formats, and the pages\n"
    )
    sound(checkout, "calls_one")


def test_the_whole_grammar(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, one, two = FAMILIES["xml_parameters"]
    run(checkout, capsys, "my_use", "--from", *responses(tmp_path, {"one": one, "two": two}))
    text = checkout.grammar("my_use").read_text("utf-8")
    source = text.splitlines()[3]
    assert source.startswith("// source:  responses one.txt, two.txt, read on 20")
    assert text == "\n".join(
        [
            "// format:  my_use",
            "// title:   Tagged arguments in my_use_tool",
            "// models:",
            source,
            "// trim:    text, reasoning",
            "// example:",
            *[f"//   {line}" for line in one.splitlines()],
            "",
            "start: (TEXT | code | think | tool_call)*",
            "tool_call: _CALL_OPEN _TOOL_OPEN TOOL_NAME _NAME_CLOSE argument* _TOOL_CLOSE _CALL_CLOSE",
            "argument: _ARGUMENT_OPEN ARG_NAME _VALUE_OPEN ARG_VALUE _VALUE_CLOSE",
            "",
            '_CALL_OPEN: "\\n<my:use>\\n" | "<my:use>"',
            '_TOOL_OPEN: "<tool="',
            '_NAME_CLOSE: ">\\n" | ">"',
            '_ARGUMENT_OPEN: "<arg="',
            '_VALUE_OPEN: ">"',
            '_VALUE_CLOSE: "</arg>\\n" | /<\\/arg>(?=\\s{0,99}(?:<arg=|<\\/tool>))/',
            '_TOOL_CLOSE: "</tool>\\n" | "</tool>"',
            '_CALL_CLOSE: "</my:use>"',
            "",
            "%import .shared.text (TOOL_NAME, ARG_NAME, ARG_VALUE, TEXT)",
            "%import .shared.code.code",
            "%import .shared.think.think",
            "%import common.WS",
            "%ignore WS",
            "",
        ]
    )


def test_reasoning_in_responses(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "<my:think>I look.</my:think>\n" + FAMILIES["xml_parameters"][1]
    assert run(checkout, capsys, "thinks", "--from", *responses(tmp_path, {"a": text}))[0] == 0
    [case] = [case for case in sound(checkout, "thinks") if case.kind == "ok"]
    with checkout.in_use():
        assert (case.parse().reasoning, len(case.parse().tool_calls)) == ("I look.", 1)


def test_a_damaged_response_lies_in_err(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {"good": FAMILIES["name_then_json"][1], "bad": '<|call|>f<|args|>{"a": 1,}<|end|>'}
    code, out, _ = run(checkout, capsys, "mixed", "--from", *responses(tmp_path, texts))
    assert code == 0
    assert (
        "1 of 2 responses read without complaint, 2 calls\n"
        "`bad` is not read as it should be, and lies in `err`:\n"
        "  mixed:1:25 trailing-comma: a comma with nothing after it was dropped\n"
    ) in out
    assert {case.name: case.kind for case in sound(checkout, "mixed")}["bad"] == "err"


def test_bytes_are_kept(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = FAMILIES["json_in_tags"][1].replace("\n", "\r\n") + "\n"
    assert run(checkout, capsys, "crlf", "--from", *responses(tmp_path, {"a": text}))[0] == 0
    assert (checkout.corpus / "crlf" / "ok" / "a.txt").read_bytes() == text.encode()


def test_end_of_turn_token_is_not_markup(
    checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FAMILIES["json_in_tags"][1] + "<|im_end|>"
    assert run(checkout, capsys, "ended", "--from", *responses(tmp_path, {"a": text}))[0] == 0
    rules = checkout.grammar("ended").read_text("utf-8").partition("\n\n")[2]
    assert "im_end" not in rules


# with a format that is named


def test_responses_like_a_format(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = responses(tmp_path, {"one": FAMILIES["name_then_json"][1]})
    code, out, _ = run(checkout, capsys, "calls", "--like", "deepseek_v3_1", "--from", *files)
    assert code == 0
    assert out.startswith("calls are built as in `deepseek_v3_1`, with other markup in 5 places:\n")
    sound(checkout, "calls")


UNLIKE = {
    "kimi_k2": "new_format: nothing was written: there are no calls in the responses that are built as those of "
    "`kimi_k2`; without `--from`, a skeleton is written to fill in\n",
    "harmony": "new_format: nothing was written: `harmony` is more than markup round the parts of a call, so no other "
    "markup can be put in its place; leave out `--from` to copy its grammar\n",
}


@pytest.mark.parametrize(("like", "message"), UNLIKE.items())
def test_responses_unlike_any_format(
    like: str, message: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = responses(tmp_path, {"one": FAMILIES["name_then_json"][1]})
    assert run(checkout, capsys, "calls", "--like", like, "--from", *files) == (1, "", message)
    assert not checkout.grammar("calls").exists()


@pytest.mark.parametrize("like", ["anthropic_xml", "harmony", "json", "kimi_k2", "ui_tars"])
def test_a_copy(like: str, checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(checkout, capsys, "copied", "--like", like)
    assert code == 0
    assert out.startswith(f"the grammar of `{like}` under another name\n")
    with checkout.in_use():
        header, first = registry.header("copied"), registry.header(like)
        assert (header.example, header.trim, header.actions) == (first.example, first.trim, first.actions)
        assert (header.title, header.models, header.aliases, header.source) == ("", (), (), "")
        [case] = [case for case in cases(checkout, "copied") if case.kind == "ok"]
        assert case.text == header.example
        assert case.parse().diagnostics == []


# without anything


def test_blank(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(checkout, capsys, "unknown_one")
    assert code == 0
    assert out.startswith(
        "the markup is made up: replace it by what the model writes\n\n"
        "written: 4 files\n"
        "  grammars/unknown_one.lark\n"
        "  tests/corpus/unknown_one/ok/one_call.txt\n"
        "  tests/corpus/unknown_one/err/cut_inside_arguments.txt\n"
        "  tests/corpus/unknown_one/sources.toml\n"
    )
    assert {case.name for case in sound(checkout, "unknown_one")} == {"one_call", "cut_inside_arguments"}


# what is refused, and what is there already


def test_responses_that_a_format_reads(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    files = responses(tmp_path, {"a": text, "b": text + "\n" + text, "c": "No call."})
    assert run(checkout, capsys, "known", "--from", *files) == (
        0,
        "`hermes` reads all 3 responses already: add the model to its header\n"
        "nothing was written; `--force` writes a format of its own all the same\n",
        "",
    )
    assert not checkout.grammar("known").exists()
    code, out, _ = run(checkout, capsys, "known", "--force", "--from", *files)
    assert code == 0
    assert out.startswith("`hermes` reads all 3 responses already\ncalls are written as in `hermes`\n3 of 3 responses")


HOSTILE = {
    "prose": "I cannot call <b>tools</b> today, nor {anything}.",
    "json": "{}",
    "tags": "<a><b></b></a>" * 50,
    "open": "<" * 300 + "{" * 300,
    "quotes": '<a>{"name": "' * 40,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_calls(text: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(checkout, capsys, "nothing", "--from", *responses(tmp_path, {"a": text})) == (
        1,
        "",
        "new_format: nothing was written: there are no calls in the responses that are built as those of a format "
        "that is here; without `--from`, a skeleton is written to fill in\n",
    )
    assert not checkout.grammar("nothing").exists()
    assert not checkout.corpus.exists()


WRONG: dict[str, tuple[list[str], str]] = {
    "no_name": ([], "the following arguments are required: NAME"),
    "capitals": (["Mine"], "`Mine` is no name for a format: small letters, digits and `_`, beginning with a letter"),
    "banned": (["common"], "a grammar cannot be called `common`: Lark has its own"),
    "there": (["hermes"], "`grammars/hermes.lark` is there already, and nothing is overwritten"),
    "unknown_like": (
        ["mine", "--like", "hermos"],
        "there is no format `hermos`; did you mean `hermes`? (`outspoken formats` lists all 14 names)",
    ),
    "missing": (["mine", "--from", "nowhere.txt"], "cannot read `nowhere.txt`: No such file or directory"),
    "no_template": (["mine", "--template", "nowhere"], "cannot read `nowhere`: No such file or directory"),
    "both": (
        ["mine", "--template", "a", "--from", "b"],
        "`--template` says all that `--from` and `--like` could; give it alone",
    ),
    "option": (["mine", "--unlike", "x"], "unrecognized arguments: --unlike x"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_wrong_use(arguments: list[str], message: str, checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(checkout, capsys, *arguments) == (2, "", f"new_format: {message}\n")


@pytest.mark.parametrize(
    ("content", "message"), [(b"\xff\xfe", "`{path}` is no text in UTF-8"), (b" \n", "`{path}` is empty")]
)
def test_wrong_files(
    content: bytes, message: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    said = f"new_format: {message.format(path=path)}\n"
    assert run(checkout, capsys, "mine", "--from", str(path)) == (2, "", said)


def test_nothing_is_overwritten(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout.corpus / "mine").mkdir(parents=True)
    said = "new_format: `tests/corpus/mine` is there already, and nothing is overwritten\n"
    assert run(checkout, capsys, "mine") == (2, "", said)
    assert not checkout.grammar("mine").exists()


# from a chat template

TEMPLATE = """\
{%- for m in messages %}
{{- '<|turn|>' + m.role + '\\n' }}
{%- if m.reasoning_content %}{{ THOUGHT }}{% endif %}
{{- m.content or '' }}
CALLS
{{- '<|over|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|turn|>assistant\\n' }}{% endif %}
"""
EACH = "{%- for c in m.tool_calls or [] %}{{- BODY }}{% endfor %}"
LISTED = (
    "{%- if m.tool_calls %}{{- OPEN }}{% for c in m.tool_calls %}{{- '' if loop.first else BETWEEN }}{{- BODY }}"
    "{% endfor %}{{- CLOSE }}{% endif %}"
)
ARGUMENTS = "(c.function.arguments | tojson)"
VALUE = "(v if v is string else v | tojson)"
PAIRS = "HEAD }}{%- for k, v in c.function.arguments | items %}{{- PAIR }}{% endfor %}{{- TAIL"


def filled(template: str, **parts: str) -> str:
    for name, part in parts.items():
        template = template.replace(name, part)
    return template


#: By the way of writing calls: the template, and how many of its messages are written back to the byte.
TEMPLATES: dict[str, tuple[str, str, int]] = {
    "json_in_tags": (
        "'<mull>\\n' + m.reasoning_content + '\\n</mull>\\n'",
        filled(EACH, BODY="'\\n<act>\\n' + (c.function | tojson) + '\\n</act>'"),
        10,
    ),
    "tokens": (
        "'<|mull|>' + m.reasoning_content + '<|/mull|>'",
        filled(EACH, BODY=f"'<|call|>' + c.function.name + '<|in|>' + {ARGUMENTS} + '<|/call|>'"),
        11,
    ),
    "ids": (
        "'[THINK]' + m.reasoning_content + '[/THINK]'",
        filled(EACH, BODY=f"'[TOOL]' + c.function.name + '[ID]' + c.id + '[INPUT]' + {ARGUMENTS}"),
        11,
    ),
    "numbers": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(EACH, BODY=f"'<|go|>' + c.function.name + '#' ~ loop.index0 ~ '<|in|>' + {ARGUMENTS} + '<|stop|>'"),
        11,
    ),
    "section": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            LISTED,
            OPEN="'<|acts|>'",
            BETWEEN="''",
            BODY=f"'<|act|>' + c.function.name + '<|with|>' + {ARGUMENTS} + '<|/act|>'",
            CLOSE="'<|/acts|>'",
        ),
        11,
    ),
    "array": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            LISTED,
            OPEN="'<todo>['",
            BETWEEN="', '",
            BODY="{'name': c.function.name, 'arguments': c.function.arguments} | tojson",
            CLOSE="']</todo>'",
        ),
        11,
    ),
    "name_as_key": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            LISTED,
            OPEN="'<todo>['",
            BETWEEN="', '",
            BODY="{c.function.name: c.function.arguments} | tojson",
            CLOSE="']</todo>'",
        ),
        11,
    ),
    "lines": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            EACH,
            BODY=filled(PAIRS, HEAD="'\\n<<' + c.function.name", PAIR=f"'\\n' + k + ': ' + {VALUE}", TAIL="'\\n>>'"),
        ),
        11,
    ),
    "raw_values": (
        "'<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n'",
        filled(
            EACH,
            BODY=filled(
                PAIRS,
                HEAD="'\\n<use>\\n<tool:' + c.function.name + '>\\n'",
                PAIR=f"'<arg:' + k + '>\\n' + {VALUE} + '\\n</arg>\\n'",
                TAIL="'</tool>\\n</use>'",
            ),
        ),
        10,
    ),
    "pairs": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            EACH,
            BODY=filled(
                PAIRS,
                HEAD="'<do>' + c.function.name",
                PAIR=f"'<k>' + k + '</k><v>' + {VALUE} + '</v>'",
                TAIL="'</do>'",
            ),
        ),
        11,
    ),
    "typed_values": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            EACH,
            BODY=filled(
                PAIRS,
                HEAD="'<do tool=\"' + c.function.name + '\">'",
                PAIR=f"'<with key=\"' + k + ('\" text=\"yes\">' if v is string else '\">') + {VALUE} + '</with>'",
                TAIL="'</do>'",
            ),
        ),
        11,
    ),
    "python": (
        "'<think>' + m.reasoning_content + '</think>'",
        filled(
            LISTED,
            OPEN="'<|py|>['",
            BETWEEN="', '",
            BODY=filled(
                PAIRS,
                HEAD="c.function.name + '('",
                PAIR="('' if loop.first else ', ') + k + '=' + (v | tojson)",
                TAIL="')'",
            ),
            CLOSE="']<|/py|>'",
        ),
        11,
    ),
}


def template(thought: str, calls: str, tmp_path: Path) -> str:
    path = tmp_path / "vendor.jinja"
    path.write_text(TEMPLATE.replace("THOUGHT", thought).replace("CALLS", calls), "utf-8")
    return str(path)


@pytest.mark.parametrize("way", TEMPLATES)
def test_from_a_template(way: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thought, calls, exact = TEMPLATES[way]
    code, out, err = run(checkout, capsys, f"my_{way}", "--template", template(thought, calls, tmp_path))
    assert (code, err) == (0, "")
    assert out.startswith(f"11 of 11 messages read as meant; {exact} written back to the byte\n")
    written = {case.name: case for case in sound(checkout, f"my_{way}") if case.kind == "ok"}
    assert set(written) == set(MESSAGES)
    with checkout.in_use():
        for name, case in written.items():
            message, reply = MESSAGES[name], case.parse()
            assert [(c.name, c.arguments) for c in reply.tool_calls] == [(c.name, c.arguments) for c in message.calls]
            assert reply.text.strip() == message.text
            assert (reply.reasoning or "").strip() == message.reasoning
        two = written["two_calls"]
        assert render(two.parse(), f"my_{way}") == two.text.lstrip("\n")
        said = [Reasoning(text="Hm.", span=(0, 0)), Text(text="Yes.", span=(0, 0))]
        assert parse(render(said, f"my_{way}"), f"my_{way}").reasoning == "Hm."


def test_arguments_as_text(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = filled(EACH, BODY="'<|call|>' + c.function.name + '<|in|>' + c.function.arguments + '<|/call|>'")
    code, out, _ = run(checkout, capsys, "as_text", "--template", template("''", calls, tmp_path))
    assert code == 0
    assert out.startswith(
        "11 of 11 messages read as meant; 11 written back to the byte\n"
        "the template does not write reasoning beside a call\n"
        "the template does not write reasoning\n"
    )
    sound(checkout, "as_text")


def test_reasoning_opened_by_the_prompt(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thought, calls, _ = TEMPLATES["json_in_tags"]
    path = Path(template(thought, calls, tmp_path))
    path.write_text(path.read_text("utf-8").replace("'<|turn|>assistant\\n' }}", "'<|turn|>assistant\\n<mull>\\n' }}"))
    assert run(checkout, capsys, "opened", "--template", str(path))[0] == 0
    written = {case.name: case for case in sound(checkout, "opened")}
    assert written["reasoning_then_text"].options == {"prefix": "<mull>\n"}
    assert written["reasoning_then_text"].text == "The user asks about today.\n</mull>\nIt is sunny."
    assert written["one_call"].options == {}


def test_a_known_template(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = filled(EACH, BODY="'\\n<tool_call>\\n' + (c.function | tojson) + '\\n</tool_call>'")
    path = template("'<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n'", calls, tmp_path)
    assert run(checkout, capsys, "known", "--template", path) == (
        0,
        "`hermes` reads all that the template writes already: add the model to its header\n"
        "nothing was written; `--force` writes a format of its own all the same\n",
        "",
    )
    assert run(checkout, capsys, "known", "--force", "--template", path)[0] == 0
    sound(checkout, "known")


def test_unreadable_turns_are_left_out(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The template writes lists and booleans as Python does, where bare text is JSON or nothing."""
    calls = filled(
        EACH,
        BODY=filled(PAIRS, HEAD="'<do>' + c.function.name", PAIR="'<k>' + k + '</k><v>' ~ v ~ '</v>'", TAIL="'</do>'"),
    )
    code, out, _ = run(checkout, capsys, "loose", "--template", template("''", calls, tmp_path))
    assert code == 0
    assert "written back otherwise, or not at all: values\n" in out
    assert "the template does not write reasoning" in out
    sound(checkout, "loose")


NOT_UNDERSTOOD = {
    "no_calls": ("", "no call can be found: the name of the tool, `get_weather`, is not written"),
    "no_arguments": (
        filled(EACH, BODY="'<a>' + c.function.name + '</a>'"),
        'the arguments of `get_weather`, {"city": "Paris"}, are not written',
    ),
    "no_markup": (
        filled(EACH, BODY=f"c.function.name + ' ' + {ARGUMENTS} + '; '"),
        "nothing marks where a call begins",
    ),
    "changing": (
        filled(EACH, BODY=f"'<' + c.function.name + '>' + {ARGUMENTS} + '</' + c.function.name + '>'"),
        "the markup behind the last call differs: '</get_weather>' and '</find_hotels>'",
    ),
}


@pytest.mark.parametrize(("calls", "message"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_unsupported_template(
    calls: str, message: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = template("''", calls, tmp_path)
    assert run(checkout, capsys, "mine", "--template", path) == (1, "", f"new_format: nothing was written: {message}\n")
    assert not checkout.grammar("mine").exists()


BROKEN = {
    "{% if %}": (2, "{path}: line 1: this is not a template: Expected an expression, got 'end of statement block'"),
    "{{ raise_exception('no tools here') }}": (1, "nothing was written: no tools here"),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.items())
def test_a_broken_template(
    text: str, said: tuple[int, str], checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.jinja"
    path.write_text(text, "utf-8")
    message = f"new_format: {said[1].format(path=path)}\n"
    assert run(checkout, capsys, "mine", "--template", str(path)) == (said[0], "", message)


def test_a_tokenizer_configuration(checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    thought, calls, exact = TEMPLATES["tokens"]
    source = TEMPLATE.replace("THOUGHT", thought).replace("CALLS", calls).replace("'<|over|>\\n'", "eos_token")
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": source, "eos_token": "<|fin|>"}), "utf-8")
    code, out, _ = run(checkout, capsys, "configured", "--template", str(path))
    assert code == 0
    assert out.startswith(f"11 of 11 messages read as meant; {exact} written back to the byte\n")
    assert not any("<|fin|>" in case.text for case in sound(checkout, "configured"))


#: Responses of which a nearest format would lose something: an argument, a call, or markup.
LOSSY = {
    "keys_as_tags": [
        '<invoke tool="f"><city>Paris</city><unit>c</unit></invoke>',
        '<invoke tool="f"><city>Rome</city></invoke>',
    ],
    "two_notations": [
        '<run>{"name": "f", "arguments": {"a": 1}}</run>',
        'Now <exec>f {"a": 1}</exec>',
    ],
    "object_behind_a_colon": ['get_weather: {"city": "Paris"}', 'Hi.\nget_weather: {"city": "Paris"}\nother: {"a": 1}'],
}


@pytest.mark.parametrize("name", LOSSY)
def test_responses_of_which_something_would_be_lost(
    name: str, checkout: Checkout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No grammar is written that reads a response without a diagnostic and loses a part of it."""
    code, _, err = run(checkout, capsys, "lossy", "--from", *responses(tmp_path, dict(enumerate_names(LOSSY[name]))))
    assert code == 1
    assert err.startswith("new_format: nothing was written: ")
    assert not checkout.grammar("lossy").exists()


def enumerate_names(texts: list[str]) -> list[tuple[str, str]]:
    return [(f"response_{number}", text) for number, text in enumerate(texts)]
