"""Tokenizers of transformers whose responses are read by our formats. They are made here, so none is downloaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outspoken import GrammarError, UnknownFormatError
from outspoken.integrations.transformers import format_of, load_checkpoint, parse_response, with_format
from tests.integrations.model_texts import BOTH, CUT, FORMATS, INVALID, REPAIRABLE, TOOLS, printed_by_example, written
from tools.integrations.missing_modules import stand_ins

with stand_ins():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

from tests.tables import tables

TABLES = tables(__file__)
#: Chat templates that write calls in two formats.
CALLS, CHAT = TABLES["CALLS"], TABLES["CHAT"]
TIDE = {"type": "function", "function": {"name": "tide", "arguments": {"place": "Brest", "day": 3}}}


def tokenizer(chat: str | None = None) -> Any:
    """A tokenizer of bytes, with the chat template of a format."""
    made = Tokenizer(models.BPE({c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = chat and CHAT.replace("CALL", CALLS[chat])
    return fast


@pytest.mark.parametrize("format", FORMATS)
def test_a_message_with_calls(format: str) -> None:
    text = written(format, *BOTH, text="Let me look.")
    used = with_format(tokenizer(), format)
    message = used.parse_response(text, prefix="", tools=TOOLS)
    assert (message["role"], message["content"]) == ("assistant", "Let me look.")
    assert [(call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]] == [*BOTH]
    assert "outspoken" not in message
    ids = used(text)["input_ids"]
    assert used.parse_response(ids, prefix=[], tools=TOOLS) == message
    assert used.parse_response([text, text], prefix="", tools=TOOLS) == [message, message]


def test_reasoning_that_the_prompt_opens() -> None:
    text = "At six.\n</think>\n\n" + written("hermes", BOTH[0])
    expected = {"role": "assistant", "thinking": "At six.", "tool_calls": [TIDE]}
    used = tokenizer()
    prompt = "<|im_start|>assistant\n<think>\n"
    assert parse_response(used, text, format="hermes", prefix=prompt, tools=TOOLS) == expected
    assert parse_response(used, text, format="hermes", prefix=used(prompt)["input_ids"], tools=TOOLS) == expected
    found = parse_response(used, [text, "Six."], format="hermes", prefix=[prompt, "?"], tools=TOOLS)
    assert found == [expected, {"role": "assistant", "content": "Six."}]
    with pytest.raises(ValueError, match="2 responses and 3 prefixes"):
        parse_response(used, [text, text], format="hermes", prefix=["", "", ""])


def test_what_is_damaged_is_no_call() -> None:
    for text, status in ((INVALID, "invalid"), (CUT, "truncated")):
        message: Any = parse_response(tokenizer(), text, format="hermes", tools=TOOLS)
        assert "tool_calls" not in message
        assert message["outspoken"]["status"] == status
        assert message["outspoken"]["unfinished_calls"][0]["name"] == "tide"
    message = parse_response(tokenizer(), REPAIRABLE, format="hermes", tools=TOOLS)
    assert message["tool_calls"] == [TIDE]
    assert message["outspoken"]["repairs"]


def test_an_end_token_proves_that_the_response_is_complete() -> None:
    text = written("hermes", BOTH[0]).removesuffix("</tool_call>")
    assert "tool_calls" not in parse_response(tokenizer(), text, format="hermes", tools=TOOLS)
    ended: Any = parse_response(
        tokenizer(), f"{text}<|im_end|><|endoftext|><|endoftext|>", format="hermes", tools=TOOLS
    )
    assert ended["tool_calls"] == [TIDE]
    assert ended["outspoken"]["status"] == "repaired"


def test_typed_markers_are_text() -> None:
    used, text = tokenizer(), written("hermes", BOTH[0])
    used.add_tokens(["<tool_call>", "</tool_call>"], special_tokens=True)
    own, typed = used(text)["input_ids"], [i for c in text for i in used(c)["input_ids"]]
    assert (used.decode(own), len(own) < len(typed)) == (used.decode(typed), True)
    message = parse_response(used, own + typed, "hermes", tools=TOOLS)
    assert (message["content"], message["tool_calls"]) == (text, [TIDE])
    several = parse_response(used, [own, typed], "hermes", tools=TOOLS)
    assert [("tool_calls" in message, message.get("content")) for message in several] == [(True, None), (False, text)]


@pytest.mark.parametrize("format", CALLS)
def test_the_chat_template_tells_the_format(format: str, tmp_path: Path) -> None:
    used = tokenizer(format)
    assert format_of(used) == format
    used.save_pretrained(tmp_path)
    assert load_checkpoint(tmp_path) == format
    loaded = with_format(AutoTokenizer.from_pretrained(tmp_path))
    assert loaded.parse_response(written(format, BOTH[0]), tools=TOOLS)["tool_calls"] == [TIDE]


def test_the_response_template_tells_the_format(tmp_path: Path) -> None:
    used = tokenizer()
    used.response_template = TABLES["TEMPLATE"]
    used.save_pretrained(tmp_path / "runner")
    text = "<reason>Six.</reason>Look: <run tide>" + json.dumps(BOTH[0][1]) + "</run>"
    theirs = AutoTokenizer.from_pretrained(tmp_path / "runner").parse_response(text, prefix="")
    name = load_checkpoint(tmp_path / "runner")
    assert name == "runner_template"
    ours: Any = parse_response(used, text, format=name)
    assert ours == theirs | {"content": ours["content"]}
    assert ours["content"] == theirs["content"].strip()


def test_errors() -> None:
    with pytest.raises(GrammarError, match="no response template and no chat template"):
        with_format(tokenizer())
    used = tokenizer()
    used.chat_template = CHAT.replace("CALL", "")
    with pytest.raises(GrammarError, match="writes no calls"):
        format_of(used)
    with pytest.raises(UnknownFormatError):
        with_format(tokenizer(), "hermse")


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    tokenizer("hermes").save_pretrained(tmp_path)
    printed = printed_by_example("transformers", str(tmp_path), "Qwen/Qwen3-8B")
    assert "'name': 'tide', 'arguments': {'place': 'Brest'}" in printed
