"""Replies, their parts, events, envelopes and schemas are values: copied, compared, pickled, written as JSON."""

import pickle
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError
from typing import Any, cast, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

import outspoken
from outspoken.actions import Point
from outspoken.json.read import read_json
from outspoken.payloads import PayloadEvent
from outspoken.payloads.registry import PayloadRegistry
from outspoken.payloads.types import PayloadType
from outspoken.processing.cache import fingerprint
from outspoken.providers.events import ProviderEvent, StreamEvent
from outspoken.providers.stream import ProviderStream
from outspoken.results.construct import construct
from outspoken.results.envelope import Conventions
from outspoken.results.geometry import Box
from outspoken.results.schemas.schema import Schema
from tests.cases import Case
from tests.invariants.replies import pieces
from tests.loops import DRAWN, by_format, some
from tests.streams import later
from tests.tables import beside, tables

PROPERTIES = [name for name, value in vars(outspoken.Reply).items() if isinstance(value, property)]


@by_format(some(DRAWN, "values", 0.3))
def test_a_reply_is_a_value(case: Case) -> None:
    reply, same = case.parse(), case.parse()
    key = fingerprint(reply)
    read = {name: getattr(reply, name) for name in PROPERTIES}
    assert reply == same
    assert vars(reply).keys() == vars(same).keys()
    for other in (copy(reply), deepcopy(reply), reply.model_copy(), pickle.loads(pickle.dumps(reply))):
        assert other == reply
        assert fingerprint(other) == fingerprint(reply) == key
        assert hash(other) == hash(reply)
        assert [*map(hash, cast("list[Any]", other.segments))] == [*map(hash, cast("list[Any]", reply.segments))]
    assert outspoken.Reply.model_validate(reply.model_dump()) == reply
    assert outspoken.Reply.model_validate_json(reply.model_dump_json()) == reply
    assert {name: getattr(reply, name) for name in PROPERTIES} == read
    lists = [cast("list[object]", found) for found in read.values() if isinstance(found, list)]
    assert all(segment in reply.segments for found in lists for segment in found)


def test_a_changed_copy_has_its_own_text() -> None:
    reply = outspoken.parse("Hello", format="hermes")
    assert reply.text == "Hello"
    assert reply.model_copy(update={"segments": []}).text == ""


#: The layout of an instance of pydantic. The next test fails if pydantic changes it.
PARTS = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


@pytest.mark.parametrize(
    ("model", "values"), [*zip((outspoken.Text, Point, outspoken.ToolCall), tables(__file__)["BUILT"], strict=True)]
)
def test_an_instance_built_without_validation_equals_a_validated_one(model: Any, values: dict[str, Any]) -> None:
    values = {key: tuple(cast("list[Any]", v)) if isinstance(v, list) else v for key, v in values.items()}
    assert list(values) == list(model.model_fields)
    made: BaseModel = construct(model, dict(values))
    validated: BaseModel = model(**values)
    for part in PARTS:
        assert getattr(made, part) == getattr(validated, part) == getattr(model.model_construct(**values), part)
    assert made == validated == pickle.loads(pickle.dumps(made)) == deepcopy(made) == made.model_copy()
    assert (repr(made), made.model_dump_json()) == (repr(validated), validated.model_dump_json())


FROZEN: list[tuple[Any, str]] = [
    (construct(outspoken.Text, {"kind": "text", "text": "moss", "span": (0, 4)}), "kind"),
    (outspoken.parse("Hello", format="hermes"), "status"),
    (Point(x=1, y=2), "x"),
    (Box(1, 2, 3, 4), "left"),
    (outspoken.Screen(10, 10), "width"),
    (outspoken.Settings(), "max_chars"),
]


@pytest.mark.parametrize(("value", "field"), FROZEN, ids=lambda value: type(value).__name__)
def test_values_are_frozen(value: Any, field: str) -> None:
    with pytest.raises((AttributeError, FrozenInstanceError, ValidationError)):
        setattr(value, field, 1)
    assert pickle.loads(pickle.dumps(value)) == deepcopy(value) == value


@pytest.mark.parametrize(
    "reader",
    [
        outspoken.Parser().session(),
        outspoken.stream(["a"], "hermes"),
        outspoken.astream(later("a"), "hermes"),
        ProviderStream(),
    ],
)
@pytest.mark.parametrize("made", [copy, deepcopy, pickle.dumps])
def test_what_reads_one_response_cannot_be_copied(reader: Any, made: Any) -> None:
    """It holds a place in the response, and says so."""
    with pytest.raises(TypeError, match="reads one response and cannot be copied"):
        made(reader)


# events are immutable values, which pydantic serialises and validates by their `type`


CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
EVENTS: TypeAdapter[outspoken.Event] = TypeAdapter(outspoken.Event)
PROVIDER_EVENTS: TypeAdapter[ProviderEvent] = TypeAdapter(ProviderEvent)
PAYLOAD_EVENTS: TypeAdapter[PayloadEvent] = TypeAdapter(PayloadEvent)
#: in place of a type with the types of its fields (`Done[Reply]`), the class
KINDS: list[type[Any]] = [
    get_origin(kind) or kind for kind in (*get_args(get_args(outspoken.Event)[0]), *get_args(StreamEvent)[1:])
]


@by_format(some(DRAWN, "values", 0.3))
def test_events_survive_json(case: Case) -> None:
    chunks = pieces(case.text, 50)
    options = {name: value for name, value in case.options.items() if name != "finish_reason"}
    for event in outspoken.stream(chunks, format=case.format, **options):
        assert EVENTS.validate_json(EVENTS.dump_json(event)) == event
        assert EVENTS.validate_python(EVENTS.dump_python(event)) == event
        assert pickle.loads(pickle.dumps(event)) == deepcopy(event) == event


def test_provider_events_survive_json() -> None:
    provider = ProviderStream("openai", format="hermes")
    delta = {"id": "a", "model": "m", "choices": [{"index": 0, "delta": {"content": CALL, "refusal": "No."}}]}
    end: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage: dict[str, Any] = {"choices": [end], "usage": {"prompt_tokens": 1}}
    *events, done = [*provider.feed(delta), *provider.feed(usage), *provider.close()]
    assert {"started", "refusal_delta", "usage_reported", "finished", "tool_call_end"} <= {e.type for e in events}
    for event in [*events, done]:
        assert PROVIDER_EVENTS.validate_json(PROVIDER_EVENTS.dump_json(event)) == event
    assert isinstance(done, outspoken.Done)
    assert done.reply.finish_reason == "tool_calls"
    assert EVENTS.dump_python(done)["reply"]["provider"] == "openai"  # also if the kind of stream is not known


def test_previews_of_payloads_survive_json() -> None:
    registry = PayloadRegistry([PayloadType("card", "CARD")])
    events = list(registry.stream(["CARD: {", '"a": [1', "]}"], previews=True))
    (preview, *_) = [event for event in events if event.type == "payload_preview"]
    assert (preview.payload_type, preview.data) == ("card", {})
    assert EVENTS.validate_json(EVENTS.dump_json(preview)) == preview
    for event in events:
        back = PAYLOAD_EVENTS.validate_json(PAYLOAD_EVENTS.dump_json(event))
        assert type(back) is type(event)
        assert back == event
    (parsed,) = [EVENTS.dump_python(event) for event in events if event.type == "payload_parsed"]
    assert parsed["payload"]["marker"] == "CARD"  # the fields of a registry's payload are not lost


def test_each_event_has_a_type_of_its_own() -> None:
    assert len({kind.type for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert kind.type.replace("_", "") == kind.__name__.lower()
    with pytest.raises(ValidationError, match="text_delta"):
        EVENTS.validate_python({"type": "text"})


def test_events_are_frozen_and_match_by_position() -> None:
    delta: outspoken.Event = outspoken.TextDelta("Hi")
    with pytest.raises(FrozenInstanceError):
        delta.text = "Ho"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        delta.type = "done"  # pyright: ignore[reportAttributeAccessIssue]
    match outspoken.ToolCallDelta(3, "{"):
        case outspoken.ToolCallDelta(index, arguments):
            assert (index, arguments) == (3, "{")
    (call,) = outspoken.parse(CALL, format="hermes").tool_calls
    assert outspoken.ToolCallEnd(0, call) == outspoken.ToolCallEnd(0, call) != outspoken.ToolCallEnd(1, call)
    assert (delta, repr(delta)) == (outspoken.TextDelta("Hi"), "TextDelta(text='Hi')")


# the reply as one plain object: its keys, and what other projects' tests assert of it


def test_the_envelope_is_a_copy() -> None:
    reply = outspoken.parse('{"name": "a", "arguments": {"x": [1]}}')
    reply.to_envelope()["toolCalls"][0]["arguments"]["x"].append(2)
    assert reply.tool_calls[0].arguments == {"x": [1]}


def test_an_application_names_the_keys() -> None:
    names = Conventions(tool_calls="calls", needs_more_work="again", placeholder="Working")
    reply = outspoken.parse('<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>')
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
        wanted, actual = asserted(row["expected"], outspoken.parse(row["input"]).to_envelope())
        assert (wanted == actual) is (row["id"] != NO_ENVELOPE), row["id"]
        checked += bool(wanted)
    assert checked >= 22 or not ROWS


# what a JSON schema says of values: one reading of references, alternatives and members for everything that asks


TABLES = tables(__file__)
TEXT = {"type": "string"}


@pytest.mark.parametrize("schema", TABLES["ALIKE"])
def test_members_are_found_however_they_are_written(schema: dict[str, Any]) -> None:
    view = Schema(schema)
    assert {"a", "b"} <= view.properties.keys() <= {"a", "b", "c"}
    assert (view.member("a").types, view.member("b").types) == ({"string"}, {"integer"})
    assert [view.misfits(value) for value, _ in TABLES["VALUES"]] == [count for _, count in TABLES["VALUES"]]
    assert [view.may_have(key) for key in ("a", "b", "d")] == [True, True, False]
    assert view.unknown_names({"a": "x", "d": 1, "e": 2}) == 2


@pytest.mark.parametrize(("schema", "fits", "misfits"), TABLES["FITS"])
def test_what_fits(schema: dict[str, Any], fits: Any, misfits: Any) -> None:
    assert (Schema(schema).misfits(fits), Schema(schema).misfits(misfits)) == (0, 1)


@pytest.mark.parametrize("values", [{"enum": ["a", 1]}, {"$ref": "#/$defs/K", "$defs": {"K": {"enum": ["a", 1]}}}])
def test_values_that_are_listed(values: dict[str, Any]) -> None:
    assert Schema(values).values == ["a", 1]
    assert Schema({"const": 0}).values == [0]
    assert Schema({"anyOf": [values]}).values is None


def test_members_that_a_schema_admits_tell_readings_apart() -> None:
    schema = {"properties": {"cmd": TEXT}, "additionalProperties": TEXT}
    assert read_json('{"cmd": "a" "note": "b"}', schema=schema).value == {"cmd": "a", "note": "b"}


NAMES = ["type", "enum", "anyOf", "allOf", "$ref", "properties", "items", "required", "additionalProperties", "a"]
LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "object", "#", "#/properties/a", "a"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=14,
)


@given(JSON, JSON)
def test_no_schema_raises(schema: Any, value: Any) -> None:
    view = Schema(schema)
    assert view.unknown_names(value) <= view.misfits(value)
    assert view.all_names >= view.properties.keys() or "$ref" in str(schema)
    assert view.member("a").item.may_have("b") in (True, False)
