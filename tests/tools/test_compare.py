"""The comparisons with other projects: their texts, how readings are judged, and the tables. No other is run."""

from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from tests.json.typed_types import Answer, answers
from tests.tables import tables
from tools.compare import calls, documents, typed
from tools.compare.__main__ import TABLES as MEASURED
from tools.compare.__main__ import main
from tools.compare.documents import GROUPS, READERS, Classes, JsonText, Reading, json_texts, same
from tools.compare.servers import MarkerTokenizer
from tools.compare.tables import commits_since, places, share, told, written
from tools.damage.json_texts import sound

TABLES = tables(__file__)

TEXTS = json_texts(1)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}}}
MEANT = {"a": 1, "b": "x"}


def test_the_texts_of_each_group_and_how_ours_reads_them() -> None:
    sizes = Counter(text.group for text in TEXTS)
    assert list(sizes) == [*GROUPS]
    assert json_texts(1) == TEXTS
    for text in TEXTS:
        assert sound(text.text) == (text.group in ("sound", "types")), text
    read = READERS["Outspoken"][1](TEXTS)
    found = Counter((text.group, documents.outcome(read, i, text)) for i, text in enumerate(TEXTS))
    assert {group: found[group, "meant"] for group in GROUPS} == dict(sizes)


def returning(result: Any) -> Any:
    """A reader that returns this, or refuses what it is given for "refused"."""

    def read(_: Any) -> Any:
        if result == "refused":
            raise ValueError
        return result

    return read


@pytest.mark.parametrize(("group", "found", "expected"), TABLES["READINGS"])
def test_a_reading_is_judged(group: str, found: Any, expected: str) -> None:
    read = returning(Reading(**found) if isinstance(found, dict) else found)
    assert documents.outcome(read, 0, JsonText(group, group, "", MEANT, SCHEMA)) == expected


@pytest.mark.parametrize(("meant", "found", "expected"), TABLES["VALUES"])
def test_the_value_of_a_type_is_judged(meant: str | None, found: Any, expected: str) -> None:
    assert typed.outcome(returning(found), Answer("int", "sound", "", meant)) == expected


def test_ours_reads_typed_answers() -> None:
    read = typed.READERS["Outspoken"][2]()
    found = Counter(typed.outcome(read, answer) for answer in answers() if answer.kind in ("sound", "cut"))
    assert [*found] == ["meant"]


def test_null_is_as_good_as_missing_in_a_class() -> None:
    assert same({"a": 1, "b": None}, {"a": 1}, SCHEMA)
    assert not same({"x": None}, {}, {"type": "object"})
    assert same([{"a": 1, "b": None}], [{"a": 1}], {"type": "array", "items": SCHEMA})


def test_schemas_are_classes() -> None:
    made = Classes("C", TABLES["SCHEMA"], module := ModuleType("types"))
    assert made.sources == [
        "class CN1 {\n  size float?\n}",
        'class C {\n  name string\n  env_ map<string, Anything>? @alias("env")\n  mode ("a" | "b")?\n  parts CN1[]?\n}',
    ]
    value = {"name": "x", "env": {"a": 1}, "mode": "b", "parts": [{"size": 1.5}]}
    assert module.C.model_validate(value).model_dump(by_alias=True) == value


CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize(("end", "meant", "kind", "expected"), TABLES["CALLS"])
def test_calls_of_ours_are_judged(end: int | None, meant: list[Any], kind: str, expected: str) -> None:
    right = [("f", arguments) for arguments in meant]
    example = calls.Example(kind, CALL[:end], right, TOOLS, CALL[:end], right)
    alone = calls.Alone("hermes", TOOLS)
    assert [calls.judged(alone, example, way) for way in calls.WAYS] == [expected, expected]


def test_examples_are_read_as_meant_by_ours() -> None:
    found = [*calls.examples("hermes", 4)]
    assert {example.kind for example in found} == set(calls.KINDS)
    for example in found:
        if example.kind in ("render", "damaged"):
            assert calls.judged(calls.Alone("hermes", example.tools), example, "whole") == "meant", example.text


def test_tokens_are_markers_and_pieces() -> None:
    for size in (1, 4):
        tokenizer = MarkerTokenizer(size)
        text = "Hello you.<tool_call>{}</tool_call>é"
        assert tokenizer.decode(tokenizer.encode(text)) == text
        pieces = tokenizer.pieces(text)
        assert "".join(pieces) == text
        assert "<tool_call>" in pieces
        assert max(len(piece) for piece in pieces if not piece.startswith("<")) <= size
    assert tokenizer.get_vocab()["<tool_call>"] == tokenizer.encode("<tool_call>")[0]


def test_shares_are_never_rounded_to_all_or_none() -> None:
    assert [share(*pair) for pair in ((0, 9), (1, 900), (899, 900), (9, 9), (0, 0))] == [
        *("0 %", "1 %", "99 %", "100 %", "0 %")
    ]
    assert (told({"a": 2, "b": 1}), told(["a"]), told([])) == ("`a` 2, `b` 1", "`a`", "none")


def test_tables_in_documents(capsys: pytest.CaptureFixture[str]) -> None:
    """Each table stands in one document, with the date and the commit of its measurement; `main` lists them."""
    found = [place.name for place in places()]
    assert sorted(found) == sorted(MEASURED)
    text = "A <!-- figures: speed, 2026-01-01, abc -->\n\n| 1 |\n\n<!-- end --> b"
    changed = "A <!-- figures: speed, 2026-01-02, def -->\n\n| 2 |\n\n<!-- end --> b"
    assert written(text, "speed", "2026-01-02", "def", "| 2 |") == changed
    assert written(text, "servers", "2026-01-02", "def", "| 2 |") == text
    assert commits_since("no-commit") == -1
    assert main([]) == 0
    assert capsys.readouterr().out.count("measured on 20") == len(MEASURED)
