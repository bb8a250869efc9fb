"""What the tests of vLLM, SGLang and llama.cpp assert, where that data lies beside the project.

Every row is read by the format that its parser's name is an alias of. Where we differ, that is on purpose and for one
of the reasons here; any other difference fails. Some of the reasons are habits, which are told from what was read
(`habit`); the others are given by rows, and the table says why.
Where the data is missing there is nothing to read.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import pytest

from outspoken import Parser, Reply, ToolCall, load_format, parse
from outspoken.grammar import registry
from tests.streams import streamed
from tests.tables import BESIDE, beside, tables

TABLES = tables(__file__)


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
                yield _vllm_row(row, path.stem, TABLES["FORMATS"].get(path.stem) or registry.resolve(path.stem))
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
        row["id"], parser, format_, row["input"], row.get("streaming_chunks") if row["mode"] == "streaming" else None,
        row["tools"], _vllm_prefix(row, parser, format_),
        [c["name"] for c in calls] if "tool_names" in asserted else None,
        len(calls) if "tool_count" in asserted else None,
        [c["arguments"] for c in calls] if {"arguments_exact", "arguments_values"} & asserted else None,
        (expected["content"] or "") if "content" in asserted else None,
        (expected["reasoning"] or "") if "reasoning" in asserted else None, joined,
    )  # fmt: skip


def _vllm_prefix(row: dict[str, Any], parser: str, format_: str) -> str | None:
    """What the prompt opened, of which such a row says no more than whether thinking was on."""
    for part, prefix in TABLES["PREFIXES"].items():
        if part in row["id"]:
            return prefix
    template_options: dict[str, Any] = _options(row).get("chat_template_kwargs") or {}
    thinking = template_options.get(
        "enable_thinking", template_options.get("thinking", parser in TABLES["THINKING"].split())
    )
    thinking = (thinking or template_options.get("thinking_mode") == "enabled") and format_ != "gemma4"
    if template_options.get("reasoning_effort") in ("none", "no_think"):
        thinking = False
    opener = TABLES["OPENERS"].get(format_, "<think>")
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
        row["id"], parser, TABLES["FORMATS"].get(parser) or registry.resolve(parser), row["input"],
        row.get("streaming_chunks"), row["tools"] or None, _sglang_prefix(row, row.get("config") or {}),
        None if thinks else [c["name"] for c in calls], None if thinks else len(calls),
        None if thinks else [_known(c["arguments"]) for c in calls],
        expected["content"] if manual else expected["content"] or "",
        (expected["reasoning"] or "") if thinks else None,
        "calls" if thinks and parser != "minimax-append-think" else "reasoning",
    )  # fmt: skip


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
            row["id"], template,
            next(name for start, name in TABLES["TEMPLATES"].items() if template.startswith(start)), row["input"],
            None, row["tools"] or None, row["generation_prompt"], [c["name"] for c in calls], len(calls),
            [c["arguments"] for c in calls], expected["content"] or "",
            (expected["reasoning"] or "") if split else None, "" if split else "reasoning",
        )  # fmt: skip


# a row of another project's tests, compared with what we read: in what do they differ, and is that on purpose?


class Found(NamedTuple):
    """What was read of a row."""

    calls: list[tuple[str, Any]]
    text: str
    reasoning: str


def found(reply: Reply, *, unfinished: bool = False) -> Found:
    """The calls of a reply, its text and its reasoning; with `unfinished`, calls that are cut are calls, too."""
    wanted = ("ok", "repaired", "truncated") if unfinished else ("ok", "repaired")
    calls = [s for s in reply.segments if isinstance(s, ToolCall) and s.status in wanted]
    return Found([(c.name, c.arguments) for c in calls], reply.text, reply.reasoning or "")


def read(row: Row, *, ended: bool = False) -> Reply:
    """A row's text as its format reads it, in the row's chunks where it has any."""
    reason = "stop" if ended else None
    if row.chunks is None:
        return parse(row.text, format=row.format, tools=row.tools, prefix=row.prefix, finish_reason=reason)
    return streamed(Parser(row.format, tools=row.tools), row.chunks, reason, row.prefix)


def differs(row: Row, got: Found) -> list[str]:
    """In which of the things that the row asserts do we differ?"""
    names, arguments = [name for name, _ in got.calls], [value for _, value in got.calls]
    return [
        *["count"] * (row.number is not None and len(got.calls) != row.number),
        *["names"] * (row.names is not None and names != row.names),
        *["arguments"] * (row.arguments is not None and not _agree(arguments, row.arguments)),
        *["content"] * (row.content is not None and not _holds(row, row.content, got)),
        *["reasoning"] * (row.reasoning is not None and _bare(got.reasoning) != _bare(row.reasoning)),
    ]


def _agree(ours: list[Any], theirs: list[Any]) -> bool:
    """Are the arguments of all calls the same? Of None no more is known than that the peer could not read them."""
    return len(ours) == len(theirs) and all(
        other is None or _same(value, other) for value, other in zip(ours, theirs, strict=True)
    )


def _same(left: Any, right: Any) -> bool:
    """Equality of JSON values, where 1 is 1.0 and not true."""
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        return ours.keys() == theirs.keys() and all(_same(value, theirs[key]) for key, value in ours.items())
    if isinstance(left, list) and isinstance(right, list):
        mine, other = cast("list[Any]", left), cast("list[Any]", right)
        return len(mine) == len(other) and all(_same(a, b) for a, b in zip(mine, other, strict=True))
    return isinstance(left, bool) is isinstance(right, bool) and left == right


def _bare(text: str) -> str:
    """A text without white space: what stands between blocks belongs to their markup or to the text round them."""
    return "".join(text.split())


def _holds(row: Row, content: str, got: Found) -> bool:
    """Is the peer's content our text, or, where its parser leaves something in it, the same when it is read?"""
    if _bare(got.text) == _bare(content):
        return True
    if not row.joined:
        return False
    inner = found(parse(content, format=row.format, tools=row.tools, prefix=""))
    if row.joined == "reasoning":
        return _bare(inner.reasoning + inner.text) == _bare(got.reasoning + got.text)
    return _bare(inner.text) == _bare(got.text) and inner.calls == got.calls


def habit(row: Row, reply: Reply) -> str | None:
    """Which of our habits (its name) explains all that differs? None if none does."""
    mine = found(reply)
    if row.prefix and _is_prefilled(row, mine):
        return "PREFILLED"
    return next((why for why, other in _other_readings(row, reply, mine) if not differs(row, other)), None)


def _other_readings(row: Row, reply: Reply, mine: Found) -> Iterator[tuple[str, Found]]:
    """What we would have found without one of our habits, with its name."""
    yield "CUT", found(read(row, ended=True))
    yield "CUT", found(reply, unfinished=True)
    given = _properties(row)
    if row.arguments is not None and len(row.arguments) == len(mine.calls):
        pairs = list(zip(mine.calls, row.arguments, strict=True))
        untyped = [(name, _retyped(value, other, given.get(name, {}))) for (name, value), other in pairs]
        yield "TYPED", mine._replace(calls=untyped)
        yield "SPELLED", mine._replace(calls=[(name, _respelled(value, other)) for (name, value), other in pairs])
    if given:
        yield "UNKNOWN", mine._replace(calls=[call for call in mine.calls if call[0] in given])
    if row.content is not None and _bare(mine.text).startswith(_bare(row.content)):
        yield "KEPT" if reply.status == "ok" else "BROKEN", mine._replace(text=row.content)
    if row.reasoning is not None and reply.status != "ok" and mine.reasoning.strip().startswith(row.reasoning.strip()):
        yield "BROKEN", mine._replace(reasoning=row.reasoning)


def _properties(row: Row) -> dict[str, Any]:
    """The schemas of each tool's arguments, by its name."""
    tools: list[dict[str, Any]] = [tool.get("function") or tool for tool in row.tools or ()]
    schemas: dict[str, dict[str, Any]] = {tool["name"]: tool.get("parameters") or {} for tool in tools}
    return {name: schema.get("properties") or {} for name, schema in schemas.items()}


def _retyped(value: Any, other: Any, known: dict[str, Any]) -> Any:
    """The other arguments where they are texts, no schema is known, and ours are the JSON in them."""
    if not _are_objects(value, other):
        return other if _is_json_of(other, value) else value
    ours, theirs = cast("dict[str, Any]", value), cast("dict[str, Any]", other)
    return {key: item if key in known else _retyped(item, theirs.get(key), {}) for key, item in ours.items()}


def _respelled(value: Any, other: Any) -> Any:
    """The other arguments where ours are texts and theirs the JSON in them, or the reverse."""
    if not _are_objects(value, other):
        return other if _is_json_of(value, other) or _is_json_of(other, value) else value
    ours, theirs = cast("dict[str, Any]", value), cast("dict[str, Any]", other)
    return {key: _respelled(item, theirs.get(key)) for key, item in ours.items()}


def _are_objects(value: Any, other: Any) -> bool:
    return isinstance(value, dict) and isinstance(other, dict)


def _is_json_of(text: Any, value: Any) -> bool:
    try:
        return isinstance(text, str) and _same(json.loads(text), value)
    except ValueError:
        return False


def _is_prefilled(row: Row, mine: Found) -> bool:
    """Do content and reasoning only lack their beginnings, and do these stand in the prompt?"""
    for text, other in ((mine.text, row.content), (mine.reasoning, row.reasoning)):
        if other is not None and text.strip() != other.strip():
            rest = other.strip().removesuffix(text.strip()).strip()
            if not rest or rest not in (row.prefix or ""):
                return False
    return not differs(row._replace(content=None, reasoning=None), mine)


# what the tests of vLLM, SGLang and llama.cpp assert, where that data lies beside the project


pytestmark = pytest.mark.usefixtures("other_grammars")

#: The rows that differ where no habit explains it, as parts of their ids, by the name of the reason.
DIFFERENCES: dict[str, list[str]] = TABLES["DIFFERENCES"]

SGLANG = ("sglang_tool_complete", "sglang_tool_stream", "sglang_reasoning", "sglang_manual")

PEERS = {"vllm": vllm, "sglang": lambda: sglang(*SGLANG), "llamacpp": llamacpp}


@pytest.mark.parametrize("peer", PEERS)
def test_rows_of_a_peer(peer: str) -> None:
    """No reason may stand for more of them than is known."""
    read_rows = 0
    differing: Counter[str] = Counter()
    wrong: list[str] = []
    for row in PEERS[peer]():
        read_rows += 1
        reply = read(row)
        what = differs(row, found(reply))
        if not what:
            continue
        given = next((name for name, ids in DIFFERENCES.items() if any(part in row.id for part in ids)), None)
        reason = habit(row, reply) or given
        if reason is None:
            wrong.append(f"{row.id}: {', '.join(what)}")
        else:
            differing[reason] += 1
    assert wrong == []
    most: Counter[str] = Counter(TABLES["COUNTS"][peer])
    least = most.pop("rows")
    assert not BESIDE.exists() or (read_rows >= least and differing <= most), differing - most


def test_known_differences_still_differ() -> None:
    ids = {row.id for rows in PEERS.values() for row in rows()}
    assert TABLES["REASONS"].keys() == DIFFERENCES.keys()
    assert {name for most in TABLES["COUNTS"].values() for name in most} == {
        "rows",
        *TABLES["REASONS"],
        *TABLES["HABITS"],
    }
    unused = [part for parts in DIFFERENCES.values() for part in parts if not any(part in id_ for id_ in ids)]
    assert not BESIDE.exists() or unused == []
