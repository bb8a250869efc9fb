"""A format that was named and is not the text's: the reply says which one is, or which prefix is missing."""

import random
from collections import Counter

import pytest

from outspoken import Parser, Reply, ResponseError, parse, stream
from outspoken.detection.opener_index import likeness_chain
from outspoken.fast_path import reader
from outspoken.grammar import registry
from outspoken.processing import ResponseProcessor
from outspoken.semantics.call_signs import signs_in
from tests.cases import CASES

DEEPSEEK = (
    "Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tide<｜tool▁sep｜>"
    '{"day": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
MISTRAL = 'Sure.[TOOL_CALLS]tide[ARGS]{"day": 3}'
ORPHAN = "I should greet.\n</think>\n\nHello!"


def both(text: str, format: str, prefix: str | None = None) -> Reply:
    """The reply to a text, which is the same in chunks and without the fast path."""
    reply = parse(text, format=format, prefix=prefix)
    for size in (1, 7):
        events = list(stream([text[i : i + size] for i in range(0, len(text), size)], format=format, prefix=prefix))
        assert events[-1].reply == reply  # type: ignore[union-attr]
    return reply


def said(reply: Reply) -> list[str]:
    """The diagnostics of this kind."""
    return [f"{d.code}: {d.message}" for d in reply.diagnostics if d.code in ("other-format", "orphan-closer")]


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder", "glm_4_5", "kimi_k2", "json", "deepseek_r1"])
@pytest.mark.parametrize(("text", "other"), [(DEEPSEEK, "deepseek_v3_1"), (MISTRAL, "mistral")])
def test_calls_of_another_format_are_reported(format: str, text: str, other: str) -> None:
    reply = both(text, format)
    assert said(reply) == [f"other-format: this reads as {other}, 1 call"]
    assert reply.looks_like_failed_tool_call
    assert not reply.tool_calls
    assert parse(text, format=other).tool_calls
    assert said(both(text, "auto")) == []


def test_what_is_counted() -> None:
    text = '<tool_call>\n{"name": "tide", "arguments": {}}\n</tool_call>\n'
    assert said(both(text * 3, "mistral")) == ["other-format: this reads as hermes, 3 calls"]
    click = '<tool_call>\n{"name": "computer_use", "arguments": {"action": "wait", "time": 2}}\n</tool_call>'
    assert said(both(click, "mistral"))[0].startswith("other-format: this reads as ")
    assert said(both(text[:-20], "mistral")) == ["other-format: this reads as hermes, 1 call"]


def test_calls_that_are_shown_are_not_reported() -> None:
    call = '<tool_call>\n{"name": "tide", "arguments": {}}\n</tool_call>'
    for text in (f"Write it so:\n```\n{call}\n```\n", f"It writes `{call}` then.", "A `<tool_call>` begins it."):
        assert said(both(text, "mistral")) == []
    assert said(both(f"<think>\nShall I {call}?\n</think>\nNo.", "qwen3_coder")) == []


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("anthropic_xml", "<function_calls>\n<invoke name=find_book>\n<parameter name=title>Harbo"),
        (
            "qwen3_coder_gui",
            '<tool_call>\n<func"ion=mobile_use>\n<parameter=action>\nsystem_button\n</parameter>\n\nHome\n</parameter>\n'
            "</function>\n</tool_call>",
        ),
    ],
)
def test_a_damaged_text_of_the_format_is_not_of_another(format: str, text: str) -> None:
    reply = both(text, format)
    assert said(reply) == []
    assert reply.looks_like_failed_tool_call


def test_only_a_part_of_many_signs_is_read() -> None:
    reply = parse("<tool_call>" * 20_000, format="mistral")
    assert reply.raw == reply.text


@pytest.mark.parametrize("format", ["auto", "hermes", "qwen3_coder", "glm_4_5", "text", "mistral", "deepseek_v3_1"])
@pytest.mark.parametrize("text", [ORPHAN, "I should greet.</think>Hello!", "I should greet </think>\nHello!"])
def test_reasoning_that_never_began_is_reported(format: str, text: str) -> None:
    reply = both(text, format)
    assert said(reply) == ['orphan-closer: reasoning ends here that never began: pass prefix="<think>"']
    assert reply.looks_like_failed_tool_call
    again = both(text, format, prefix="<think>")
    assert (said(again), again.text.strip()) == ([], "Hello!")
    assert "I should greet.".startswith((again.reasoning or "").strip())


def test_it_is_reported_behind_a_call_that_is_quoted() -> None:
    call = '<tool_call>\n{"name": "tide", "arguments": {}}\n</tool_call>'
    reply = both(f"The format is:\n```xml\n{call}\n```\nHm.</think>Hello!", "hermes")
    assert ([d.code for d in reply.diagnostics], reply.tool_calls) == (["orphan-closer", "quoted-call"], [])


def test_the_tag_is_that_of_the_format() -> None:
    assert 'prefix="<seed:think>"' in said(both("Hm.\n</seed:think>\nHello!", "seed_oss"))[0]
    assert 'prefix="<thinking>"' in said(both("Hm.\n</thinking>\nHello!", "hermes"))[0]


@pytest.mark.parametrize(
    "text",
    [
        "Write <think> and </think> now.",
        "The tag `</think>` ends it.",
        'It ends with "</think>" here.',
        "```\nHm.\n</think>\n```\n",
        "End it with </think>",
        "<think>Hm.</think>\nHello!\n</think>\nBye.",
        "</think>\n\nHello!",
    ],
)
@pytest.mark.parametrize("format", ["auto", "hermes", "deepseek_r1"])
def test_tags_that_are_mentioned_or_read_are_not_reported(format: str, text: str) -> None:
    assert said(both(text, format)) == []


def test_strict_parsers_raise() -> None:
    for text in (DEEPSEEK, ORPHAN):
        with pytest.raises(ResponseError):
            Parser("hermes", on_error="raise").parse(text)


def test_the_processor_says_it() -> None:
    found = ResponseProcessor(Parser("hermes")).process(DEEPSEEK)
    assert [call.name for call in found.tool_calls] == ["tide"]
    assert [d.code for d in found.problems] == ["other-format"]
    found = ResponseProcessor(Parser("hermes")).process(ORPHAN)
    assert found.is_usable
    assert [d.code for d in found.problems] == ["orphan-closer"]


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
