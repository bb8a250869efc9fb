"""Events are immutable values, which pydantic serialises and validates by their `type`."""

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError
from typing import Any, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError

from outspoken import Done, Event, TextDelta, ToolCallDelta, ToolCallEnd, parse, stream
from outspoken.payloads import PayloadEvent
from outspoken.payloads.registry import PayloadRegistry
from outspoken.payloads.types import PayloadType
from outspoken.providers.events import ProviderEvent, StreamEvent
from outspoken.providers.stream import ProviderStream
from tests.cases import Case
from tests.invariants.replies import pieces
from tests.loops import DRAWN, by_format, some

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
PROVIDER_EVENTS: TypeAdapter[ProviderEvent] = TypeAdapter(ProviderEvent)
PAYLOAD_EVENTS: TypeAdapter[PayloadEvent] = TypeAdapter(PayloadEvent)
#: in place of a type with the types of its fields (`Done[Reply]`), the class
KINDS: list[type[Any]] = [
    get_origin(kind) or kind for kind in (*get_args(get_args(Event)[0]), *get_args(StreamEvent)[1:])
]


@by_format(some(DRAWN, "values", 0.3))
def test_events_survive_json(case: Case) -> None:
    chunks = pieces(case.text, 50)
    options = {name: value for name, value in case.options.items() if name != "finish_reason"}
    for event in stream(chunks, format=case.format, **options):
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
    assert isinstance(done, Done)
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
    delta: Event = TextDelta("Hi")
    with pytest.raises(FrozenInstanceError):
        delta.text = "Ho"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        delta.type = "done"  # pyright: ignore[reportAttributeAccessIssue]
    match ToolCallDelta(3, "{"):
        case ToolCallDelta(index, arguments):
            assert (index, arguments) == (3, "{")
    (call,) = parse(CALL, format="hermes").tool_calls
    assert ToolCallEnd(0, call) == ToolCallEnd(0, call) != ToolCallEnd(1, call)
    assert (delta, repr(delta)) == (TextDelta("Hi"), "TextDelta(text='Hi')")
