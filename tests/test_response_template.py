"""`load_format`: response templates and grammars that a caller brings along."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from outspoken import (
    Done,
    GrammarError,
    MessageError,
    UnknownFormatError,
    formats,
    load_format,
    parse,
    parse_message,
    registry,
    render,
    stream,
)
from outspoken.response_template import grammar_of
from outspoken.template_fields import Template
from outspoken.template_patterns import Split, bounded, parts_of, written

VECTORS = Path("/work/shared/conformance/peers/hf_response_template.jsonl")
CALL = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
BRACES: dict[str, Any] = {
    "start_anchor": ["[model]\n", "[/result]"],
    "fields": {
        "thinking": {"open": "[thought]", "close": "[/thought]"},
        "tool_calls": {
            "open_pattern": r"\[call\]\s*use (?P<name>\w+)",
            "close": "[/call]",
            "repeats": True,
            "content": "json",
            "content_args": {"unquoted_keys": True, "string_delims": [["~", "~"]]},
            "transform": CALL,
        },
        "content": {"close": "[end]"},
    },
}
TAGS: dict[str, Any] = {
    "start_anchor": "[model]",
    "fields": {
        "content": {},
        "tool_calls": {
            "open_pattern": r"<call>\s*<use=(?P<name>\w+)>",
            "close": "</call>",
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"<set=(?P<key>\w+)>\s*(?P<value>.*?)\s*</set>"},
            "transform": CALL,
        },
    },
}
LINES: dict[str, Any] = {
    "start_anchor_pattern": r"\[model \d+\]",
    "fields": {
        "tool_calls": {
            "open_pattern": r"<call (?P<name>\w+)>\n",
            "close": "</call>",
            "content": "kv-lines",
            "content_args": {"value_parser": {"name": "json", "args": {"allow_non_json": True}}},
            "transform": CALL,
        }
    },
}
LIST: dict[str, Any] = {
    "start_anchor": "<bot>",
    "fields": {
        "content": {"open": ["<say>", "<tell>"], "close": ["</say>", "</say>\n"]},
        "reasoning": {"open_pattern": r"(?:^|<plan>\s*)", "close": "</plan>"},
        "tool_calls": {
            "open": "<do>", "close": "</do>", "content": "json", "transform_each": True,
            "transform": {"function": {"name": "{tool}", "arguments": "{with}"}},
        },
    },
}  # fmt: skip


def everything(name: str, text: str, **options: Any) -> tuple[str, str, list[tuple[str, dict[str, Any]]]]:
    """What a text says, which is the same in single characters."""
    reply = parse(text, name, **options)
    end = list(stream(list(text), name, **options))[-1]
    assert isinstance(end, Done)
    assert end.reply == reply
    return reply.text, reply.reasoning or "", [(call.name, call.arguments) for call in reply.tool_calls]


def test_objects_in_braces() -> None:
    name = load_format(BRACES, "own-braces")
    assert name == "own_braces"
    text = "[thought]\nThey want a book.\n[/thought]Here: "
    text += "[call]use find-book{title:~Mosses [/call] {~,year:2011}[/call][end]"
    call = ("find-book", {"title": "Mosses [/call] {", "year": 2011})
    assert everything(name, text) == ("Here:", "They want a book.", [call])
    prompt = "[model]\n[thought]Old.[/thought][call]use a{}[/call][/result]\n[thought]"
    assert everything(name, "New.[/thought]Yes.", prefix=prompt) == ("Yes.", "New.", [])
    assert parse(text).format == name
    assert name in [info.name for info in formats()]
    assert render({"name": "f", "arguments": {"a": "x", "b": [1]}}, name) == "[call]use f{a:~x~,b:[1]}[/call]"


def test_values_in_tags() -> None:
    name = load_format(TAGS, "own_tags")
    text = "Now.\n<call>\n<use=set_timer>\n<set=minutes>\n4\n</set>\n"
    text += "<set=label>\na </set> b\n</set>\n</use>\n</call>\nDone."
    assert everything(name, text) == ("Now.Done.", "", [("set_timer", {"minutes": "4", "label": "a </set> b"})])
    schema = {"type": "object", "properties": {"minutes": {"type": "integer"}}}
    tools = [{"name": "set_timer", "parameters": schema}]
    assert everything(name, text, tools=tools)[2] == [("set_timer", {"minutes": 4, "label": "a </set> b"})]
    assert render({"name": "f", "arguments": {"a": "x"}}, name) == "<call><use=f><set=a>x</set></use>\n</call>"


def test_values_in_lines() -> None:
    name = load_format(LINES, "own_lines")
    text = "<call set_timer>\nminutes: 4\nlabel: green tea\n</call>"
    assert everything(name, text) == ("", "", [("set_timer", {"minutes": 4, "label": "green tea"})])
    assert everything(name, "<call list_rooms>\n</call>")[2] == [("list_rooms", {})]
    assert everything(name, "4\n</call>", prefix="[model 1]<call a>\nb: 1\n</call>[model 22]<call c>\nd: ")[2] == [
        ("c", {"d": 4})
    ]


def test_a_list_of_calls_and_reasoning_without_opener() -> None:
    name = load_format(LIST, "own_list")
    text = 'They want two.</plan><tell>Both.</say><do>[{"tool": "a", "with": {}}, {"with": {"x": 1}, "tool": "b"}]</do>'
    assert everything(name, text) == ("Both.", "They want two.", [("a", {}), ("b", {"x": 1})])
    assert everything(name, "<plan>Short.</plan><say>One.</say>") == ("One.", "Short.", [])


def test_a_file_with_a_template(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"eos_token": "[end]", "response_template": TAGS}), "utf-8")
    assert load_format(path, "own_file") == "own_file"
    assert parse("<call><use=f></use></call>", "own_file").tool_calls[0].name == "f"
    path.write_text("{", "utf-8")
    with pytest.raises(GrammarError, match="cannot be read"):
        load_format(path, "own_file_2")


GRAMMAR = """\
// format:  own_grammar
// title:   Calls after an arrow
// models:  none
// aliases: own-arrow
// source:  made up

start: (TEXT | think | tool_call)*
tool_call: _ARROW TOOL_NAME arguments _CALL_CLOSE
arguments: JSON_OBJECT

_ARROW: "\\n-> " | "-> "
_CALL_CLOSE: ";"

%import .shared.text (TEXT, TOOL_NAME)
%import .shared.think.think
%import .shared.json.JSON_OBJECT
%import common.WS
%ignore WS
"""


def test_a_grammar_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own_grammar.lark"
    path.write_text(GRAMMAR, "utf-8")
    assert load_format(path) == load_format(path, "own-grammar") == "own_grammar"
    assert everything("own_arrow", 'Now\n-> f{"a": 1};')[2] == [("f", {"a": 1})]
    path.write_text(GRAMMAR.replace("own_grammar", "own_broken").replace("arguments: JSON_OBJECT", ""), "utf-8")
    with pytest.raises(GrammarError, match=r"own_grammar\.lark"):
        load_format(path)
    with pytest.raises(ValueError, match="calls itself"):
        load_format(path, "another")
    with pytest.raises(GrammarError, match="cannot be read"):
        load_format(tmp_path / "none.lark")


def test_names() -> None:
    load_format(TAGS, "own_name")
    assert load_format(TAGS, "Own.Name") == "own_name"
    with pytest.raises(ValueError, match="another format"):
        load_format(BRACES, "own_name")
    for taken in ("hermes", "deepseek-v31"):
        with pytest.raises(ValueError, match="another format"):
            load_format(TAGS, taken)
    with pytest.raises(ValueError, match="pass `name`"):
        load_format(TAGS)
    with pytest.raises(GrammarError, match="no name of a format"):
        load_format(TAGS, "1 b")
    with pytest.raises(UnknownFormatError):
        parse("", "own_nothing")


def test_formats_are_added_while_others_are_read() -> None:
    """Every thread sees its own format at once, and none is disturbed by what the others add."""
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(2):
                name = load_format({**TAGS, "start_anchor": f"[{number}]"}, f"own_thread_{number}")
                text = f"<call><use=f{turn}></use></call>"
                assert [call.name for call in parse(text, name).tool_calls] == [f"f{turn}"]
                assert parse('<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>').tool_calls[0].name == "g"
                assert name in registry.names()
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def changed(template: dict[str, Any], field: str, **keys: Any) -> dict[str, Any]:
    """A template with some keys of a field changed; None takes one away."""
    kept = {key: value for key, value in {**template["fields"].get(field, {}), **keys}.items() if value is not None}
    return {**template, "fields": {**template["fields"], field: kept}}


CALLS = "fields.tool_calls"
ARGS = "fields.tool_calls.content_args"


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ([], ""),
        ({**TAGS, "version": 2}, "version"),
        ({**TAGS, "anchor": "x"}, "anchor"),
        ({"fields": TAGS["fields"]}, "start_anchor"),
        ({"start_anchor": "x"}, "fields"),
        ({**TAGS, "start_anchor": []}, "start_anchor"),
        ({**TAGS, "fields": {"content": "text"}}, "fields.content"),
        ({**TAGS, "defaults": []}, "defaults"),
        (changed(TAGS, "citation", open="<c>"), "fields.citation.close"),
        (changed(TAGS, "cited = x", open="<c>", close="</c>"), "fields.cited = x"),
        (changed(TAGS, "citation", open="<c>", close="</c>", content="yaml"), "fields.citation.content"),
        (changed(TAGS, "citation", open_pattern="<c", close=">", transform={"a": "{b}"}), "fields.citation.transform"),
        (changed(TAGS, "citation", open="<c>", close=">", transform=["to {content}"]), "fields.citation.transform"),
        (changed(TAGS, "citation", open_pattern="<(?P<a>x)", close=">"), "fields.citation.transform"),
        (changed(TAGS, "citation", open="<c", close=">", transform_each=True), "fields.citation.transform"),
        (changed(TAGS, "citation", open_pattern="<(", close=">"), "fields.citation.open_pattern"),
        (changed(TAGS, "citation", open="<c", close=">", content="int", repeats=True, join=""), "fields.citation.join"),
        (changed(TAGS, "cited", open="<c", close=">", content_args={"strip": False}), "fields.cited.content_args.strip"),
        (changed(TAGS, "thinking", close="</t>"), "fields.thinking.open"),
        (changed(TAGS, "thinking", open="<t>"), "fields.thinking.close"),
        (changed(TAGS, "thinking", open="", close="</t>"), "fields.thinking.open"),
        (changed(TAGS, "thinking", open=["<t>", 1], close="</t>"), "fields.thinking.open"),
        (changed(TAGS, "thinking", open="<t>", open_pattern="<t>", close="</t>"), "fields.thinking.open"),
        (changed(TAGS, "thinking", open="<t>", close_pattern="(</t>", join=None), "fields.thinking.close_pattern"),
        (changed(TAGS, "thinking", open="<t>", close="</t>", content="json"), "fields.thinking.content"),
        (changed(TAGS, "content", join=" "), "fields.content.join"),
        (changed(TAGS, "content", color="red"), "fields.content.color"),
        (changed(TAGS, "content", transform={"a": "{content}"}), "fields.content.transform"),
        (changed(LIST, "thinking", open="<r>", close="</r>"), "fields.thinking"),
        (changed(TAGS, "tool_calls", content="int"), f"{CALLS}.content"),
        (changed(TAGS, "tool_calls", transform={"a": 1}), f"{CALLS}.transform.function.name"),
        (changed(TAGS, "tool_calls", transform="{name}"), f"{CALLS}.transform"),
        (changed(TAGS, "tool_calls", open_pattern="<call>"), f"{CALLS}.open_pattern"),
        (changed(TAGS, "tool_calls", open_pattern="<(?P<a>x)(?P<name>y)>"), f"{CALLS}.open_pattern"),
        (changed(TAGS, "tool_calls", content_args={"merge_duplicates": True}), f"{ARGS}.merge_duplicates"),
        (changed(TAGS, "tool_calls", content_args={"tag_pattern": "<x>"}), f"{ARGS}.tag_pattern"),
        (changed(BRACES, "tool_calls", content_args={"string_delims": [["<", ">"]]}), f"{ARGS}.string_delims"),
        (changed(LIST, "tool_calls", transform={"name": "{a.b}", "arguments": "{c.d}"}), f"{CALLS}.transform"),
    ],
)  # fmt: skip
def test_what_cannot_be_expressed_is_refused_with_its_key(template: Any, key: str) -> None:
    with pytest.raises(GrammarError) as caught:
        grammar_of(Template(template, "some"), "some")
    assert caught.value.path == "response template `some`" + (f", key `{key}`" if key else "")


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (r"<a>\s*<b=(?P<name>\w+)>", Split(r"<a>\s*<b=", r"\w+", ">")),
        (r"(?P<name>[^(]+)\((?:x|y)", Split("", "[^(]+", r"\((?:x|y)")),
        (r"(?:(?P<name>a))", None),
        (r"a|(?P<name>b)", None),
        ("a", None),
    ],
)
def test_expressions_are_taken_apart(source: str, parts: Split | None) -> None:
    assert parts_of(source, "name") == parts


@pytest.mark.parametrize(
    ("source", "short", "text"),
    [
        (r"<a>\s*<b", r"<a>\s{0,99}<b", "<a><b"),
        (r"a[*+]+\*b*?", r"a[*+]{1,200}\*b{0,200}?", None),
        (r"(?:x|y)?[^<]*<z>", r"(?:x|y)?[^<]{0,200}<z>", "<z>"),
        (r"(?P<n>a)+", r"(?:a){1,200}", "a"),
    ],
)
def test_expressions_are_bounded_and_spelled(source: str, short: str, text: str | None) -> None:
    assert (bounded(source), written(source)) == (short, text)


#: Where the vectors ask for something else, by a part of their names: why.
DIFFERENCES = {
    "every_chunking#2": "the opener that a template itself names is no part of the reasoning",
    "fixed_chunking#2": "as for every_chunking#2",
    "merge_duplicates": "the arguments of a call are sent as they come, before it is known that one comes again",
    "never_reworks_already_typed_values#1": "a schema that asks for text gets the text that was written",
}


def test_the_vectors_of_transformers() -> None:
    """What `parse_message` returns is what transformers returns, and it fails where transformers does."""
    other: list[str] = []
    rows = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()] if VECTORS.exists() else []
    for number, row in enumerate(rows):
        if not _is_as_expected(row, f"vector_{number}"):
            part = next((part for part in DIFFERENCES if part in row["id"]), None)
            assert part is not None, row["id"]
            other.append(part)
    assert not rows or set(other) == set(DIFFERENCES)
    assert not rows or len(other) == 5


def _is_as_expected(row: dict[str, Any], name: str) -> bool:
    expected = row["expected"]
    try:
        load_format(row["template"], name)
        everything(name, row["input"], tools=row["tools"], prefix=row["prefix"] or None)
        message = parse_message(row["input"], name, prefix=row["prefix"], tools=row["tools"])
    except (GrammarError, MessageError):
        return bool(expected.get("error"))
    return message == expected.get("message")
