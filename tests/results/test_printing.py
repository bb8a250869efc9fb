"""Results print as what they are: without defaults, and without what only says where they come from."""

from typing import Any

import pytest

from outspoken import JsonValue, Payload, Reasoning, Text, ToolCall, parse, stream
from outspoken.actions import Batch, Click, GoBack, Point, TypeText, UnknownAction, Wait
from outspoken.json import read_json
from outspoken.results.geometry import Box
from outspoken.results.printing import one_line, several_lines
from tests.cases import Case
from tests.loops import DRAWN, by_format, some

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


TEXT = """\
Let me look.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris",}}
</tool_call>
<tool_call>
{"name": "write", "arguments": {"text": "%s"}}
</tool_call>"""


def test_a_reply_prints_on_a_few_lines() -> None:
    reply = parse(TEXT % ("moss and fern " * 50), format="hermes")
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
    events = [one_line(event) for event in stream([TEXT % "moss"], format="hermes")]
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
