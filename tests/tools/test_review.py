"""The review of snapshots tells each kind of change from the others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import cases, load
from tools import review
from tools.review.changes import KINDS, compare
from tools.review.snapshot_reader import Model, python_value, read, read_snapshots, written
from tools.shared.snapshots import readable

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1, "y": "a"}}\n</tool_call>'
COMMA = CALL.replace('"a"', '"a",')
CUT = CALL[:-20]
SPARE = (
    "      ToolCall(kind='tool_call', name='f', arguments={}, arguments_text='{}', id=None, status='ok', "
    "span=(0, 7), repairs=()),\n"
)
SAID = "      '''\n        error[old]: it was said\n          --> hermes:2:1 (offset 12)\n      ''',\n"
LONG = "Hello, this is a much longer text that says the same as the short one, and then some, up to here."
THOUGHT = "<think>\nHm.\n</think>\n\nHi."

CASES = {
    "hermes/ok/call": CALL,
    "hermes/ok/two": f"Hi.\n{CALL}\n{CALL}",
    "hermes/ok/thought": THOUGHT,
    "hermes/err/comma": COMMA,
    "hermes/err/cut": CUT,
    "ui_tars/ok/click": "Thought: Hm.\nAction: click(start_box='(1,2)')",
    "suggestions/ok/values": 'Hi.\n\nSUGGESTED_VALUES:\n[{"label": "a", "value": "b"}]',
    "json/ok/value": 'See {"a": 1}.',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with a small corpus and its snapshots, and the grammars of this one."""
    (tmp_path / "grammars").symlink_to(Checkout().grammars)
    made = Checkout(tmp_path)
    made.snapshots.mkdir(parents=True)
    for case, text in CASES.items():
        write(made, case, text)
    for name in sorted({case.partition("/")[0] for case in CASES}):
        accept(made, name)
    return made


def write(checkout: Checkout, case: str, text: str) -> None:
    path = checkout.corpus / f"{case}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def accept(checkout: Checkout, name: str) -> None:
    """Write the snapshots of a format as syrupy does."""
    lines = ["# serializer version: 1"]
    for case in cases(checkout, name):
        body = written(readable(case, case.parse())).split("\n")
        lines += [f"# name: test_case[{case}]", *[f"  {line}" for line in body], "# ---"]
    (checkout.snapshots / f"{name}.ambr").write_text("\n".join(lines) + "\n", "utf-8")


def edit(checkout: Checkout, case: str, edits: list[tuple[str, str | None]]) -> None:
    """Make the accepted snapshot of a case another one, so that what is read now is a change."""
    path = checkout.snapshots / f"{case.partition('-')[0]}.ambr"
    head, name, rest = path.read_text("utf-8").partition(f"# name: test_case[{case}]\n")
    for old, new in edits:
        assert old in rest, (case, old, rest)
        if new is None:
            lines = rest.split("\n")
            lines.remove(next(line for line in lines if old in line))
            rest = "\n".join(lines)
        else:
            rest = rest.replace(old, new, 1)
    path.write_text(head + name + rest, "utf-8")


#: A case, what its accepted snapshot says otherwise (None: a line less), and what is shown of that.
SCENARIOS: list[tuple[str, list[tuple[str, str | None]], str]] = [
    (
        'hermes-ok-thought',
        [("      Text(", f"{SPARE}      Text(")],
        '''\
calls lost: 1 case (hermes 1)
  hermes-ok-thought
    input 0-7: <think>\\nHm…
    - segments[1]: ToolCall(name="f", arguments={})
''',
    ),
    (
        'hermes-ok-two',
        [("span=(76, 147)", None)],
        '''\
calls gained: 1 case (hermes 1)
  hermes-ok-two
    input 76-147: …tool_call>\\n<tool_call>\\n{"name": "f", "arguments": {"x": 1, "y": "a"}}\\n</tool_call…
    + segments[2]: ToolCall(name="f", arguments={"x": 1, "y": "a"})
''',
    ),
    (
        'hermes-ok-two',
        [("name='f'", "name='g'")],
        '''\
calls renamed: 1 case (hermes 1)
  hermes-ok-two
    input 4-75: Hi.\\n<tool_call>\\n{"name": "f", "arguments": {"x": 1, "y": "a"}}\\n</tool_call…
    - segments[1]: ToolCall(name="g", arguments={"x": 1, "y": "a"})
    + segments[2]: ToolCall(name="f", arguments={"x": 1, "y": "a"})
''',
    ),
    (
        'hermes-ok-call',
        [("'y': 'a'", "'z': 'a'")],
        '''\
arguments of calls changed: 1 case (hermes 1)
  hermes-ok-call
    input 0-71: <tool_call>\\n{"name": "f", "arguments": {"x": 1, "y": "a"}}\\n</tool_call…
    - segments[0].arguments.z: "a"
    + segments[0].arguments.y: "a"
''',
    ),
    (
        'hermes-ok-call',
        [('id=None', "id='1'")],
        '''\
ids of calls changed: 1 case (hermes 1)
  hermes-ok-call
    input 0-71: <tool_call>\\n{"name": "f", "arguments": {"x": 1, "y": "a"}}\\n</tool_call…
    segments[0].id: "1" → null
''',
    ),
    (
        'hermes-err-cut',
        [("status='truncated'", "status='invalid'")],
        '''\
unfinished calls changed: 1 case (hermes 1)
  hermes-err-cut
    input 0-51: <tool_call>\\n{"name": "f", "arguments": {"x": 1, "y"
    segments[0].status: "invalid" → "truncated"
''',
    ),
    (
        'hermes-ok-call',
        [("'status': 'ok'", "'status': 'repaired'")],
        '''\
status repaired → ok: 1 case (hermes 1)
  hermes-ok-call
    status: "repaired" → "ok"
''',
    ),
    (
        'hermes-ok-thought',
        [("status='ok'", "status='repaired'")],
        '''\
status of segments changed: 1 case (hermes 1)
  hermes-ok-thought
    input 8-11: <think>\\nHm.\\n</…
    segments[0].status: "repaired" → "ok"
''',
    ),
    (
        'hermes-ok-thought',
        [
            ("Reasoning(kind='reasoning', text='Hm.'", "Text(kind='text', text='Hm.'"),
            ("'reasoning': 'Hm.'", "'reasoning': None"),
            ("'text': 'Hi.'", "'text': 'Hm.Hi.'"),
        ],
        '''\
text became reasoning: 1 case (hermes 1)
  hermes-ok-thought
    input 8-11: <think>\\nHm.\\n</…
    segments[0]: Text(text="Hm.") → Reasoning(text="Hm.")
''',
    ),
    (
        'hermes-ok-thought',
        [
            ("Text(kind='text', text='Hi.'", "Reasoning(kind='reasoning', status='ok', text='Hi.'"),
            ("'reasoning': 'Hm.'", "'reasoning': 'Hm.\\n\\nHi.'"),
            ("'text': 'Hi.'", "'text': ''"),
        ],
        '''\
reasoning became text: 1 case (hermes 1)
  hermes-ok-thought
    input 22-25: …</think>\\n\\nHi.
    segments[1]: Reasoning(text="Hi.") → Text(text="Hi.")
''',
    ),
    (
        'hermes-ok-thought',
        [("text='Hi.'", f"text='{LONG}'"), ("'text': 'Hi.'", "'text': 'Hello'")],
        '''\
text changed: 1 case (hermes 1)
  hermes-ok-thought
    input 22-25: …</think>\\n\\nHi.
    segments[1].text:
      - "Hello, this is a much longer text that says the same as the short one, and then some, up to here."
      + "Hi."
''',
    ),
    (
        'hermes-ok-thought',
        [("text='Hm.'", "text='Hm. '"), ("'reasoning': 'Hm.'", "'reasoning': 'Hm. '")],
        '''\
reasoning changed: 1 case (hermes 1)
  hermes-ok-thought
    input 8-11: <think>\\nHm.\\n</…
    segments[0].text: "Hm. " → "Hm."
''',
    ),
    (
        'json-ok-value',
        [
            ("JsonValue(kind='json', value={'a': 1}, raw=", "Text(kind='text', text="),
        ],
        '''\
kinds of segments changed: 1 case (json 1)
  json-ok-value
    input 4-12: See {"a": 1}.
    segments[1]: Text(text="{\\"a\\": 1}") → JsonValue(value={"a": 1}, raw="{\\"a\\": 1}")
''',
    ),
    (
        'hermes-err-comma',
        [("code='trailing-comma'", "code='comma'")],
        '''\
repairs changed: 1 case (hermes 1)
  hermes-err-comma
    input 0-72: <tool_call>\\n{"name": "f", "arguments": {"x": 1, "y": "a",}}\\n</tool_cal…
    segments[0].repairs:
      - Repair(code="comma", level="notation", path=[], before=",", after="", line=2, column=45)
      + Repair(code="trailing-comma", level="notation", path=[], before=",", after="", line=2, column=45)
''',
    ),
    (
        'hermes-err-comma',
        [('warning[trailing-comma]', 'error[trailing-comma]')],
        '''\
diagnostics replaced: 1 case (hermes 1)
  hermes-err-comma
    input 56-57: … 1, "y": "a",}}\\n…
    - error[trailing-comma]: a comma with nothing after it was dropped --> hermes:2:45 (offset 56)
    + warning[trailing-comma]: a comma with nothing after it was dropped --> hermes:2:45 (offset 56)
''',
    ),
    (
        'hermes-err-cut',
        [("'diagnostics': list([\n", f"'diagnostics': list([\n{SAID}")],
        '''\
diagnostics removed: 1 case (hermes 1)
  hermes-err-cut
    input 12-13: …tool_call>\\n{"nam…
    - error[old]: it was said --> hermes:2:1 (offset 12)
''',
    ),
    (
        'hermes-ok-call',
        [('span=(0, 71)', 'span=(0, 70)')],
        '''\
only spans changed: 1 case (hermes 1)
  hermes-ok-call
    input 0-71: <tool_call>\\n{"name": "f", "arguments": {"x": 1, "y": "a"}}\\n</tool_call…
    segments[0].span: [0, 70] → [0, 71]
''',
    ),
    (
        'hermes-ok-two',
        [("'markup': list([", "'markup': list([\n      'x',")],
        '''\
only markup changed: 1 case (hermes 1)
  hermes-ok-two
    markup: ["x", "\\n", "\\n"] → ["\\n", "\\n"]
''',
    ),
    (
        'hermes-err-comma',
        [('with nothing after it was dropped', 'was dropped')],
        '''\
only the wording of diagnostics changed: 1 case (hermes 1)
  hermes-err-comma
    input 56-57: … 1, "y": "a",}}\\n…
    - warning[trailing-comma]: a comma was dropped
    + warning[trailing-comma]: a comma with nothing after it was dropped
''',
    ),
    (
        'hermes-ok-call',
        [("'input': '''", "'more': 1,\n    'input': '''")],
        '''\
something else changed: 1 case (hermes 1)
  hermes-ok-call
    - more: 1
''',
    ),
    (
        'hermes-ok-call',
        [('{"name": "f"', '{"name":  "f"')],
        '''\
the text of the case changed: 1 case (hermes 1)
  hermes-ok-call
    input:
      - …<tool_call>\\n{\\"name\\":  \\"f\\", \\"arguments\\": {\\"x\\": 1, \\"y\\": \\"a\\"}}\\n</tool_call>"
      + …<tool_call>\\n{\\"name\\": \\"f\\", \\"arguments\\": {\\"x\\": 1, \\"y\\": \\"a\\"}}\\n</tool_call>"
''',
    ),
    (
        'hermes-ok-call',
        [("'markup': list([\n    ]),", 'nothing that can be read')],
        '''\
something else changed: 1 case (hermes 1)
  hermes-ok-call
    snapshot:
      - …</tool_call>\\n  \'\'\',\\n  nothing that can be read\\n  'reasoning': None,\\n  'segments': list([\\n    To…
      + …</tool_call>\\n  \'\'\',\\n  'markup': list([\\n  ]),\\n  'reasoning': None,\\n  'segments': list([\\n    Too…
''',
    ),
    (
        'ui_tars-ok-click',
        [('x=1.0', 'x=3.0')],
        '''\
fields of actions changed: 1 case (ui_tars 1)
  ui_tars-ok-click
    input 21-45: …m.\\nAction: click(start_box='(1,2)')
    segments[1].point: Point(x=3.0, y=2.0, space="px_smart28") → Point(x=1.0, y=2.0, space="px_smart28")
''',
    ),
    (
        'ui_tars-ok-click',
        [("name='click'", "name='tap'")],
        '''\
actions renamed: 1 case (ui_tars 1)
  ui_tars-ok-click
    input 21-45: …m.\\nAction: click(start_box='(1,2)')
    segments[1].name: "tap" → "click"
''',
    ),
    (
        'suggestions-ok-values',
        [("'value': 'b'", "'value': 'c'")],
        '''\
data of payloads changed: 1 case (suggestions 1)
  suggestions-ok-values
    input 3-53: Hi.\\n\\nSUGGESTED_VALUES:\\n[{"label": "a", "value": "b"}]
    segments[1].data: [{"label": "a", "value": "c"}] → [{"label": "a", "value": "b"}]
''',
    ),
]  # fmt: skip


TO_ACCEPT = "to accept {}: ./tools/test tests/test_formats.py --snapshot-update\n"


@pytest.mark.parametrize(
    ("case", "edits", "shown"),
    SCENARIOS,
    ids=[f"{number} {shown.partition(':')[0]}" for number, (_, _, shown) in enumerate(SCENARIOS)],
)
def test_changes_are_shown_by_kind(
    checkout: Checkout,
    case: str,
    edits: list[tuple[str, str | None]],
    shown: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    edit(checkout, case, edits)
    assert review.main([], checkout) == 1
    assert capsys.readouterr().out == f"{shown}\n8 cases read, 1 change\n{TO_ACCEPT.format('this')}"


def test_nothing_changed(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert review.main([], checkout) == 0
    assert capsys.readouterr().out == "8 cases read, 0 changes\n"


def test_new_and_removed_cases_and_those_that_cannot_be_accepted(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    write(checkout, "hermes/ok/bad", COMMA)
    write(checkout, "hermes/err/comma", CALL)
    write(checkout, "hermes/ok/new", CALL)
    (checkout.corpus / "json" / "ok" / "value.txt").unlink()
    assert review.main([], checkout) == 1
    assert (
        capsys.readouterr().out
        == f"""\
cannot be accepted: 2 cases (hermes 2)
  hermes-err-comma
    a case in `err/` has no diagnostic
    input 0-71: <tool_call>\\n{{"name": "f", "arguments": {{"x": 1, "y": "a"}}}}\\n</tool_call…
    status: "repaired" → "ok"
    segments[0].status: "repaired" → "ok"
    segments[0].repairs:
      - Repair(code="trailing-comma", level="notation", path=[], before=",", after="", line=2, column=45)
      + []
    - warning[trailing-comma]: a comma with nothing after it was dropped --> hermes:2:45 (offset 56)
    input:
      - … {{\\"x\\": 1, \\"y\\": \\"a\\",}}}}\\n</tool_call>"
      + … {{\\"x\\": 1, \\"y\\": \\"a\\"}}}}\\n</tool_call>"
  hermes-ok-bad
    a case in `ok/` has a diagnostic: hermes:2:45 trailing-comma: a comma with nothing after it was dropped

new cases without a snapshot: 1 case (hermes 1)
  hermes-ok-new
    ok: ToolCall(name="f", arguments={{"x": 1, "y": "a"}})

snapshots without a case: 1 case (json 1)
  json-ok-value

9 cases read, 4 changes
2 cannot be accepted: their tests fail until their results change, or they are moved
{TO_ACCEPT.format("the others")}"""
    )


def test_most_severe_change_names_the_kind(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    edit(checkout, "hermes-ok-call", [("'y': 'a'", "'y': 'b'"), ("span=(0, 71)", "span=(0, 70)")])
    edit(checkout, "hermes-ok-two", [("name='f'", "name='g'")])
    edit(checkout, "hermes-ok-thought", [("text='Hm.'", "text='Hm'"), ("'status': 'ok'", "'status': 'invalid'")])
    review.main([], checkout)
    groups = [line for line in capsys.readouterr().out.splitlines() if line.endswith(")") and not line.startswith(" ")]
    assert groups == [
        "calls renamed: 1 case (hermes 1)",
        "arguments of calls changed: 1 case (hermes 1)",
        "status invalid → ok: 1 case (hermes 1)",
    ]


def test_many_cases_are_abridged_unless_full(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(7):
        write(checkout, f"text/ok/case_{number}", "Hi.")
    review.main([], checkout)
    assert capsys.readouterr().out.splitlines()[9:12] == [
        "  text-ok-case_4",
        '    ok: Text(text="Hi.")',
        "  … and 2 more; `--full` shows all",
    ]
    review.main(["--full"], checkout)
    assert capsys.readouterr().out.count("  text-ok-case_") == 7


def test_full_shows_every_change(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    edit(checkout, "hermes-ok-call", [("'y': 'a'", "'y': 'b'"), ("span=(0, 71)", "span=(0, 70)")])
    review.main([], checkout)
    assert "segments[0].span" not in capsys.readouterr().out
    review.main(["--full"], checkout)
    assert "    segments[0].span: [0, 70] → [0, 71]\n" in capsys.readouterr().out


def test_some_formats_alone(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    write(checkout, "hermes/ok/new", CALL)
    (checkout.corpus / "json" / "ok" / "value.txt").unlink()
    assert review.main(["ui_tars"], checkout) == 0
    assert capsys.readouterr().out == "1 case read, 0 changes\n"
    assert review.main(["json", "hermes"], checkout) == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "6 cases read, 2 changes",
        "to accept this: ./tools/test -k '[hermes- or [json-' --snapshot-update",
        "to delete snapshots: ./tools/test tests/test_formats.py --snapshot-update",
    ]


def test_snapshots_of_a_removed_format(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout.snapshots / "json.ambr").rename(checkout.snapshots / "gone.ambr")
    assert review.main(["gone"], checkout) == 1
    assert capsys.readouterr().out.startswith("snapshots without a case: 1 case (gone 1)\n  json-ok-value\n")


def test_errors_are_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert review.main(["hermess"], checkout) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: there is no format `hermess`; did you mean `hermes`? (")
    with pytest.raises(SystemExit, match="2"):
        review.main(["--what"], checkout)


def test_unusable_grammar_is_reported(checkout: Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout.root / "grammars").unlink()
    checkout.grammars.mkdir()
    checkout.grammar("hermes").write_text("// form: hermes\n", "utf-8")
    assert review.main(["hermes"], checkout) == 2
    assert capsys.readouterr().err.startswith(f"error: {checkout.grammar('hermes')}:1: the header has no field `form`")


def test_a_terminal_shows_colours(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    edit(checkout, "hermes-ok-two", [("span=(76, 147)", None)])
    assert review.main([], checkout) == 1
    assert "\x1b[1;31mcalls gained: 1 case (hermes 1)\x1b[0m\n" in capsys.readouterr().out


def test_syrupy_output_reads_back() -> None:
    value: dict[str, object] = {
        "text": "a\nb\n",
        "empty lines": "\n\n'''\n",
        "rare breaks": "a\x0bb\u2028c\nd",
        "quotes": 'it\'s "so"',
        "list": ["x\ny", [], {}, [1, None]],
        "it's: one": {"a": 1.5},
    }
    assert read(written(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Text(kind='text', span=(0, 3))", Model("Text", {"kind": "text", "span": (0, 3)})),
        ("Outer(inner=(Inner(x=-1.5),), y=[inf, {1: None}])",
         Model("Outer", {"inner": (Model("Inner", {"x": -1.5}),), "y": [float("inf"), {1: None}]})),
        ("<object at 0x1>", "<object at 0x1>"),
        ("f(1)", "f(1)"),
        ("[" * 300 + "]" * 300, "[" * 300 + "]" * 300),
    ],
    ids=["model", "inner models", "no expression", "no model", "too deep"],
)  # fmt: skip
def test_python_reprs_are_parsed(text: str, value: object) -> None:
    assert python_value(text) == value


@pytest.mark.parametrize("text", ["dict({\n  what\n})", "list([\n  1,\n", "1\n2", "dict({\n  'a': list(["])
def test_other_texts_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"snapshot|entry"):
        read(text)


def test_every_accepted_snapshot_can_be_read() -> None:
    checkout = Checkout()
    for name in checkout.names():
        for test, text in read_snapshots(checkout.snapshots / f"{name}.ambr").items():
            tree = read(text)
            assert tree["status"] in ("ok", "repaired", "truncated", "invalid"), test
            assert [segment for segment in tree["segments"] if not isinstance(segment, Model)] == [], test


def test_every_kind_of_change_is_ordered() -> None:
    case = load(Checkout().corpus / "hermes" / "ok" / "one_call.txt")
    text = written(readable(case, case.parse()))
    shown = {shown.split(":")[0] for _, _, shown in SCENARIOS}
    assert shown <= set(KINDS)
    assert len(set(KINDS)) == len(KINDS)
    assert compare(text, text) == ("something else changed", ())
