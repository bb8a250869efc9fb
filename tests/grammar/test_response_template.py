"""`load_format`: response templates and grammars that a caller brings along."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import outspoken
from outspoken.grammar import registry
from outspoken.grammar.header import read_header
from outspoken.grammar.response_template import grammar_of
from outspoken.grammar.template_fields import Split, Template, bounded, parts_of, written
from outspoken.rendering import MessageError, parse_message
from tests.loops import in_one_item, in_threads
from tests.tables import beside, tables

TABLES = tables(__file__)

pytestmark = pytest.mark.usefixtures("other_grammars")

TAGS: dict[str, Any] = TABLES["TAGS"]


def loaded(template: str) -> str:
    """The name of the format that is made of a template of the tables."""
    return outspoken.load_format(TABLES[template], name=f"own_{template.lower()}")


def everything(name: str, text: str, **options: Any) -> tuple[str, str, list[tuple[str, dict[str, Any]]]]:
    """What a text says, which is the same in single characters."""
    reply = outspoken.parse(text, format=name, **options)
    end = list(outspoken.stream(list(text), format=name, **options))[-1]
    assert isinstance(end, outspoken.Done)
    assert end.reply == reply
    return reply.text, reply.reasoning or "", [(call.name, call.arguments) for call in reply.tool_calls]


@pytest.mark.parametrize(("template", "text", "options", "said"), TABLES["READ"])
def test_responses_are_read(template: str, text: str, options: dict[str, Any], said: list[Any]) -> None:
    content, reasoning, calls = everything(loaded(template), text, **options)
    assert [content, reasoning, [list(call) for call in calls]] == said


@pytest.mark.parametrize(("template", "call", "text"), TABLES["RENDERED"])
def test_calls_are_rendered(template: str, call: dict[str, Any], text: str) -> None:
    assert outspoken.render(call, format=loaded(template)) == text


def test_a_template_is_a_format_among_others() -> None:
    name = outspoken.load_format(TABLES["BRACES"], name="own-braces")
    assert name == "own_braces"
    assert outspoken.parse("[call]use find-book{title:~Mosses~}[/call]").format == name
    assert name in [info.name for info in outspoken.formats()]


def test_repeated_arguments_become_lists() -> None:
    tag = r"<set=(?P<key>\w+)>(?P<value>.*?)</set>"
    name = outspoken.load_format(
        changed(TAGS, "tool_calls", content_args={"tag_pattern": tag, "merge_duplicates": True}), name="own_merged"
    )
    text = '<call><use=alarm><set=hour>7</set><set=label>"</set><set=hour>9</set><set=hour>[1]</set></use></call>'
    assert everything(name, text)[2] == [("alarm", {"hour": ["7", "9", "[1]"], "label": '"'})]
    (call,) = outspoken.parse(text, format=name).tool_calls
    assert call.arguments_text == '{"hour": ["7", "9", "[1]"], "label": "\\""}'
    events = list(outspoken.stream(list(text), format=name))
    assert "".join([e.arguments for e in events if isinstance(e, outspoken.ToolCallDelta)]) == call.arguments_text
    schema = {"type": "object", "properties": {"hour": {"type": "integer"}}}
    once = text.replace("<set=hour>[1]</set>", "")
    assert outspoken.parse(once, format=name, tools=[{"name": "alarm", "parameters": schema}]).tool_calls[0].arguments[
        "hour"
    ] == [7, 9]
    (cut,) = outspoken.parse(text[: text.index("<set=hour>[1]") + 12], format=name).unfinished_tool_calls
    assert cut.arguments == {"hour": ["7", "9"], "label": '"'}
    assert json.loads(cut.arguments_text + "}") == cut.arguments
    call = {"name": "alarm", "arguments": {"hour": [7, 9]}}
    assert (
        outspoken.parse(
            outspoken.render(call, format=name), format=name, tools=[{"name": "alarm", "parameters": {}}]
        ).status
        == "ok"
    )
    with pytest.raises(outspoken.GrammarError, match="`repeated` cannot be `first`"):
        read_header("// format:  x\n// repeated: first\n", "x.lark")


def test_fields_of_other_names_are_payloads() -> None:
    name = loaded("FIELDS")
    text = 'Now <score>\n 4 </score><data>{"a": "</data>"}</datum> then <cite book=Lichens>Grey </b> crust </cite>.'
    reply = outspoken.parse(text, format=name)
    payloads = [(payload.type, payload.data) for payload in reply.payloads]
    assert payloads == [("score", "4"), ("data", {"a": "</data>"}), ("cited", "Grey </b> crust")]
    assert (reply.text, reply.status) == ("Now  then .", "ok")
    assert text[slice(*reply.payloads[0].span)] == "<score>\n 4 </score>"
    for events in (list(outspoken.stream(list(text), format=name)), list(outspoken.stream([text], format=name))):
        assert [e.payload for e in events if isinstance(e, outspoken.PayloadParsed)] == reply.payloads
        assert events[-1] == outspoken.Done(reply)
    assert outspoken.render(reply.payloads[:2], format=name) == '<score>\n4</score><data>{"a": "</data>"}</data>'
    assert outspoken.render(outspoken.Payload(type="data", data="a", span=(0, 0)), format=name) == '<data>"a"</data>'
    for other in (reply.payloads[2], outspoken.Payload(type="rank", data="1", span=(0, 0))):
        with pytest.raises(outspoken.RenderError, match="payload"):
            outspoken.render(other, format=name)
    cut = outspoken.parse("<score>\n4", format=name)
    assert (cut.text, cut.payloads, cut.status) == ("<score>\n4", [], "truncated")


@pytest.mark.parametrize(("template", "text", "options", "message"), TABLES["MESSAGES"])
def test_messages(template: str, text: str, options: dict[str, Any], message: dict[str, Any]) -> None:
    assert parse_message(text, format=loaded(template), **options) == message


def test_what_began_in_the_prompt_is_no_payload() -> None:
    prompt = "[bot]<score>\n1</score>[bot]<score>\n2</score><say>It is"
    assert outspoken.parse(" so.</say>", format=loaded("FIELDS"), prefix=prompt).payloads == []


def test_a_call_that_never_ends_has_no_message() -> None:
    cut = '<do>{"name": "a", "arguments": {}}'
    with pytest.raises(MessageError, match="never ends") as caught:
        parse_message(cut, format=loaded("WHOLE"))
    assert caught.value.reply.unfinished_tool_calls[0].name == "a"
    with pytest.raises(ValueError, match="not loaded from a response template"):
        parse_message(cut, format="hermes")


def test_a_message_has_the_types_and_shapes_of_its_template() -> None:
    name = loaded("FIELDS")
    values = TABLES["A_MESSAGE_HAS_THE_TYPES_AND_SHAPES_OF_ITS"]
    for text, fields in values.items():
        assert parse_message(f"{text}<say>Yes.</say>", format=name) == {
            "role": "assistant",
            "content": "Yes.",
            **fields,
        }


@pytest.mark.parametrize(("text", "key", "why"), TABLES["ERRORS_NAME_THE_FIELD"])
def test_errors_name_the_field(text: str, key: str, why: str) -> None:
    name = loaded("FIELDS")
    with pytest.raises(MessageError, match=why) as caught:
        parse_message(text, format=name)
    assert (caught.value.key, caught.value.reply.raw) == (key, text)


def test_calls_in_objects_of_their_own() -> None:
    template = changed(
        TABLES["LIST"],
        "tool_calls",
        transform={"id": "{id}", "function": {"name": "{do.fn.tool}", "arguments": "{do.fn.args}"}},
    )
    name = outspoken.load_format(template, name="own_nested")
    text = '<do>[{"id": 7, "do": {"x": {"do": 1}, "fn": {"args": {"a": [1]}, "tool": "look"}, "y": 0}, "z": {}}]</do>'
    assert everything(name, text, prefix="") == ("", "", [("look", {"a": [1]})])
    call = {"id": 7, "function": {"name": "look", "arguments": {"a": [1]}}}
    assert parse_message(f"<plan></plan>{text}", format=name) == {"tool_calls": [call]}
    with pytest.raises(MessageError, match="there is no `id`"):
        parse_message('<plan></plan><do>[{"do": {"fn": {"tool": "look", "args": {}}}}]</do>', format=name)
    assert (
        outspoken.render({"name": "f", "arguments": {}}, format=name)
        == '</plan><do>[{"do": {"fn": {"tool": "f", "args": {}}}}]</do>'
    )


def test_name_belongs_to_one_template() -> None:
    name = loaded("FIELDS")
    template = {**TABLES["FIELDS"], "defaults": {"role": "model"}}
    with pytest.raises(ValueError, match="another format"):
        outspoken.load_format(template, name=name)


def test_a_file_with_a_template(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"eos_token": "[end]", "response_template": TAGS}), "utf-8")
    assert outspoken.load_format(path, name="own_file") == "own_file"
    assert outspoken.parse("<call><use=f></use></call>", format="own_file").tool_calls[0].name == "f"
    path.write_text("{", "utf-8")
    with pytest.raises(outspoken.GrammarError, match="cannot be read"):
        outspoken.load_format(path, name="own_file_2")


def test_a_grammar_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own_grammar.lark"
    path.write_text(TABLES["GRAMMAR"], "utf-8")
    assert outspoken.load_format(path) == outspoken.load_format(path, name="own-grammar") == "own_grammar"
    assert everything("own_arrow", 'Now\n-> f{"a": 1};')[2] == [("f", {"a": 1})]
    path.write_text(
        TABLES["GRAMMAR"].replace("own_grammar", "own_broken").replace("arguments: JSON_OBJECT", ""), "utf-8"
    )
    with pytest.raises(outspoken.GrammarError, match=r"own_grammar\.lark"):
        outspoken.load_format(path)
    with pytest.raises(ValueError, match="calls itself"):
        outspoken.load_format(path, name="another")
    with pytest.raises(outspoken.GrammarError, match="cannot be read"):
        outspoken.load_format(tmp_path / "none.lark")


def test_names() -> None:
    outspoken.load_format(TAGS, name="own_name")
    assert outspoken.load_format(TAGS, name="Own.Name") == "own_name"
    with pytest.raises(ValueError, match="another format"):
        outspoken.load_format(TABLES["BRACES"], name="own_name")
    for taken in ("hermes", "deepseek-v31"):
        with pytest.raises(ValueError, match="another format"):
            outspoken.load_format(TAGS, name=taken)
    with pytest.raises(ValueError, match="pass `name`"):
        outspoken.load_format(TAGS)
    with pytest.raises(outspoken.GrammarError, match="is not a valid name"):
        outspoken.load_format(TAGS, name="1 b")
    with pytest.raises(outspoken.UnknownFormatError):
        outspoken.parse("", format="own_nothing")


def test_formats_are_added_while_others_are_read() -> None:
    """Every thread sees its own format at once, and none is disturbed by what the others add."""

    def work(number: int) -> None:
        for turn in range(2):
            name = outspoken.load_format({**TAGS, "start_anchor": f"[{number}]"}, name=f"own_thread_{number}")
            text = f"<call><use=f{turn}></use></call>"
            assert [call.name for call in outspoken.parse(text, format=name).tool_calls] == [f"f{turn}"]
            assert (
                outspoken.parse('<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>').tool_calls[0].name == "g"
            )
            assert name in registry.names()

    in_threads([partial(work, number) for number in range(4)])


def changed(template: dict[str, Any], field: str, **keys: Any) -> dict[str, Any]:
    """A template with some keys of a field changed; None takes one away."""
    kept = {key: value for key, value in {**template["fields"].get(field, {}), **keys}.items() if value is not None}
    return {**template, "fields": {**template["fields"], field: kept}}


@in_one_item("key, base, field, keys", TABLES["UNSUPPORTED"])
def test_unsupported_templates_are_rejected_with_their_key(
    key: str, base: str, field: str, keys: dict[str, Any]
) -> None:
    template = TABLES.get(base, {})
    made = changed(template, field, **keys) if field else {**template, **keys}
    _refused({name: value for name, value in made.items() if value is not None}, key)


def test_a_template_is_a_dict() -> None:
    _refused([], "")


def _refused(template: Any, key: str) -> None:
    with pytest.raises(outspoken.GrammarError) as caught:
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
def test_split_expressions(source: str, parts: Split | None) -> None:
    assert parts_of(source, "name") == parts


@pytest.mark.parametrize(("source", "short", "text"), TABLES["BOUNDED_AND_SPELLED_OUT_EXPRESSIONS"])
def test_bounded_and_spelled_out_expressions(source: str, short: str, text: str | None) -> None:
    assert (bounded(source), written(source)) == (short, text)


def test_the_vectors_of_transformers() -> None:
    """What `parse_message` returns is what transformers returns, and it fails where transformers does."""
    rows = beside("peers/hf_response_template.jsonl")
    differ = [row["id"] for number, row in enumerate(rows) if not _is_as_expected(row, f"vector_{number}")]
    # `007` is no number as written, so an integer that is written so stays text
    assert [name.rpartition("::")[2] for name in differ] in (
        [],
        ["test_qwen3_tools_coerces_strings_left_by_value_parser#2"],
    )


@pytest.mark.parametrize(("text", "thought"), TABLES["OPENER_AFTER_THE_START_IS_MARKUP_FOR_PARSE"])
def test_opener_after_the_start_is_markup_for_parse_and_text_for_parse_message(text: str, thought: str) -> None:
    fields = {"thinking": {"open_pattern": r"(?:^|<plan>\s*)", "close": "</plan>"}}
    name = outspoken.load_format({"start_anchor": "[bot]", "fields": fields}, name="own_beginning")
    assert everything(name, text)[1] == thought
    assert parse_message(text, format=name) == {"thinking": text.removesuffix("</plan>")}


def test_message_types_follow_the_template_and_reply_types_the_schema() -> None:
    name = outspoken.load_format(TABLES["LINES"], name="own_lines")
    types = {"label": {"type": "string"}, "note": {"type": "string"}, "minutes": {"type": "integer"}}
    tools = [{"name": "set_timer", "parameters": {"type": "object", "properties": types}}]
    text = "<call set_timer>\nlabel: 1.50\nnote: tea\nminutes: 4\n</call>"
    given = {"label": "1.50", "note": "tea", "minutes": 4}
    assert everything(name, text, tools=tools)[2] == [("set_timer", given)]
    message = parse_message(text, format=name, tools=tools)
    assert message["tool_calls"]["function"]["arguments"] == {**given, "label": 1.5}


def _is_as_expected(row: dict[str, Any], name: str) -> bool:
    expected = row["expected"]
    try:
        outspoken.load_format(row["template"], name=name)
        everything(name, row["input"], tools=row["tools"], prefix=row["prefix"] or None)
        options: dict[str, Any] = {"prefix": row["prefix"], "tools": row["tools"], "finish_reason": "stop"}
        message = parse_message(row["input"], format=name, **options)
    except (outspoken.GrammarError, MessageError):
        return bool(expected.get("error"))
    return message == expected.get("message")
