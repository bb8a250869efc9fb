"""`Parser` and `Session`: options are given once, and arguments of wrong types are refused by name."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import outspoken
from outspoken import Done, Parser, Screen, Settings, UnknownFormatError, astream, load_format, parse, render, stream
from outspoken.actions import ElementRef, PageContext, Point
from outspoken.parsing.inspection import detect
from outspoken.parsing.prompt_prefix import PromptEnd
from outspoken.processing import ResponseProcessor, parse_actions
from tests.tables import tables

TABLES = tables(__file__)

CALL = '<tool_call>\n{"name": "moor", "arguments": {"berth": 7}}\n</tool_call>'
OPEN = CALL.removesuffix("\n</tool_call>")
CLICK = "Thought: There.\nAction: click(start_box='(500,250)')"


async def _later(chunks: list[str]) -> AsyncIterator[str]:
    for chunk in chunks:
        yield chunk


def _collect(events: AsyncIterator[Any]) -> list[Any]:
    async def run() -> list[Any]:
        return [event async for event in events]

    return asyncio.run(run())


def test_a_parser_gives_what_the_shorthands_give() -> None:
    options: dict[str, Any] = {"screen": Screen(1920, 1080), "repair": "structure"}
    parser = Parser("ui_tars_1_0", **options)
    reply = parser.parse(CLICK)
    assert reply == parse(CLICK, format="ui_tars_1_0", **options)
    assert [action.point for action in reply.actions if action.type == "click"] == [Point(x=960, y=270)]
    events = list(parser.stream(list(CLICK)))
    assert events[-1] == Done(reply)
    assert events == list(stream(list(CLICK), format="ui_tars_1_0", **options))
    assert events == _collect(parser.astream(_later(list(CLICK))))
    assert events == _collect(astream(_later(list(CLICK)), format="ui_tars_1_0", **options))
    session = parser.session()
    assert [*[event for char in CLICK for event in session.feed(char)], *session.close()] == events


def test_a_parser_reads_many_responses() -> None:
    parser = Parser("hermes", tools=[{"name": "moor", "parameters": {"type": "object"}}])
    for text in (CALL, OPEN, "", CALL):
        assert parser.parse(text) == parse(text, format="hermes", tools=parser.tools)
    assert (parser.format, repr(parser)) == ("hermes", "Parser('hermes')")
    assert (Parser("qwen2.5").format, Parser().format) == ("hermes", "auto")


class _Reason(str, Enum):
    STOP = "stop"


@pytest.mark.parametrize("reason", ["stop", "end_turn", _Reason.STOP], ids=repr)
def test_the_finish_reason_closes_a_call_whole_and_streamed(reason: str) -> None:
    reply = parse(OPEN, format="hermes", finish_reason=reason)
    assert [call.status for call in reply.tool_calls] == ["repaired"]
    for given in (reason, lambda: reason):
        assert list(stream([OPEN], format="hermes", finish_reason=given))[-1] == Done(reply)
        assert _collect(astream(_later([OPEN]), format="hermes", finish_reason=given))[-1] == Done(reply)
        session = Parser("hermes").session()
        session.feed(OPEN)
        assert session.close(given)[-1] == Done(reply)


def test_a_finish_reason_that_is_a_function_is_called_at_the_end() -> None:
    state: list[str | None] = [None]

    def chunks() -> Any:
        yield OPEN
        state[0] = "stop"

    (*_, last) = stream(chunks(), format="hermes", finish_reason=lambda: state[0])
    assert isinstance(last, Done)
    assert len(last.reply.tool_calls) == 1
    (*_, last) = stream([OPEN], format="hermes", finish_reason=lambda: None)
    assert isinstance(last, Done)
    assert last.reply.tool_calls == []


def test_the_prefix_of_a_stream_is_read_as_of_a_whole_text() -> None:
    text = "It floats.</think>Yes."
    reply = parse(text, format="hermes", prefix="<think>\n")
    assert (reply.reasoning, reply.text) == ("It floats.", "Yes.")
    assert list(stream(list(text), format="hermes", prefix="<think>\n"))[-1] == Done(reply)
    assert _collect(astream(_later(list(text)), format="hermes", prefix="<think>\n"))[-1] == Done(reply)


@pytest.mark.parametrize("format_", ["hermes", "auto"])
def test_text_may_be_bytes_or_missing(format_: str) -> None:
    text = CALL.replace("berth", "Liegeplatz für Fähren")
    assert parse(text.encode(), format=format_) == parse(text, format=format_)
    mutable: Any = bytearray(text, "utf-8")
    assert parse(mutable, format=format_) == parse(text, format=format_)
    assert parse(b"caf\xe9", format=format_).text == "caf\ufffd"
    assert parse(None, format=format_) == parse("", format=format_)
    pieces = [text.encode()[i : i + 3] for i in range(0, len(text.encode()), 3)]
    assert list(stream([None, *pieces, "", None], format=format_))[-1] == Done(parse(text, format=format_))
    assert detect(None) == detect(b"") == []


_TEXT, _SETTINGS = "expected str, bytes or None", "expected Settings or None"
_SEGMENTS = "expected a Reply, segments, or dicts with `name` and `arguments`"
#: The call, the wrong value, and the message.
WRONG: list[tuple[Callable[[Any], object], Any, str]] = [
    (parse, {"content": "x"}, f"`text` is a dict; {_TEXT}"),
    (parse, ["x"], f"`text` is a list; {_TEXT}"),
    (detect, 5, f"`text` is an int; {_TEXT}"),
    (lambda x: parse("x", prefix=x), 5, f"`prefix` is an int; {_TEXT}"),
    (lambda x: list(stream([x])), {}, f"`chunk` is a dict; {_TEXT}"),
    (lambda x: parse("x", format=x), None, "`format` is None; expected str"),
    (lambda x: parse("x", format=x), ["hermes"], "`format` is a list; expected str"),
    (lambda x: render(x, format="hermes"), 5, f"`what` is an int; {_SEGMENTS}"),
    (lambda x: render(x, format="hermes"), "f()", f"`what` is a str; {_SEGMENTS}"),
    (outspoken.load_format, 5, "`source` is an int; expected a path or a response template as a dict"),
    (outspoken.load_format, None, "`source` is None; expected a path or a response template as a dict"),
    (lambda x: render([], format=x), b"hermes", "`format` is bytes; expected str"),
    (lambda x: Parser(settings=x), {"max_chars": 5}, f"`settings` is a dict; {_SETTINGS}"),
    (lambda x: Parser(settings=x), Settings, f"`settings` is the class `Settings`; {_SETTINGS}"),
    (lambda x: render([], format="hermes", settings=x), {}, f"`settings` is a dict; {_SETTINGS}"),
    (lambda x: Parser(screen=x), (1, 2), "`screen` is a tuple; expected Screen or None"),
    (lambda x: parse("x", finish_reason=x), True, "`finish_reason` is a bool; expected str or None"),
    (lambda x: list(stream([], finish_reason=x)), lambda: 5, "`finish_reason` is an int; expected str or None"),
    (stream, "abc", "`chunks` is a str; expected an iterable of chunks (for a whole response, call `parse`)"),
    (stream, None, "`chunks` is None; expected an iterable of chunks"),
    (astream, ["x"], "`chunks` is a list; expected an asynchronous iterable of chunks (else: `stream`)"),
    (stream, _later([]), "`chunks` is asynchronous; call `astream`"),
    (lambda x: Parser(tools=x), {"name": "moor"}, "`tools` is a dict; expected a list of tools"),
]


@pytest.mark.parametrize(("call", "value", "message"), WRONG, ids=[f"{n} {one[2][:28]}" for n, one in enumerate(WRONG)])
def test_arguments_of_wrong_types_are_refused_by_name(call: Callable[[Any], object], value: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call(value)
    assert str(caught.value) == message


def test_a_parser_refuses_wrong_values_when_it_is_made() -> None:
    with pytest.raises(UnknownFormatError, match="did you mean `hermes`"):
        Parser("hermess")
    wrong: Any = "all"
    with pytest.raises(ValueError, match='`repair` is \'all\'; expected one of "none", "notation"'):
        Parser(repair=wrong)
    with pytest.raises(ValueError, match='`on_error` is \'all\'; expected "keep" or "raise"'):
        Parser(on_error=wrong)


def test_the_shorthands_see_formats_that_are_added_later() -> None:
    with pytest.raises(UnknownFormatError):
        parse("x", format="parser_test")
    outspoken.load_format({"start_anchor": "<|m|>", "fields": {"content": {"close": "<|end|>"}}}, name="parser_test")
    assert parse("Moss.<|end|>", format="parser_test").text == "Moss."


def test_every_public_name_can_be_imported_and_is_listed() -> None:
    names: list[str] = vars(outspoken)["__all__"]
    assert all(getattr(outspoken, name) is not None for name in names)
    assert len(names) <= 46
    assert set(names) <= set(dir(outspoken))
    with pytest.raises(AttributeError, match="module 'outspoken' has no attribute 'StreamParser'"):
        getattr(outspoken, "StreamParser")  # noqa: B009


#: What says nothing: single markers, which many formats may have, and pairs of markers, which name the format.
SAYS_NOTHING = TABLES["SAYS_NOTHING"]


def test_one_marker_that_says_nothing_names_no_format_and_more_do() -> None:
    for text, format_ in SAYS_NOTHING.items():
        reply = parse(text)
        assert (reply.format, reply.status, reply.diagnostics) == (format_, "ok", []), text
        for size in (1, 4, 30):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            assert list(stream(pieces))[-1] == Done(reply), (text, size)


# the end of a prompt


def test_markup_of_a_prompt_that_was_repeated_is_not_waited_for() -> None:
    end = PromptEnd("", "<think>\n", True)
    beginnings = ("", "\n", "<thi", "<think>", " <think>\n", "<think>a", "b")
    assert [end.is_open(text) for text in beginnings] == [True, True, True, False, False, False, False]


def test_what_a_prompt_opens_is_not_shared_by_responses(other_grammars: None, tmp_path: Path) -> None:
    """The prompt of this format has written an argument of the action already."""
    grammar = tmp_path / "opened_calls.lark"
    header = (
        "format: opened_calls",
        "title: Opened calls",
        "models: none",
        "source: a test",
        "space: px",
        "actions:",
        "  type = type_text(text=a!, element.id=b)",
        "opened: <call>type(<arg=b>2</arg>",
        "example:",
        "  <arg=a>1</arg></call>",
    )
    rules = (
        "start: tool_call",
        "tool_call: _CALL_OPEN TOOL_NAME _PARENTHESIS argument+ _CALL_CLOSE",
        'argument: "<arg=" ARG_NAME ">" ARG_VALUE "</arg>"',
        '_CALL_OPEN: "<call>"',
        '_PARENTHESIS: "("',
        '_CALL_CLOSE: "</call>"',
        "%import .shared.text (TOOL_NAME, ARG_NAME, ARG_VALUE)",
    )
    lines = [*[f"// {line}" for line in header], "", *rules, ""]
    grammar.write_text("\n".join(lines), "utf-8")
    parser = Parser(load_format(grammar))
    for value in ("one", "two"):
        reply = parser.parse(f"<arg=a>{value}</arg></call>")
        found = [(action.text, action.element) for action in reply.actions if action.type == "type_text"]
        assert found == [(value, ElementRef(id="2"))]
        assert reply.diagnostics == []


def test_a_parser_with_changes_keeps_everything_else() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]
    echoed = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    context = [{"role": "tool", "content": echoed}]
    parser = Parser("hermes", tools=tools, repair="notation", context=context, proof={"f": "exact"})
    changed = parser.replace(format="qwen3_coder", screen=Screen(9, 9))
    assert (changed.format, changed.repair, changed.tools) == ("qwen3_coder", "notation", parser.tools)
    assert (changed.screen, parser.screen) == (Screen(9, 9), None)
    assert parser.replace(repair="none").parse(echoed).tool_calls == []
    assert parser.replace(context=None).parse(echoed).tool_calls[0].arguments == {"a": 1}
    assert parser.replace(context=None).parse(echoed[:-12]).tool_calls == []  # the proof stays
    with pytest.raises(AttributeError, match=r"use `Parser.replace\(context=…\)`"):
        parser.with_context(context)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="page"):
        parser.replace(page=7)  # type: ignore[typeddict-item]


def test_a_page_of_the_parser_counts_for_everything_that_uses_it() -> None:
    page = PageContext.of({"AA": {"tagName": "a"}})
    parser = Parser("skyvern", page=page)
    text = '{"actions": [{"action_type": "CLICK", "id": "ZZ"}]}'
    wanted = ["unknown-element"]
    replies = [parser.parse(text), parse_actions(text, parser=parser), parse_actions(json.loads(text), parser=parser)]
    replies += [ResponseProcessor(parser).process(text).reply, parse(text, format="skyvern", page=page)]
    for reply in replies:
        assert [diagnostic.code for diagnostic in reply.diagnostics] == wanted


def test_parse_sees_that_tools_were_changed_in_place() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"enum": [1]}}}
    tools = [{"name": "f", "parameters": schema}]
    fits: list[bool] = []
    for listed in ([1], [True], ["1"], [1], [1.5]):
        schema["properties"]["x"]["enum"] = listed  # `1 == True`, but a schema tells them apart
        fits.append(not parse(text, format="hermes", tools=tools).diagnostics)
    assert fits == [True, False, False, True, False]
