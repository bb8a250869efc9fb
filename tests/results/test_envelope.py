"""The reply as one plain object: its keys, and what other projects' tests assert of it."""

from typing import Any

from outspoken import parse
from outspoken.results.envelope import Conventions
from tests.tables import beside


def test_the_envelope_is_a_copy() -> None:
    reply = parse('{"name": "a", "arguments": {"x": [1]}}')
    reply.to_envelope()["toolCalls"][0]["arguments"]["x"].append(2)
    assert reply.tool_calls[0].arguments == {"x": [1]}


def test_an_application_names_the_keys() -> None:
    names = Conventions(tool_calls="calls", needs_more_work="again", placeholder="Working")
    reply = parse('<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>')
    assert reply.to_envelope(names) == {"content": "Working", "calls": [{"name": "a", "arguments": {}}], "again": True}


# what other projects' tests assert, where that data lies beside the project

OURS = ("seed001_multi", "speakmcp_text")
#: An object that has nothing but `content` is no envelope: any JSON that a model shows may have that key.
NO_ENVELOPE = "speakmcp-001"


ROWS = [row for row in beside("gui/vectors.jsonl") if row["format"] in OURS and not row.get("quirk")]


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
    for row in ROWS:
        wanted, actual = asserted(row["expected"], parse(row["input"]).to_envelope())
        assert (wanted == actual) is (row["id"] != NO_ENVELOPE), row["id"]
        checked += bool(wanted)
    assert checked >= 22 or not ROWS
