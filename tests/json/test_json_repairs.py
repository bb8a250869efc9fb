"""Each kind of damage on its own: the value, the repair level, and the recorded repairs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from outspoken import Parser, parse
from outspoken.json.heuristic import read_heuristically
from outspoken.json.read import read_json
from outspoken.json.repair import repair_region
from outspoken.results.edits import CODES, LEVELS, NOTES, REPAIR_LIMITS, RepairBudget
from tests.loops import in_one_item

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


@in_one_item("code, text, value", CASES)
def test_damage(code: str, text: str, value: Any) -> None:
    reading = read_json(text)
    assert reading.values == (value,)
    assert reading.status == "repaired"
    codes = {repair.code: repair.level for repair in reading.repairs}
    assert codes[code] == CODES[code].level
    assert reading.level == max(codes.values(), key=LEVELS.index)
    assert reading.level is not None
    below = LEVELS.index(reading.level) - 1
    assert read_json(text, repair=REPAIR_LIMITS[below]).values == ()
    assert read_json(text, repair=REPAIR_LIMITS[below]).status == "invalid"
    assert read_json(text, repair=REPAIR_LIMITS[below + 1]).values == (value,)
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
    (mended,) = repair_region(text, 0, len(text), closed=False, repair_limit="notation")
    assert not mended.complete
    assert json.loads(mended.text) == value


def test_every_code_has_a_case() -> None:
    elsewhere = {"dropped-text", "heuristic"}
    assert {case[0] for case in CASES + CUT} | elsewhere == set(CODES)
    assert not set(CODES) & set(NOTES)


#: a code, the smallest text that gives it, and the whole message
MESSAGES: list[tuple[str, str, str]] = [
    ("odd-space", "[\xa01]", "text:1:2 odd-space: a space or mark that JSON does not allow was dropped"),
    ("comment", "[1/**/]", "text:1:3 comment: a comment was dropped"),
    ("trailing-comma", "[1,]", "text:1:3 trailing-comma: a comma with nothing after it was dropped"),
    ("quote-style", "['']", "text:1:2 quote-style: `'` was read as the quote `\"`"),
    ("wide-punctuation", "［1]", "text:1:1 wide-punctuation: `［` was read as `[`"),
    ("bare-key", "{a:1}", "text:1:2 bare-key: the key `a` has no quotes"),
    ("python-literal", "[None]", "text:1:2 python-literal: `None` was read as `null`"),
    ("not-finite", "[NaN]", "text:1:2 not-finite: `NaN` is not a number in JSON and was read as `null`"),
    ("loose-number", "[.5]", "text:1:2 loose-number: the number `.5` was read as `0.5`"),
    ("loose-escape", '["\\\'"]', "text:1:3 loose-escape: the escape `\\'` was read as `'`"),
    ("invalid-escape", '["\\d"]', "text:1:3 invalid-escape: `\\` is not an escape sequence; the backslash was kept"),
    ("raw-control", '["\t"]', "text:1:3 raw-control: `\\t` is not escaped inside a string"),
    ("lone-surrogate", '["\ud83d",]', "text:1:3 lone-surrogate: `\\ud83d` is half a character, and was read as U+FFFD"),
    ("tuple", "[(1,)]", "text:1:2 tuple: `(` was read as `[`: a list in round brackets"),
    ("ellipsis", "[...]", "text:1:2 ellipsis: `...` stands for omitted values and was dropped"),
    ("cut-string", '["', "text:1:3 cut-string: the text ends inside a string"),
    ("cut-text", "[1,2", "text:1:3 cut-text: the text ends inside `,2`, which was dropped"),
    ("cut-container", "[", "text:1:2 cut-container: the text ends before `]`"),
    ("missing-comma", "[1 2]", "text:1:3 missing-comma: a comma is missing"),
    ("extra-comma", "[,1]", "text:1:2 extra-comma: a comma with nothing before it was dropped"),
    ("missing-colon", '{"" 1}', "text:1:4 missing-colon: a colon is missing after a key"),
    ("extra-colon", '{"":: 1}', "text:1:5 extra-colon: a second colon was dropped"),
    ("other-separator", '{""=1}', "text:1:4 other-separator: `=` was read as `:`"),
    ("wrong-closer", "[1}", "text:1:3 wrong-closer: `}` was read as `]`"),
    ("extra-closer", "[1]]", "text:1:4 extra-closer: `]` closes nothing and was dropped"),
    ("missing-closer", '{"":[1}', "text:1:7 missing-closer: `]` is missing"),
    ("missing-opener", '"":1}', "text:1:1 missing-opener: `{` is missing"),
    ("doubled-brace", '{{"":1}}', "text:1:2 doubled-brace: the brace `{` is doubled"),
    ("stray-quote", '[[]"]', "text:1:4 stray-quote: a quote that belongs to no string was dropped"),
    ("bare-value", '{"":a}', "text:1:5 bare-value: `a` was read as a string without quotes"),
    ("thousands-separator", '{"":1,000}', "text:1:5 thousands-separator: `1,000` was read as `1000`"),
    ("missing-value", '{"":}', 'text:1:2 missing-value: a key without a value was dropped: `"":`'),
    ("dropped-text", "```\n[1] x\n```", "text:2:4 dropped-text: text that is not JSON was dropped: ` x`"),
    ("bare-quote", '["a"b"]', "text:1:4 bare-quote: a quote inside a string is not escaped"),
    ("lost-quote", '{a":1}', "text:1:2 lost-quote: a quote is missing at the edge of a string"),
    ("heuristic", "[(1)]", "text:1:1 heuristic: the value was guessed from damaged text and may be wrong"),
    (
        "repeated-key",
        '{"":1,"":2}',
        "text:1:1 repeated-key: the key `` is repeated in one object; the last value counts",
    ),
    ("left-out", 'x {"":1}', "text:1:1 left-out: text around the JSON is not part of the value"),
    (
        "ambiguous-strings",
        '{"a": {"b": {"c": 1}}, "d": 2}}',
        "text:1:1 ambiguous-strings: the strings of this value can be read in more than one way",
    ),
    (
        "torn-json",
        '{"":1}":2}',
        "text:1:8 torn-json: this looks like part of a JSON value that was not read",
    ),
    ("cut-json", "[", "text:1:2 cut-json: the text ends inside the JSON value"),
    ("not-json", '{"":@}', "text:1:5 not-json: expected a value, found `@`"),
    ("no-json", "", "text:1:1 no-json: the text holds no JSON"),
    (
        "too-deep",
        "[" * 129,
        "text:1:129 too-deep: the value nests deeper than 128 levels, the limit that `Settings.max_depth` sets",
    ),
    (
        "too-damaged",
        "[1 2]" * 2000,
        "text:1:6366 too-damaged: the text is too damaged to be repaired within the limits",
    ),
]


@in_one_item("code, text, message", MESSAGES)
def test_message(code: str, text: str, message: str) -> None:
    assert message in [str(note) for note in read_json(text).diagnostics if note.code == code]


def test_every_code_has_a_message() -> None:
    assert [row[0] for row in MESSAGES] == [*CODES, *NOTES]


def test_end_proven_by_the_format() -> None:
    text = '<c>{"a": {"b": "x"</c>'
    (mended,) = repair_region(text, 3, len(text) - 4, closed=True, repair_limit="structure")
    assert (mended.value, mended.complete, mended.level) == ({"a": {"b": "x"}}, True, "structure")
    assert [edit.code for edit in mended.edits] == ["missing-closer"] * 2
    (mended,) = repair_region(text, 3, len(text) - 4, closed=False, repair_limit="structure")
    assert (mended.value, mended.complete) == ({"a": {"b": "x"}}, False)
    assert repair_region('{"a": "x}', 0, 9, closed=True, repair_limit="structure") == []
    (mended,) = repair_region('{"a": "x}', 0, 9, closed=True, repair_limit="strings")
    assert (mended.value, mended.complete) == ({"a": "x"}, True)


def test_several_values_of_a_region() -> None:
    for text in ('{"a": 1}{"a": 1}', '{"a": 1},\n{"a": 1}', '{"a": 1\n{"a": 1}'):
        assert [m.value for m in repair_region(text, 0, len(text), closed=True, repair_limit="structure")] == [
            {"a": 1},
            {"a": 1},
        ]


def test_text_outside_the_values_of_a_region() -> None:
    text = 'json\n{"a": 1} ok'
    (mended,) = repair_region(text, 0, len(text), closed=True, repair_limit="structure")
    assert (mended.start, mended.end, mended.text) == (0, len(text), '{"a": 1}')
    assert [edit.code for edit in mended.edits] == ["dropped-text"] * 2
    assert repair_region(text, 0, len(text), closed=True, repair_limit="notation") == []
    long = '{"a": 1} ' + "and so on " * 9
    assert repair_region(long, 0, len(long), closed=True, repair_limit="heuristic") == []


#: texts in which a value seems to end early: what is read of them, if anything, is not read silently
EARLY = [
    '{"new_string": "if x == \\"" {\\n f("b", "c")\\n}\\n", "path": "x"}',
    '{"a": 1} and "b": 2}',
    '{"a":1}":2}',
    '{"d": "{\\"p\\": \\"q", "r": "s"}", "e": false}',
]

#: several damages of the structure at once
TOGETHER: list[tuple[str, Any]] = [
    ('{"a": {"b": "x" "c": 1}}}', {"a": {"b": "x", "c": 1}}),
    ('{"a": [{"n": "t"} {"n": "u"}], "c": "it\'s" // z\n', {"a": [{"n": "t"}, {"n": "u"}], "c": "it's"}),
    ("{'a' 'b', 'c': {'d': 'e'}, 'n': 'f'", {"a": "b", "c": {"d": "e"}, "n": "f"}),
    ('{"body""It\'s \\"x\\"\n."}}', {"body": 'It\'s "x"\n.'}),
    ('{"p": [1,"a"null]}', {"p": [1, "a", None]}),
    ("{name:'f',to:['a''b'],on'c'}}", {"name": "f", "to": ["a", "b"], "on": "c"}),
    ('{name"f"arguments:{a:true b:"c"}}}', {"name": "f", "arguments": {"a": True, "b": "c"}}),
    ("｛｛＂a＂：＂b＂＂c＂：1｝｝", {"a": "b", "c": 1}),
]


@pytest.mark.parametrize("text", EARLY)
def test_early_end_of_a_value_is_reported(text: str) -> None:
    reading = read_json(text)
    assert reading.ambiguous or reading.status == "invalid"


@pytest.mark.parametrize(("text", "value"), TOGETHER)
def test_damages_of_the_structure_together(text: str, value: Any) -> None:
    (mended,) = repair_region(text, 0, len(text), closed=True, repair_limit="heuristic")
    assert (mended.value, mended.level, mended.runner_up) == (value, "structure", None)
    assert read_json(text).value == value


def test_exhausted_work_limit_reads_only_sound_json() -> None:
    budget = RepairBudget(0, 0)
    assert repair_region('{"a": 1,}', 0, 9, closed=True, repair_limit="heuristic", budget=budget) == []
    assert [m.value for m in repair_region('{"a": 1}', 0, 8, closed=True, repair_limit="heuristic", budget=budget)] == [
        {"a": 1}
    ]


def test_two_readings() -> None:
    reading = read_json('{"a": {"b": {"c": 1}}, "d": 2}}')
    assert reading.ambiguous
    assert "ambiguous" in {note.code.partition("-")[0] for note in reading.diagnostics}
    schema = {"properties": {"a": {"properties": {"b": {"type": "object"}}}, "d": {"type": "integer"}}}
    reading = read_json('{"a": {"b": {"c": 1}}, "d": 2}}', schema)
    assert not reading.ambiguous
    assert reading.value == {"a": {"b": {"c": 1}}, "d": 2}


def test_schema_names_separate_strings() -> None:
    text = '{"note": "use "a", "b": or "c"", "kind": "x"}'
    schema = {"type": "object", "properties": {"note": {"type": "string"}, "kind": {"type": "string"}}}
    assert read_json(text, schema).value == {"note": 'use "a", "b": or "c"', "kind": "x"}


def test_limit_of_trust_in_json_repair() -> None:
    from outspoken.json.heuristic import read_heuristically

    assert read_heuristically("{" + '"a": 1, ' * 3000, None, 128, RepairBudget.of(100)) is None
    assert read_heuristically("[" * 70, None, 128, RepairBudget.of(100)) is None
    assert read_heuristically('{"a": 1,}', None, 128, RepairBudget(0, 0, spans=0)) is None
    assert read_heuristically('{"a": 1,}', None, 128, RepairBudget.of(9)) == ({"a": 1}, '{"a": 1}')
    assert read_heuristically('{"a": 1,}', {"properties": {"b": {}}}, 128, RepairBudget.of(9)) is None
    assert read_heuristically('{"n": , "t": 1}', None, 128, RepairBudget.of(9)) is None
    assert read_heuristically('["x  ", "x\\n",', None, 128, RepairBudget.of(9)) is not None


def test_reading_that_invents_an_argument_loses() -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string"}, "path": {"type": "string"}}}
    for text, code in (
        ('{"code": "no "usage:" prefix", "path": "x"}', 'no "usage:" prefix'),
        ('{"path": "x", "code": "no "usage:" prefix"}', 'no "usage:" prefix'),
        ('{"path": "x", "code": """"text""""}', '"""text"""'),
        ('{"path": "x", "code": """text"""}', "text"),
    ):
        for limit in ("strings", "heuristic"):
            for known in (schema, None):
                (mended,) = repair_region(text, 0, len(text), closed=True, repair_limit=limit, schema=known)
                assert mended.value == {"path": "x", "code": code}, (text, limit)


def test_guess_that_loses_a_sign_or_a_key_is_no_reading() -> None:
    budget = RepairBudget.of(1000)
    for span in ('{"a": "x" & y}', '{"a" "b" "c": 1 %}', '{"a": <b>, "c"}', '{"a": {b c: 1}', '{"a": 1 "b": $2}'):
        found = read_heuristically(span, None, 128, budget)
        kept = [char for char in span if char.isalnum() or char in "&%<>$"]
        assert found is None or [char for char in found[1] if char.isalnum() or char in "&%<>$"] == kept
    assert read_heuristically('{"a": "x", b: "y" "z"}', {"properties": {"a": {}}}, 128, budget) is None


def test_guesses_are_made_by_default() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": [(1)]}\n</tool_call>'
    assert Parser().repair == "heuristic"
    assert Parser(on_error="raise").repair == "none"
    assert parse(text, repair="strings") == parse(text)
