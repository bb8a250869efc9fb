"""Grammars pass `tools.check`, have servers' names of parsers, and read what the vendors' templates write."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import outspoken
from outspoken import Reasoning, RenderError, Reply, Text, ToolCall, formats, parse, render
from outspoken.authoring.check import findings, shared_findings
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar import registry
from tests.loops import in_one_item, some
from tests.tables import beside, tables

HOUSE = Checkout()
NAMES = HOUSE.names()
PACKAGE = Path(outspoken.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

#: A grammar has at most so many lines. What several formats have lies in `shared`.
LONGEST = 70

#: Formats whose names are also words of their own, companies whose APIs are read, or fields of a framework.
WORDS = {"text", "json", "cohere", "mistral", "thinking_tags"}
OWN = {*NAMES} - WORDS


def test_there_are_grammars() -> None:
    assert len(NAMES) >= 14
    assert [found.name for found in formats()] == NAMES


@pytest.mark.parametrize("name", some(NAMES, "check", 0.1))
def test_check_finds_nothing_wrong(name: str) -> None:
    wrong = [finding for finding in findings(HOUSE, name) if finding.severity != "note"]
    assert "\n".join([diagnostic.frame() for diagnostic in wrong]) == ""


def test_check_finds_nothing_wrong_in_shared_files() -> None:
    assert "\n".join([finding.frame() for finding in shared_findings(HOUSE)]) == ""


@in_one_item("path", sorted(HOUSE.grammars.rglob("*.lark")))
def test_grammars_are_short_and_without_needless_blanks(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) <= LONGEST
    assert [line for line in lines if line != line.rstrip() or "\t" in line] == []


# the rest of the house


def strings(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    return (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@in_one_item("path", SOURCES)
def test_python_code_names_no_format(path: Path) -> None:
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    assert [f"{path.name}:{node.lineno}" for node in strings(nodes) if node.value in OWN] == []
    for compared in (node for node in nodes if isinstance(node, ast.Compare)):
        sides = [compared.left, *compared.comparators]
        called = {getattr(side, "id", getattr(side, "attr", "")).strip("_") for side in sides}
        if called & {"format", "name", "detected", "stem"}:
            words = {node.value for side in sides for node in strings(ast.walk(side))}
            assert not words & set(NAMES), f"{path.name}:{compared.lineno} compares a format's name"


# the names by which servers call their parsers


TABLES = tables(__file__)

CALLS = sorted({*TABLES["VLLM_CALLS"].split(), *TABLES["SGLANG_CALLS"].split()})
REASONING = sorted({*TABLES["VLLM_REASONING"].split(), *TABLES["SGLANG_REASONING"].split()})


@in_one_item("name", CALLS)
def test_parsers_of_calls(name: str) -> None:
    format_ = registry.resolve(name)
    example = registry.header(format_).example
    reply = parse(example, format=name)
    assert reply.format == format_
    assert reply.tool_calls, "the format has no calls"


@in_one_item("name", REASONING)
def test_parsers_of_reasoning(name: str) -> None:
    made = [Reasoning(text="The pier is asked for.", span=(0, 0)), Text(text="Pier two.", span=(0, 0))]
    reply = parse(render(made, format=name), format=name)
    assert (reply.reasoning, reply.text.strip()) == ("The pier is asked for.", "Pier two.")


@pytest.mark.parametrize("name", TABLES["ELSEWHERE"])
def test_aliases_of_other_formats(name: str) -> None:
    assert registry.resolve(name) == TABLES["ELSEWHERE"][name]


def test_aliases_are_unique() -> None:
    claimed = Counter(
        registry.normalized(alias) for name in registry.names() for alias in {name, *registry.header(name).aliases}
    )
    assert [alias for alias, times in claimed.items() if times > 1] == []
    assert len(claimed) >= 150


# what vendors' chat templates wrote reads back to the message that they were given, and `render` writes it again


#: The tools that the messages call.
TOOLS = TABLES["TOOLS"]


class Row(NamedTuple):
    """One message that a template wrote: the end of the prompt, the text behind it, and what the text says."""

    name: str
    format: str
    prefix: str
    text: str
    said: list[Any]
    #: is the arguments' text written as a string, which is read but not written?
    quoted: bool


#: The messages that a template had words for.
WRITTEN = [row for row in beside("templates_rendered.jsonl") if "assistant_part" in row]


def _calls(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [call["function"] | {"id": call["id"]} for call in row["message"].get("tool_calls") or ()]


def _format(template: str) -> str | None:
    return next((name for part, name in TABLES["FORMATS"].items() if part in template), None)


@cache
def rows(*, unfaithful: bool = False) -> list[Row]:
    """The messages that their texts still say; or those of which `UNFAITHFUL` says that they do not."""
    made = [_row(row) for row in WRITTEN if _format(row["template"])]
    return [
        row
        for row in made
        if row and any(re.search(pattern, row.name) for pattern in TABLES["UNFAITHFUL"]) is unfaithful
    ]


def _row(row: dict[str, Any]) -> Row | None:
    """A row, of which is expected what of the message was written; None where a call was written in part."""
    prefix, text = _split(row)
    said: list[Any] = []
    quoted = False
    for call in _calls(row):
        held = call["arguments"]
        arguments = json.loads(held) if isinstance(held, str) else held
        if call["name"] not in text:
            continue
        if not _holds(text, arguments):
            return None
        quoted |= isinstance(held, str) and json.dumps(held, ensure_ascii=False) in text
        id_ = call["id"] if call["id"] in text else None
        said.append(ToolCall(name=call["name"], arguments=arguments, id=id_))
    content, reasoning = row["message"].get("content"), row["message"].get("reasoning_content")
    if content and content in text:
        before = [call for call in said if text.find(call.name) < text.find(content)]
        said.insert(len(before), Text(text=content, span=(0, 0)))
    if reasoning and reasoning in text:
        said.insert(0, Reasoning(text=reasoning, span=(0, 0)))
    name = f"{row['template']} {row['scenario']} {row['argument_form']}"
    return Row(name, _format(row["template"]) or "", prefix, text, said, quoted)


#: Some templates write the beginning of the next turn, too, and one writes calls and content as two turns.
_NEXT_TURN = re.compile(
    r"(?s)(<\|eot_id\|>|<\|end\|>|<｜end▁of▁sentence｜>|```\n|<\|END_OF_TURN_TOKEN\|>)"
    r"(?:<\|start_header_id\|>assistant|<\|assistant\|>|<｜Assistant｜>|<\|START_OF_TURN_TOKEN\|>).*"
)


def _split(row: dict[str, Any]) -> tuple[str, str]:
    """The end of the prompt, and the text behind it, which the model would have written.

    Where the template writes a message that lies in the past otherwise than the prompt would begin it, the prompt ends
    where they part, and at the end of a marker or line; but where it opens reasoning in words, it is the whole.
    """
    prompt, whole = row["generation_prompt"], _NEXT_TURN.sub(r"\1", row["assistant_part"])
    head, mark, rest = whole.rpartition("[/INST]")
    if mark:
        return head + mark, rest
    if row["after_generation_prompt"]:
        return prompt, whole[len(prompt) :]
    if whole[:1] == " ":
        # the template's own indentation, of other width in the prompt
        prompt, whole = prompt.lstrip(), whole.lstrip()
    parted = next((n for n, (a, b) in enumerate(zip(prompt, whole, strict=False)) if a != b), len(prompt))
    shared = whole[: max(whole.rfind(mark, 0, parted) for mark in "\n>:") + 1]
    if shared:
        rest = prompt[len(shared) :]
        in_words = row["message"].get("reasoning_content") and re.fullmatch(r"[^<>]+", rest)
        return (prompt if in_words else shared), whole[len(shared) :]
    # the data may lack what the prompt and the text before it have in common
    overlap = next((n for n in range(len(prompt), 0, -1) if prompt.endswith(whole[:n])), 0)
    return (prompt if overlap else ""), whole[overlap:]


def _holds(text: str, value: Any) -> bool:
    """Does a text hold a value with all that is in it, in some spelling?"""
    if isinstance(value, (dict, list)):
        return all(_holds(text, part) for part in _parts(value))
    if not isinstance(value, str):
        return json.dumps(value) in text or str(value) in text
    return any(spelled in text for spelled in _spellings(value))


def _parts(value: Any) -> Iterator[Any]:
    yield from value
    yield from value.values() if isinstance(value, dict) else ()


def _spellings(value: str) -> Iterator[str]:
    """A string as it is, in JSON, and in JSON that is in a JSON string."""
    yield value
    for is_ascii in (False, True):
        once = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield from (once, json.dumps(once, ensure_ascii=is_ascii)[1:-1])


def _differs(reply: Reply, row: Row) -> str:
    """In what a reply is not the message that was written; "" where it is."""
    if [(c.name, c.arguments) for c in reply.tool_calls] != [
        (c.name, c.arguments) for c in row.said if c.kind == "tool_call"
    ]:
        return "calls"
    if reply.text.strip() != "".join(part.text for part in row.said if part.kind == "text"):
        return "content"
    if (reply.reasoning or "").strip() != "".join(part.text for part in row.said if part.kind == "reasoning"):
        return "reasoning"
    return "" if reply.status == "ok" else "status"


def test_every_template_has_a_format_or_writes_no_calls() -> None:
    silent = {row["template"] for row in WRITTEN} - {
        row["template"] for row in WRITTEN if any(call["name"] in row["assistant_part"] for call in _calls(row))
    }
    assert {row["template"] for row in WRITTEN if _format(row["template"]) is None} <= silent
    assert not WRITTEN or [part for part in TABLES["FORMATS"] if not any(part in r["template"] for r in WRITTEN)] == []


def test_every_message_is_read_by_its_format() -> None:
    wrong = [
        f"{row.name}: {what}"
        for row in rows()
        if (what := _differs(parse(row.text, format=row.format, prefix=row.prefix, tools=TOOLS), row))
    ]
    assert wrong == []
    assert not WRITTEN or len(rows()) >= 1100


def test_omitted_templates_differ() -> None:
    left_out = rows(unfaithful=True)
    same = [r.name for r in left_out if not _differs(parse(r.text, format=r.format, prefix=r.prefix, tools=TOOLS), r)]
    assert same == []
    unused = [pattern for pattern in TABLES["UNFAITHFUL"] if not any(re.search(pattern, row.name) for row in left_out)]
    assert not WRITTEN or unused == []


def test_messages_are_read_with_detection() -> None:
    wrong = Counter(
        row.name.split()[0] for row in rows() if _differs(parse(row.text, prefix=row.prefix, tools=TOOLS), row)
    )
    assert sum(wrong.values()) <= len(rows()) // 50, wrong


#: What a template writes round a message, and `render` does not: an empty block of reasoning, the end of the turn.
_NO_REASONING = re.compile(
    r"\A(?:\s*<\W?(?:\w+:)?think[^<>]*>)?\s*<\W?/(?:\w+:)?think[^<>]*>|\A<\|close\|>think<\|sep\|>"
)
_END = re.compile(
    r"(?:\s|</s>|</assistant>|\[e~\[|<\|close\|>message<\|sep\|>"
    r"|<(?:seed:eos|sep|turn\||end_of_turn|end_of_sentence|SPECIAL_12)>"
    r"|<[|｜](?:\w*eos\w*(?::\w+)?|tool_response|eo[mt](?:_id)?|end(?:_of_text|oftext|_of_msg|▁of▁sentence)?|im_end"
    r"|return|message_sep|role_end|END_OF_TURN_TOKEN)(?:[|｜]>|>))+\Z"
)


def _core(text: str) -> str:
    return _END.sub("", _NO_REASONING.sub("", text)).strip()


def _render(row: Row) -> str:
    try:
        return render(row.said, format=row.format)
    except RenderError as error:
        return str(error)


def _is_same(row: Row, written: str) -> bool:
    """Is this what the template wrote? It may begin in the prompt: with what that has opened."""
    core, text = _core(written), _core(row.text)
    return core == text or (len(core) > len(text) and _core(row.prefix + row.text).endswith(core))


def test_messages_are_written_as_their_templates_write_them() -> None:
    written = [row for row in rows() if not row.quoted and not any(part in row.name for part in TABLES["DIALECTS"])]
    other = Counter(row.name.split()[0] for row in written if not _is_same(row, _render(row)))
    assert sum(other.values()) <= len(written) // 20, other
    assert not WRITTEN or len(written) >= 750


def test_known_rendering_differences_still_differ() -> None:
    same = [
        part for part in TABLES["DIALECTS"] if all(_is_same(row, _render(row)) for row in rows() if part in row.name)
    ]
    assert not WRITTEN or same == []
