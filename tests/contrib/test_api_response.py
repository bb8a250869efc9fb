"""`parse_api_response` and `read_api_response`: shapes, repairs, lists, texts that break off, and what is raised."""

import json
import logging
import re
from enum import Enum
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.contrib.skyvern import api_response
from outspoken.contrib.skyvern.api_response import ApiResponse, ApiResponseError, parse_api_response, read_api_response
from outspoken.results.errors import OutspokenError
from tests.tables import BESIDE, beside, tables

TABLES = tables(__file__)

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


def of_error(error: ApiResponseError) -> dict[str, Any]:
    """What an error says, but for the response that it carries."""
    more = {key: value for key, value in vars(error).items() if value and key != "response"}
    more |= {"keys": [*error.keys]} if isinstance(error, api_response.LLMResponseMissingActionsError) else {}
    return {"type": type(error).__name__, "message": str(error), **more}


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
        "error": read.error and of_error(read.error),
    }
    return {"status": read.status, "value": read.value, **{key: value for key, value in told.items() if value}}


@pytest.mark.parametrize("name", TABLES["RESPONSES"])
def test_all_that_a_response_says(name: str) -> None:
    """What is read of a response, and the value or the error that `parse_api_response` makes of it."""
    found: Any = TABLES["RESPONSES"][name]
    cases = cast("list[dict[str, Any]]", found if isinstance(found, list) else [found])
    for case in cases:
        options: dict[str, Any] = case.get("options", {})
        for response in case.get("alike", [case.get("given")]):
            read = read_api_response(response, **options)
            assert said(read) == case["said"], response
            assert all(note.excerpt in read.text for note in read.diagnostics[:1])
            if read.error is None:
                assert parse_api_response(response, **options) == read.value
            else:
                assert raised(type(read.error), response, **options)[1] == read


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
    text = '<think>Perhaps {"a": 2}?</think>\n{"a": 1}'
    assert read_api_response(text).text == text
    assert read_api_response(b'{"a": 1}') == read_api_response('{"a": 1}')
    assert read_api_response("Let me", finish_reason="LENGTH") == read_api_response(answer("Let me", "length"))


def test_require_actions() -> None:
    assert api_response.require_actions({"actions": [1]}) == [1]
    with pytest.raises(api_response.LLMResponseMissingActionsError) as caught:
        api_response.require_actions({})
    assert caught.value.response is None


# -- S0-25: a model that was stopped


def test_a_limit_behind_some_actions(caplog: pytest.LogCaptureFixture) -> None:
    response = answer('{"actions": [{"action_type": "A"}, {"action_type": "B"', "length")
    with caplog.at_level(logging.WARNING, "outspoken"):
        assert parse_api_response(response) == {"actions": [{"action_type": "A"}]}
    assert caplog.messages == [
        "text:1:36 truncated: the text ends inside an action, which was left out",
        "text:1:55 token-limit: the model reached its token limit",
    ]


# -- S0-50 to S0-54: a text that breaks off


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


def vectors() -> list[dict[str, Any]]:
    """The cases of other projects for this function; none where they do not lie beside this one."""
    prefixes = ("seed000", "skyvern-coerce", "skyvern-json")
    return [row for row in beside("gui/vectors.jsonl") if row["id"].startswith(prefixes)]


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


def agrees(row: dict[str, Any], result: Any) -> bool:
    """Does a result agree with what the case asserts? Paths of assertions are looked up, not run."""
    expected = row["expected"]
    if expected.get("error"):
        return raises(expected["error_type"], result)
    if "equals" in expected:
        return result == expected["equals"]
    if row["id"] in TABLES["ASSERTED"]:
        return result == TABLES["ASSERTED"][row["id"]]
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
    assert wrong == (sorted(TABLES["DIFFERENCES"]) if rows else [])
    assert not BESIDE.exists() or len(rows) >= 50
