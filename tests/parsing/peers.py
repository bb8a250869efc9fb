"""What the tests of other projects assert, read from where that data lies beside the project.

The data is not part of the project. Where it is missing there are no rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from outspoken import load_format, parse
from outspoken.grammar import registry
from tests.tables import BESIDE, beside, tables

TABLES = tables(__file__)

#: The formats of parsers whose names are none of ours. vLLM's parser of reasoning for Qwen3 stands before any parser
#: of calls, and its tests write those of Qwen3-Coder; SGLang's own base classes are tested with tags of their own.
FORMATS = TABLES["FORMATS"]

#: The formats of the chat templates that llama.cpp tests, by the beginnings of their names.
TEMPLATES: dict[str, str] = TABLES["TEMPLATES"]

#: What prompts open reasoning with, by the format; `<think>` in all others.
OPENERS = TABLES["OPENERS"]

#: What the prompt of a test of vLLM opened where its options do not say so: a part of the row's id, and the prefix.
PREFIXES = TABLES["PREFIXES"]

#: vLLM's parsers whose reasoning begins with the response where nothing says that thinking is off.
THINKING = TABLES["THINKING"]


class Row(NamedTuple):
    """One answer of a model, and what a test says of it. What is None is not asserted."""

    id: str
    #: the peer's name of its parser, and the format that we read it by
    parser: str
    format: str
    text: str
    chunks: Sequence[str] | None
    tools: Any
    #: what the prompt opened; None for what the format's prompts always open
    prefix: str | None
    names: list[str] | None
    number: int | None
    arguments: list[Any] | None
    content: str | None
    reasoning: str | None
    #: what the peer had not split off, so that its content may hold it: "reasoning", "calls" or nothing
    joined: str


def vllm() -> Iterator[Row]:
    """The rows of vLLM's tests. Of those by a template of the checkpoint's, the template is loaded."""
    for path in sorted((BESIDE / "vllm").glob("*.jsonl")):
        for number, row in enumerate(beside(path)):
            if not row["input"]:
                continue  # only ids of tokens
            template = _options(row).get("response_template")
            if template:
                name = f"checkpoint_{number}"
                load_format(template, name=name)
                yield _vllm_row(row, path.stem, name)._replace(prefix=row["options"].get("prefix") or None)
            elif path.stem != "hf":
                yield _vllm_row(row, path.stem, FORMATS.get(path.stem) or registry.resolve(path.stem))
            elif "<|tool_call>" in row["input"] or "<|channel>" in row["input"] or "<turn|>" in row["input"]:
                yield _vllm_row(row, path.stem, "gemma4")  # by Gemma's template, which the row does not show


def _options(row: dict[str, Any]) -> dict[str, Any]:
    return row["options"] or {}


def _vllm_row(row: dict[str, Any], parser: str, format_: str) -> Row:
    expected, asserted = row["expected"], frozenset(row["asserted"])
    calls = expected["tool_calls"]
    joined = {"tool": "reasoning", "reasoning": "calls"}.get(row["kind"], "")
    if parser == "minimax_m2_append_think":  # which leaves reasoning where it is
        joined, asserted = "reasoning", asserted - {"reasoning"}
    return Row(
        row["id"],
        parser,
        format_,
        row["input"],
        row.get("streaming_chunks") if row["mode"] == "streaming" else None,
        row["tools"],
        _vllm_prefix(row, parser, format_),
        [c["name"] for c in calls] if "tool_names" in asserted else None,
        len(calls) if "tool_count" in asserted else None,
        [c["arguments"] for c in calls] if {"arguments_exact", "arguments_values"} & asserted else None,
        (expected["content"] or "") if "content" in asserted else None,
        (expected["reasoning"] or "") if "reasoning" in asserted else None,
        joined,
    )


def _vllm_prefix(row: dict[str, Any], parser: str, format_: str) -> str | None:
    """What the prompt opened, of which such a row says no more than whether thinking was on."""
    for part, prefix in PREFIXES.items():
        if part in row["id"]:
            return prefix
    template_options: dict[str, Any] = _options(row).get("chat_template_kwargs") or {}
    thinking = template_options.get("enable_thinking", template_options.get("thinking", parser in THINKING.split()))
    thinking = (thinking or template_options.get("thinking_mode") == "enabled") and format_ != "gemma4"
    if template_options.get("reasoning_effort") in ("none", "no_think"):
        thinking = False
    opener = OPENERS.get(format_, "<think>")
    if row["kind"] != "tool" and thinking and not row["input"].lstrip().startswith(opener):
        return opener
    return "" if parse("x", format=format_).reasoning else None


def sglang(*files: str) -> Iterator[Row]:
    """The rows of files of SGLang's tests."""
    for file in files:
        for row in beside(f"peers/{file}.jsonl"):
            kind, _, parser = row["format"].partition(":")
            if row["input"]:
                yield _sglang_row(row, kind == "reasoning", parser, file == "sglang_manual")


def _sglang_row(row: dict[str, Any], thinks: bool, parser: str, manual: bool) -> Row:
    expected = row["expected"]
    calls = expected["tool_calls"]
    return Row(
        row["id"],
        parser,
        FORMATS.get(parser) or registry.resolve(parser),
        row["input"],
        row.get("streaming_chunks"),
        row["tools"] or None,
        _sglang_prefix(row, row.get("config") or {}),
        None if thinks else [c["name"] for c in calls],
        None if thinks else len(calls),
        None if thinks else [_known(c["arguments"]) for c in calls],
        expected["content"] if manual else expected["content"] or "",
        (expected["reasoning"] or "") if thinks else None,
        "calls" if thinks and parser != "minimax-append-think" else "reasoning",
    )


def _sglang_prefix(row: dict[str, Any], config: dict[str, Any]) -> str | None:
    opener = config.get("think_start_token", "")
    if "partial_marker_buffering" in row["id"]:
        return "<think>"
    if config.get("force_reasoning") and opener.startswith("<|channel"):
        return None
    forced = config.get("force_reasoning") and not row["input"].lstrip().startswith(opener)
    return opener if forced else ""


def _known(arguments: Any) -> Any:
    """What a row says of arguments; None where they are only raw text that is no JSON."""
    return None if list(arguments or ()) == ["__raw__"] else arguments


def llamacpp() -> Iterator[Row]:
    """The rows of llama.cpp's chat tests."""
    for row in beside("peers/llamacpp_test_chat.jsonl"):
        expected, template = row["expected"], row["format"].partition(":")[2]
        calls = expected["tool_calls"]
        split = row["reasoning_format"] != "none"
        yield Row(
            row["id"],
            template,
            next(name for start, name in TEMPLATES.items() if template.startswith(start)),
            row["input"],
            None,
            row["tools"] or None,
            row["generation_prompt"],
            [c["name"] for c in calls],
            len(calls),
            [c["arguments"] for c in calls],
            expected["content"] or "",
            (expected["reasoning"] or "") if split else None,
            "" if split else "reasoning",
        )
