"""Renders a vendor's chat template as `transformers` does, and extracts the assistant's turns.

The environment is sandboxed: a template cannot reach files, modules or private attributes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from outspoken.grammar.model_ids import PromptEnds
from outspoken.notations.tools import Tools
from outspoken.results.errors import PromptError

from .markup_tokens import tokens
from .messages import MESSAGES, Message, as_message, schemas

#: What templates get for the tokens that a tokenizer's configuration would name.
TOKENS = {"bos_token": "<|begin_of_turn|>", "eos_token": "<|end_of_turn|>", "unk_token": "", "pad_token": ""}

_QUESTION = {"role": "user", "content": "What is it like today?"}


class TemplateError(Exception):
    """A chat template that cannot be used. The message says why, and where."""


class _Generation(Extension):
    """`{% generation %}` marks what a model writes; it changes nothing in the text."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Leave the tags out."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


#: JSON with the characters and the order that a value has; Jinja's own filter would escape and sort.
_to_json = partial(json.dumps, ensure_ascii=False)


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


class ChatTemplate:
    """A chat template. `tokens` are the special tokens by name, as in `bos_token`. Threads may share it."""

    def __init__(self, source: str, tokens: dict[str, str] | None = None) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        template_globals: dict[str, Any] = environment.globals
        template_globals |= {"raise_exception": _refuse, "strftime_now": datetime.now().strftime}
        self._source, self._given = source, tokens
        self._tokens = {**TOKENS, **(tokens or {})}
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(f"line {error.lineno}: this is not a template: {error.message}") from error
        except RecursionError as error:
            raise TemplateError("this template is nested too deeply") from error

    def __reduce__(self) -> tuple[type[ChatTemplate], tuple[str, dict[str, str] | None]]:
        """A copy or a pickle is compiled again."""
        return ChatTemplate, (self._source, self._given)

    @cached_property
    def takes_text(self) -> bool:
        """Does it take the arguments of calls as the text of JSON alone?

        With an object, it writes no arguments, or as Python writes a dict.
        """
        try:
            call = turn(self, MESSAGES["one_call"])[0]
        except TemplateError:
            return True
        return "Paris" not in call or "{'" in call

    @classmethod
    def of(cls, path: Path) -> ChatTemplate:
        """A template's file, or the `chat_template` of a `tokenizer_config.json`. Raises TemplateError and OSError."""
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise TemplateError("this is not text in UTF-8") from error
        return cls(*_configured(text)) if path.suffix == ".json" else cls(text)

    def render(self, messages: list[dict[str, Any]], **values: Any) -> str:
        """The prompt for messages. Raises TemplateError if the template refuses them."""
        try:
            return self._template.render(messages=messages, **self._tokens, **values)
        except Exception as error:  # a template is a foreign program, and may fail in any way
            raise TemplateError(str(error) or type(error).__name__) from error


def _configured(text: str) -> tuple[str, dict[str, str]]:
    """The template and the tokens of a tokenizer's configuration."""
    with suppress(ValueError, AttributeError, KeyError, TypeError):
        found: Any = json.loads(text)
        template = found["chat_template"]
        if not isinstance(template, str):
            by_name = {entry["name"]: entry["template"] for entry in template}
            template = by_name.get("tool_use", by_name.get("default", ""))
        given = {name: found.get(name) for name in TOKENS}
        return template, {name: t if isinstance(t, str) else t["content"] for name, t in given.items() if t}
    raise TemplateError("this is no configuration of a tokenizer that holds a `chat_template`")


class Turn(NamedTuple):
    """What a model writes for a message, what the prompt already contains of it, and the message."""

    text: str
    prefix: str
    message: Message


def turns_of(template: ChatTemplate, names: Collection[str] = MESSAGES) -> tuple[dict[str, Turn], list[str]]:
    """The messages of these names as a template writes them, and remarks on what it does not write.

    Raises TemplateError if the template writes no message.
    """
    turns, refused = _rendered(template, names, as_text=template.takes_text)
    if not turns:
        raise TemplateError(next(iter(refused.values())))
    remarks = [f"the template refuses `{name}`: {why}" for name, why in refused.items()]
    over = turns.get("text_only", ("", ""))[0].partition(MESSAGES["text_only"].text)[2]
    written_turns: dict[str, Turn] = {}
    for name, (text, prefix) in turns.items():
        message = MESSAGES[name]
        missing = [part for part in ("text", "reasoning") if getattr(message, part) not in prefix + text]
        beside = " beside a call" if message.calls else ""
        remarks += [f"the template does not write {part}{beside}" for part in missing]
        written = tuple(call for call in message.calls if call.name in text)
        if 0 < len(written) < len(message.calls):
            remarks.append("the template writes only one of several calls")
        message = message._replace(**dict.fromkeys(missing, ""), calls=written or message.calls)
        if message.calls or message.text:
            ended = over if text.endswith(over) else over.rstrip()
            written_turns[name] = Turn(text.removesuffix(ended), prefix, message)
    return written_turns, list(dict.fromkeys(remarks))


def _rendered(
    template: ChatTemplate, names: Collection[str], *, as_text: bool
) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """The messages as the template renders them, and why it refuses others."""
    turns: dict[str, tuple[str, str]] = {}
    refused: dict[str, str] = {}
    for name in names:
        try:
            turns[name] = turn(template, MESSAGES[name], as_text=as_text)
        except TemplateError as error:
            refused[name] = str(error)
    return turns, refused


def prompt_ends(template: ChatTemplate) -> PromptEnds:
    """What the template ends a prompt with, if the model is to think and if not. Raises TemplateError."""
    ends: list[str] = []
    for thinking in (None, True, False):
        given = {"tools": schemas(MESSAGES["one_call"]), **mode(thinking)}
        ends.append(prompt_of(template, [_QUESTION], given)[1])
    usual, thinks, plain = ends
    return PromptEnds(thinks, plain, usual == thinks)


def mode(thinking: bool | None) -> dict[str, Any]:
    """The variables by which templates are asked to let the model think, or not to; none for what is usual."""
    return {} if thinking is None else {"enable_thinking": thinking, "thinking": thinking}


def prompt_of(template: ChatTemplate, messages: list[dict[str, Any]], values: dict[str, Any]) -> tuple[str, str]:
    """The prompt for messages, and the end of it that begins the answer. Raises TemplateError."""
    prompt = template.render(messages, add_generation_prompt=True, **values)
    return prompt, prompt.removeprefix(_shared(template.render(messages, **values), prompt))


def _shared(one: str, other: str) -> str:
    return one[: next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))]


def turn(template: ChatTemplate, message: Message, *, as_text: bool = False) -> tuple[str, str]:
    """The assistant's turn as a template writes it, and the beginning of it that the prompt already contains.

    Raises TemplateError if the template refuses the message.
    """
    variables: dict[str, Any] = {"tools": schemas(message) or None, "enable_thinking": True}
    base = template.render([_QUESTION], **variables)
    prompt = template.render([_QUESTION], add_generation_prompt=True, **variables)
    whole = template.render(
        [_QUESTION, as_message(message.as_chat(), as_text=as_text)], add_generation_prompt=False, **variables
    )
    plain = template.render([_QUESTION, {"role": "assistant", "content": "Yes."}], **variables)
    start = len(base) if whole.startswith(base) else len(_common([base, whole]))
    part, opened = whole[start:], prompt[start:] if prompt.startswith(whole[:start]) else ""
    header = _common([opened, part, plain[start:]])
    prefix = opened[len(header) :] if part.startswith(opened) else ""
    return part[len(header) + len(prefix) :], prefix


def _common(texts: list[str]) -> str:
    """The common prefix of texts in whole tokens, up to reasoning."""
    common = ""
    for token in tokens(texts[0]):
        space = token[: len(token) - len(token.lstrip())]
        if re.search("think|reason", token, re.IGNORECASE) or not all(t.startswith(common + token) for t in texts):
            return common + space * all(text.startswith(common + space) for text in texts)
        common += token
    return common


def write_prompt(
    template: ChatTemplate,
    messages: Sequence[Any],
    tools: Tools | None,
    thinking: bool | None,
    values: Mapping[str, Any],
) -> tuple[str, str]:
    """The prompt for messages of chat completions, and the end of it that begins the answer.

    `values` are other variables of the template. Raises PromptError if the template refuses them or the messages, and
    TypeError for what is no message.
    """
    read = [as_message(message, as_text=template.takes_text) for message in messages]
    variables: dict[str, Any] = {"tools": None if tools is None else tools.to_openai(), **mode(thinking), **values}
    try:
        return prompt_of(template, read, variables)
    except TemplateError as error:
        raise PromptError(f"the chat template refuses the messages: {error}") from error
