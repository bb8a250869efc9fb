"""`Parser`, `Session` and the shorthands: options, events, places, requests without calls."""

import asyncio
import json
import random
from collections import Counter
from contextlib import aclosing
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import outspoken
from outspoken import Done, Parser, Reply, ResponseError, Screen, UnknownFormatError, astream, parse, stream
from outspoken.actions import ElementRef, PageContext, Point
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.detection.opener_index import likeness_chain
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.parsing.inspection import detect
from outspoken.parsing.prompt_prefix import PromptEnd
from outspoken.processing import ResponseProcessor, parse_actions
from outspoken.providers import ProviderStream, astream_response, parse_response, stream_response
from outspoken.results.finish_reasons import is_cut, is_filtered, proves_end, to_finish_reason
from outspoken.semantics.call_signs import signs_in
from tests.cases import CASES, FORMATS, Case
from tests.invariants.replies import pieces
from tests.loops import DRAWN, for_each, some
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
    parser = Parser(outspoken.load_format(grammar))
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


# places are those of the response, also where its first marker begins in the prompt


@pytest.mark.parametrize("prefix", ["\n", "</think>\n"])
def test_spans_lie_within_the_response(prefix: str) -> None:
    def check(case: Case) -> None:
        reply = ParseArguments(case.format, case.options).parse(case.text, prefix=prefix)
        places = [one.span for one in (*reply.segments, *reply.diagnostics)]
        assert all(0 <= start <= end <= len(case.text) for start, end in places), places

    for_each(DRAWN, check)


def test_a_marker_that_begins_with_the_last_line_break_of_the_prompt() -> None:
    (payload,) = parse("SUGGESTED_VALUES: []", format="suggestions", prefix="\n").segments
    assert payload.span == (0, 20)


# requests that allow no calls, where markup is text as it was written, and those that force one in JSON


def has_call(reply: Reply) -> bool:
    return any(segment.kind == "tool_call" for segment in reply.segments)


@pytest.mark.parametrize("format", some(FORMATS, "no calls", 0.34))
def test_no_response_of_the_corpus_has_a_call(format: str) -> None:
    args, own = ParseArguments(format, {"calls": False}, "stop"), [case for case in CASES if case.format == format]
    for case in some(own, "no calls", 0.34):
        reply = Parser(format, calls=False).parse(case.text, finish_reason="stop")
        assert not has_call(reply), case
        assert args.stream(pieces(case.text, 5))[1] == reply, case
    for case in some(own, "no calls detected", 0.1):
        assert not has_call(Parser(calls=False).parse(case.text, finish_reason="stop")), case


def test_a_format_without_calls_is_read_as_before() -> None:
    for case in [case for case in CASES if case.format == "text"]:
        assert Parser(case.format, calls=False).parse(case.text) == Parser(case.format).parse(case.text), case


def test_a_call_that_an_engine_forces_is_read_in_every_format_with_calls() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": schema}}]
    for info in outspoken.formats():
        if any("tool_call" in kinds.split() for kinds in registry.automaton(info.name).tables.nodes):
            prompt = "" if "think" in registry.header(info.name).opened else None
            text = '[{"name": "get_weather", "parameters": {"city": "Paris"}}]'
            reply = Parser(info.name, tools=tools).parse(text, prefix=prompt)
            assert [(call.name, call.arguments, call.status) for call in reply.tool_calls] == [
                ("get_weather", {"city": "Paris"}, "ok")
            ], info.name
            assert reply.text == "", info.name


# a format that was named and is not the text's: the reply says which one is, or which prefix is missing


DEEPSEEK = (
    "Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tide<｜tool▁sep｜>"
    '{"day": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
ORPHAN = "I should greet.\n</think>\n\nHello!"


def said(reply: Reply) -> list[str]:
    """The diagnostics of this kind."""
    return [f"{d.code}: {d.message}" for d in reply.diagnostics if d.code in ("other-format", "orphan-closer")]


def test_only_a_part_of_many_signs_is_read() -> None:
    reply = parse("<tool_call>" * 20_000, format="mistral")
    assert reply.raw == reply.text


def test_strict_parsers_raise() -> None:
    for text in (DEEPSEEK, ORPHAN):
        with pytest.raises(ResponseError):
            Parser("hermes", on_error="raise").parse(text)


def test_sound_texts_of_other_formats_are_hardly_ever_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts with a sign of their own: a call that no other format reads is reported. Streams say the same."""
    chosen, found = random.Random(7), Counter[str]()
    cases = [case for case in CASES if case.kind == "ok" and signs_in(case.text)]
    names = [name for name in registry.names() if name != registry.PLAIN]
    for case in chosen.sample(cases, 120):
        text, name = case.text, case.format
        if not parse(text, format=name).tool_calls or not parse(text).tool_calls:
            continue
        other = chosen.choice([n for n in names if n not in likeness_chain(name) and name not in likeness_chain(n)])
        with monkeypatch.context() as patch:
            reply = parse(text, format=other)
            patch.setattr(reader, "ENABLED", False)
            assert parse(text, format=other) == reply
        is_silent = reply.segments and not (reply.tool_calls or reply.actions or reply.payloads or reply.diagnostics)
        found["silent" if is_silent else "said"] += 1
    assert found["said"] >= 60
    assert found["silent"] <= 3


# `stream`, `stream_response` and their asynchronous twins: the events of `feed` and `close`, and the reply


TEXT = 'Let me look.\n<tool_call>\n{"name": "find", "arguments": {"mosses": 3}}\n</tool_call>'
PIECES = pieces(TEXT, 7)
CHUNKS: list[Any] = [{"choices": [{"delta": {"content": piece}}]} for piece in PIECES]
CHUNKS.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})


def test_a_stream_of_a_provider_gives_the_events_of_feed_and_close_and_the_reply_of_the_whole() -> None:
    options: dict[str, Any] = {"provider": "openai", "format": "hermes"}
    source, events = ProviderStream(**options), stream_response(CHUNKS, **options)
    found = [*[event for chunk in CHUNKS for event in source.feed(chunk)], *source.close()]
    assert [*events] == found == collected(astream_response(later(CHUNKS), **options))
    message = {"role": "assistant", "content": TEXT}
    whole = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert events.reply == parse_response(whole, format="hermes")


def test_events_may_be_taken_one_by_one() -> None:
    events = stream(iter(PIECES), format="hermes")
    first = next(events)
    with pytest.raises(RuntimeError, match="no reply before its last event"):
        _ = events.reply
    assert [first, *events] == list(stream(PIECES, format="hermes"))
    assert next(events, None) is None


def test_an_asynchronous_stream_may_be_left() -> None:
    async def read() -> list[Any]:
        async with aclosing(astream(later(PIECES), format="hermes")) as events:
            await anext(events)
        return [event async for event in events]

    assert asyncio.run(read()) == []
