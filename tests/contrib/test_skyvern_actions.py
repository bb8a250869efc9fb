"""`contrib.skyvern`: Skyvern's functions for actions under its names, their results, and what they refuse."""

import asyncio
import inspect
import logging
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from outspoken.actions import Wait
from outspoken.contrib import skyvern
from outspoken.contrib.skyvern.action_models import SKYVERN
from outspoken.contrib.skyvern.conversion import CONVERSIONS, SkyvernConverter
from outspoken.results.actions.models import TYPES, model_of
from tests.contrib.test_api_response import objects
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

TASK: Any = SimpleNamespace(
    task_id="task",
    organization_id="org",
    workflow_run_id="run",
    data_extraction_goal="the opening hours",
    extracted_information_schema={"type": "object"},
)
STEP: Any = SimpleNamespace(step_id="step", order=4)
PAGE: Any = SimpleNamespace(
    id_to_element_hash={"BOX": "hash-of-box"},
    id_to_element_dict={"BOX": {"tagName": "input", "attributes": {"type": "checkbox"}}},
    url="https://harbour.example/",
)
WINDOW, SENT = skyvern.Resolution(width=1200, height=800), skyvern.Resolution(width=600, height=400)

ERRORS = {
    error.__name__: error
    for error in (skyvern.UnsupportedActionType, skyvern.InvalidActionError, ValueError, TypeError)
}


def value_at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value


def read_one(written: Any, **more: Any) -> Any:
    return skyvern.parse_action(written, PAGE, TASK.data_extraction_goal, TASK.extracted_information_schema, **more)


@in_one_item("name", TABLES["WRITTEN"])
def test_an_action_as_json(name: str) -> None:
    case = TABLES["WRITTEN"][name]
    written, fields = case["written"], case.get("fields", {})
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]]):
            read_one(written)
        return
    before = repr(written)
    action = read_one(written)
    assert type(action).__name__ == case["model"]
    assert {path: value_at(action, path) for path in fields} == fields
    assert repr(written) == before


def test_a_list_keeps_the_sound_entries_and_says_what_it_leaves_out(caplog: pytest.LogCaptureFixture) -> None:
    entries = TABLES["A_LIST_KEEPS_THE_SOUND_ENTRIES_AND_SAYS_WHAT_IT_LEAVES_OUT"]
    with caplog.at_level(logging.WARNING, "outspoken"):
        actions = skyvern.parse_actions(TASK, "step", 4, PAGE, entries)
    assert [(action.action_type, action.action_order) for action in actions] == [("click", 2), ("wait", 4)]
    first = actions[0]
    places = (first.task_id, first.organization_id, first.workflow_run_id, first.step_id, first.step_order)
    assert places == ("task", "org", "run", "step", 4)
    assert len(caplog.records) == 3
    with pytest.raises(TypeError, match="json_response"):
        skyvern.parse_actions(TASK, "step", 4, PAGE, {"actions": []})  # pyright: ignore[reportArgumentType]


def test_the_cut_action_of_a_response_is_not_run() -> None:
    text = (
        '{"actions": [{"action_type": "CLICK", "id": "BOX"}, {"action_type": "INPUT_TEXT", "id": "BOX", "text": "pass'
    )
    answer = {"choices": [{"message": {"content": text}, "finish_reason": "length"}]}
    found = skyvern.parse_api_response(answer, False, True, "extract-actions")
    assert [type(action) for action in skyvern.parse_actions(TASK, "step", 0, PAGE, found["actions"])] == [
        skyvern.ClickAction
    ]


def test_a_code_that_comes_later() -> None:
    action = read_one({"action_type": "INPUT_TEXT", "id": "BOX", "text": "placeholder"}, totp_code_required=True)
    assert action.totp_code_required
    assert "placeholder" not in repr(action)


# what sees the screen


def used(**arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": arguments}


def of_anthropic(*blocks: Any, **more: Any) -> list[Any]:
    return asyncio.run(skyvern.parse_anthropic_actions(TASK, STEP, blocks, WINDOW, SENT, **more))


def of_openai(*items: Any, **more: Any) -> list[Any]:
    return asyncio.run(skyvern.parse_cua_actions(TASK, STEP, SimpleNamespace(output=items), **more))


def of_ui_tars(text: str | None, **more: Any) -> list[Any]:
    return asyncio.run(skyvern.parse_ui_tars_actions(TASK, STEP, text, WINDOW, **more))


def shown(actions: list[Any], *fields: str) -> list[tuple[Any, ...]]:
    return [(str(action.action_type), *[getattr(action, field, None) for field in fields]) for action in actions]


@in_one_item("name", TABLES["SEEN"])
def test_what_a_model_that_sees_the_screen_does(name: str) -> None:
    case = TABLES["SEEN"][name]
    if "items" in case:
        actions = of_openai(*map(objects, case["items"]))
    else:
        thoughts = [{"type": "thinking", "thinking": case["thinking"]}] if "thinking" in case else []
        actions = of_anthropic(*thoughts, *[used(**one) for one in case["used"]], **case.get("options", {}))
    assert len(actions) == len(case["actions"])
    for action, fields in zip(actions, case["actions"], strict=True):
        found = {name: getattr(action, name) for name in fields}
        assert {**found, **({"path": [*map(list, action.path)]} if "path" in fields else {})} == fields


@in_one_item("name", TABLES["UNUSABLE"])
def test_the_actions_end_before_one_that_cannot_be_carried_out(name: str) -> None:
    actions = of_anthropic(used(action="wait"), TABLES["UNUSABLE"][name], used(action="type", text="secret"))
    assert shown(actions) == [("wait",)]


def test_without_actions_the_fallback_is_asked() -> None:
    asked: list[Any] = []

    async def fallback(task: Any, step: Any, message: str | None, reasoning: str | None) -> list[Any]:
        asked.append((task, step, message, reasoning))
        return ["again"]

    message = SimpleNamespace(type="message", role="assistant", content=[SimpleNamespace(text="All done.")])
    assert of_openai(message, fallback=fallback) == ["again"]
    assert of_anthropic({"type": "text", "text": "All done."}, fallback=fallback) == ["again"]
    assert asked == [(TASK, STEP, "All done.", None)] * 2
    assert of_openai(message) == []


@in_one_item("name", TABLES["UI_TARS"])
def test_responses_of_ui_tars(name: str) -> None:
    text, expected = TABLES["UI_TARS"][name]
    actions = of_ui_tars(text)
    assert [*map(list, shown(actions, "x", "y", "text"))] == expected
    if name == "the end":
        assert (actions[0].output, actions[0].verified) == ("Open till six.", True)


def test_another_format_of_ui_tars() -> None:
    actions = of_ui_tars("Action: click(start_box='(560,280)')", parser="ui_tars")
    assert shown(actions, "x", "y") == [("click", 558, 275)]


# Skyvern's own names


def test_signatures_are_those_of_skyvern() -> None:
    expected = TABLES["SIGNATURES_ARE_THOSE_OF_SKYVERN"]
    for name, names in expected.items():
        parameters = inspect.signature(getattr(skyvern, name)).parameters.values()
        assert [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD] == names
        assert all(one.default is not one.empty for one in parameters if one.kind is one.KEYWORD_ONLY)


@in_one_item("content", ["", "prose", "[1]", "7", '{"a": 1}'])
def test_one_except_clause_catches_what_a_response_raises(content: str) -> None:
    with pytest.raises(skyvern.InvalidLLMResponseFormat):
        skyvern.parse_api_response(content, prompt_name="extract-actions")


@pytest.fixture
def loaded_skyvern() -> Iterator[ModuleType]:
    """A module in the place of Skyvern's own models."""
    module = ModuleType(SKYVERN)
    vars(module).update(ClickAction=type("ClickAction", (skyvern.ClickAction,), {}), NullAction=skyvern.NullAction)
    sys.modules[SKYVERN] = module
    yield module
    del sys.modules[SKYVERN]


def test_a_program_that_has_skyvern_gets_its_classes(loaded_skyvern: ModuleType) -> None:
    assert type(read_one({"action_type": "CLICK", "id": "BOX"})) is vars(loaded_skyvern)["ClickAction"]
    with pytest.raises(skyvern.UnsupportedActionType, match="HoverAction"):
        read_one({"action_type": "HOVER", "id": "BOX"})


def test_what_skyvern_does_not_have_is_refused_by_name() -> None:
    refused = {kind for kind in TYPES if kind not in CONVERSIONS} - {"batch", "unknown"}
    assert {"run_code", "ask_user", "file_op", "long_press"} < refused
    assert {*CONVERSIONS} < {*TYPES}
    for kind in refused:
        with pytest.raises(skyvern.UnsupportedActionType, match=kind):
            SkyvernConverter().convert(model_of(kind).model_construct())


@in_one_item("status", ["truncated", "invalid"])
def test_what_is_not_sound_is_refused(status: Any) -> None:
    with pytest.raises(skyvern.InvalidActionError, match=status):
        SkyvernConverter().convert(Wait(status=status))
