"""`BatchReader`: from a batch of Arrow to a batch of Arrow, the function that all engines share."""

import gc
import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from outspoken import Parser, Screen, UnknownFormatError
from outspoken.actions import Click
from outspoken.batch import BatchError, BatchOptions, BatchReader
from outspoken.batch.arrow import RecordBatch, pa
from outspoken.batch.schema import COLUMNS, make_schema
from outspoken.parsing import ToolError
from outspoken.results.diagnostics import Diagnostic, Repair
from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Text, ToolCall
from tests.cases import CASES
from tests.tables import tables

TABLES = tables(__file__)

README = Path(__file__).parents[2] / "src" / "outspoken" / "batch" / "README.md"
#: Of so many cases of the corpus, one is read.
SHARE = 25
CALL = '<tool_call>\n{"name": "find", "arguments": {"city": "Paris", "n": 3}}\n</tool_call>'


def batch(**columns: list[Any]) -> RecordBatch:
    """A batch with columns of inferred types."""
    return pa.RecordBatch.from_pydict(columns)


def read(options: BatchOptions | None = None, **columns: list[Any]) -> list[dict[str, Any]]:
    """The rows that are read of a batch, which fits its schema."""
    reader, given = BatchReader(options), batch(**columns)
    made = reader(given)
    assert made.schema.equals(reader.schema(given.schema))
    pa.Table.from_batches([made]).validate(full=True)
    return made.to_pylist()


def codes(rows: list[dict[str, Any]]) -> list[str | None]:
    """The codes of the errors of rows."""
    return [row["error"] and row["error"]["code"] for row in rows]


def check_row(row: dict[str, Any], reply: Reply) -> None:
    """Does a row say all that a reply does?"""
    assert row["error"] is None
    assert (row["format"], row["status"], row["text"]) == (reply.format, reply.status, reply.text)
    assert (row["reasoning"], row["needs_more_work"]) == (reply.reasoning, reply.needs_more_work)
    assert row["chars"] == len(reply.raw)
    assert (row["unread"] and json.loads(row["unread"])) == (reply.unread or None)
    assert [(c["name"], json.loads(c["arguments"]), c["id"]) for c in row["tool_calls"]] == [
        (call.name, call.arguments, call.id) for call in reply.tool_calls
    ]
    assert [(a["type"], a["name"], a["id"]) for a in row["actions"]] == [
        (action.type, action.name, action.id) for action in reply.actions
    ]
    for found, action in zip(row["actions"], reply.actions, strict=True):
        known = {"name": action.name, "raw": action.raw, "span": action.span, "status": action.status}
        more = {"repairs": action.repairs, "id": action.id, "order": action.order}
        assert type(action).model_validate({**json.loads(found["data"]), **known, **more}) == action
    assert [(p["type"], json.loads(p["data"])) for p in row["payloads"]] == [(p.type, p.data) for p in reply.payloads]
    check_segments(row["segments"], reply)
    found = [{**placed(d), "notes": list(d.notes), "helps": list(d.helps)} for d in reply.diagnostics]
    assert row["diagnostics"] == found
    repairs = [{**repair, "path": tuple(json.loads(repair["path"]))} for repair in row["repairs"]]
    assert repairs == list(map(placed, reply.repairs))


def check_segments(found: list[dict[str, Any]], reply: Reply) -> None:
    """Do the segments of a row say what those of a reply do?"""
    assert [(s["kind"], s["start"], s["end"]) for s in found] == [(s.kind, *s.span) for s in reply.segments]
    assert [s["status"] for s in found] == [getattr(s, "status", "ok") for s in reply.segments]
    for row, segment in zip(found, reply.segments, strict=True):
        if isinstance(segment, Text | Reasoning):
            assert (row["text"], row["data"]) == (segment.text, None)
        if isinstance(segment, ToolCall):
            assert (row["name"], row["id"], json.loads(row["data"])) == (segment.name, segment.id, segment.arguments)
            assert row["text"] == (None if segment in reply.tool_calls else segment.arguments_text)
        if isinstance(segment, JsonValue):
            assert row["data"] == segment.raw
        if isinstance(segment, Payload):
            assert (row["name"], json.loads(row["data"])) == (segment.type, segment.data)


def placed(found: Diagnostic | Repair) -> dict[str, Any]:
    """A diagnostic or a repair as a row has it."""
    return {**found.model_dump(exclude={"span"}), "start": found.span[0], "end": found.span[1]}


def test_every_response_of_the_corpus_is_read_as_by_parse() -> None:
    cases = CASES[::SHARE]
    texts = [case.text for case in cases]
    rows = read(BatchOptions(format_column="format"), text=texts, format=[case.format for case in cases])
    for case, row in zip(cases, rows, strict=True):
        reply = Parser(case.format).parse(case.text)
        check_row(row, reply)


def test_columns_are_those_of_the_schema_in_its_order() -> None:
    reader = BatchReader(BatchOptions(keep=("n", "text"), id_column="n"))
    made = reader(batch(text=[CALL, "hello"], n=[1, None]))
    assert made.schema.names == [*COLUMNS, "n", "input_text", "error"]
    assert made.schema.field("n").type == pa.int64()
    rows = made.to_pylist()
    assert [(row["id"], row["n"], row["input_text"]) for row in rows] == [("1", 1, CALL), (None, None, "hello")]


def value_at(row: Any, path: str) -> Any:
    for part in path.split("."):
        row = row[int(part)] if part.isdigit() else row[part]
    return row


@pytest.mark.parametrize("name", TABLES["ROWS"])
def test_rows(name: str) -> None:
    case = TABLES["ROWS"][name]
    options, columns = BatchOptions(**case.get("options", {})), case["columns"]
    if "raises" in case:
        with pytest.raises(BatchError, match=case["raises"]):
            read(options, **columns)
        return
    for row, said in zip(read(options, **columns), case["rows"], strict=True):
        assert {path: value_at(row, path) for path in said} == said


def test_a_parser_that_raises_costs_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = Parser.parse

    def fails(self: Parser, text: Any, **known: Any) -> Reply:
        if "boom" in text:
            raise RuntimeError("boom")
        return parse(self, text, **known)

    monkeypatch.setattr(Parser, "parse", fails)
    rows = read(text=["a", "boom", "b"])
    assert [row["text"] for row in rows] == ["a", None, "b"]
    assert rows[1]["error"] == {"code": "failed", "message": "RuntimeError: boom"}


def test_a_row_that_cannot_be_written_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    dump = Click.model_dump

    def fails(self: Click, **known: Any) -> dict[str, Any]:
        if self.point is not None and self.point.x == 7:
            raise RuntimeError("boom")
        return dump(self, **known)

    monkeypatch.setattr(Click, "model_dump", fails)
    texts = [
        f"Thought: Go on.\nAction: click(start_box='({x},20)')\n\nclick(start_box='(7,{y})')"
        for x, y in ((5, 6), (8, 9))
    ]
    texts.insert(1, "Thought: Go on.\nAction: click(start_box='(1,20)')")
    rows = read(BatchOptions(format="ui_tars"), text=texts)
    assert codes(rows) == ["failed", None, "failed"]
    assert [len(row["segments"]) for row in rows] == [0, 2, 0]
    assert rows[1]["segments"][0]["text"] == "Go on."
    assert [len(row["actions"]) for row in rows] == [0, 1, 0]


def test_lone_surrogates_are_replaced_and_reported() -> None:
    reader = BatchReader(BatchOptions(format="hermes"))
    from outspoken.batch.function import Rows

    rows = Rows(["a\ud800b\ud801", CALL.replace("Paris", "\\ud83d"), "é"], ids=["\ud800", "b", "c"])
    made = reader.make_batch(rows, reader.read(rows), reader.schema()).to_pylist()
    assert [row["text"] for row in made] == ["a\ufffdb\ufffd", "", "é"]
    assert made[0]["id"] == "\ufffd"
    found = made[0]["diagnostics"][0]
    assert (found["code"], found["severity"], found["column"]) == ("lone-surrogate", "warning", 2)
    assert found["message"] == "2 half characters were read as U+FFFD: a lone surrogate is no text"
    assert made[1]["tool_calls"] == []  # the model wrote half a character
    assert made[2]["diagnostics"] == []


def test_points_are_converted_to_a_screen() -> None:
    text, screen = "Action: click(start_box='(500,500)')", Screen(1920, 1080)
    body = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
    for options, value in (
        (BatchOptions("ui_tars_1_0", screen=screen), text),
        (BatchOptions("ui_tars_1_0", screen=screen, provider="openai"), json.dumps(body)),
    ):
        (row,) = read(pickle.loads(pickle.dumps(options)), text=[value])
        point = json.loads(row["actions"][0]["data"])["point"]
        assert (point["x"], point["y"], point["space"]) == (960, 540, "px")


def test_a_reader_pickles_with_its_options_alone() -> None:
    options = BatchOptions(format="hermes", tools=[{"name": "f"}], keep=("n",), id_column="n")
    reader = BatchReader(options)
    given = batch(text=[CALL], n=[1])
    first = reader(given)
    copy = pickle.loads(pickle.dumps(reader))
    assert copy.options == options
    assert copy(given).to_pylist() == first.to_pylist()


def test_the_garbage_collector_goes_on_afterwards() -> None:
    assert gc.isenabled()
    read(text=["a"])
    assert gc.isenabled()


def test_options_are_checked() -> None:
    for wrong, error, words in (
        ({"format": "hermse"}, UnknownFormatError, "hermes"),
        ({"provider": "opnai"}, ValueError, "openai"),
        ({"repair": "all"}, ValueError, "`repair`"),
        ({"screen": (1920, 1080)}, TypeError, "`screen`"),
        ({"tools": [1]}, ToolError, "tools"),
        ({"text_column": 1}, TypeError, "`text_column` is an int"),
        ({"prefix": 1}, TypeError, "`prefix`"),
        ({"max_chars": 0}, ValueError, "max_chars"),
        ({"row_timeout": 0}, BatchError, "row_timeout"),
        ({"row_timeout": True}, BatchError, "row_timeout"),
        ({"keep": "abc"}, BatchError, "`keep`"),
        ({"keep": ("a:int32",)}, BatchError, "`a` the type `int32`"),
        ({"keep": ("a", "a:json")}, BatchError, "twice"),
    ):
        with pytest.raises(error, match=words):
            BatchOptions(**wrong)  # pyright: ignore[reportArgumentType]


def test_fingerprints_differ_for_other_options() -> None:
    def find(city: str) -> None:
        """Look it up."""

    many: list[BatchOptions] = [
        BatchOptions(),
        BatchOptions(format="hermes"),
        BatchOptions(tools=[find]),
        BatchOptions(keep=("a",)),
        BatchOptions(max_chars=5),
        BatchOptions(row_timeout=5),
        BatchOptions(screen=Screen(1920, 1080)),
    ]
    assert len({one.fingerprint() for one in many}) == len(many)
    assert BatchOptions(tools=[find]).fingerprint() == many[2].fingerprint()
    assert json.loads(json.dumps(many[2].to_json()))["tools"][0]["name"] == "find"


def test_the_documented_columns_are_those_of_the_schema() -> None:
    text = README.read_text("utf-8").partition("\n## The rows\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    documented = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert documented == make_schema({}, has_response=True).names
