"""Actions that are checked against the page that they are for, from text and from decoded JSON."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from outspoken import Parser, Reply, UnknownFormatError, parse, render
from outspoken.actions import MODELS, ActionText, PageContext, PageElement
from outspoken.actions.encoding import effect_of
from outspoken.processing import ResponseProcessor, parse_action, parse_actions
from tests.cases import CASES, Case
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

DATA = Path(__file__).parents[3] / "shared" / "conformance" / "gui" / "vectors.jsonl"

PAGE = PageContext.of(
    {
        "AAA": {"tagName": "SELECT", "attributes": {"name": "cabin"}, "text": "Cabin"},
        "AAB": {"tagName": "input", "attributes": {"type": "checkbox"}},
        "AAC": {"tagName": "input", "attributes": {"type": "radio"}},
        "AAD": {"tagName": "input", "attributes": {"type": "text"}},
        "AAE": {"tagName": "input", "attributes": {"type": "file"}},
        "AAF": {"tagName": "a", "attributes": {}},
        "AAG": {"tagName": "div", "attributes": {"role": "combobox"}},
    },
    {"AAA": "hash of the cabin", "AAF": "hash of the link", "7": "hash without data"},
)


def skyvern(*actions: dict[str, Any], **options: Any) -> Reply:
    return parse_actions({"actions": list(actions)}, parser="skyvern", page=PAGE, **options)


def codes(reply: Reply) -> list[str]:
    return [d.code for d in reply.diagnostics]


# the page


def test_elements_get_their_attributes_from_the_page() -> None:
    (click,) = skyvern({"action_type": "CLICK", "id": "AAF"}).actions
    assert click.type == "click"
    assert click.element is not None
    assert (click.element.id, click.element.hash, click.element.kind) == ("AAF", "hash of the link", "a")
    assert click.metadata["element"] == {"tagName": "a", "attributes": {}}


def test_an_id_may_be_a_number() -> None:
    (click,) = skyvern({"action_type": "CLICK", "element_id": 7}).actions
    assert click.element.hash == "hash without data"  # type: ignore[union-attr]


def test_an_id_of_zero_is_an_id() -> None:
    (click,) = parse_actions([{"action_type": "CLICK", "id": 0}], parser="skyvern").actions
    assert click.element.id == "0"  # type: ignore[union-attr]


def test_unknown_element_is_a_warning() -> None:
    reply = skyvern({"action_type": "CLICK", "id": "ZZZ"})
    assert [a.type for a in reply.actions] == ["click"]
    assert [(d.code, d.severity) for d in reply.diagnostics] == [("unknown-element", "warning")]
    start, end = reply.diagnostics[0].span
    assert reply.raw[start:end] == '{"action_type": "CLICK", "id": "ZZZ"}'


def test_marks_and_indexes_name_elements_too() -> None:
    page = PageContext(elements={"3": PageElement(kind="a", hash="third")})
    (click,) = parse_actions({"action": [{"click": {"index": 3}}]}, parser="browser_use", page=page).actions
    assert click.element.hash == "third"  # type: ignore[union-attr]


def test_a_page_is_not_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        PAGE.elements = {}


# what does not go with its element


@pytest.mark.parametrize(("id", "type", "code"), TABLES["SELECT_OPTION_ON_AN_ELEMENT_THAT_IS_NOT_A"])
def test_select_option_on_an_element_that_is_not_a_select(id: str, type: str, code: list[str]) -> None:
    reply = skyvern({"action_type": "SELECT_OPTION", "id": id, "option": {"label": "Outer"}, "reasoning": "so"})
    (action,) = reply.actions
    assert (action.type, action.name, action.reasoning) == (type, "SELECT_OPTION", "so")
    assert codes(reply) == code


def test_select_option_on_a_checkbox_ticks_it() -> None:
    (action,) = skyvern({"action_type": "SELECT_OPTION", "id": "AAB", "option": {"index": 1}}).actions
    assert action.type == "set_checked"
    assert action.checked is True


def test_text_typed_into_a_select_selects_the_option() -> None:
    (action,) = skyvern({"action_type": "INPUT_TEXT", "id": "AAA", "text": "Outer"}).actions
    assert action.type == "select_option"
    assert action.label == "Outer"


def test_upload_to_a_non_file_input_becomes_a_click() -> None:
    reply = skyvern(
        {"action_type": "UPLOAD_FILE", "id": "AAE", "file_url": "https://example.org/map"},
        {"action_type": "UPLOAD_FILE", "id": "AAF", "file_url": "https://example.org/map"},
        {"action_type": "UPLOAD_FILE", "id": "AAE"},
    )
    assert [a.type for a in reply.actions] == ["upload_file", "click"]
    assert reply.actions[1].file_url == "https://example.org/map"  # type: ignore[union-attr]
    assert codes(reply) == ["wrong-element", "invalid-action"]
    assert str(reply.diagnostics[-1]).endswith("invalid-action: `UPLOAD_FILE` needs `file_url`")


def test_elements_are_not_checked_without_a_page() -> None:
    reply = parse_actions([{"action_type": "SELECT_OPTION", "id": "AAB", "option": {"index": 1}}], parser="skyvern")
    assert [a.type for a in reply.actions] == ["select_option"]
    assert reply.diagnostics == []


# what was not said


def test_defaults_are_used_and_reported() -> None:
    reply = skyvern({"action_type": "WAIT"}, {"action_type": "KEYPRESS", "key": "Enter", "repeat": 0})
    assert [getattr(a, "seconds", None) for a in reply.actions] == [20, None]
    assert reply.actions[1].repeat == 1  # type: ignore[union-attr]
    assert [(d.code, d.severity) for d in reply.diagnostics] == [("default-value", "note")] * 2


def test_actions_are_checked_in_one_place() -> None:
    """Every way of reading corrects and completes actions alike, with a page or without, and reports each change."""
    actions = TABLES["ACTIONS_ARE_CHECKED_IN_ONE_PLACE"]
    random, parser = Random(0), Parser("skyvern")
    for _ in range(40):
        text = json.dumps({"actions": random.choices(actions, k=random.randrange(1, 5))})
        page = random.choice([None, PAGE])
        given = random.choice([None, {"data_extraction_goal": "all tides"}])
        reader = parser.replace(page=page, given=given)
        whole, size = reader.parse(text), random.randrange(1, 40)
        stream = reader.stream([text[at : at + size] for at in range(0, len(text), size)])
        typed = "".join([event.text for event in stream if isinstance(event, ActionText)])
        assert stream.reply == whole == parse_actions(text, parser=parser, page=page, given=given)
        processed = ResponseProcessor(parser).process(text, page=page, given=given)
        assert processed.reply == whole
        assert typed == "".join([action.text for action in whole.actions if action.type == "type_text"])
        if page is None and given is None:
            assert parser.parse(text) == whole
        assert all(action.seconds for action in whole.actions if action.type == "wait")
        assert all(action.repeat for action in whole.actions if action.type == "press_keys")
        assert all(action.direction for action in whole.actions if action.type == "scroll")


def test_a_goal_may_be_given() -> None:
    asked = {"action_type": "EXTRACT"}
    given = {"data_extraction_goal": "all tides", "extracted_information_schema": {"type": "object"}}
    (action,) = skyvern(asked, given=given).actions
    assert action.type == "extract"
    assert (action.query, action.data_schema) == ("all tides", {"type": "object"})
    reply = skyvern(asked)
    assert reply.actions == []
    assert reply.status == "invalid"
    assert [a.type for a in reply.unfinished_actions] == ["unknown"]


# one bad action never loses the others


def test_order_counts_all_entries() -> None:
    reply = parse_actions(
        ["x", {"action_type": "JUGGLE"}, {"id": "A"}, 3, None, {"action_type": "GO_BACK"}], parser="skyvern"
    )
    assert [(a.type, a.order) for a in reply.actions] == [("go_back", 5)]
    assert [(a.name, a.order) for a in reply.unfinished_actions] == [("", 0), ("JUGGLE", 1), ("", 2), ("", 3), ("", 4)]
    assert codes(reply) == ["invalid-action"] * 5


def test_truncated_actions_are_marked() -> None:
    text = '{"actions": [{"action_type": "GO_BACK"}, {"action_type": "INPUT_TEXT", "id": "AAD", "text": "two mo'
    reply = parse_actions(text, parser="skyvern", page=PAGE)
    assert [a.type for a in reply.actions] == ["go_back"]
    (rest,) = reply.unfinished_actions
    assert (rest.name, rest.status, rest.extra) == (
        "INPUT_TEXT",
        "truncated",
        {"action_type": "INPUT_TEXT", "id": "AAD"},
    )
    assert codes(reply) == ["unclosed-action"]


@pytest.mark.parametrize("cut", TABLES["TRUNCATED_JSON_KEEPS_COMPLETE_ACTIONS"])
def test_truncated_json_keeps_complete_actions(cut: str) -> None:
    reply = parse(cut, format="skyvern")
    assert [a.name for a in reply.actions] == ["WAIT"]
    assert [(a.name, a.status) for a in reply.unfinished_actions] == [("CLICK", "truncated")]


# the tests of the seed


def test_a_sound_response() -> None:
    text = TABLES["A_SOUND_RESPONSE"]
    (action,) = parse_actions(text, parser="skyvern").actions
    assert (action.name, action.type, action.order) == ("CLICK", "click", 0)


def test_a_response_with_three_damages() -> None:
    text = TABLES["A_RESPONSE_WITH_THREE_DAMAGES"]
    (action,) = parse_actions(text, parser="skyvern").actions
    assert action.type == "type_text"
    assert (action.text, action.status) == ('Hello "world"', "repaired")
    assert action.element is not None
    assert action.element.id == "greeting"


# shapes of responses


@pytest.mark.parametrize("response", TABLES["SHAPES"])
def test_shapes(response: Any) -> None:
    reply = parse_actions(response, parser="skyvern")
    assert [(a.type, a.order) for a in reply.actions] == [("wait", 0)]
    assert codes(reply) == ["default-value"]


def test_actions_of_a_dict_are_found_in_another_place() -> None:
    response = {"result": {"steps": '[{"action_type": "WAIT"}]'}}
    reply = parse_actions(response, parser="skyvern")
    assert [a.type for a in reply.actions] == ["wait"]
    assert "moved-actions" in codes(reply)
    text = json.dumps(response)
    assert parse_actions(text, parser="skyvern") == parse(text, format="skyvern")


def test_actions_in_a_string() -> None:
    text = json.dumps({"thinking": "x", "action": json.dumps([{"go_back": {}}, {"done": {"text": 'a "b"'}}])})
    reply = parse_actions(text, parser="browser_use")
    assert [a.type for a in reply.actions] == ["go_back", "complete"]
    assert reply.actions[1].answer == 'a "b"'  # type: ignore[union-attr]


def test_one_action() -> None:
    action = parse_action({"text": "Ada", "id": "AAD", "action_type": "input_text"}, parser="skyvern", page=PAGE)
    assert action.type == "type_text"
    assert action.text == "Ada"
    unread = parse_action({"a": 1}, parser="skyvern")
    assert (unread.type, unread.status, unread.extra) == ("unknown", "invalid", {"a": 1})
    assert parse_action({}, parser="skyvern").status == "invalid"
    assert parse_action("nothing", parser="skyvern").raw == "nothing"


def test_wrong_use() -> None:
    with pytest.raises(UnknownFormatError):
        parse_actions([], parser="no_such_format")
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        parse_actions([{"action_type": object()}], parser="skyvern")
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        parse_actions([{"action_type": float("nan")}], parser="skyvern")
    with pytest.raises(UnknownFormatError):
        parse_actions([], parser=Parser())
    odd: Any = 7
    for argument, expected in TABLES["WRONG_USE"]:
        arguments: dict[str, Any] = {"response": "{}", "parser": "skyvern", argument: odd}
        with pytest.raises(TypeError) as caught:
            parse_actions(**arguments)
        assert str(caught.value) == f"`{argument}` is an int; expected {expected}"


def test_elements_of_a_page() -> None:
    element = PageElement(kind="a", hash="old")
    page = PageContext.of({"1": element, "2": {"tag": "A"}}, {"1": "new", "3": "h"})
    assert page.elements == {
        "1": PageElement(kind="a", hash="new"),
        "2": PageElement(kind="a", data={"tag": "A"}),
        "3": PageElement(hash="h"),
    }
    odd: Any = [element]
    for elements, hashes, message in (
        (odd, None, "`elements` is a list; expected Mapping or None"),
        (None, odd, "`hashes` is a list; expected Mapping or None"),
        ({"1": odd}, None, "`elements['1']` is a list; expected Mapping or None"),
    ):
        with pytest.raises(TypeError) as caught:
            PageContext.of(elements, hashes)
        assert str(caught.value) == message


def test_parser_gives_the_options() -> None:
    text = '{"actions": [{"action_type": "CLICK", "id": "AAA",}]}'
    assert parse_actions(text.encode(), parser=Parser("skyvern")) == parse_actions(text, parser="skyvern")
    assert parse_actions(None, parser="skyvern") == parse_actions("", parser="skyvern")
    assert [made.code for made in parse_actions(text, parser="skyvern").repairs] == ["trailing-comma"]
    assert parse_actions(text, parser=Parser("skyvern", repair="none")).actions == []


# addresses


@pytest.mark.parametrize(("url", "read"), TABLES["URLS"])
def test_urls(url: str, read: str) -> None:
    action = parse_action({"action_type": "GOTO_URL", "url": url}, parser="skyvern")
    assert action.type == "navigate"
    assert action.url == read


@pytest.mark.parametrize(
    "url",
    TABLES["REJECTED_URLS"],
)  # fmt: skip
def test_rejected_urls(url: str) -> None:
    action = parse_action({"action_type": "GOTO_URL", "url": url}, parser="skyvern")
    assert (action.type, action.status) == ("unknown", "invalid")


# what mappings say


@in_one_item("case", [c for c in CASES if c.format in ("skyvern", "browser_use", "surfer_h")])
def test_actions_are_written_and_read_again(case: Case) -> None:
    reply = case.parse()
    for action in reply.actions:
        text = render([action], format=case.format)
        (read,) = parse(text, format=case.format).actions
        assert effect_of(read) == effect_of(action), text


def test_reasoning_is_written_if_the_format_has_it() -> None:
    reply = parse('{"thinking": "One \\"field\\".", "action": [{"wait": {"seconds": 2}}]}', format="browser_use")
    assert reply.reasoning == 'One "field".'
    written = render(reply, format="browser_use")
    assert written == '{"thinking": "One \\"field\\".", "action": [{"wait": {"seconds": 2}}]}'


def test_invalid_common_fields_do_not_invalidate_an_action() -> None:
    (action,) = parse_actions(
        [{"action_type": "WAIT", "confidence_float": "high", "reasoning": "It loads."}], parser="skyvern"
    ).actions
    assert (action.confidence, action.reasoning, action.extra["confidence_float"]) == (None, "It loads.", "high")


def test_drag_path_begins_at_its_start() -> None:
    drag = {"action_type": "DRAG", "start_x": 1, "start_y": 2, "path": [{"x": 3, "y": 4}, [5, 6]]}
    action = parse_action(drag, parser="skyvern")
    assert action.type == "drag"
    assert action.start is not None
    assert action.end is not None
    assert [(p.x, p.y) for p in (action.start, *action.via, action.end)] == [(1, 2), (3, 4), (5, 6)]
    assert '"start_x": 1, "start_y": 2, "path": [{"x": 3, "y": 4}, {"x": 5, "y": 6}]' in render(
        [action], format="skyvern"
    )


# what Skyvern's own tests assert

#: Their classes, as our types; what does nothing is for us an action that cannot be read.
CLASSES = TABLES["CLASSES"]
FIELDS = TABLES["FIELDS"]

#: Where ours differs on purpose: the row, and why.
DIFFERENCES = {
    "skyvern-action-009": "a tab whose number cannot be read is not closed in the place of the one that is open"
}


def rows(format: str) -> list[dict[str, Any]]:
    lines = DATA.read_text("utf-8").splitlines() if DATA.exists() else []
    found = [json.loads(line) for line in lines]
    return [row for row in found if row["format"] == format and not row.get("quirk")]


def wanted(row: dict[str, Any]) -> dict[str, Any]:
    """What a row asserts, in our words."""
    expected = row["expected"]
    if "class" not in expected:
        return {"type": "unknown"}
    found: dict[str, Any] = {"type": CLASSES[expected["class"]]}
    for theirs, value in expected["fields"].items():
        if theirs == "keys":
            found["keys"] = [{"ArrowDown": "down", "ArrowUp": "up"}.get(key, key.lower()) for key in value]
        elif theirs == "repeat":
            found["repeat" if found["type"] == "press_keys" else "clicks"] = value
        elif theirs == "element_id":
            found["element"] = value
        elif theirs == "download" and found["type"] == "click":
            found["download"] = value
        elif theirs in FIELDS:
            found[FIELDS[theirs]] = value
    return found


def test_dicts_of_skyvern() -> None:
    checked, wrong = 0, list[Any]()
    for row in rows("skyvern_action_dict"):
        checked += 1
        action = parse_action(row["input"], parser="skyvern", page=PageContext(), given=row["context"])
        want = wanted(row)
        have = {key: getattr(action, key, None) for key in want}
        have["download"] = bool(have.get("download"))
        want["download"] = bool(want.get("download"))
        if (have == want) is (row["id"] in DIFFERENCES):
            wrong.append((row["id"], want, have))
    assert wrong == []
    assert checked >= 50 or not DATA.exists()


def test_lists_of_skyvern() -> None:
    found = rows("skyvern_actions_list")
    for row in found:
        reply = parse_actions(row["input"], parser="skyvern", page=PageContext())
        assert reply.actions == [], row["id"]
        assert codes(reply) == ["invalid-action"], row["id"]
        assert "needs `" in reply.diagnostics[0].message
    assert len(found) >= 6 or not DATA.exists()


def test_all_action_types_of_skyvern_are_read() -> None:
    """Each of its words, with what it needs, is one of our actions."""
    words = TABLES["ALL_ACTION_TYPES_OF_SKYVERN_ARE_READ"]
    assert len(words) == 28
    for word, arguments in words.items():
        for spelling in (word, word.upper()):
            reply = parse_actions([{"action_type": spelling, **arguments}], parser="skyvern")
            assert [a.name for a in reply.actions] == [spelling]
            assert reply.actions[0].type in MODELS
