"""Every kind of damage on its own: what it is read as, on which rung, and what is recorded of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from outspoken.json_codes import CAPS, CODES, NOTES, RUNGS
from outspoken.json_mend import mend
from outspoken.json_reading import read_json

#: a code, a text, what it says
CASES: list[tuple[str, str, Any]] = [
    ("odd-space", '\ufeff{"a":\u00a01}', {"a": 1}),
    ("comment", '{"a": 1, // one\n "b": /* two */ 2}', {"a": 1, "b": 2}),
    ("trailing-comma", '{"a": [1, 2,],}', {"a": [1, 2]}),
    ("quote-style", "{'a': `b`, “c”: 「d」}", {"a": "b", "c": "d"}),
    ("quote-style", '{"a": """say "x"\nnow"""}', {"a": 'say "x"\nnow'}),
    ("wide-punctuation", '｛"a"：【1，2】｝', {"a": [1, 2]}),
    ("bare-key", "{a: 1, b_c: 2, 3: 4}", {"a": 1, "b_c": 2, "3": 4}),
    ("python-literal", "{'a': True, 'b': None}", {"a": True, "b": None}),
    ("not-finite", '{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
    ("loose-number", "[+1, .5, 5., 0x1F, 1_000, 007, １２, -0b11]", [1, 0.5, 5.0, 31, 1000, 7, 12, -3]),
    ("loose-escape", '["it\\\'s", "\\x41", "a\\\nb"]', ["it's", "A", "ab"]),
    ("invalid-escape", '["\\d+ \\u00zz 100\\%"]', ["\\d+ \\u00zz 100\\%"]),
    ("raw-control", '["a\r\nb\tc\x07"]', ["a\r\nb\tc\x07"]),
    ("lone-surrogate", '["a\\ud83d", 1,]', ["a\ufffd", 1]),
    ("tuple", '{"a": (1, 2), "b": ()}', {"a": [1, 2], "b": []}),
    ("ellipsis", '{"a": [1, ..., 9], ...}', {"a": [1, 9]}),
    ("missing-comma", '{"a": [1 2] "b": "x""c": 3}', {"a": [1, 2], "b": "x", "c": 3}),
    ("extra-comma", '{,"a": [,1,,2]}', {"a": [1, 2]}),
    ("missing-colon", '{"a" 1, "b""x", "c"[]}', {"a": 1, "b": "x", "c": []}),
    ("extra-colon", '{"a": : 1}', {"a": 1}),
    ("other-separator", '{"a" = 1; "b" => 2}', {"a": 1, "b": 2}),
    ("wrong-closer", '{"a": [1, 2}}', {"a": [1, 2]}),
    ("extra-closer", '{"a": 1}}', {"a": 1}),
    ("extra-closer", '{"a": 1}, "b": 2}', {"a": 1, "b": 2}),
    ("missing-closer", '{"a": [1, 2}', {"a": [1, 2]}),
    ("missing-closer", '[{"a": 1, {"a": 2}]', [{"a": 1}, {"a": 2}]),
    ("missing-closer", '{"a": [1, 2, "b": 3}', {"a": [1, 2], "b": 3}),
    ("missing-opener", '"a": 1, "b": 2}', {"a": 1, "b": 2}),
    ("doubled-brace", '{{"a": {{"b": 1}}}}', {"a": {"b": 1}}),
    ("stray-quote", '{"a": {"b": 1}", "c": 2}', {"a": {"b": 1}, "c": 2}),
    ("bare-value", '{"a": Paris, "b": 10%, "c": 2024-01-15}', {"a": "Paris", "b": "10%", "c": "2024-01-15"}),
    ("thousands-separator", '{"a": 1,234,567, "b": 1}', {"a": 1234567, "b": 1}),
    ("missing-value", '{"a": , "b": 1, "c": }', {"b": 1}),
    ("bare-quote", '{"a": "say "hi", then go", "n": 1}', {"a": 'say "hi", then go', "n": 1}),
    ("bare-quote", '{"code": "print("a", "b")", "lang": "python"}', {"code": 'print("a", "b")', "lang": "python"}),
    ("bare-quote", '{"d": "x = {"k": "v"}", "n": 1}', {"d": 'x = {"k": "v"}', "n": 1}),
    ("bare-quote", "{'a': 'it's', 'b': 1}", {"a": "it's", "b": 1}),
    ("lost-quote", '{"a": "x, "b": "y"}', {"a": "x", "b": "y"}),
    ("lost-quote", '{a": 1, "b": 2}', {"a": 1, "b": 2}),
    ("lost-quote", '{"a: 1, "b": 2}', {"a": 1, "b": 2}),
]

#: a code, a text that was cut, what is known of it
CUT: list[tuple[str, str, Any]] = [
    ("cut-container", '{"a": {"b": [true', {"a": {"b": [True]}}),
    ("cut-container", "[", []),
    ("cut-string", '{"a": "par', {"a": "par"}),
    ("cut-string", '{"a": "caf\\u00', {"a": "caf"}),
    ("cut-string", '{"a": "hi \\ud83d\\ude', {"a": "hi "}),
    ("cut-string", '{"a": "C:\\\\', {"a": "C:\\"}),
    ("cut-text", '{"a": 1, "b', {"a": 1}),
    ("cut-text", '{"a": 1, "b"', {"a": 1}),
    ("cut-text", '{"a": 1, "b": ', {"a": 1}),
    ("cut-text", '{"a": 1, "b": tr', {"a": 1}),
    ("cut-text", '{"a": [1, 2', {"a": [1]}),
    ("cut-text", '{"a": -', {}),
    ("cut-text", '{"a": "x", "b": Par', {"a": "x"}),
]


@pytest.mark.parametrize(("code", "text", "value"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_damage(code: str, text: str, value: Any) -> None:
    reading = read_json(text)
    assert reading.values == (value,)
    assert reading.status == "repaired"
    codes = {repair.code: repair.rung for repair in reading.repairs}
    assert codes[code] == CODES[code].rung
    assert reading.rung == max(codes.values(), key=RUNGS.index)
    assert reading.rung is not None
    below = RUNGS.index(reading.rung) - 1
    assert read_json(text, repair=CAPS[below]).values == ()
    assert read_json(text, repair=CAPS[below]).status == "invalid"
    assert read_json(text, repair=CAPS[below + 1]).values == (value,)
    warnings = [note for note in reading.diagnostics if note.code == code]
    assert warnings
    assert all(note.severity == "warning" for note in warnings)


@pytest.mark.parametrize(("code", "text", "value"), CUT, ids=[f"{i}-{c[0]}" for i, c in enumerate(CUT)])
def test_cut(code: str, text: str, value: Any) -> None:
    reading = read_json(text)
    assert reading.values == (value,)
    assert reading.status == "truncated"
    assert code in {repair.code for repair in reading.repairs}
    assert [note.severity for note in reading.diagnostics if note.code == "cut-json"] == ["error"]
    (mended,) = mend(text, 0, len(text), closed=False, cap="notation")
    assert not mended.complete
    assert json.loads(mended.text) == value


def test_every_code_has_a_case() -> None:
    elsewhere = {"dropped-text", "heuristic"}
    assert {case[0] for case in CASES + CUT} | elsewhere == set(CODES)
    assert not set(CODES) & set(NOTES)


def test_the_end_that_a_format_proves() -> None:
    text = '<c>{"a": {"b": "x"</c>'
    (mended,) = mend(text, 3, len(text) - 4, closed=True, cap="structure")
    assert (mended.value, mended.complete, mended.rung) == ({"a": {"b": "x"}}, True, "structure")
    assert [edit.code for edit in mended.edits] == ["missing-closer"] * 2
    (mended,) = mend(text, 3, len(text) - 4, closed=False, cap="structure")
    assert (mended.value, mended.complete) == ({"a": {"b": "x"}}, False)
    assert mend('{"a": "x}', 0, 9, closed=True, cap="structure") == []
    (mended,) = mend('{"a": "x}', 0, 9, closed=True, cap="strings")
    assert (mended.value, mended.complete) == ({"a": "x"}, True)


def test_several_values_of_a_region() -> None:
    for text in ('{"a": 1}{"a": 1}', '{"a": 1},\n{"a": 1}', '{"a": 1\n{"a": 1}'):
        assert [m.value for m in mend(text, 0, len(text), closed=True, cap="structure")] == [{"a": 1}, {"a": 1}]


def test_what_belongs_to_no_value_of_a_region() -> None:
    text = 'json\n{"a": 1} ok'
    (mended,) = mend(text, 0, len(text), closed=True, cap="structure")
    assert (mended.start, mended.end, mended.text) == (0, len(text), '{"a": 1}')
    assert [edit.code for edit in mended.edits] == ["dropped-text"] * 2
    assert mend(text, 0, len(text), closed=True, cap="notation") == []
    long = '{"a": 1} ' + "and so on " * 9
    assert mend(long, 0, len(long), closed=True, cap="heuristic") == []


def test_two_readings() -> None:
    reading = read_json('{"a": {"b": {"c": 1}}, "d": 2}}')
    assert reading.ambiguous
    assert "ambiguous" in {note.code.partition("-")[0] for note in reading.diagnostics}
    schema = {"properties": {"a": {"properties": {"b": {"type": "object"}}}, "d": {"type": "integer"}}}
    reading = read_json('{"a": {"b": {"c": 1}}, "d": 2}}', schema)
    assert not reading.ambiguous
    assert reading.value == {"a": {"b": {"c": 1}}, "d": 2}


def test_names_of_the_schema_tell_strings_apart() -> None:
    text = '{"note": "use "a", "b": or "c"", "kind": "x"}'
    schema = {"type": "object", "properties": {"note": {"type": "string"}, "kind": {"type": "string"}}}
    assert read_json(text, schema).value == {"note": 'use "a", "b": or "c"', "kind": "x"}


def test_the_edge_of_what_json_repair_is_believed() -> None:
    from outspoken.json_codes import Effort
    from outspoken.json_heuristic import guess

    assert guess("{" + '"a": 1, ' * 3000, None, 128, Effort.of(100)) is None
    assert guess("[" * 70, None, 128, Effort.of(100)) is None
    assert guess('{"a": 1,}', None, 128, Effort(0, 0, spans=0)) is None
    assert guess('{"a": 1,}', None, 128, Effort.of(9)) == ({"a": 1}, '{"a": 1}')
    assert guess('{"a": 1,}', {"properties": {"b": {}}}, 128, Effort.of(9)) is None
    assert guess('{"n": , "t": 1}', None, 128, Effort.of(9)) is None
    assert guess('["x  ", "x\\n",', None, 128, Effort.of(9)) is not None
