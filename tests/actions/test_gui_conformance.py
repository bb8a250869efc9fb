"""What other projects' tests assert of GUI actions, read from where that data lies beside the project.

Each row is read by our format of its family. The table has what its test asserts, in our words and with what the test
leaves open; where ours differs on purpose, a comment says why. A format that is added here takes its names out of
`WAITING`, and gets a line in `READ`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outspoken import Reasoning, Reply, Screen, parse
from outspoken.actions.fields import FieldError, read_point
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "gui"

#: Our format for theirs; what stands round the text of some in a response; those that no grammar of ours reads yet;
#: and those that other tests read, or whose input is no text of a model.
READ: dict[str, str] = TABLES["READ"]
FRAMED: dict[str, list[str]] = TABLES["FRAMED"]
WAITING, ELSEWHERE = set(TABLES["WAITING"]), set(TABLES["ELSEWHERE"])


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def text_of(row: dict[str, Any]) -> str:
    if row["format"].endswith(("_stream", "_stream_t5")):
        return "".join(row["input"]["chunks"])
    head, tail = FRAMED.get(row["format"]) or FRAMED.get(row["id"]) or ("", "")
    described = row["input"] if isinstance(row["input"], str) else json.dumps(row["input"], ensure_ascii=False)
    return f"{head}{described}{tail}"


def readings(name: str) -> Iterator[tuple[str, Reply]]:
    """What we read of each row, also in the pixels of its screen if it has one."""
    for row in rows(name):
        if row["format"] not in READ or row.get("quirk"):
            continue
        format_ = READ[row["format"]]
        context: dict[str, Any] = row.get("context") or {}
        yield row["id"], parse(text_of(row), format=format_, finish_reason="stop")
        size: dict[str, int] | None = context.get("screen")
        if size:
            scale: int = context.get("scale_factor", 1)
            screen = Screen(size["width"] * scale, size["height"] * scale)
            yield f"{row['id']} on its screen", parse(text_of(row), format=format_, screen=screen)


def told(reply: Reply) -> dict[str, Any]:
    """What a reply says, without what is empty."""
    found: dict[str, Any] = {
        "actions": [f"{action.name}: {action!r}" for action in reply.actions],
        "written": [action.raw for action in reply.actions] if reply.format in ("autoglm", "mano") else [],
        "calls": [{call.name: call.arguments} for call in reply.tool_calls],
        "reasoning": [segment.text for segment in reply.segments if isinstance(segment, Reasoning)],
        "text": reply.text,
    }
    return {key: value for key, value in found.items() if value}


def test_every_format_is_compared_or_listed() -> None:
    found = {row["format"] for name in ("vectors.jsonl", "malformed_wild.jsonl") for row in rows(name)}
    known = {*READ, *WAITING, *ELSEWHERE, "coordinates", "coordinates_box"}
    assert found <= known, found - known
    assert not WAITING & {*READ, *ELSEWHERE}


@pytest.mark.parametrize("name", ["vectors.jsonl", "malformed_wild.jsonl"])
def test_rows(name: str) -> None:
    found = {id_: told(reply) for id_, reply in readings(name)}
    wanted: dict[str, Any] = TABLES[name]
    assert {id_: (wanted.get(id_), said) for id_, said in found.items() if said != wanted.get(id_)} == {}
    assert not found or found.keys() == wanted.keys()


@in_one_item("format_, text, said", TABLES["UI_TARS"])
def test_ui_tars_is_read_as_by_the_vendors_package(format_: str, text: str, said: dict[str, Any]) -> None:
    reply = parse(text, format=format_, screen=Screen(1920, 1080))
    assert (reply.status, reply.diagnostics, told(reply)) == ("ok", [], said)


@pytest.mark.parametrize("format", ["coordinates", "coordinates_box"])
def test_coordinates(format: str) -> None:
    read = [row for row in rows("vectors.jsonl") if row["format"] == format]
    for row in read:
        box: Any = row["expected"].get("equals")
        if box is None:
            with pytest.raises(FieldError):
                read_point(row["input"], "px")
            continue
        if isinstance(box, dict):
            box = [box["referenceBox"][key] for key in ("x1", "y1", "x2", "y2")]
        point = read_point(row["input"], "px")
        assert [*(point.box or (point.x, point.y) * 2)] == pytest.approx(box), row["id"]
    assert len(read) >= 11 or not DATA.exists()
