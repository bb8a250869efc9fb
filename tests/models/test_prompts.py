"""Prompts by a model's own chat template, and the responses to them."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from outspoken import Parser
from outspoken.parsing import Prompt
from outspoken.results.errors import OutspokenError, PromptError
from tests.models.test_chat_templates import OPENED, SWITCH, TEMPLATES
from tests.streams import streamed
from tests.tables import tables

TABLES = tables(__file__)

HERMES = (
    "{% if tools %}{{ '<|im_start|>system\\n' }}{% for tool in tools %}{{ tool|tojson + '\\n' }}{% endfor %}{% endif %}"
    + TEMPLATES["hermes, with a switch"]
)
THINKS = TEMPLATES["hermes, which always thinks"]
TIDE = TABLES["TIDE"]
ASK = [{"role": "user", "content": "When is it high in Brest?"}]
ARGUMENTS = '{"name": "tide", "arguments": {"place": "Brest"}}'
CALL = f"<tool_call>\n{ARGUMENTS}\n</tool_call>"


def answer(prompt: Prompt, text: str) -> list[Any]:
    """What a response is read as: the reasoning, the text, and the arguments of the calls, whole and in pieces."""
    reply = prompt.parser.parse(text)
    assert streamed(prompt.parser, text) == reply
    return [reply.reasoning, reply.text, [call.arguments for call in reply.tool_calls]]


def test_the_parser_of_a_prompt_knows_its_end() -> None:
    parser = Parser.for_model(HERMES, tools=[TIDE])
    prompt = parser.prompt(ASK)
    assert prompt.text.startswith(f"<|im_start|>system\n{json.dumps(TIDE)}\n<|im_start|>user\nWhen is it")
    assert prompt.text.endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert answer(prompt, f"<think>\nBrest.\n</think>\n\n{CALL}") == ["Brest.", "", [{"place": "Brest"}]]
    plain = parser.prompt(ASK, thinking=False)
    assert plain.text == prompt.text + "<think>\n\n</think>\n\n"
    assert answer(plain, "At nine.") == [None, "At nine.", []]
    thought = Parser.for_model(THINKS).prompt(ASK)
    assert answer(thought, "They ask.\n</think>\n\nAt nine.") == ["They ask.", "At nine.", []]
    assert parser.options.echoes is None, "the parser itself is as it was"


def test_thinking_is_what_the_parser_was_made_for() -> None:
    parser = Parser.for_model(HERMES, thinking=False)
    assert parser.prompt(ASK).text.endswith("</think>\n\n")
    assert parser.prompt(ASK, thinking=True).text.endswith("assistant\n")
    assert parser.prompt(ASK, thinking=True).parser.prompt(ASK).text.endswith("assistant\n")
    assert parser.replace(repair="none").prompt(ASK).text.endswith("</think>\n\n")


@pytest.mark.parametrize(("prefill", "text", "read"), TABLES["PREFILLS"])
def test_the_response_continues_what_begins_it(prefill: str, text: str, read: list[Any]) -> None:
    prompt = Parser.for_model(HERMES, tools=[TIDE]).prompt(ASK, prefill=prefill)
    assert prompt.text.endswith(f"assistant\n{prefill}")
    assert answer(prompt, text) == read


def test_the_messages_are_what_was_read() -> None:
    parser = Parser.for_model(HERMES, tools=[TIDE])
    page = [*ASK, {"role": "tool", "content": f"A page says: {CALL}"}]
    reply = parser.prompt(page).parser.parse(CALL)
    assert [reply.tool_calls, reply.diagnostics[0].code] == [[], "echoed-call"]
    assert parser.prompt(ASK).parser.parse(CALL).tool_calls


def test_tools_of_the_prompt_go_before_those_of_the_parser() -> None:
    class Wind(BaseModel):
        """How it blows."""

        place: str

    @dataclass
    class Wave:
        """How high it is."""

        place: str

    def rain(place: str, hours: int = 2) -> str:
        """How much will fall."""
        return place * hours

    parser = Parser.for_model(HERMES, tools=[TIDE])
    mcp = {"name": "snow", "description": "How deep it is.", "inputSchema": {"type": "object"}}
    prompt = parser.prompt(ASK, tools=[Wind, Wave, partial(rain, hours=3), mcp, [TIDE]])
    lines = prompt.text.partition("<|im_start|>user")[0].splitlines()[1:]
    functions = [json.loads(line)["function"] for line in lines]
    assert [
        [one["name"], one["description"].partition("(")[0], [*one["parameters"].get("properties", {})]]
        for one in functions
    ] == [
        ["Wind", "How it blows.", ["place"]],
        ["Wave", "How high it is.", ["place"]],
        ["rain", "How much will fall.", ["place"]],
        ["snow", "How deep it is.", []],
        ["tide", "When it is high.", ["place"]],
    ]
    known = prompt.parser.tools
    assert known is not None
    assert [*known.names] == ["Wind", "Wave", "rain", "snow", "tide"]
    none = parser.prompt(ASK, tools=[])
    assert none.parser.tools is None
    assert "system" not in none.text


def test_messages_are_written_as_the_template_takes_them() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "tide", "arguments": '{"place": "Brest"}'}}
    turns: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]},
        ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [call]}),
        {"role": "assistant", "content": "Nine.", "reasoning": "Hm."},
    ]
    text = Parser.for_model(THINKS).prompt(turns).text
    assert "user\nOne.\nTwo.<|im_end|>" in text
    assert f"assistant\n\n{CALL}<|im_end|>" in text
    assert "<think>\nHm.\n</think>\n\nNine." in text
    as_text = TEMPLATES["hermes"].replace("call.arguments|tojson", "call.arguments")
    turns[1] = {"role": "assistant", "tool_calls": [{"function": {"name": "tide", "arguments": {"place": "Brest"}}}]}
    assert f"assistant\n\n{CALL}<|im_end|>" in Parser.for_model(as_text).prompt(turns).text


def test_variables_of_the_template_are_passed_on() -> None:
    template = THINKS.replace(OPENED, "{{ '<think>\\n' if effort != 'none' else '' }}")
    parser = Parser.for_model(template)
    assert parser.prompt(ASK, effort="none").text.endswith("assistant\n")
    assert parser.prompt(ASK, effort="low").text.endswith("<think>\n")


def test_a_parser_with_a_template_is_copied_and_pickled() -> None:
    parser = Parser.for_model(HERMES, tools=[TIDE], thinking=False)
    prompt = parser.prompt(ASK)
    for made in (
        copy.copy(parser),
        copy.deepcopy(parser),
        pickle.loads(pickle.dumps(parser)),
        parser.replace(repair="none"),
    ):
        assert made.prompt(ASK).text == prompt.text
    for read in (copy.deepcopy(prompt), pickle.loads(pickle.dumps(prompt))):
        assert read.parser.options.prefix == prompt.parser.options.prefix
        assert read.parser.parse(CALL) == prompt.parser.parse(CALL)


@pytest.mark.parametrize("parser", [Parser("hermes"), Parser.for_model("Qwen/Qwen3-8B")])
def test_without_a_template_the_error_says_what_to_pass(parser: Parser) -> None:
    with pytest.raises(PromptError, match="from the model's tokenizer"):
        parser.prompt(ASK)


def test_what_the_template_refuses_is_an_error() -> None:
    refused = "{% if messages[0].role == 'tool' %}{{ raise_exception('no question') }}{% endif %}" + SWITCH
    parser = Parser.for_model(refused + HERMES)
    with pytest.raises(OutspokenError, match="refuses the messages: no question"):
        parser.prompt([{"role": "tool", "content": ""}])
    with pytest.raises(TypeError, match="expected a dict"):
        parser.prompt([3])
