"""Chat templates are rendered as the library `transformers` renders them, and an assistant's turn is told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outspoken.authoring.new_format.chat_template import TOKENS, ChatTemplate, TemplateError, writers
from outspoken.authoring.new_format.messages import Message, RenderedMessage, Tool

HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Grüezi <b>"}]

#: What templates may use: the template, and what it writes of one message.
RENDERED = {
    "json_keeps_characters": ("{{ messages[0].content | tojson }}", '"Grüezi <b>"'),
    "json_keeps_the_order": ("{{ {'b': 1, 'a': 2} | tojson }}", '{"b": 1, "a": 2}'),
    "json_indented": ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
    "json_compact": ("{{ {'a': [1, 2]} | tojson(separators=(',', ':')) }}", '{"a":[1,2]}'),
    "json_sorted": ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}", '{"a": 2, "b": 1}'),
    "json_in_ascii": ("{{ 'é' | tojson(ensure_ascii=true) }}", '"\\u00e9"'),
    "blocks_are_trimmed": ("  {% if true %}\nyes\n  {% endif %}\n", "yes\n"),
    "loop_controls": ("{% for i in [1, 2, 3] %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "1"),
    "generation": ("{% generation %}{{ messages[0].role }}{% endgeneration %}!", "user!"),
    "tokens": ("{{ bos_token }}{{ eos_token }}", TOKENS["bos_token"] + TOKENS["eos_token"]),
    "a_name_that_is_not_there": ("{{ nothing }}{{ messages[0].nothing }}.", "."),
}


@pytest.mark.parametrize(("source", "text"), RENDERED.values(), ids=RENDERED)
def test_rendered(source: str, text: str) -> None:
    assert ChatTemplate(source).render(HELLO) == text


def test_the_date_is_there() -> None:
    assert ChatTemplate("{{ strftime_now('%Y') }}").render(HELLO).isdigit()


REFUSED = {
    "raised": ("{{ raise_exception('Roles must alternate') }}", "Roles must alternate"),
    "error": ("{{ 1 / 0 }}", "division by zero"),
    "private": ("{{ ''.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe."),
    "changed": ("{{ messages.append(1) }}", "access to attribute 'append' of 'list' object is unsafe."),
    "endless": ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "maximum recursion depth exceeded"),
}


@pytest.mark.parametrize(("source", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(source: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        ChatTemplate(source).render(HELLO)
    assert str(caught.value).startswith(message)


def test_no_template() -> None:
    with pytest.raises(TemplateError) as caught:
        ChatTemplate("one\n{% if %}")
    assert str(caught.value) == "line 2: this is not a template: Expected an expression, got 'end of statement block'"


# files

SEVERAL = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "with tools"}]
CONFIGURED: dict[str, tuple[dict[str, Any], str]] = {
    "one": ({"chat_template": "one"}, "one"),
    "several": ({"chat_template": SEVERAL}, "with tools"),
    "only_a_default": ({"chat_template": SEVERAL[:1]}, "plain"),
    "a_token": ({"chat_template": "{{ eos_token }}", "eos_token": "</s>"}, "</s>"),
    "a_token_at_length": ({"chat_template": "{{ bos_token }}", "bos_token": {"content": "<s>"}}, "<s>"),
    "no_token": ({"chat_template": "{{ bos_token }}", "bos_token": None}, TOKENS["bos_token"]),
}


@pytest.mark.parametrize(("configuration", "text"), CONFIGURED.values(), ids=CONFIGURED)
def test_configuration(configuration: dict[str, Any], text: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(configuration), "utf-8")
    assert ChatTemplate.of(path).render(HELLO) == text


UNREADABLE = {
    "no_json": ("a.json", b"{", "this is no configuration of a tokenizer that holds a `chat_template`"),
    "no_template": ("a.json", b"{}", "this is no configuration of a tokenizer that holds a `chat_template`"),
    "no_text": ("a.jinja", b"\xff\xfe", "this is not text in UTF-8"),
}


@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TemplateError) as caught:
        ChatTemplate.of(tmp_path / name)
    assert str(caught.value) == message


# an assistant's turn

TURNS = """\
{{ bos_token }}
{%- for m in messages %}
{{- '<|' + m.role + '|>' }}
{%- if m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n' }}{% endif %}
{{- m.content }}
{%- for c in m.tool_calls or [] %}{{ '<call>' + c.function.name + (c.function.arguments | tojson) }}{% endfor %}
{{- '<|over|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' + OPENED }}{% endif %}
"""
CALLED = Message("Ok.", calls=(Tool("f", {"a": "é"}),))
THOUGHT = Message("Ok.", "Hm.")


@pytest.mark.parametrize(
    ("opened", "message", "written"),
    [
        ("", Message("Ok."), RenderedMessage("Ok.<|over|>")),
        ("", CALLED, RenderedMessage('Ok.<call>f{"a": "é"}<|over|>')),
        ("", THOUGHT, RenderedMessage("<think>\nHm.\n</think>\nOk.<|over|>")),
        ("<think>\n", THOUGHT, RenderedMessage("Hm.\n</think>\nOk.<|over|>", "<think>\n")),
        ("<think>\n", CALLED, RenderedMessage('Ok.<call>f{"a": "é"}<|over|>')),
    ],
)
def test_turn(opened: str, message: Message, written: RenderedMessage) -> None:
    write, _ = writers(ChatTemplate(TURNS.replace("OPENED", repr(opened))))
    assert write(message) == written


def test_arguments_as_text() -> None:
    _, write = writers(ChatTemplate(TURNS.replace("OPENED", "''")))
    assert write(CALLED) == RenderedMessage(r'Ok.<call>f"{\"a\": \"é\"}"<|over|>')
