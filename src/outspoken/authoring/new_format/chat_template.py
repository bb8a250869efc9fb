"""Renders a vendor's chat template as `transformers` does, and extracts the assistant's turns.

The environment is sandboxed: a template cannot reach files, modules or private attributes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel, ValidationError

from .call_slots import tokens
from .messages import Message, RenderedMessage, Tool, schemas

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


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON with the characters and the order that a value has; Jinja's own filter would escape and sort."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _now(pattern: str) -> str:
    return datetime.now().strftime(pattern)


class ChatTemplate:
    """A chat template. `tokens` are the special tokens by name, as in `bos_token`."""

    def __init__(self, source: str, tokens: dict[str, str] | None = None) -> None:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        known: dict[str, Any] = environment.globals
        known |= {"raise_exception": _refuse, "strftime_now": _now}
        self._tokens = {**TOKENS, **(tokens or {})}
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(f"line {error.lineno}: this is not a template: {error.message}") from error

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

    def writer(self, *, arguments: Callable[[dict[str, Any]], Any]) -> Callable[[Message], RenderedMessage]:
        """A function that renders an assistant's turn; `arguments` converts a call's arguments for the template.

        It raises TemplateError if the template refuses the message.
        """
        return _Turns(self, arguments).write


class _Named(BaseModel):
    """One of several templates of a model."""

    name: str
    template: str


class _Token(BaseModel):
    """A special token that is described at length."""

    content: str


class _Configuration(BaseModel):
    """The fields that are read from a tokenizer's configuration."""

    chat_template: str | list[_Named]
    bos_token: str | _Token | None = None
    eos_token: str | _Token | None = None
    unk_token: str | _Token | None = None
    pad_token: str | _Token | None = None


def _configured(text: str) -> tuple[str, dict[str, str]]:
    """The template and the tokens of a tokenizer's configuration."""
    try:
        found = _Configuration.model_validate_json(text)
    except ValidationError as error:
        raise TemplateError("this is no configuration of a tokenizer that holds a `chat_template`") from error
    template = found.chat_template
    if not isinstance(template, str):
        by_name = {entry.name: entry.template for entry in template}
        template = by_name.get("tool_use", by_name.get("default", ""))
    given = {"bos_token": found.bos_token, "eos_token": found.eos_token}
    given |= {"unk_token": found.unk_token, "pad_token": found.pad_token}
    return template, {name: t.content if isinstance(t, _Token) else t for name, t in given.items() if t}


class _Turns:
    """Extracts the assistant's turn from the output of a template."""

    def __init__(self, template: ChatTemplate, arguments: Callable[[dict[str, Any]], Any]) -> None:
        self._template = template
        self._arguments = arguments

    def write(self, message: Message) -> RenderedMessage:
        """Render a turn."""
        given: dict[str, Any] = {"tools": schemas(message) or None, "enable_thinking": True}
        base = self._template.render([_QUESTION], **given)
        prompt = self._template.render([_QUESTION], add_generation_prompt=True, **given)
        whole = self._template.render([_QUESTION, self._turn(message)], add_generation_prompt=False, **given)
        plain = self._template.render([_QUESTION, {"role": "assistant", "content": "Yes."}], **given)
        start = len(base) if whole.startswith(base) else _shared(base, whole)
        part, opened = whole[start:], prompt[start:] if prompt.startswith(whole[:start]) else ""
        header = self._header(opened, [part, plain[start:]])
        prefix = opened[len(header) :] if part.startswith(opened) else ""
        return RenderedMessage(part[len(header) + len(prefix) :], prefix)

    def _header(self, opened: str, parts: list[str]) -> str:
        """The end of the prompt that begins every turn, up to reasoning."""
        header = ""
        for token in tokens(opened):
            space = token[: len(token) - len(token.lstrip())]
            if not all(part.startswith(header + token) for part in parts) or _thinks(token):
                return header + space if all(part.startswith(header + space) for part in parts) else header
            header += token
        return header

    def _turn(self, message: Message) -> dict[str, Any]:
        """The message as templates take it, with the reasoning under each of its usual names."""
        turn: dict[str, Any] = {"role": "assistant", "content": message.text}
        if message.reasoning:
            turn |= dict.fromkeys(("reasoning_content", "reasoning", "thinking"), message.reasoning)
        if message.calls:
            turn["tool_calls"] = [self._call(call) for call in message.calls]
        return turn

    def _call(self, call: Tool) -> dict[str, Any]:
        function = {"name": call.name, "arguments": self._arguments(call.arguments)}
        return {"id": call.id, "type": "function", "function": function}


def _shared(one: str, other: str) -> int:
    """The length of the common prefix of two texts in whole tokens."""
    length = 0
    for token in tokens(one):
        if not other.startswith(token, length):
            break
        length += len(token)
    return length


def _thinks(token: str) -> bool:
    return "think" in token.lower() or "reason" in token.lower()


def writers(template: ChatTemplate) -> list[Callable[[Message], RenderedMessage]]:
    """A template's writers: with arguments as an object, and with arguments as the text of one."""
    return [template.writer(arguments=dict), template.writer(arguments=_to_json)]
