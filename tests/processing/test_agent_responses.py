"""A processor with what an agent has: a provider's responses, a page, a screen, metadata; and what it logs."""

import ast
import json
import logging
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

import outspoken
from outspoken import Parser, Reply, Screen
from outspoken.actions import PageContext
from outspoken.processing import ErrorCategory, ProcessorSettings, ResponseProcessor
from outspoken.providers.errors import ProviderFormatError
from outspoken.results.actions.keyboard import TypeText
from outspoken.results.actions.page import VerificationCode
from outspoken.results.codes import CODES, category_of
from outspoken.results.diagnostics import Diagnostic
from tests.cases import CASES

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TEXT = '{"action_plan": "Go.", "actions": [{"action_type": "CLICK", "id": "AAB"}]}'
TEXT_OF = {"hermes": CALL, "skyvern": TEXT}


def responses(text: str, reason: str) -> list[Any]:
    """The response of some providers with this content, as dicts and as objects."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    blocks = [{"type": "text", "text": text}]
    found = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": reason.upper()}
    sent = SimpleNamespace(**choice | {"message": SimpleNamespace(**message)})
    return [
        {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]},
        {"id": "m", "type": "message", "role": "assistant", "content": blocks, "stop_reason": reason},
        {"candidates": [found]},
        SimpleNamespace(id="c", choices=[sent], usage=None),
    ]


@pytest.mark.parametrize("format", TEXT_OF)
def test_a_response_of_a_provider_is_read_like_its_text(format: str) -> None:
    processor = ResponseProcessor(Parser(format), settings=ProcessorSettings(log_failed_parses=False))
    for text in (TEXT_OF[format], TEXT_OF[format][:-20], ""):
        for reason in ("stop", "length"):
            expected = processor.process(text, finish_reason=reason)
            assert processor.process(text.encode(), finish_reason=reason) == expected
            for response in responses(text, reason):
                found = processor.process(response)
                assert (found.reply, found.status, found.actions) == (expected.reply, expected.status, expected.actions)


def test_calls_that_a_provider_sends_apart_from_the_text_count() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    message = {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    found = ResponseProcessor(Parser("hermes")).process({"choices": [{"message": message}]})
    assert [(call.name, call.arguments) for call in found.tool_calls] == [("get_weather", {"city": "Paris"})]
    assert found.status == "ok"


def test_refusals_and_none_are_not_usable() -> None:
    processor = ResponseProcessor(Parser("skyvern"), settings=ProcessorSettings(log_failed_parses=False))
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    refused = processor.process({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    assert not refused.is_usable
    assert "refusal" in [d.code for d in refused.problems]
    assert processor.process(None).problems[0].code == "empty-response"
    odd: Any = 7
    for wrong, kind in ((odd, TypeError), ({"no": "response"}, ProviderFormatError)):
        with pytest.raises(kind):
            processor.process(wrong)


def test_metadata_are_of_one_response_and_the_screen_of_a_processor() -> None:
    text = "Thought: Go.\nAction: click(start_box='(500,250)')"
    processor = ResponseProcessor(Parser("ui_tars"))
    plain = processor.process(text)
    step = {"task": "t1", "step": 3}
    sized = processor.replace(screen=Screen(1000, 500))
    found = sized.process(text, metadata=step, page=PageContext())
    assert (sized.stats is processor.stats, sized.settings) == (True, processor.settings)
    assert (plain.metadata, found.metadata) == ({}, step)
    assert [action.metadata for action in found.actions] == [step]
    assert found.reply == Parser("ui_tars", screen=Screen(1000, 500)).parse(text)
    assert plain.reply == Parser("ui_tars").parse(text)


# categories


def _codes() -> set[str]:
    """The codes of all diagnostics that the library may make, as far as its source has them as literals."""
    makers = {"report", "PendingDiagnostic", "Finding", "Diagnostic", "warn", "_report"}
    found = set[str]()
    for file in Path(outspoken.__file__).parent.rglob("*.py"):
        if "authoring" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                values = [*node.args[:1], *[k.value for k in node.keywords if k.arg == "code"]]
                texts = [c.value for v in values for c in ast.walk(v) if isinstance(c, ast.Constant)] * (name in makers)
                found |= {text for text in texts if isinstance(text, str) and "-" in text and " " not in text}
    return found


def test_every_code_is_in_the_table_of_codes() -> None:
    codes = _codes()
    assert len(codes) > 40
    assert codes <= set(CODES)


def test_few_mistakes_of_damaged_responses_are_of_no_category() -> None:
    texts = Random(0).sample([case for case in CASES if case.kind == "err" and len(case.text) < 300], 40)
    found = [category for case in texts for category in map(category_of, _problems(case.parse()))]
    assert len(found) > 25
    assert found.count(ErrorCategory.OTHER) < 0.05 * len(found)


def _problems(reply: Reply) -> list[Diagnostic]:
    return [d for d in reply.diagnostics if d.severity != "note"]


# secrets


def test_secrets_are_in_the_data_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    random = Random(0)
    for _ in range(20):
        secret = "".join(random.choices("abcdefghkmnpqrstuvwxyz23456789", k=12))
        typed = TypeText(text=secret, sensitive=True, extra={"note": secret})
        code = VerificationCode(code=secret)
        for action in (typed, code):
            assert secret in json.dumps(action.model_dump())
            for shown in (repr(action), str(action), repr([action])):
                assert secret not in shown
                assert "[redacted]" in shown
        text = json.dumps({"actions": [{"action_type": "VERIFICATION_CODE", "verification_code": secret}]})
        with caplog.at_level(logging.DEBUG):
            processed = ResponseProcessor(Parser("skyvern")).process(text)
            ResponseProcessor(Parser("skyvern")).process(text[:-12])
        assert processed.actions[0].code == secret  # type: ignore[union-attr]
        assert all(secret not in shown for shown in (repr(processed), repr(processed.reply), str(processed)))
        assert secret not in caplog.text
    assert "hello" in repr(TypeText(text="hello"))
