"""How results print: reprs, snippets and lines; and how packages, exports and old names are told."""

import ast
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import outspoken
from outspoken import JsonValue, Parser, Payload, Reasoning, ResponseProcessor, Text, ToolCall, parse, stream
from outspoken.actions import Batch, Click, GoBack, Point, TypeText, UnknownAction, Wait
from outspoken.json import read_json
from outspoken.processing import ResponseCache
from outspoken.results.diagnostics import Diagnostic
from outspoken.results.geometry import Box
from outspoken.results.old_names import _NEW  # pyright: ignore[reportPrivateUsage]
from outspoken.results.packages import install_command
from outspoken.results.printing import one_line, several_lines
from outspoken.results.snippet import draw, locate
from tests.cases import Case
from tests.loops import DRAWN, by_format, in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

SPAN = (0, 1)
PRINTED: list[tuple[Any, str]] = [
    (Text(text="a\nb", span=SPAN), r"Text('a\nb')"),
    (Reasoning(text="b", span=SPAN, status="truncated"), "Reasoning('b', status='truncated')"),
    (ToolCall(name="get_weather", arguments={"city": "Paris"}, span=(3, 9)), "ToolCall(get_weather, city='Paris')"),
    (ToolCall(name="a b", arguments={}, id="1", status="invalid"), "ToolCall('a b', id='1', status='invalid')"),
    (ToolCall(name="f", arguments={"from": 1, "to": 2}), "ToolCall(f, arguments={'from': 1, 'to': 2})"),
    (ToolCall(name="f", arguments={"max-size": 1}), "ToolCall(f, arguments={'max-size': 1})"),
    (ToolCall(name="f", arguments={"status": "ok"}), "ToolCall(f, arguments={'status': 'ok'})"),
    (ToolCall(name="f", arguments={"arguments": {}}), "ToolCall(f, arguments={'arguments': {}})"),
    (Payload(type="colours", data=[1], span=SPAN), "Payload(colours, [1])"),
    (JsonValue(value={"a": 1}, raw='{"a": 1}', span=SPAN), "JsonValue({'a': 1})"),
    (Point(x=960.0, y=270), "Point(960, 270)"),
    (Point(x=0.5, y=1e300, space="unit"), "Point(0.5, 1e+300, space='unit')"),
    (Point.of([1, 2, 4, 5], "px"), "Point(2.5, 3.5, box=Box(1, 2, 4, 5))"),
    (Box(1.0, 2.5, 3.0, 4.0), "Box(1, 2.5, 3, 4)"),
    (Click(name="tap", raw="tap(1)", span=SPAN, point=Point(x=1, y=2)), "Click(point=Point(1, 2))"),
    (Click(status="truncated", clicks=2, order=3), "Click(clicks=2, status='truncated')"),
    (TypeText(text="moss", extra={"speed": 2}), "TypeText(text='moss', extra={'speed': 2})"),
    (Batch(actions=[GoBack(), Wait(seconds=2)]), "Batch(actions=[GoBack(), Wait(seconds=2.0)])"),
    (UnknownAction(name="FLY", extra={"to": "moon"}), "UnknownAction('FLY', extra={'to': 'moon'})"),
]


@pytest.mark.parametrize(("value", "printed"), PRINTED, ids=[printed for _, printed in PRINTED])
def test_results_print_without_defaults(value: Any, printed: str) -> None:
    assert repr(value) == str(value) == one_line(value) == several_lines(value) == printed


def test_a_reply_prints_on_a_few_lines() -> None:
    reply = parse(TABLES["TEXT"] % ("moss and fern " * 50), format="hermes")
    assert repr(reply) == str(reply)
    assert str(reply).split("\n") == [
        "Reply(format='hermes', status='repaired')",
        "  Text('Let me look.')",
        "  ToolCall(get_weather, city='Paris', status='repaired')",
        "  ToolCall(write, text='moss and fern moss and fern moss and fer …  fern moss and fern ' (700 characters))",
        "  warning hermes:3:54 trailing-comma: a comma with nothing after it was dropped",
    ]
    assert repr(parse("", format="hermes")) == "Reply(format='hermes')"


def test_a_long_reply_prints_on_a_few_lines() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {"a": 1,}}\n</tool_call>\n'
    lines = str(parse(call * 30, format="hermes")).split("\n")
    assert len(lines) == 43
    assert (lines[21], lines[-1]) == ("  … 10 more segments", "  … 10 more diagnostics")


def test_a_long_value_prints_an_item_to_a_line() -> None:
    call = ToolCall(name="f", arguments={"rows": [{"label": "x" * 40}, {"label": "y" * 40}], "size": 2})
    assert (
        several_lines(call)
        == f"""\
ToolCall(
  f,
  rows=[
    {{'label': '{"x" * 40}'}},
    {{'label': '{"y" * 40}'}},
  ],
  size=2,
)"""
    )
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    assert several_lines(deep).count("[") == 900


def test_events_on_one_line() -> None:
    events = [one_line(event) for event in stream([TABLES["TEXT"] % "moss"], format="hermes")]
    assert events[1] == "ToolCallStart(0, None, 'get_weather')"
    assert events[-2:] == [
        "ToolCallEnd(1, ToolCall(write, text='moss'))",
        "Done(Reply(format='hermes', status='repaired'))",
    ]


@by_format(some(DRAWN, "printed", 0.3))
def test_replies_print(case: Case) -> None:
    reply = case.parse()
    lines = str(reply).split("\n")
    assert len(lines) == 1 + len(reply.segments) + len(reply.diagnostics) or len(lines) > 20
    assert all(len(line) < 300 for line in lines[: 1 + len(reply.segments)])


def test_readings_print_without_their_text() -> None:
    assert repr(read_json('{"a": 1,}')).startswith(
        "JsonReading(values=({'a': 1},), status='repaired', level='notation', "
    )
    assert repr(read_json("[1]")) == "JsonReading(values=([1],), status='ok', level='exact')"


# source snippets of diagnostics, compared in full


def diagnose(raw: str, span: tuple[int, int], **fields: Any) -> Diagnostic:
    line, column, excerpt, excerpt_start = locate(raw, span)
    place = {"line": line, "column": column, "excerpt": excerpt, "excerpt_start": excerpt_start}
    words = {"code": "odd-text", "message": "this text is odd", "format": "hermes"}
    return Diagnostic.model_validate({"span": span, **place, **words, **fields})


@in_one_item("name", TABLES["FRAMES"])
def test_a_frame(name: str) -> None:
    case = json.loads(json.dumps(TABLES["FRAMES"][name]).replace("LONE", "\\ud800"))
    frame = case.pop("frame")
    assert draw(diagnose(case.pop("raw"), case.pop("span"), **case)) == frame


@pytest.mark.parametrize("length", [103, 104, 105])
def test_ellipsis_always_stands_for_omitted_text(length: int) -> None:
    """Marks that take no column let all of the kept text into the frame."""
    text = draw(diagnose("e" + "\u0301" * (length - 1), (0, 1))).splitlines()[3]
    marks = text.removeprefix(" 1 | e").removesuffix("...")
    assert set(marks) == {"\u0301"}
    assert text.endswith("...") == (len(marks) < length - 1)


def test_diagnostic_without_an_excerpt() -> None:
    diagnostic = Diagnostic(code="odd-text", message="this text is odd", span=(5, 9), label="no text was kept")
    assert draw(diagnostic).splitlines()[1:] == ["  --> text:1:1 (offset 5)", "   |", " 1 |", "   | ^ no text was kept"]
    assert diagnostic.frame() == draw(diagnostic)


@pytest.mark.parametrize(
    ("raw", "span", "expected"), [*TABLES["LOCATED"], ("x" * 500, (300, 310), (1, 301, "x" * 200, 204))]
)
def test_locate(raw: str, span: tuple[int, int], expected: tuple[int, int, str, int]) -> None:
    assert locate(raw, span) == tuple(expected)


@given(
    raw=st.text(st.sampled_from("ab \t\r\n\x1b\u0301東\ud800\u200d'") | st.characters(), max_size=400),
    start=st.integers(0, 400),
    length=st.integers(0, 400),
)
@example(raw="東" * 400, start=200, length=150)
@example(raw="\u0301" * 400, start=0, length=400)
@example(raw="a" * 103 + "\nb", start=0, length=105)
def test_any_frame_is_small_and_plain(raw: str, start: int, length: int) -> None:
    start = min(start, len(raw))
    diagnostic = diagnose(raw, (start, min(start + length, len(raw))), label="label")
    assert len(diagnostic.excerpt) <= 200
    assert diagnostic.excerpt.count("\n") <= 2
    assert raw.startswith(diagnostic.excerpt, diagnostic.excerpt_start)
    rows = draw(diagnostic).split("\n")
    assert 5 <= len(rows) <= 7
    for row in rows:
        assert row.isprintable()
        assert row == row.rstrip()
        assert len(row) <= 320
    assert rows[4].lstrip(" |").startswith("^")


# what a message says to install works as it stands, wherever Outspoken was installed from


@pytest.mark.parametrize(("origin", "command"), TABLES["ORIGINS"])
def test_an_extra_is_installed_from_where_the_library_was(
    origin: dict[str, Any] | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "outspoken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outspoken\nVersion: 1.0\n", "utf-8")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin), "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert install_command("ui") == command


# the public names: packages export what they import for type checkers, and old names answer with what to write now


TOP = Path(outspoken.__file__).parent
PACKAGES = [path for path in sorted(TOP.rglob("__init__.py")) if "export_lazily(" in path.read_text("utf-8")]
MOVED = {old: new for old, new in _NEW.items() if old.startswith("outspoken.")}
ATTRIBUTES = {"Parser": Parser(), "Processed": ResponseProcessor().process("Hi."), "ResponseCache": ResponseCache()}


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_all_names_under_type_checking_are_exported(path: Path) -> None:
    blocks = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    expected = {alias.name: "." * node.level + (node.module or "") for node in imports for alias in node.names}
    package = ".".join(("outspoken", *path.parent.relative_to(TOP).parts))
    module = import_module(package)
    assert expected
    assert vars(module)["__all__"] == sorted(expected)
    assert {*expected} <= {*dir(module)}
    for name, home in expected.items():
        assert vars(module)["__getattr__"](name) is getattr(import_module(home, package), name)


def test_there_are_few_names_and_no_others() -> None:
    assert len(vars(outspoken)["__all__"]) <= 46
    with pytest.raises(AttributeError, match="module 'outspoken' has no attribute 'StreamParser'"):
        getattr(outspoken, "StreamParser")  # noqa: B009


@pytest.mark.parametrize("old", MOVED)
def test_old_names_of_modules(old: str) -> None:
    module, _, name = old.rpartition(".")
    home = import_module(module)
    message = f"`{old}` is gone; use `{MOVED[old]}`"
    assert not hasattr(home, name)
    with pytest.raises(AttributeError) as caught:
        getattr(home, name)
    with pytest.raises(ImportError) as refused:
        exec(f"from {module} import {name}")
    assert str(caught.value) == str(refused.value) == message
    path, _, function = MOVED[old].partition("(")[0].rpartition(".")
    assert hasattr(import_module(path or module), function)


@pytest.mark.parametrize("old", [old for old in _NEW if old not in MOVED and "(" not in old])
def test_old_names_of_classes(old: str) -> None:
    owner, _, name = old.partition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(ATTRIBUTES[owner], name)
    assert str(caught.value) == f"`{old}` is gone; use `{owner}.{_NEW[old]}`"
    assert hasattr(ATTRIBUTES[owner], _NEW[old].partition("(")[0])
