"""The comparisons with other projects: their texts, how readings are judged, and the tables. None of them is run."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from outspoken import formats
from tools.compare import documents, sections, templates
from tools.compare.json_readers import Ours, Reading
from tools.compare.json_texts import CHANGES, DAMAGE, GROUPS, JsonText, json_texts, same
from tools.compare.response_templates import TEMPLATES
from tools.compare.schemas import ANY, Classes, plain
from tools.damage.cases import sound
from tools.figures.records import load
from tools.integrations.compare import Example
from tools.integrations.compare_servers import MarkerTokenizer, chunks_of
from tools.integrations.compare_tables import counts, percent

TEXTS = json_texts(1)


def test_the_texts_of_each_group() -> None:
    sizes = Counter(text.group for text in TEXTS)
    assert list(sizes) == [*GROUPS]
    assert sizes["types"] == len(CHANGES)
    assert sizes["records"] == len(DAMAGE)
    assert json_texts(1) == TEXTS
    for text in TEXTS:
        assert sound(text.text) == (text.group in ("sound", "types")), text


def test_ours_reads_them_as_the_figures_say() -> None:
    reader = Ours(TEXTS)
    found = Counter((text.group, documents.outcome(reader, i, text)) for i, text in enumerate(TEXTS))
    assert found["sound", "meant"] == 2
    assert found["types", "wrong"] == len(CHANGES)  # `read_json` gives what was written
    assert found["records", "meant"] == len(DAMAGE)
    assert not found["strings", "wrong"] + found["structure", "wrong"] + found["cut", "wrong"]


class Reader:
    """A reader that returns what it is given, or raises it."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def call(self, number: int) -> Any:
        """What was given."""
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def reading(self, result: Any) -> Reading | None:
        """The same."""
        return result


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}}}
MEANT = {"a": 1, "b": "x"}


@pytest.mark.parametrize(
    ("group", "result", "expected"),
    [
        ("records", Reading({"b": "x", "a": 1}), "meant"),
        ("records", Reading({"a": 1.0, "b": "x"}), "wrong"),
        ("records", Reading({"a": True, "b": "x"}), "wrong"),
        ("records", Reading({"a": 1}), "wrong"),
        ("records", Reading({"a": 1}, is_doubtful=True), "refused"),
        ("records", Reading({"a": 1}, is_truncated=True), "refused"),
        ("records", Reading(MEANT, is_truncated=True), "refused"),
        ("records", None, "refused"),
        ("records", ValueError("no JSON"), "refused"),
        ("cut", Reading({"a": 1}, is_truncated=True), "meant"),
        ("cut", Reading({"a": 1, "b": ""}, is_truncated=True), "meant"),
        ("cut", Reading({"a": 2}, is_truncated=True), "wrong"),
        ("cut", Reading({"a": 1}), "wrong"),
        ("cut", Reading(MEANT), "meant"),
    ],
)
def test_a_reading_is_judged(group: str, result: Any, expected: str) -> None:
    text = JsonText(group, group, "", MEANT, SCHEMA)
    assert documents.outcome(Reader(result), 0, text) == expected


def test_null_is_as_good_as_missing_in_a_class() -> None:
    assert same({"a": 1, "b": None}, {"a": 1}, SCHEMA)
    assert not same({"x": None}, {}, {"type": "object"})
    assert same([{"a": 1, "b": None}], [{"a": 1}], {"type": "array", "items": SCHEMA})


def test_schemas_are_classes() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "env": {"type": "object"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "note": {"type": ["string", "null"]},
            "parts": {"type": "array", "items": {"type": "object", "properties": {"size": {"type": "number"}}}},
            "all": {"type": "array"},
        },
        "required": ["name"],
    }
    made = Classes("C", schema, module := ModuleType("types"))
    assert made.sources == [
        "class CN1 {\n  size float?\n}",
        'class C {\n  name string\n  env_ map<string, Anything>? @alias("env")\n  mode ("a" | "b")?\n  note string?\n'
        "  parts CN1[]?\n  all Anything[]?\n}",
    ]
    assert "type Anything" in ANY
    value = {"name": "x", "env": {"a": 1}, "mode": "b", "note": None, "parts": [{"size": 1.5}], "all": [1, None]}
    assert plain(module.C.model_validate(value)) == value
    assert plain(module.C(name="x", env_={"a": 1}))["env"] == {"a": 1}


def test_every_template_is_of_a_format_of_ours() -> None:
    assert TEMPLATES.keys() <= {info.name for info in formats()}


def test_calls_of_ours_are_judged() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    text = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    reader = templates.Ours("hermes", tools)

    def judged(text: str, meant: list[Any], kind: str = "damaged") -> set[str]:
        example = Example("hermes", kind, text, meant, tools, text, meant)
        return {templates.judged(reader, example, streamed=streamed) for streamed in (False, True)}

    assert judged(text, [("f", {"a": 1})]) == {"meant"}
    assert judged(text, [("f", {"a": 2})]) == {"wrong"}
    assert judged(text[:40], [("f", {"a": 1})]) == {"refused"}
    assert judged(text[:40], [], "cut") == {"meant"}


def test_tokens_are_markers_and_pieces() -> None:
    for size in (1, 4):
        tokenizer = MarkerTokenizer(size)
        text = "Hello you.<tool_call>{}</tool_call>é"
        assert tokenizer.decode(tokenizer.encode(text)) == text
        pieces = [piece for piece, _ in chunks_of(tokenizer, text)]
        assert "".join(pieces) == text
        assert "<tool_call>" in pieces
        assert max(len(piece) for piece in pieces if not piece.startswith("<")) <= size
    assert tokenizer.get_vocab()["<tool_call>"] == tokenizer.encode("<tool_call>")[0]


def test_shares_are_never_rounded_to_all_or_none() -> None:
    assert [sections.percent(*pair) for pair in ((0, 9), (1, 900), (899, 900), (9, 9), (0, 0))] == [
        *("0 %", "1 %", "99 %", "100 %", "0 %")
    ]
    assert [percent(*pair) for pair in ((999, 1000), (1000, 1000), (0, 0))] == ["99 %", "100 %", "0 %"]


def test_counts_of_a_server() -> None:
    class Row:
        format, kind = "hermes", "damaged"
        theirs, ours = ("lost", "meant"), ("meant", "broken")

    found = counts([Row(), Row()], ["x"], [])
    assert found["damaged"]["texts"] == found["all"]["texts"] == 2
    assert found["damaged"]["their_others"] == {"lost": 2}
    assert found["not_meant"] == {"ours": [0, 2], "theirs": [0, 0]}
    assert (found["formats"], found["left_out"], found["render"]["texts"]) == (1, ["x"], 0)


def test_the_short_table_is_short() -> None:
    table = sections.comparison(load())
    rows = table.splitlines()
    assert len(rows) <= 12
    assert {row.count("|") for row in rows if row.startswith("|")} == {8}
    assert "{" not in table
