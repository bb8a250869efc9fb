"""`parse_api_response` and `read_api_response`: shapes, repairs, lists, texts that break off, and what is raised."""

import json
import logging
import re
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.contrib.skyvern.api_response import (
    ApiResponse,
    ApiResponseError,
    InvalidLLMResponseFormatError,
    InvalidLLMResponseTypeError,
    LLMContentFilteredError,
    LLMOutputTruncatedError,
    LLMResponseMissingActionsError,
    parse_api_response,
    read_api_response,
    require_actions,
)
from outspoken.json.read import JsonLimitError
from outspoken.results.errors import OutspokenError
from outspoken.results.settings import Settings
from tests.tables import tables

TABLES = tables(__file__)

VECTORS = Path(__file__).parents[3] / "shared" / "conformance" / "gui" / "vectors.jsonl"

CLICK = {"action_type": "CLICK", "id": "go"}
TYPE = {"action_type": "INPUT_TEXT", "id": "mail", "text": "a@b.c"}


def answer(content: Any, reason: Any = "stop", **more: Any) -> dict[str, Any]:
    """A response of a chat API, as dicts."""
    return {"choices": [{"message": {"content": content}, "finish_reason": reason}], **more}


def objects(value: Any) -> Any:
    """A response with attributes instead of keys."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: objects(inner) for key, inner in value.items()})  # pyright: ignore[reportUnknownVariableType]
    return [objects(inner) for inner in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def codes(read: ApiResponse) -> list[str]:
    return [note.code for note in read.diagnostics]


def raised(kind: type[ApiResponseError], response: Any, **options: Any) -> tuple[str, ApiResponse]:
    """The message of what `parse_api_response` raises, and the response that it carries."""
    with pytest.raises(ApiResponseError) as caught:
        parse_api_response(response, **options)
    assert type(caught.value) is kind
    assert isinstance(caught.value, (OutspokenError, ValueError))
    read = read_api_response(response, **options)
    assert caught.value.response == read
    assert str(read.error) == str(caught.value)
    return str(caught.value), read


# -- the two examples of the seed


def test_a_sound_response() -> None:
    text = '{"actions": [{"action_type": "CLICK", "element_id": "submit", "reasoning": "Go on"}]}'
    response = objects(answer(text))
    result = parse_api_response(response)
    assert len(result["actions"]) == 1
    assert result["actions"][0]["action_type"] == "CLICK"
    read = read_api_response(response)
    assert (read.status, read.level, read.repairs, read.diagnostics) == ("ok", "exact", (), ())
    assert (read.needs_retry, read.needs_manual, read.error, read.actions) == (False, False, None, result["actions"])


def said(read: ApiResponse) -> dict[str, Any]:
    """All that a response says, without what is a default."""
    told: dict[str, Any] = {
        "level": read.level,
        "actions": read.actions,
        "found": [*read.found],
        "unfinished": [*read.unfinished_items],
        "repairs": [made.code for made in read.repairs],
        "diagnostics": [f"{note.severity}: {note}" for note in read.diagnostics],
        "retry": read.needs_retry,
        "manual": read.needs_manual,
        "error": read.error and {"type": type(read.error).__name__, "message": str(read.error)},
    }
    return {"status": read.status, "value": read.value, **{key: value for key, value in told.items() if value}}


@pytest.mark.parametrize("name", TABLES["RESPONSES"])
def test_all_that_a_response_says(name: str) -> None:
    """What is read of a response, and the value or the error that `parse_api_response` makes of it."""
    case = TABLES["RESPONSES"][name]
    given, options = case["given"], case.get("options", {})
    read = read_api_response(given, **options)
    assert said(read) == case["said"]
    assert all(note.excerpt in read.text for note in read.diagnostics[:1])
    if read.error is None:
        assert parse_api_response(given, **options) == read.value
    else:
        assert raised(type(read.error), given, **options)[1] == read


# -- S0-10: what a response may look like


@pytest.mark.parametrize(
    "response",
    [
        '{"a": 1}',
        answer('{"a": 1}'),
        objects(answer('{"a": 1}')),
        answer([{"type": "text", "text": '{"a"'}, {"type": "image_url", "text": "no"}, {"text": ": 1"}, "}", 7]),
        objects(answer([{"type": "output_text", "text": '{"a": 1}'}, {"type": "thinking", "text": '{"b": 2}'}])),
        {"choices": [SimpleNamespace(message={"content": '{"a": 1}'})]},
    ],
)
def test_shapes(response: Any) -> None:
    assert parse_api_response(response) == {"a": 1}


class Reason(Enum):
    LENGTH = "LENGTH"


def test_error_of_the_api() -> None:
    usage = TABLES["ERROR_OF_THE_API"]
    read = read_api_response(objects(answer("{}", Reason.LENGTH, model="m", usage=usage)))
    assert (read.model, read.finish_reason) == ("m", "length")
    assert (read.prompt_tokens, read.completion_tokens, read.reasoning_tokens) == (7, None, 5)
    read = read_api_response(answer("{}", object(), model=object()))
    assert (read.model, read.finish_reason, read.prompt_tokens) == (None, None, None)


def test_text_alone_and_its_finish_reason() -> None:
    assert read_api_response(b'{"a": 1}') == read_api_response('{"a": 1}')
    assert read_api_response("Let me", finish_reason="LENGTH") == read_api_response(answer("Let me", "length"))


# -- S0-11, S0-12, S0-26: nothing to read


@pytest.mark.parametrize("response", [None, "", " \n", answer(None), answer(""), answer([]), {"choices": []}])
def test_no_content(response: Any) -> None:
    message, read = raised(InvalidLLMResponseFormatError, response)
    assert message == "Empty response content"
    assert (read.status, read.value, read.needs_retry, read.needs_manual) == ("invalid", None, True, False)
    assert next(map(str, read.diagnostics)).endswith("empty-response: the response has no content")
    assert raised(InvalidLLMResponseFormatError, response, add_assistant_prefix=True)[0] == message


# -- S0-13, S0-16, S0-17: the options


def test_a_prefix() -> None:
    read = read_api_response('"test": "value"}', add_assistant_prefix=True, repair="none")
    assert (read.value, read.status, read.text) == ({"test": "value"}, "ok", '{"test": "value"}')
    text = '<think>Perhaps {"a": 2}?</think>\n{"a": 1}'
    assert read_api_response(text).text == text


def test_repair_limit() -> None:
    assert raised(InvalidLLMResponseFormatError, '{"a": 1,}', repair="none")[0] == 'Unable to parse: {"a": 1,}...'
    with pytest.raises(ValueError, match='`repair` is \'all\'; expected one of "none", "notation"'):
        parse_api_response("{}", repair="all")  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(JsonLimitError, match="the text has 4 characters"):
        parse_api_response("{ } ", settings=Settings(max_chars=3))


# -- S0-20 to S0-23: lists


@pytest.mark.parametrize(("text", "kind"), TABLES["NO_OBJECT"])
def test_no_object(text: str, kind: str) -> None:
    message, read = raised(InvalidLLMResponseTypeError, text)
    assert message == f"the JSON of the response is of type {kind}; expected an object"
    assert isinstance(read.error, InvalidLLMResponseTypeError)
    assert read.error.type_name == kind
    assert (read.status, read.value, codes(read)) == ("invalid", None, ["wrong-type"])
    assert str(read.diagnostics[0]) == f"text:1:1 wrong-type: the JSON is of type {kind}; expected an object"


COERCED: list[tuple[list[Any], str | None, Any, list[str]]] = TABLES["COERCED"]


@pytest.mark.parametrize(("items", "prompt", "value", "expected_codes"), COERCED)
def test_lists(items: list[Any], prompt: str | None, value: Any, expected_codes: list[str]) -> None:
    alike = [json.dumps(items)]
    if len(items) > 1 and all(isinstance(item, (dict, list)) for item in items):
        alike.append("\n".join(map(json.dumps, items)))
    for text in alike:
        assert parse_api_response(text, prompt_name=prompt) == value
        read = read_api_response(text, prompt_name=prompt)
        assert (read.status, codes(read)) == ("repaired", expected_codes)


# -- S0-24: a list of actions


@pytest.mark.parametrize("prompt", ["extract-actions", "decisive-criterion-validate"])
@pytest.mark.parametrize("value", [{"thoughts": "t", "x": 1}, {"actions": None, "x": 1}, [{"actions": {}, "x": 1}]])
def test_missing_actions(prompt: str, value: Any) -> None:
    message, read = raised(LLMResponseMissingActionsError, json.dumps(value), prompt_name=prompt)
    keys: tuple[str, ...] = tuple(value if "x" in value else value[0])
    assert message == f"the response has no list `actions`; its keys are `{keys[0]}`, `x`"
    assert isinstance(read.error, LLMResponseMissingActionsError)
    assert read.error.keys == keys
    assert (read.status, read.needs_retry, codes(read)[-1]) == ("invalid", True, "missing-actions")
    assert parse_api_response(json.dumps(value), prompt_name="custom-select")


def test_require_actions() -> None:
    assert require_actions({"actions": [1]}) == [1]
    with pytest.raises(LLMResponseMissingActionsError) as caught:
        require_actions({})
    assert str(caught.value) == "the response has no list `actions`; it has no keys"
    assert caught.value.response is None
    with pytest.raises(LLMResponseMissingActionsError, match=r"`k0`, .*, `k9`, 2 more$"):
        require_actions({f"k{number}": 1 for number in range(12)})


# -- S0-25: a model that was stopped


def test_a_limit_before_there_is_content() -> None:
    usage = {"prompt_tokens": 1200, "completion_tokens": 64, "completion_tokens_details": {"reasoning_tokens": 64}}
    for content in (None, "", "  "):
        response = answer(content, "length", model="big-1", usage=usage)
        message, read = raised(LLMOutputTruncatedError, response)
        tokens = "(tokens: 1,200 prompt, 64 completion, 64 reasoning)"
        assert message == f"the output of `big-1` was truncated before it contained anything usable {tokens}"
        error = read.error
        assert isinstance(error, LLMOutputTruncatedError)
        counts = error.prompt_tokens, error.completion_tokens, error.reasoning_tokens
        assert (error.model, *counts) == ("big-1", 1200, 64, 64)
        assert (read.status, sorted(codes(read))) == ("truncated", ["token-limit", "truncated"])
    message, _ = raised(LLMOutputTruncatedError, answer(None, "max_tokens"))
    assert message == "the output was truncated before it contained anything usable"
    assert raised(LLMOutputTruncatedError, answer("Let me think about", "length"))[1].status == "truncated"


def test_a_limit_behind_some_actions(caplog: pytest.LogCaptureFixture) -> None:
    response = answer('{"actions": [{"action_type": "A"}, {"action_type": "B"', "length")
    with caplog.at_level(logging.WARNING, "outspoken"):
        assert parse_api_response(response) == {"actions": [{"action_type": "A"}]}
    assert caplog.messages == [
        "text:1:36 truncated: the text ends inside an action, which was left out",
        "text:1:55 token-limit: the model reached its token limit",
    ]


def test_a_content_filter() -> None:
    for content in (None, "I can", '{"actions": [{"action_type": "A'):
        message, read = raised(LLMContentFilteredError, answer(content, "content_filter", model="m"))
        assert message == "the output of `m` was withheld by a content filter"
        assert (read.status, read.needs_retry, read.needs_manual) == ("invalid", False, True)
        assert "content-filter" in codes(read)
    assert str(LLMContentFilteredError()) == "the output was withheld by a content filter"
    read = read_api_response(answer('{"a": 1}', "content_filter"))
    assert (read.value, read.status, read.needs_manual, codes(read)) == ({"a": 1}, "ok", False, ["content-filter"])


# -- S0-50 to S0-54: a text that breaks off

A, B = '{"action_type":"A"}', '{"action_type":"B"}'

#: text, the value, what is unfinished, and where that begins
CUT: list[tuple[str, Any, Any, str]] = TABLES["CUT"]


@pytest.mark.parametrize(("text", "value", "unfinished", "begin"), CUT)
def test_complete_actions_are_kept(text: str, value: Any, unfinished: Any, begin: str) -> None:
    assert parse_api_response(text) == value
    read = read_api_response(text)
    assert (read.status, read.value, read.needs_retry) == ("truncated", value, False)
    assert read.unfinished_items == (() if unfinished is None else (unfinished,))
    (note,) = [note for note in read.diagnostics if note.code == "truncated"]
    start = text.rindex(begin) if begin else len(text)
    assert (note.severity, note.span, "cut-json" in codes(read)) == ("error", (start, len(text)), False)


NOTHING_COMPLETE: list[tuple[str, Any, Any]] = TABLES["NOTHING_COMPLETE"]


@pytest.mark.parametrize(("text", "value", "unfinished"), NOTHING_COMPLETE)
def test_nothing_complete(text: str, value: Any, unfinished: Any) -> None:
    message, read = raised(LLMOutputTruncatedError, text)
    assert message == "the output was truncated before it contained anything usable"
    assert (read.status, read.needs_retry, read.value, read.actions) == ("truncated", True, value, [])
    assert read.unfinished_items == (() if unfinished is None else (unfinished,))
    assert "truncated" in codes(read)


def test_truncation_is_reported() -> None:
    read = read_api_response('{"actions": [\n  {"a": 1},\n  {"a": "two", "b')
    (note,) = [note for note in read.diagnostics if note.code == "truncated"]
    assert note.frame().splitlines() == TABLES["TRUNCATION_IS_REPORTED"]
    read = read_api_response('{"rows": [1, "tw')
    assert "the text ends inside an item of a list, which was left out" in [n.message for n in read.diagnostics]
    read = read_api_response('{"a": "b')
    assert "the text ends inside the JSON value" in [n.message for n in read.diagnostics]


WHOLE = {"thoughts": "},{", "actions": [CLICK, {"action_type": "B", "option": {"label": "y]"}}, TYPE], "end": True}


@pytest.mark.parametrize("indent", [None, 2])
def test_every_cut(indent: int | None) -> None:
    """Wherever the text is cut: only actions that are whole count, and none that is whole is lost."""
    text = json.dumps(WHOLE, indent=indent)
    actions = WHOLE["actions"]
    assert isinstance(actions, list)
    seen = 0
    for end in range(1, len(text)):
        read = read_api_response(text[:end])
        assert read.status == "truncated"
        assert len(read.actions) in (seen, seen + 1)
        seen = len(read.actions)
        assert read.actions == actions[:seen]
        assert read.needs_retry == (read.value in ({}, None) or (not seen and "actions" in read.value))
    assert seen == 3


# -- what holds for every text

PIECES = st.sampled_from([
    "{", "}", "[", "]", '"actions":', '"action_type": "A"', '"a": 1', ",", " ", "\n", '"', "'", "// x\n", "```json\n",
    "```", "<think>", "</think>", "Sure: ", "null", "12", "\\", "\ud83d",
])  # fmt: skip
TEXTS = st.text() | st.lists(PIECES, max_size=24).map("".join)
REASONS = st.sampled_from(["stop", "length", "content_filter", None])
PROMPTS = st.sampled_from([None, "extract-actions"])


@given(TEXTS, REASONS, PROMPTS, st.booleans(), st.booleans())
def test_only_documented_errors_are_raised(
    text: str, reason: str | None, prompt: str | None, prefix: bool, force: bool
) -> None:
    response = answer(text, reason)
    read = read_api_response(response, add_assistant_prefix=prefix, prompt_name=prompt, force_dict=force)
    options: dict[str, Any] = {"add_assistant_prefix": prefix, "prompt_name": prompt, "force_dict": force}
    if read.error is not None:
        assert read.needs_retry != read.needs_manual
        assert read.status in ("truncated", "empty", "invalid", "failed")
        assert raised(type(read.error), response, **options)[0] == str(read.error)
        return
    value = parse_api_response(response, **options)
    assert not read.needs_retry
    assert not read.needs_manual
    assert read.status in ("ok", "repaired", "truncated")
    assert value == read.value
    assert not force or isinstance(value, dict)
    assert all(0 <= note.span[0] <= note.span[1] <= len(read.text) for note in read.diagnostics)
    assert read.status != "truncated" or "truncated" in codes(read)


ITEMS = st.recursive(
    st.integers() | st.text(max_size=8) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ACTIONS = st.lists(
    st.dictionaries(st.sampled_from(["action_type", "id", "text", "option"]), ITEMS, min_size=1), min_size=1
)


@given(ACTIONS, st.data())
def test_truncated_action_is_never_complete(actions: list[Any], data: st.DataObject) -> None:
    text = json.dumps({"actions": actions})
    end = data.draw(st.integers(1, len(text) - 1))
    read = read_api_response(text[:end])
    assert read.status == "truncated"
    assert read.actions == actions[: len(read.actions)]
    if len(read.actions) < len(actions):
        assert read.value is not None
        assert json.dumps(actions[: len(read.actions) + 1])[1:-1] not in text[:end]


# -- what the tests of others assert

#: Where we differ on purpose: the case, and why.
DIFFERENCES = TABLES["DIFFERENCES"]


def vectors() -> list[dict[str, Any]]:
    """The cases of other projects for this function; none where they do not lie beside this one."""
    prefixes = ("seed000", "skyvern-coerce", "skyvern-json")
    lines = VECTORS.read_text("utf-8").splitlines() if VECTORS.exists() else []
    return [row for row in map(json.loads, lines) if row["id"].startswith(prefixes)]


def outcome_of(row: dict[str, Any]) -> Any:
    """The value, or the name of what was raised."""
    text = row["input"]
    if row["format"] == "skyvern_toplevel_list_coercion":
        text = json.dumps(text)
    options = {key: row["context"][key] for key in ("prompt_name", "add_assistant_prefix") if key in row["context"]}
    try:
        return parse_api_response(answer(text), **options)
    except ApiResponseError as error:
        return type(error).__name__


def raises(expected: str, result: Any) -> bool:
    """Is this the exception of the same name? Ours all end in `Error`."""
    return isinstance(result, str) and result.removesuffix("Error") == expected.removesuffix("Error")


#: What the assertions of those cases that are not whole values come to.
ASSERTED: dict[str, Any] = TABLES["ASSERTED"]


def agrees(row: dict[str, Any], result: Any) -> bool:
    """Does a result agree with what the case asserts? Paths of assertions are looked up, not run."""
    expected = row["expected"]
    if expected.get("error"):
        return raises(expected["error_type"], result)
    if "equals" in expected:
        return result == expected["equals"]
    if row["id"] in ASSERTED:
        return result == ASSERTED[row["id"]]
    return all(_value(part, result) == part["expected"] for part in expected["asserts"])


def _value(part: dict[str, Any], result: Any) -> Any:
    """What an assertion says something of. Its path is read, not run."""
    path = part["path"]
    if path == "$":
        return result is not None
    if path.startswith("["):
        return [action["action_type"] for action in result["actions"]]
    for key in re.findall(r"\w+", path.removeprefix("result")):
        result = result[int(key) if key.isdigit() else key]
    return len(result) if part["matcher"] == "len" else result


def test_cases_of_other_projects() -> None:
    rows = vectors()
    wrong = [row["id"] for row in rows if not agrees(row, outcome_of(row))]
    assert wrong == (sorted(DIFFERENCES) if rows else [])
    assert not VECTORS.exists() or len(rows) >= 50
