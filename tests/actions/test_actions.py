"""The vocabulary of GUI actions: it is closed under round trips, a mapping says all of it, and odd values of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from outspoken import Parser, RenderError, Reply, ToolCall, formats, load_format, parse, render
from outspoken.actions import MODELS, Action, BaseAction, Batch, Click, ElementRef, Point
from outspoken.actions.decoding import decode_action
from outspoken.actions.encoding import encode_action
from outspoken.actions.mapping import mapping_of, parse_rule
from outspoken.actions.urls import web_url
from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.processing import parse_action
from outspoken.results.actions.models import TYPES, model_of
from tests.tables import tables

TABLES = tables(__file__)

ADAPTER: TypeAdapter[Any] = TypeAdapter(Action)

TEXTS = st.text(max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
POINTS = st.builds(Point.of, st.lists(NUMBERS, min_size=2, max_size=2) | st.lists(NUMBERS, min_size=4, max_size=4),
                   st.sampled_from(["px", "rel1000", "unit"]))  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2), max_leaves=4)
st.register_type_strategy(Point, POINTS)
st.register_type_strategy(ElementRef, st.builds(ElementRef, id=st.none() | TEXTS, index=st.none() | st.integers()))

_LEAVES = [model for model in MODELS.values() if model is not Batch]
_FIELDS: dict[str, Any] = {
    "extra": st.dictionaries(TEXTS, VALUES),
    "metadata": st.dictionaries(TEXTS, VALUES),
    "repairs": st.just(()),
    "data_schema": st.none() | st.just({"type": "object"}),
    "cells": st.dictionaries(TEXTS, VALUES),
    "errors": st.lists(TEXTS | st.dictionaries(TEXTS, VALUES), max_size=2),
}


def values_of(model: type[BaseAction]) -> dict[str, st.SearchStrategy[Any]]:
    """Any values for the fields of a model."""
    found: dict[str, st.SearchStrategy[Any]] = {}
    for key, info in model.model_fields.items():
        wanted: Any = info.annotation
        found[key] = st.none() | NUMBERS if wanted == float | None else st.from_type(wanted)
    return {**found, **{key: value for key, value in _FIELDS.items() if key in found}}


def made(model: type[BaseAction]) -> st.SearchStrategy[Any]:
    """Any action of a model."""
    return st.builds(model, **values_of(model))


ACTIONS = st.deferred(lambda: st.one_of(*[made(model) for model in _LEAVES], BATCHES))
BATCHES: st.SearchStrategy[Any] = st.builds(Batch, actions=st.lists(ACTIONS, max_size=3))


@given(action=ACTIONS)
@settings(max_examples=40)
def test_actions_survive_round_trips(action: Any) -> None:
    assert ADAPTER.validate_python(action.model_dump()) == action
    assert ADAPTER.validate_json(action.model_dump_json()) == action
    assert type(ADAPTER.validate_python(action.model_dump())) is type(action)


def test_every_action_has_a_type_a_schema_and_words() -> None:
    schema = ADAPTER.json_schema()
    assert set(schema["discriminator"]["mapping"]) == set(MODELS)
    assert len(MODELS) >= 50
    assert all(model.__doc__ for model in MODELS.values())


def test_every_model_is_found_by_its_type() -> None:
    assert {type: model_of(type) for type in TYPES} == MODELS


def test_a_reply_with_actions_is_data() -> None:
    reply = parse("Action: click(start_box='(1,2,3,4)')", format="ui_tars")
    assert Reply.model_validate(reply.model_dump()) == reply
    assert Reply.model_validate_json(reply.model_dump_json()) == reply


def test_repr_omits_defaults() -> None:
    assert repr(Click(name="tap", clicks=2)) == "Click(clicks=2)"


# -- mappings


def header(actions: str, **more: Any) -> Header:
    parts = [line.strip().partition(" := ") for line in actions.strip().splitlines()]
    return Header("x", actions={left: right for left, _, right in parts}, **more)


COMPUTER = header(TABLES["COMPUTER"])


def act(name: str, head: Header = COMPUTER, **arguments: Any) -> Any:
    found = decode_action(head, name, arguments, {})
    return found and (found.problem or found.action)


@pytest.mark.parametrize(("name", "arguments", "meant"), TABLES["MEANINGS"])
def test_action_of_a_call(name: str, arguments: dict[str, Any], meant: str) -> None:
    action = act(name, **arguments)
    assert (repr(action), action.extra) == (meant, {})


@pytest.mark.parametrize(("name", "arguments"), [row[:2] for row in TABLES["MEANINGS"]])
def test_words_of_an_action(name: str, arguments: dict[str, Any]) -> None:
    meant = act(name, **arguments).model_copy(update={"name": ""})
    said = encode_action(COMPUTER, meant)
    assert said is not None
    again = act(said[0], **said[1])
    left_out = {"name", "extra", "reasoning"}
    assert again.model_dump(exclude=left_out) == meant.model_dump(exclude=left_out)


@pytest.mark.parametrize(("name", "arguments", "problem"), TABLES["PROBLEMS"])
def test_calls_that_fit_no_action(name: str, arguments: dict[str, Any], problem: str) -> None:
    assert act(name, **arguments) == problem


def test_call_outside_the_mapping() -> None:
    assert act("computer_use", action="juggle") is None
    assert act("Computer_Use", action="left_click", coordinate=[1, 2]) is None
    assert act("Click_At", header("click_at := click(point=x+y)", any_case=True), x=1, y=2).type == "click"


@pytest.mark.parametrize(("text", "keys"), TABLES["KEYS"].items())
def test_names_of_keys(text: str, keys: list[str]) -> None:
    assert act("computer_use", action="key", keys=text).keys == keys
    assert act("computer_use", action="key", keys=keys).keys == keys


def test_a_batch_holds_actions_of_the_same_call() -> None:
    head = header("computer(actions) := batch(actions=actions)\ncomputer(type=wait) := wait")
    batch = act("computer", head, actions=[{"type": "wait"}, {"type": "wait"}])
    assert [action.type for action in batch.actions] == ["wait", "wait"]
    assert "is not an action of this format" in act("computer", head, actions=[{"type": "fly"}])


def test_an_action_may_have_no_word() -> None:
    head = header(
        "(action_type=click) := click(element.id=id!)\n(action_type) := no_op(reason=action_type)", any_case=True
    )
    assert act("", head, action_type="CLICK", id="a").element == ElementRef(id="a")
    assert act("", head, action_type="fly").reason == "fly"
    assert act("", head, id="a") is None


def test_marks_name_elements() -> None:
    head = header("click := click(point=at)", space="mark")
    assert act("click", head, at=12).element == ElementRef(mark="12")


@pytest.mark.parametrize(("right", "message"), TABLES["WRONG"].items())
def test_invalid_mapping_rule(right: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        parse_rule("tap", right)
    with pytest.raises(ValueError, match="argument=word"):
        parse_rule("tap(a==b)", "click")


def test_mapping_of_an_added_format_is_checked_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = header("tap := click(place=x)")
    mapping_of(bad)

    def is_added(name: str) -> bool:
        return name == "x"

    monkeypatch.setattr("outspoken.actions.mapping.is_added", is_added)
    with pytest.raises(ValueError, match=r"is not `field=source"):
        mapping_of(bad)


def test_a_format_without_actions_has_no_mapping() -> None:
    assert mapping_of(Header("x")) is None


# -- calls as actions, whole and in a stream


@pytest.fixture
def acting(tmp_path: Path) -> str:
    path = tmp_path / "acting_calls.lark"
    path.write_text(TABLES["CALLS"].lstrip(), "utf-8")
    return load_format(path)


def test_some_calls_are_actions_and_others_are_not(acting: str) -> None:
    texts = TABLES["SOME_CALLS_ARE_ACTIONS_AND_OTHERS_ARE_NOT"]
    reply = parse("".join(texts), format=acting)
    assert [s.kind for s in reply.segments] == ["action", "tool_call", "tool_call", "action"]
    assert [a.name for a in reply.actions] == ["computer_use"]
    assert [a.status for a in reply.unfinished_actions] == ["invalid"]
    assert [c.arguments["action"] for c in reply.tool_calls] == ["sing", "left_click"]
    assert render(reply.actions, format=acting) == texts[0]


def test_a_given_tool_may_have_the_name_of_an_action() -> None:
    read = 0
    for info in formats():
        written = [words.partition("(")[0].split("|") for words in registry.header(info.name).actions]
        for name in sorted({name for names in written for name in names if name.isidentifier()}):
            parameters = {"type": "object", "properties": {"ferry": {"type": "string"}}, "required": ["ferry"]}
            tools = [{"name": name, "parameters": parameters}]
            call = ToolCall(name=name, arguments={"ferry": "x"}, arguments_text='{"ferry": "x"}', span=(0, 0))
            try:
                text = render([call], format=info.name, tools=tools)
            except RenderError:
                break  # all calls of the format are actions
            parser = Parser(info.name, tools=tools)
            session = parser.session()
            session.feed(text)
            session.close()
            assert session.reply is not None
            assert parser.parse(text).segments == session.reply.segments, (info.name, name)
            assert [(made.name, made.arguments) for made in session.reply.tool_calls] == [(name, {"ferry": "x"})]
            read += 1
    assert read > 100


# values of actions that are of another kind than the field, out of range, or parts of an object, and hosts of URLs


def skyvern(action_type: str, **arguments: Any) -> Action:
    """The action for these arguments."""
    (action,) = [s for s in _reply({"action_type": action_type, **arguments}).segments if s.kind == "action"]
    return action


def _reply(*actions: dict[str, Any]) -> Reply:
    return parse(json.dumps({"actions": actions}, ensure_ascii=False), format="skyvern")


def _objects(random: Random) -> Iterator[dict[str, Any]]:
    """The object of a click with some keys that a field reads and some that none does."""
    for _ in range(20):
        names = random.sample(["thought", "single_option_click", "desired_state", "note", "seen"], random.randint(1, 5))
        yield {
            name: random.choice(["on", True, 3, {"deep": [1]}]) if name != "desired_state" else "on" for name in names
        }


def test_no_part_of_an_object_is_lost() -> None:
    """A field takes one key of an object: the other keys are in `extra`, and are written again."""
    for keys in _objects(Random(5)):
        action = skyvern("CLICK", id="A", click_context=keys)
        assert action.type == "click"
        rest = {key: value for key, value in keys.items() if key != "desired_state"}
        assert (action.desired_state, action.extra.get("click_context", {})) == (keys.get("desired_state"), rest)
        written = json.loads(render([action], format="skyvern"))["actions"][0]
        assert written == {"action_type": "CLICK", "id": "A", "click_context": keys}


def test_counts_below_one_are_one() -> None:
    """A count of clicks or keys that is zero or negative is one, with a diagnostic."""
    for number in (-7, -2, -1, 0, 1, 2, 3, "-2", "2"):
        action = parse_action({"action_type": "KEYPRESS", "keys": ["a"], "repeat": number}, parser="skyvern")
        click = parse_action({"action_type": "CLICK", "id": "A", "repeat": number}, parser="skyvern")
        assert action.type == "press_keys"
        assert click.type == "click"
        assert action.repeat == click.clicks == max(1, int(number))


def test_remarks_are_written_in_one_order() -> None:
    remarks = {"intention": "i", "reasoning": "r", "user_detail_query": "q", "confidence_float": 0.5}
    action = skyvern("CLICK", id="A", **remarks)
    assert [*json.loads(render([action], format="skyvern"))["actions"][0]] == ["action_type", "id", *remarks]


def test_conditions_are_written_as_json() -> None:
    """A condition on true or false is written as a boolean, not as text."""
    for action in (skyvern("CLICK", id="A", double_click=True), skyvern("KEYPRESS", keys=["a"], hold=True)):
        written = render([action], format="skyvern")
        assert '"true"' not in written
        assert parse(written, format="skyvern").actions[0].type == action.type


# hosts


def _spellings(random: Random, address: str) -> Iterator[str]:
    """An IPv4 address as browsers also read it: other bases, fewer parts, other digits, escapes, and in IPv6."""
    parts = [int(part) for part in address.split(".")]
    number = int.from_bytes(bytes(parts), "big")
    digits = "".join(
        [random.choice([c, chr(ord(c) + 0xFEE0)]) if c != "." else random.choice(".。．") for c in address]
    )
    based = [random.choice([str(part), hex(part), f"0{part:o}"]) for part in parts]
    last_two = f"{parts[0]}.{parts[1]}.{parts[2] * 256 + parts[3]}"
    last_three = f"{parts[0]}.{number & 0xFFFFFF}"
    yield from (address, f"{address}.", digits, ".".join(based), str(number), hex(number), last_two, last_three)
    yield address.replace(".", "%2e").replace("1", "%31")
    high, low = number >> 16, number & 0xFFFF
    yield from (f"[::ffff:{address}]", f"[::ffff:{high:x}:{low:x}]", f"[64:ff9b::{address}]", f"[::{address}]")
    yield f"[2002:{high:x}:{low:x}::1]"


@pytest.mark.parametrize(
    ("addresses", "is_public"), TABLES["HOSTS_ARE_THOSE_TO_WHICH_A_BROWSER_CONNECTS"], ids=["private", "public"]
)
def test_hosts_are_those_to_which_a_browser_connects(addresses: list[str], is_public: bool) -> None:
    """Every spelling of an address is judged as the address, whatever stands round the host."""
    random = Random(9)
    for address in addresses:
        for host in _spellings(random, address):
            for url in (host, f"http://{host}", f"https://a:b@{host}:8080/x?y#z", f"//{host}/", f"HTTP:{host}"):
                assert _is_accepted(url) is is_public, url


@pytest.mark.parametrize(("hosts", "is_public"), TABLES["ADDRESSES_ARE_PUBLIC_BY_A_TABLE"])
def test_addresses_are_public_by_a_table(hosts: list[str], is_public: bool) -> None:
    """The answer is the same with every version of Python."""
    assert [host for host in hosts if _is_accepted(f"http://{host}/") is not is_public] == []


def test_names_of_the_own_network_are_refused() -> None:
    """Names that never leave the network are refused in any case and width, with a dot behind them, or escaped."""
    for name in ("localhost", "a.localhost", "printer.local", "db.internal", "x.home.arpa"):
        wide = "".join([chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in name])
        for host in (name, name.upper(), f"{name}.", wide, name.replace("l", "%6c").replace("o", "%6F")):
            assert not _is_accepted(f"http://{host}:80/a"), host
            assert not _is_accepted(host), host
    for url in TABLES["NAMES_OF_THE_OWN_NETWORK_ARE_REFUSED"]:
        assert not _is_accepted(url), url
    for url in ("example.org", "exämple.org/ä", "localhost.example.org", "http://mylocal", "[2606:4700::1111]"):
        assert _is_accepted(url), url


def _is_accepted(url: str) -> bool:
    try:
        web_url(url)
    except ValueError:
        return False
    return True
