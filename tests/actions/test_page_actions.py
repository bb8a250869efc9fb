"""Actions that are checked against the page that they are for, and what other projects' tests assert of GUI actions."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from outspoken import Parser, Reasoning, Reply, Screen, parse, render
from outspoken.actions import MODELS, ActionText, PageContext, PageElement
from outspoken.actions.encoding import effect_of
from outspoken.actions.fields import FieldError, read_point
from outspoken.processing import ResponseProcessor, parse_action, parse_actions
from tests.cases import CASES, Case
from tests.loops import in_one_item
from tests.tables import BESIDE, beside, tables

TABLES = tables(__file__)

PAGE = PageContext.of(*TABLES["PAGE"])


def said(reply: Reply) -> dict[str, Any]:
    """All that a reply says of actions, without what is empty."""
    told: dict[str, Any] = {
        "status": reply.status if reply.status != "ok" else None,
        "actions": [f"{action.order} {action.name}: {action!r}" for action in reply.actions],
        "unfinished": [f"{action.order} {action.name}: {action!r}" for action in reply.unfinished_actions],
        "reasoning": reply.reasoning,
        "diagnostics": [f"{d.severity}[{d.code}] {reply.raw[slice(*d.span)][:40]}".strip() for d in reply.diagnostics],
    }
    return {key: value for key, value in told.items() if value}


@pytest.mark.parametrize("name", TABLES["SAID"])
def test_what_is_said_of_actions(name: str) -> None:
    """Actions from decoded JSON and from text, with the page or without: what they are, and what is told of them."""
    case = TABLES["SAID"][name]
    page = case.get("page", True)
    page = PAGE if page is True else PageContext.of(None, page) if page else None
    parser = case.get("parser", "skyvern")
    reply = parse_actions(case["given"], parser=parser, page=page, given=case.get("context"))
    assert said(reply) == case["said"]
    for action in reply.actions if page is None else ():
        (read,) = parse(render([action], format=parser), format=parser).actions
        assert effect_of(read) == effect_of(action)


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


def test_one_action() -> None:
    action = parse_action({"text": "Ada", "id": "AAD", "action_type": "input_text"}, parser="skyvern", page=PAGE)
    assert action.type == "type_text"
    assert action.text == "Ada"
    unread = parse_action({"a": 1}, parser="skyvern")
    assert (unread.type, unread.status, unread.extra) == ("unknown", "invalid", {"a": 1})
    assert parse_action({}, parser="skyvern").status == "invalid"
    assert parse_action("nothing", parser="skyvern").raw == "nothing"


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


# what Skyvern's own tests assert


def rows_of(format: str) -> list[dict[str, Any]]:
    return [row for row in beside("gui/vectors.jsonl") if row["format"] == format and not row.get("quirk")]


def test_dicts_of_skyvern() -> None:
    """The table has what a row asserts, in our words; where ours differs on purpose, a comment says why."""
    found = {
        row["id"]: repr(parse_action(row["input"], parser="skyvern", page=PageContext(), given=row["context"]))
        for row in rows_of("skyvern_action_dict")
    }
    assert found == (TABLES["DICTS_OF_SKYVERN"] if BESIDE.exists() else {})


def test_lists_of_skyvern() -> None:
    found = rows_of("skyvern_actions_list")
    for row in found:
        reply = parse_actions(row["input"], parser="skyvern", page=PageContext())
        assert reply.actions == [], row["id"]
        assert [d.code for d in reply.diagnostics] == ["invalid-action"], row["id"]
        assert "needs `" in reply.diagnostics[0].message
    assert len(found) >= 6 or not BESIDE.exists()


def test_all_action_types_of_skyvern_are_read() -> None:
    """Each of its words, with what it needs, is one of our actions."""
    words = TABLES["ALL_ACTION_TYPES_OF_SKYVERN_ARE_READ"]
    assert len(words) == 28
    for word, arguments in words.items():
        for spelling in (word, word.upper()):
            reply = parse_actions([{"action_type": spelling, **arguments}], parser="skyvern")
            assert [a.name for a in reply.actions] == [spelling]
            assert reply.actions[0].type in MODELS


# What other projects' tests assert of GUI actions, where that data lies beside the project. Each row is read by our
# format of its family. The table has what its test asserts, in our words and with what the test leaves open; where ours
# differs on purpose, a comment says why. A format that is added here takes its names out of `WAITING`, and gets a line
# in `READ`.

#: Our format for theirs; what stands round the text of some in a response; those that no grammar of ours reads yet;
#: and those that other tests read, or whose input is no text of a model.
READ: dict[str, str] = TABLES["READ"]
WAITING, ELSEWHERE = set(TABLES["WAITING"]), set(TABLES["ELSEWHERE"])


def text_of(row: dict[str, Any]) -> str:
    if row["format"].endswith(("_stream", "_stream_t5")):
        return "".join(row["input"]["chunks"])
    head, tail = TABLES["FRAMED"].get(row["format"]) or TABLES["FRAMED"].get(row["id"]) or ("", "")
    described = row["input"] if isinstance(row["input"], str) else json.dumps(row["input"], ensure_ascii=False)
    return f"{head}{described}{tail}"


def readings(name: str) -> Iterator[tuple[str, Reply]]:
    """What we read of each row, also in the pixels of its screen if it has one."""
    for row in beside(f"gui/{name}"):
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
    found = {row["format"] for name in ("vectors.jsonl", "malformed_wild.jsonl") for row in beside(f"gui/{name}")}
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
    read = [row for row in beside("gui/vectors.jsonl") if row["format"] == format]
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
    assert len(read) >= 11 or not BESIDE.exists()
