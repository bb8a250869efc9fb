"""ReAct: answers that stream as they are written, in lines and in JSON, and what Dify's tests assert of it.

The rows of Dify's tests are read from where that data lies beside the project.
"""

import json
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from outspoken import Parser, Reasoning, Reply, Text, TextDelta, ToolCall, parse
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.providers import ProviderStream
from tests.loops import in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "gui" / "vectors.jsonl"

#: How an object may go on that is no JSON.
BROKEN = ('},"d":h', '},"d":h}', ',"d":h', ',"d":h}', ', "d": "h\n', " and so on}")

ANSWER = '{"action": "Final Answer", "action_input": '


def read_stream(format: str, pieces: list[str], reason: str | None = None) -> tuple[str, Reply]:
    """The text of all deltas of a stream, and its reply."""
    events, reply = ParseArguments(format, reason=reason).stream(pieces)
    return "".join([event.text for event in events if isinstance(event, TextDelta)]), reply


def splits(text: str) -> Iterator[list[str]]:
    """Some of the ways to split a text in two, and its characters."""
    yield list(text)
    for at in some(range(1, len(text)), text, 0.1):
        yield [text[:at], text[at:]]


def at_splits(text: str, format: str = "react_json", reason: str | None = None) -> Reply:
    """The reply to a text, which is the same however it arrives; the deltas add up to its text."""
    reply = parse(text, format=format, finish_reason=reason)
    for pieces in splits(text):
        shown_text, streamed = read_stream(format, pieces, reason)
        assert streamed == reply, pieces
        assert shown_text == reply.text, pieces
    return reply


def codes(reply: Reply) -> list[str]:
    return [diagnostic.code for diagnostic in reply.diagnostics]


# the answer


def with_bare_quotes(answer: str, random: Random) -> str:
    """The answer with a quoted word or two, whose quotes are not escaped."""
    words = answer.split(" ")
    for at in sorted(random.sample(range(len(words)), random.choice((1, 2)))):
        words[at] = f'"{words[at]}"' if random.random() < 0.8 else words[at] + '"'
    return " ".join(words)


@in_one_item("lead, tail", [("Action: ", ""), ("", ""), ("Thought: so.\nAction: ", "\n"), ("Action:\n```\n", "\n```")])
def test_answers_with_bare_quotes(lead: str, tail: str) -> None:
    """Quotes without backslashes anywhere in an answer, with a proven end or not, complete or cut.

    The reply says what is damaged and holds every word, a complete answer is read as meant, and streams say the same.
    """
    random = Random(f"{lead}{tail}")
    for number in range(6):
        answer = with_bare_quotes("Take the boat from Oban at noon, then walk.", random)
        text, reason = f'{lead}{ANSWER}"{answer}"}}{tail}', ("stop", None)[number % 2]
        cut = random.randrange(text.index('"', len(lead + ANSWER) + 1) + 2, len(text)) if number % 3 == 2 else len(text)
        reply = parse(text[:cut], format="react_json", finish_reason=reason)
        assert "".join(character for character in reply.text if character.isalpha()).endswith(
            "".join(character for character in text[len(lead + ANSWER) : cut] if character.isalpha())
        ), text[:cut]
        assert reply.diagnostics, text[:cut]
        if cut == len(text):
            assert (reply.text, reply.status) == (answer, "repaired"), text
        for size in (1, 5):
            pieces = [text[at : min(at + size, cut)] for at in range(0, cut, size)]
            assert read_stream("react_json", pieces, reason) == (reply.text, reply), text[:cut]


@pytest.mark.parametrize("lead", TABLES["ANSWER_STREAMS_FROM_ITS_FIRST_CHARACTER"])
def test_answer_streams_from_its_first_character(lead: str) -> None:
    """Its string, its object, its fence and its list are open."""
    session = Parser("react_json").session()
    session.feed(lead + ANSWER)
    shown = ["".join([e.text for e in session.feed(char) if isinstance(e, TextDelta)]) for char in '"Oban']
    assert shown == ["", "O", "b", "a", "n"]


def test_answer_in_lines_streams_from_its_first_character() -> None:
    for lead in ("Thought: so.\nAction: Final Answer\nAction Input: ", "Thought: so.\nFinal Answer: "):
        session = Parser("react").session()
        session.feed(lead)
        assert [e for e in session.feed("Ob") if isinstance(e, TextDelta)] == [TextDelta("Ob")]


def test_an_answer_before_its_name_is_sent_with_the_name() -> None:
    session = Parser("react_json").session()
    assert session.feed('{"action_input": "The ferry \\u00e9", "action": "final ') == []
    assert session.feed('answer"') == [TextDelta("The ferry é")]


@pytest.mark.parametrize(("written", "shown_text"), TABLES["ESCAPES_AT_ANY_SPLIT"])
def test_escapes_at_any_split(written: str, shown_text: str) -> None:
    reply = at_splits(f"Action: {ANSWER}{written}}}")
    assert (reply.text, reply.final_answer_streamed, reply.tool_calls) == (shown_text, True, [])
    assert codes(reply) == ["lone-surrogate"] * (shown_text.count("\ufffd") > 0)


@pytest.mark.parametrize("fragment", ["\\", "\\u", "\\u12", "\\ud83e", "\\ud83e\\", "\\ud83e\\udd"])
def test_a_text_that_ends_inside_an_escape(fragment: str) -> None:
    """What stands before it was sent, and nothing of it."""
    reply = at_splits(f'{ANSWER}"cut here {fragment}')
    assert (reply.text, reply.status, reply.final_answer_streamed) == ("cut here ", "truncated", True)
    assert codes(reply) == ["truncated-escape", "unclosed-answer"]
    assert fragment in reply.diagnostics[0].message
    assert reply.raw[slice(*reply.diagnostics[0].span)] == fragment


def test_truncated_answer() -> None:
    reply = at_splits(f'Thought: so.\n{ANSWER}"The ferry')
    assert (reply.text, reply.status, codes(reply)) == ("The ferry", "truncated", ["unclosed-answer"])
    assert reply.unfinished_tool_calls == []
    whole = at_splits(f'{ANSWER}"The ferry"', reason="stop")
    assert (whole.text, whole.status, codes(whole)) == ("The ferry", "repaired", ["missing-closer"])


def test_line_breaks_in_an_answer_do_not_stop_it() -> None:
    text = f'Action: {ANSWER}"one\n\n- two\n\\"three\\" 4"}}'
    reply = at_splits(text)
    assert (reply.text, reply.status, codes(reply)) == ('one\n\n- two\n"three" 4', "repaired", ["raw-control"])
    session = Parser("react_json").session()
    events = session.feed(text[: text.index("three")])
    assert "".join([e.text for e in events if isinstance(e, TextDelta)]) == 'one\n\n- two\n"'


def test_quotes_that_are_not_escaped() -> None:
    reply = at_splits(f'```json\n{ANSWER}"the "old gold" lichen"}}\n```')
    assert (reply.text, reply.status, codes(reply)) == ('the "old gold" lichen', "repaired", ["bare-quote"])


@pytest.mark.parametrize("value", ['{"berths": [3, 7]}', "[1, 2]", "7", "true"])
def test_non_text_answer_is_a_json_value(value: str) -> None:
    reply = at_splits(f"Action: {ANSWER}{value}}}")
    assert (reply.text, reply.final_answer_streamed) == (value, True)
    assert [segment.kind for segment in reply.segments] == ["json"]


def test_other_calls_are_calls() -> None:
    reply = at_splits('Action: {"action": "Final Answer Draft", "action_input": "x"}')
    assert (reply.text, reply.final_answer_streamed) == ("", False)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("Final Answer Draft", {"$1": "x"})]


# thoughts, text, observations


def test_json_in_a_thought_is_reasoning() -> None:
    thought = 'For example {"action": "erase", "action_input": {}}, or not.'
    reply = at_splits(f'Thought: {thought}\nAction: {{"action": "look"}}')
    assert reply.reasoning == thought
    assert [call.name for call in reply.tool_calls] == ["look"]


NAME_KEYS = ("action", "tool", "tool_name", "name", "function", "Action")
INPUT_KEYS = ("action_input", "tool_input", "input", "arguments", "parameters", "args", "Tool_Input")


@pytest.mark.parametrize("key", NAME_KEYS)
def test_names_and_inputs_under_any_key_in_any_order(key: str) -> None:
    for other in INPUT_KEYS:
        name, given = f'"{key}": " look "', f'"{other}": {{"at": "sea"}}'
        more = '"thought": "so", "id": "1"'
        for keys in ((name, given), (given, name), (more, name, given), (given, more, name)):
            reply = parse(f"Action: {{{', '.join(keys)}}}", format="react_json")
            assert [(call.name, call.arguments) for call in reply.tool_calls] == [("look", {"at": "sea"})], keys


def test_first_of_two_names_counts() -> None:
    """Since it was sent by the time that the second comes."""
    reply = at_splits('Action: {"tool": "look", "action": "peek", "args": 1, "action_input": 2}')
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("look", {"$1": 1})]
    assert codes(reply) == ["unread-entry", "unread-entry"]


CALL = '{"action": "look", "action_input": {"at": "sea"}}'


@pytest.mark.parametrize("text", TABLES["ANSWERS"])
def test_markup_around_an_action(text: str) -> None:
    reply = at_splits(text)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("look", {"at": "sea"})]
    assert (reply.status, codes(reply), reply.text) == ("ok", [], "")


@pytest.mark.parametrize(("text", "noted"), TABLES["TEXT_WITHOUT_AN_ACTION_IS_TEXT"])
def test_text_without_an_action_is_text(text: str, noted: str) -> None:
    reply = at_splits(text)
    assert ([segment.kind for segment in reply.segments], reply.text) == (["text"], text)
    assert codes(reply) == ["unread-markup"] * bool(noted)
    assert [text[slice(*diagnostic.span)] for diagnostic in reply.diagnostics] == [noted] * bool(noted)


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
        assert read_stream("react_json", [text[i : i + 5] for i in range(0, len(text), 5)], reason)[1] == reply


def test_text_beside_an_action_in_a_fence() -> None:
    reply = at_splits(f'```\n{CALL}\n{{"type": 5}}\n```\nClear?')
    assert [segment.kind for segment in reply.segments] == ["tool_call", "text", "text"]
    assert [segment.text for segment in reply.segments if isinstance(segment, Text)] == ['{"type": 5}', "Clear?"]


@pytest.mark.parametrize("text", TABLES["BARE_QUOTES_IN_AN_UNCLOSED_OBJECT"])
def test_bare_quotes_in_an_unclosed_object(text: str) -> None:
    reply = at_splits(text, "react_json" if '"action"' in text else "react")
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("look", {"at": 'the "sea" side'})]
    assert (reply.status, codes(reply), reply.text) == ("repaired", ["bare-quote"], "")


def test_trailing_white_space_of_an_input_is_dropped() -> None:
    for end in ("", "\n", "\n\nThought: so.", "\nObservation 1: none"):
        reply = at_splits(f"Action 1: look\nAction Input 1: out to sea{end}", "react")
        assert [call.arguments for call in reply.tool_calls] == [{"$1": "out to sea"}]


def test_adjacent_roots_are_all_kept() -> None:
    roots = "".join([f'{{"action": "{name}", "action_input": {{}}}}' for name in "abc"])
    assert [call.name for call in at_splits(roots).tool_calls] == ["a", "b", "c"]
    assert [call.name for call in at_splits(f"```\n{roots}\n```").tool_calls] == ["a", "b", "c"]


@pytest.mark.parametrize("format", ["react", "react_json"])
@pytest.mark.parametrize("text", TABLES["PROSE_STAYS_AS_IT_IS"])
def test_prose_stays_as_it_is(format: str, text: str) -> None:
    reply = at_splits(text, format)
    assert (reply.text, reply.reasoning, reply.tool_calls) == (text, None, [])


@pytest.mark.parametrize("text", ["Action: none today.", "The action: {run} it.", "Action:\n- walk\n- rest"])
def test_prose_is_not_detected(text: str) -> None:
    assert parse(text).format is None


def test_observations_become_reasoning() -> None:
    text = "Action: look\nAction Input: here\nObservation: Nothing.\nThought: Then home.\nFinal Answer: Home."
    reply = at_splits(text, "react")
    assert [type(segment) for segment in reply.segments] == [ToolCall, Reasoning, Reasoning, Text]
    assert (reply.reasoning, reply.text) == ("Nothing.\n\nThen home.", "Home.")
    assert codes(reply) == ["invented-result"]
    assert codes(at_splits("Action: look\nAction Input: here\nObservation:", "react")) == []


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


def test_answers_stream_in_detected_formats() -> None:
    text = f'Thought: so.\nAction: {ANSWER}"Home, \\ud83e\\udde5."}}'
    reply = at_splits(text, "auto")
    assert (reply.text, reply.format, reply.final_answer_streamed) == ("Home, 🧥.", "react_json", True)


# what Dify's tests assert

#: What we read otherwise, and why.
DIFFERENT = TABLES["DIFFERENT"]


@cache
def rows() -> list[dict[str, Any]]:
    if not DATA.exists():
        return []
    found = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    return [row for row in found if row["format"].startswith("react_") and text_of(row) is not None]


def text_of(row: dict[str, Any]) -> str | None:
    """The text of a row; None where what arrives is no text, or the row is about the usage. A blob is an action."""
    given: Any = row["input"]
    if row["format"] == "react_action_blob":
        return f"Action: {given}"
    chunks: list[Any] = [given] if isinstance(given, str) else given["chunks"]
    if "usage_recorded" in row["expected"] or not all(isinstance(chunk, str) for chunk in chunks):
        return None
    return "".join(chunks)


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
    for row in rows():
        reply = at_splits(str(text_of(row)))
        found = list(faults(row["expected"], reply))
        if row["id"] in DIFFERENT and (found or row.get("quirk")):
            different.add(row["id"])
        else:
            assert (row["id"], found) == (row["id"], [])
    assert not DATA.exists() or (different == set(DIFFERENT) and len(rows()) >= 90)


def test_empty_input_before_another_action_is_sound() -> None:
    text = "Action: list_shelf\nAction Input:\nAction: open_shelf\nAction Input: B4"
    whole = parse(text, format="react")
    assert [(call.name, call.arguments) for call in whole.tool_calls] == [
        ("list_shelf", {"$1": ""}),
        ("open_shelf", {"$1": "B4"}),
    ]
    assert whole.status == "ok"
    for at in range(1, len(text)):
        assert ParseArguments("react").stream((text[:at], text[at:]))[1] == whole, at
