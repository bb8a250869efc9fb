"""`read_json`: where the JSON of a text is, what is said of it, and what is left alone."""

from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_core import from_json

from outspoken.json.read import read_json, read_partial
from outspoken.json.repair import repair_region
from tests.tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize("text", TABLES["NOTHING"])
def test_no_data(text: str) -> None:
    reading = read_json(text)
    assert (reading.status, reading.values, reading.value, reading.level) == ("invalid", (), None, None)
    assert [note.severity for note in reading.diagnostics] == ["error"]


@pytest.mark.parametrize(("text", "values"), TABLES["AROUND"])
def test_json_in_other_text(text: str, values: list[Any]) -> None:
    reading = read_json(text)
    assert list(reading.values) == values
    assert reading.status in ("ok", "repaired")


def test_surrounding_text_is_reported() -> None:
    reading = read_json('Here: {"a": 1} Bye.')
    assert (reading.status, reading.level, reading.repairs) == ("ok", "exact", ())
    assert [(note.code, note.severity, reading.raw[slice(*note.span)]) for note in reading.diagnostics] == [
        ("left-out", "note", "Here:"),
        ("left-out", "note", "Bye."),
    ]


@pytest.mark.parametrize("text", ['{"a": [1, 2.50]}', ' "x" ', "12", "null", "[]", '{"s": "```json\\n{}\\n```, // x"}'])
def test_sound_json_is_untouched(text: str) -> None:
    for repair_limit in ("none", "heuristic"):
        reading = read_json(text, repair=repair_limit)
        assert (reading.status, reading.level, reading.repairs, reading.diagnostics) == ("ok", "exact", (), ())
        assert reading.texts == (text.strip(),)


def test_odd_blanks_are_text() -> None:
    reading = read_json("[1]\x1f", repair="none")
    assert [note.span for note in reading.diagnostics if note.code == "left-out"] in ([], [(3, 4)])
    assert read_json("0\x1f", repair="none").status == "invalid"


def test_repeated_keys() -> None:
    reading = read_json('{"a": 1, "b": {"a": 2}, "a": 3}')
    assert reading.value == {"a": 3, "b": {"a": 2}}
    assert (reading.status, reading.repairs) == ("ok", ())
    assert [note.code for note in reading.diagnostics] == ["repeated-key"]


def test_spans_and_positions() -> None:
    reading = read_json('{\n  "a": {"b": [1 2]},\n}')
    comma, trailing = reading.repairs
    assert (comma.code, comma.line, comma.column, comma.path) == ("missing-comma", 2, 16, ("a", "b", 0))
    assert (trailing.code, trailing.line, trailing.column, trailing.path) == ("trailing-comma", 2, 20, ())
    assert str(reading.diagnostics[0]) == "text:2:16 missing-comma: a comma is missing"


def test_repeated_diagnostics_are_merged() -> None:
    reading = read_json('{"a": "' + "x\n" * 50 + '"}')
    assert len(reading.repairs) == 50
    assert [note.notes for note in reading.diagnostics] == [("49 more of this kind in the same value",)]


def test_where_reading_failed() -> None:
    (note,) = read_json('{"a": 1, @b}').diagnostics
    assert (note.code, note.message, note.span) == ("not-json", "expected a key, found `@`", (9, 10))
    (note,) = read_json("[" * 200).diagnostics
    assert note.code == "too-deep"
    (note,) = read_json('{"a": 1,}', repair="none").diagnostics
    assert note.message == "expected sound JSON, found `,`"


def test_lone_surrogates_are_replaced() -> None:
    for text in ('{"a": "x\\ud83d"}', '{"a": "x\ud83d"}', '{"\ud83d": "x",}'):
        reading = read_json(text)
        assert repr(reading.value).encode()
        assert "\ufffd" in str(reading.value)


def test_a_model_as_schema() -> None:
    class Call(BaseModel):
        code: str
        lang: str

    reading = read_json('{"code": "f("a", "lang": "b")", "lang": "py"}', schema=Call)
    assert reading.value == Call(code='f("a", "lang": "b")', lang="py")


#: Beginnings of these are read by pydantic's decoder where it gives what `repair_region` gives.
PARTIAL = [
    *TABLES["PARTIAL"],
    '["\ud800", 1]',
    "[" + "9" * 400 + ", 1",
    "[" + "1" * 99 + "." + "2" * 99 + "e12",
    "[" * 130 + '"[[",',
    "[" * 127 + '"[[", "[',
]


def test_partial_values() -> None:
    differ: list[str] = []
    for whole in PARTIAL:
        for end in range(len(whole) + 1):
            text = whole[:end]
            found = repair_region(text, 0, end, closed=False, repair_limit="notation")
            if repr(read_partial(text)) != repr(found[0].value if found else None):
                differ.append(text)
    assert differ == []


def test_pydantic_reports_truncation() -> None:
    for text in ('{"a": [1, "b', '{"a"', '["x\\', "[", "[tru"):
        with pytest.raises(ValueError, match=r"^EOF while parsing"):
            from_json(text)
    with pytest.raises(ValueError, match=r"^(?!EOF)"):
        from_json('{"a": "b" c')


def test_bytes_are_text_and_none_is_empty() -> None:
    assert read_json(b'{"a": 1}') == read_json('{"a": 1}')
    assert read_json(None) == read_json("")


@pytest.mark.parametrize("mark", ["```", "````", "~~~"])
@pytest.mark.parametrize("label", ["", " ", "json ", "js"])
def test_json_on_the_line_of_a_fence_is_no_label(mark: str, label: str) -> None:
    for gap in (" ", "\n  "):
        for behind in (mark, f"\n{mark}", f"\n{mark}\nDone."):
            read = read_json(f'{mark}{label}{{"a": 1,{gap}"b": [2]}}{behind}')
            assert (read.value, read.status) == ({"a": 1, "b": [2]}, "ok")


@pytest.mark.parametrize(
    ("begin", "end"), [("<think>", "</think>"), ("<Thinking>", "</Thinking>"), ("[THINK]", "[/THINK]")]
)
def test_values_in_reasoning_count_only_if_there_are_no_others(begin: str, end: str) -> None:
    thought, said = '{"harbour": "X", "seats": 1}', '{"harbour": "Ystad", "seats": 12}'
    for text in (
        f"{begin}Maybe {thought}.{end}{said}",
        f"{begin}{{broken {end}\n```json\n{said}\n```",
        f"{thought}?{end}{said}",
    ):
        read = read_json(text)
        assert (read.values, read.status) == (({"harbour": "Ystad", "seats": 12},), "ok"), text
    only = read_json(f"{begin}Maybe {thought}.{end} None.")
    assert only.value == {"harbour": "X", "seats": 1}
    assert "in-reasoning" in [note.code for note in only.diagnostics]
    assert read_json(f'{{"tag": "{end}"}} {said}').values[0] == {"tag": end}


@pytest.mark.parametrize("line", ['Row {n}: {{"id": {n}}}', '```json\n{{"id": {n}}}\n```'])
def test_sound_values_cost_no_budget(line: str) -> None:
    read = read_json("\n".join(line.format(n=n) for n in range(3000)))
    assert [value["id"] for value in read.values] == list(range(3000))


def test_text_that_is_too_damaged_is_reported() -> None:
    read = read_json("\n".join(f'Row {n}: {{"id": {n},}} [a' for n in range(3000)))
    assert len(read.values) < 3000
    assert {"too-damaged", "torn-json"} & {note.code for note in read.diagnostics}


@pytest.mark.parametrize("value", ['"/tmp" + "/a"', '"a" & "b"', '"a" + "b" + "c"'])
def test_strings_are_not_computed(value: str) -> None:
    assert read_json(f'{{"path": {value}}}').value is None
    assert read_json('{"keys": "press "Ctrl" + "C" to copy"}').value == {"keys": 'press "Ctrl" + "C" to copy'}
