"""The reply as one plain object, whatever notation the model chose.

Every text is read whole and in pieces of three characters; both must give the same object.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from outspoken import Done, parse, stream
from outspoken.contrib.conventions import CONVENTIONS
from outspoken.results.envelope import Conventions
from tests.tables import tables

TABLES = tables(__file__)


def envelope(text: str, tools: Any = None) -> dict[str, Any]:
    """The envelope of a text whose format is not known."""
    whole = parse(text, tools=tools).to_envelope()
    *_, done = stream((text[i : i + 3] for i in range(0, len(text), 3)), tools=tools)
    assert isinstance(done, Done)
    assert done.reply.to_envelope() == whole
    return whole


def call(name: str, arguments: dict[str, Any] | None = None, **more: str) -> dict[str, Any]:
    return {"name": name, "arguments": arguments or {}, **more}


def calls(*made: dict[str, Any], content: str | None = CONVENTIONS.placeholder, more: bool = True) -> dict[str, Any]:
    """An envelope with calls; without content where that is None."""
    return {**({} if content is None else {"content": content}), "toolCalls": list(made), "needsMoreWork": more}


FORMATS: dict[str, tuple[str, dict[str, Any]]] = TABLES["FORMATS"]


RIGHT: dict[str, tuple[str, dict[str, Any]]] = TABLES["RIGHT"]


def test_the_envelope_is_a_copy() -> None:
    reply = parse('{"name": "a", "arguments": {"x": [1]}}')
    reply.to_envelope()["toolCalls"][0]["arguments"]["x"].append(2)
    assert reply.tool_calls[0].arguments == {"x": [1]}


def test_an_application_names_the_keys() -> None:
    names = Conventions(tool_calls="calls", needs_more_work="again", placeholder="Working")
    reply = parse('<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>')
    assert reply.to_envelope(names) == {"content": "Working", "calls": [call("a", {})], "again": True}


# what other projects' tests assert, where that data lies beside the project

VECTORS = Path(__file__).parents[3] / "shared" / "conformance" / "gui" / "vectors.jsonl"
OURS = ("seed001_multi", "speakmcp_text")
#: An object that has nothing but `content` is no envelope: any JSON that a model shows may have that key.
NO_ENVELOPE = "speakmcp-001"


def rows() -> Iterator[dict[str, Any]]:
    for line in VECTORS.read_text("utf-8").splitlines() if VECTORS.exists() else ():
        row: dict[str, Any] = json.loads(line)
        if row["format"] in OURS and not row.get("quirk"):
            yield row


def asserted(expected: dict[str, Any], envelope: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a row asserts of an envelope, and what ours says of that."""
    calls: list[dict[str, Any]] = envelope.get("toolCalls") or []
    content = str(envelope.get("content", ""))
    actual: dict[str, Any] = {
        "content": content,
        "content_contains": [part for part in expected.get("content_contains", ()) if part in content],
        "tool_calls": calls or None,
        "tool_call_names": [call["name"] for call in calls],
        "tool_call_count": len(calls),
        "arguments_0": calls[0]["arguments"] if calls else None,
        "needs_more_work": envelope.get("needsMoreWork"),
        "equals": envelope,
    }
    wanted = {key: value for key, value in expected.items() if key in actual}
    return wanted, {key: actual[key] for key in wanted}


def test_cases_of_other_projects() -> None:
    checked = 0
    for row in rows():
        wanted, actual = asserted(row["expected"], parse(row["input"]).to_envelope())
        assert (wanted == actual) is (row["id"] != NO_ENVELOPE), row["id"]
        checked += bool(wanted)
    assert checked >= 22 or not VECTORS.exists()
