"""ReAct: answers that stream as they are written, in lines and in JSON, and what Dify's tests assert of it.

The rows of Dify's tests are read from where that data lies beside the project.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from outspoken import Reply, TextDelta, ToolCall, parse
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.providers import ProviderStream
from tests.invariants.replies import pieces
from tests.loops import in_one_item, some
from tests.tables import beside, tables

TABLES = tables(__file__)

#: How an object may go on that is no JSON.
BROKEN = ('},"d":h', '},"d":h}', ',"d":h', ',"d":h}', ', "d": "h\n', " and so on}")

ANSWER = '{"action": "Final Answer", "action_input": '


def read_stream(format: str, parts: list[str], reason: str | None = None) -> tuple[str, Reply]:
    """The text of all deltas of a stream, and its reply."""
    events, reply = ParseArguments(format, reason=reason).stream(parts)
    return "".join([event.text for event in events if isinstance(event, TextDelta)]), reply


def splits(text: str) -> Iterator[list[str]]:
    """Some of the ways to split a text in two, and its characters."""
    yield list(text)
    for at in some(range(1, len(text)), text, 0.1):
        yield [text[:at], text[at:]]


def at_splits(text: str, format: str = "react_json", reason: str | None = None) -> Reply:
    """The reply to a text, which is the same however it arrives; the deltas add up to its text."""
    reply = parse(text, format=format, finish_reason=reason)
    for parts in splits(text):
        shown_text, streamed = read_stream(format, parts, reason)
        assert streamed == reply, parts
        assert shown_text == reply.text, parts
    return reply


def codes(reply: Reply) -> list[str]:
    return [diagnostic.code for diagnostic in reply.diagnostics]


@in_one_item(
    "key, rest", [(key, rest) for key in ("action", "tool", "tool_name", "tOOl_name", "TOOL") for rest in BROKEN]
)
def test_broken_action_is_no_silent_text(key: str, rest: str) -> None:
    """An object that begins as an action does, but cannot be read: whatever its keys are, a diagnostic says so."""
    beginnings = (f'{{"{key}":"b"', f'{{\n  "{key}": "b"', f'So:\n{{"{key}": "b"')
    for begun, reason in some(product(beginnings, (None, "stop")), key + rest, 0.34):
        text = begun + rest
        reply = parse(text, format="react_json", finish_reason=reason)
        assert codes(reply), (text, reason)
        assert read_stream("react_json", pieces(text, 5), reason)[1] == reply


def test_answers_stream_from_provider_chunks() -> None:
    provider_stream = ProviderStream("openai", format="react_json")
    chunks = [
        {"choices": [{"delta": {"content": piece}}]} for piece in (f"Action: {ANSWER}", '"Home, \\ud83e', '\\udde5."}')
    ]
    shown = ["".join([e.text for e in provider_stream.feed(chunk) if isinstance(e, TextDelta)]) for chunk in chunks]
    assert shown == ["", "Home, ", "🧥."]
    provider_stream.close()
    reply = provider_stream.reply
    assert reply is not None
    assert (reply.text, reply.tool_calls, reply.final_answer_streamed) == ("Home, 🧥.", [], True)


# what Dify's tests assert


def text_of(row: dict[str, Any]) -> str | None:
    """The text of a row; None where what arrives is no text, or the row is about the usage. A blob is an action."""
    given: Any = row["input"]
    if row["format"] == "react_action_blob":
        return f"Action: {given}"
    chunks: list[Any] = [given] if isinstance(given, str) else given["chunks"]
    if "usage_recorded" in row["expected"] or not all(isinstance(chunk, str) for chunk in chunks):
        return None
    return "".join(chunks)


ROWS = [r for r in beside("gui/vectors.jsonl") if r["format"].startswith("react_") and text_of(r) is not None]


def faults(expected: dict[str, Any], reply: Reply) -> Iterator[str]:
    """What is asserted of a reply, and is not so."""
    actions: list[dict[str, Any]] = [_action(call) for call in reply.tool_calls]
    if reply.final_answer_streamed:
        actions.append({"action": "Final Answer", "action_input": reply.text.removeprefix("Through: abc\n")})
    wanted: Any = expected.get("actions", [expected["action"]] if expected.get("action") else None)
    if "action" in expected and expected["action"] is None:
        wanted = []
    pairs: list[tuple[Any, Any]] = list(zip(wanted or (), actions, strict=False))
    shown: list[Any] = [{key: action[key] for key in want} for want, action in pairs]
    checks = {
        "actions": wanted is None or (len(wanted) == len(actions) and shown == wanted),
        "names": expected.get("action_names", [a["action"] for a in actions]) == [a["action"] for a in actions]
        or "all_chunks_state" in expected,
        "count": expected.get("action_count", len(actions)) == len(actions),
        "flag": expected.get("final_answer_streamed", reply.final_answer_streamed) == reply.final_answer_streamed,
        "answer": "all_chunks_state" not in expected or (reply.final_answer_streamed and not reply.tool_calls),
        "text": reply.text == expected.get("streamed_text_equals", reply.text),
        "contained": all(part in reply.text for part in _parts(expected, "streamed_text_contains", "text_contains")),
        "not": not any(part in reply.text for part in _parts(expected, "text_not_contains")),
        "not in any case": not any(
            part in reply.text.lower() for part in _parts(expected, "streamed_text_not_contains_ci")
        ),
        "thought": all(part in (reply.reasoning or "") for part in _parts(expected, "thought_contains")),
        "items": "".join(expected.get("items_equal", [reply.text])) == reply.text,
        "only text": not expected.get("all_items_text") or not reply.tool_calls,
        "failed": bool(expected.get("parse_failed_count", 0)) == (reply.status != "ok")
        or "parse_failed_count" not in expected,
        "noted": "diagnostic" not in expected or bool(expected["diagnostic"]) == bool(reply.diagnostics),
    }
    yield from (name for name, holds in checks.items() if not holds)


def _action(call: ToolCall) -> dict[str, Any]:
    """A call as Dify has it: an input that is no object stands alone."""
    return {"action": call.name, "action_input": call.arguments.get("$1", call.arguments)}


def _parts(expected: dict[str, Any], *keys: str) -> list[str]:
    return [part for key in keys for part in expected.get(key, ())]


def test_cases_of_dify() -> None:
    """All of it at splits, but for what is read otherwise on purpose."""
    different: set[str] = set()
    for row in ROWS:
        reply = at_splits(str(text_of(row)))
        found = list(faults(row["expected"], reply))
        if row["id"] in TABLES["DIFFERENT"] and (found or row.get("quirk")):
            different.add(row["id"])
        else:
            assert (row["id"], found) == (row["id"], [])
    assert not ROWS or (different == set(TABLES["DIFFERENT"]) and len(ROWS) >= 90)
