"""`Parser` and `Session`: options are given once, and arguments of wrong types are refused by name."""

import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import outspoken
from outspoken import Done, Parser, Screen, UnknownFormatError, astream, load_format, parse, stream
from outspoken.actions import ElementRef, PageContext, Point
from outspoken.parsing.inspection import detect
from outspoken.parsing.prompt_prefix import PromptEnd
from outspoken.processing import ResponseProcessor, parse_actions
from outspoken.results.finish_reasons import is_cut, is_filtered, proves_end, to_finish_reason
from tests.streams import collected, later, streamed
from tests.tables import tables

CALL = '<tool_call>\n{"name": "moor", "arguments": {"berth": 7}}\n</tool_call>'
OPEN = CALL.removesuffix("\n</tool_call>")
CLICK = "Thought: There.\nAction: click(start_box='(500,250)')"


def test_a_parser_gives_what_the_shorthands_give() -> None:
    options: dict[str, Any] = {"screen": Screen(1920, 1080), "repair": "structure"}
    parser = Parser("ui_tars_1_0", **options)
    reply = parser.parse(CLICK)
    assert reply == parse(CLICK, format="ui_tars_1_0", **options)
    assert [action.point for action in reply.actions if action.type == "click"] == [Point(x=960, y=270)]
    events = list(parser.stream(list(CLICK)))
    assert events[-1] == Done(reply)
    assert events == list(stream(list(CLICK), format="ui_tars_1_0", **options))
    assert events == collected(parser.astream(later(CLICK)))
    assert events == collected(astream(later(CLICK), format="ui_tars_1_0", **options))
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


@pytest.mark.parametrize(
    "reason",
    [*("stop", "STOP", "end-turn", "end_turn", " eos ", "tool_calls", "function_call", "completed"), _Reason.STOP],
    ids=repr,
)
def test_the_finish_reason_closes_a_call_whole_and_streamed(reason: str) -> None:
    assert proves_end(reason)
    reply = parse(OPEN, format="hermes", finish_reason=reason)
    assert [call.status for call in reply.tool_calls] == ["repaired"]
    for given in (reason, lambda: reason):
        assert list(stream([OPEN], format="hermes", finish_reason=given))[-1] == Done(reply)
        assert collected(astream(later([OPEN]), format="hermes", finish_reason=given))[-1] == Done(reply)
        assert streamed(Parser("hermes"), [OPEN], given) == reply


@pytest.mark.parametrize("word", [None, "", "length", "stop_sequence", "MAX_TOKENS", "pause_turn", "refusal", "error"])
def test_words_that_prove_nothing(word: str | None) -> None:
    """A text of the request at which the model was stopped may stand where the answer went on."""
    assert not proves_end(word)
    assert parse(OPEN, format="hermes", finish_reason=word).tool_calls == []


def test_each_provider_has_its_word_for_a_limit_and_a_filter() -> None:
    assert all(map(is_cut, ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_length"]))
    assert all(map(is_filtered, ["content_filter", "SAFETY", "guardrail_intervened", "RECITATION"]))
    assert not any(is_cut(word) or is_filtered(word) for word in (None, "stop", "refusal", "later"))
    assert to_finish_reason("later") == "other"


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


@pytest.mark.parametrize("format_", ["hermes", "auto"])
def test_text_may_be_bytes_or_missing(format_: str) -> None:
    text = CALL.replace("berth", "Liegeplatz für Fähren")
    assert parse(text.encode(), format=format_) == parse(text, format=format_)
    mutable: Any = bytearray(text, "utf-8")
    assert parse(mutable, format=format_) == parse(text, format=format_)
    assert parse(b"caf\xe9", format=format_).text == "caf\ufffd"
    assert parse(None, format=format_) == parse("", format=format_)
    assert list(stream([None, *[bytes([byte]) for byte in text.encode()], "", None], format=format_))[-1] == Done(
        parse(text, format=format_)
    )
    assert detect(None) == detect(b"") == []


def test_the_shorthands_see_formats_that_are_added_later() -> None:
    with pytest.raises(UnknownFormatError):
        parse("x", format="parser_test")
    outspoken.load_format({"start_anchor": "<|m|>", "fields": {"content": {"close": "<|end|>"}}}, name="parser_test")
    assert parse("Moss.<|end|>", format="parser_test").text == "Moss."


# the end of a prompt


def test_markup_of_a_prompt_that_was_repeated_is_not_waited_for() -> None:
    end = PromptEnd("", "<think>\n", True)
    beginnings = ("", "\n", "<thi", "<think>", " <think>\n", "<think>a", "b")
    assert [end.is_open(text) for text in beginnings] == [True, True, True, False, False, False, False]


def test_what_a_prompt_opens_is_not_shared_by_responses(other_grammars: None, tmp_path: Path) -> None:
    """The prompt of this format has written an argument of the action already."""
    grammar = tmp_path / "opened_calls.lark"
    grammar.write_text(tables(__file__)["GRAMMAR"], "utf-8")
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
