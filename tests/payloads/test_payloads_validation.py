"""The models of payloads: what is wrong, what is odd, what is read as something else; off, warn and strict."""

import json
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from outspoken.contrib.table_chat import SCHEMA_PROPOSAL, DataProposal, SchemaProposal, tables_registry
from outspoken.payloads import Page, PayloadRegistry, PayloadSettings, PayloadType, TypedPayload
from tests.tables import tables

TABLES = tables(__file__)
REGISTRY = tables_registry()
#: A new table as it should be.
CREATE: dict[str, Any] = SCHEMA_PROPOSAL.example


def judged(
    marker: str, data: Any, validation: Any = "warn", registry: PayloadRegistry = REGISTRY
) -> tuple[Any, list[str]]:
    """The data of the payload, None where it may not be used; and what is said, each with its code."""
    reply = registry.parse(f"{marker} {json.dumps(data)}", settings=PayloadSettings(validation=validation))
    messages = [f"{one.code}: {one.message}" for one in reply.diagnostics]
    assert len(reply.payloads) + len(reply.unfinished_payloads) == 1
    return (reply.payloads[0].data if reply.payloads else None), messages


@pytest.mark.parametrize("name", TABLES["JUDGED"])
def test_data_and_messages(name: str) -> None:
    case = TABLES["JUDGED"][name]
    for validation in ("off", "warn", "strict"):
        if validation in case:
            data, messages = case[validation]
            data = case["data"] if data == "(same)" else data
            found = judged(case["marker"], case["data"], validation)
            assert repr(found) == repr((data, messages))


def test_a_value_is_an_instance_of_the_model() -> None:
    (one,) = REGISTRY.parse(f"SCHEMA_PROPOSAL: {json.dumps(CREATE)}").payloads
    assert isinstance(one, TypedPayload)
    assert isinstance(one.value, SchemaProposal)
    assert [operation.action for operation in one.value.operations] == ["add", "add"]
    assert one.marker == "SCHEMA_PROPOSAL"
    assert "value" not in one.model_dump()


@pytest.mark.parametrize(("data", "message"), TABLES["WRONG_SCHEMA"], ids=range(len(TABLES["WRONG_SCHEMA"])))
def test_invalid_schemas(data: dict[str, Any], message: str) -> None:
    assert judged("SCHEMA_PROPOSAL:", data) == (data, [f"invalid-payload: {message}"])
    assert judged("SCHEMA_PROPOSAL:", data, "strict") == (None, [f"invalid-payload: {message}"])
    assert judged("SCHEMA_PROPOSAL:", data, "off") == (data, [])


@pytest.mark.parametrize(("marker", "data", "message"), TABLES["ODD"], ids=range(len(TABLES["ODD"])))
@pytest.mark.parametrize("validation", ["warn", "strict"])
def test_odd_values_are_accepted_and_reported(marker: str, data: Any, message: str, validation: str) -> None:
    assert judged(marker, data, validation) == (data, [f"odd-payload: {message}"])
    assert judged(marker, data, "off") == (data, [])


class Berth(BaseModel):
    """What is converted where pydantic would refuse it."""

    seat_count: int
    board: Literal["full_board", "none"] = "none"
    leaves: date | None = None


@pytest.mark.parametrize(("kind", "data", "expected", "places"), TABLES["BERTHS"])
def test_payloads_are_converted_as_answers_are(kind: Any, data: Any, expected: Any, places: list[str]) -> None:
    registry = PayloadRegistry([PayloadType("berth", "BERTH", Berth, kind=kind)])
    found, messages = judged("BERTH:", data, "strict", registry)
    assert found == expected
    code = "coerced-value" if expected is not None else "invalid-payload"
    assert len(messages) == len(places)
    for message, place in zip(messages, places, strict=True):
        assert message.startswith((f"{code}: `{place}`: ", f"{code}: {place}"))
    damaged = f"BERTH: {json.dumps(data)[:-1]},{json.dumps(data)[-1]}"
    sound = registry.parse(damaged, settings=PayloadSettings(validation="strict")).payloads
    assert [one.data for one in sound] == ([] if places or "x" in data else [expected])


def test_whole_numbers_are_numbers() -> None:
    class Weight(BaseModel):
        kilos: float

    reply = PayloadRegistry([PayloadType("weight", "WEIGHT", Weight)]).parse('WEIGHT: {"kilos": 3}')
    assert [payload.data for payload in reply.payloads] == [{"kilos": 3.0}]
    assert not reply.diagnostics


def test_strictly_rejected_payload_is_text_unless_stripped() -> None:
    text = 'Hi\nDATA_PROPOSAL: {"operations": []}'
    strict = REGISTRY.parse(text, settings=PayloadSettings(validation="strict"))
    assert (strict.text, strict.status, strict.payloads) == (text, "invalid", [])
    assert REGISTRY.parse(text, settings=PayloadSettings(validation="strict", strip_unfinished=True)).text == "Hi"
    assert REGISTRY.parse(text).diagnostics[0].severity == "warning"
    assert strict.diagnostics[0].severity == "error"


def test_strictly_rejected_proposal_makes_way_for_the_next() -> None:
    sound = {"operations": [{"action": "delete", "row_id": 1}]}
    text = f'DATA_PROPOSAL: {{"operations": []}}\nDATA_PROPOSAL: {json.dumps(sound)}'
    reply = REGISTRY.parse(text, settings=PayloadSettings(validation="strict"))
    assert [one.data for one in reply.payloads] == [sound]


# types of a caller's own


class Crossing(BaseModel):
    """A crossing, which says nothing of what else may be there."""

    model_config = ConfigDict(extra="ignore")

    day: date
    from_: str = Field(alias="from")


class Note(BaseModel):
    """A note."""

    kind: Literal["note"]
    text: str


class Photo(BaseModel):
    """A photo."""

    kind: Literal["photo"]
    url: str


def test_unknown_keys_and_spellings_are_kept() -> None:
    registry = PayloadRegistry([PayloadType("crossing", "CROSSING", Crossing)])
    data = {"day": "2026-05-01", "from": "Ystad", "seats": [1]}
    assert judged("CROSSING:", data, "strict", registry) == (data, [])


def test_a_model_may_be_any_type() -> None:
    union = Annotated[Note | Photo, Field(discriminator="kind")]
    registry = PayloadRegistry([PayloadType("items", "ITEMS", union, kind="array")])
    good = [{"kind": "note", "text": "a"}, {"kind": "photo", "url": "b"}]
    (one,) = registry.parse(f"ITEMS: {json.dumps([*good, {'kind': 'film'}])}").payloads
    assert isinstance(one, TypedPayload)
    assert (one.data, one.value) == (good, [Note(kind="note", text="a"), Photo(kind="photo", url="b")])


def test_custom_parser_returns_data_or_rejects_it() -> None:
    def celsius(data: dict[str, Any]) -> dict[str, Any]:
        if "f" not in data:
            raise ValueError("there are no degrees")
        return {"c": round((data["f"] - 32) / 1.8)}

    registry = PayloadRegistry([PayloadType("heat", "HEAT", parser=celsius)])
    assert judged("HEAT:", {"f": 50}, "off", registry) == ({"c": 10}, [])
    assert judged("HEAT:", {"k": 50}, "off", registry) == (None, ["invalid-payload: there are no degrees"])


def test_checks_receive_the_page() -> None:
    def check(value: list[int], page: Page) -> Iterable[str]:
        yield f"{value} on {page.name}"

    registry = PayloadRegistry([PayloadType("numbers", "NUMBERS", int, kind="array", pages=("home",), check=check)])
    assert registry.parse("NUMBERS: [1]", page="home").diagnostics[0].message == "[1] on home"


def test_a_payload_is_checked_once() -> None:
    asked: list[object] = []

    def note(data: Any) -> Any:
        asked.append(data)
        return data

    registry = PayloadRegistry([PayloadType("heat", "HEAT", parser=note)])
    list(registry.stream(['HEAT: {"a": 1} x']))
    assert asked == [{"a": 1}]


@pytest.mark.parametrize(("text", "keys"), TABLES["REPEATED_KEYS"])
def test_duplicate_keys_are_reported(text: str, keys: list[str]) -> None:
    reply = PayloadRegistry([PayloadType("card", "CARD")]).parse(text)
    assert [one.code for one in reply.diagnostics] == ["repeated-key"] * len(keys)
    assert [one.message.split("`")[1] for one in reply.diagnostics] == keys
    assert reply.payloads[0].data["a"] in (1, 4, '"a": 1')


def test_repairs_use_the_fields_of_the_model() -> None:
    text = 'NOTE: {"text": "he said "yes", "no": "1", "kind": "note"}'
    for model in (Note, None):  # the text may have swallowed a member
        assert PayloadRegistry([PayloadType("note", "NOTE", model)]).parse(text).payloads == []
    text = 'NOTES: [{"text": "Say hi, "kind": "note"}, {"text": "a", "kind": "note"}]'
    types = [PayloadType("notes", "NOTES", model, kind="array", any_case=True) for model in (Note, None)]
    assert types[1].schema is None
    assert types[0].schema is not None
    assert types[0].schema["items"]["required"] == ["kind", "text"]
    reply = PayloadRegistry(types[:1]).parse(text.replace("NOTES", "notes"))
    assert (reply.status, [one["text"] for one in reply.payloads[0].data]) == ("repaired", ["Say hi", "a"])
    swallowed = text.replace('"kind": "note"}, ', 'kind: "note"}, ')
    assert PayloadRegistry(types[:1]).parse(swallowed).payloads == []


def test_custom_parser_hides_the_raw_data() -> None:
    assert PayloadType("note", "NOTE", Note, parser=dict).schema is None


def test_models_of_proposals_are_unions_by_action() -> None:
    for model in (SchemaProposal, DataProposal):
        items = model.model_json_schema()["properties"]["operations"]["items"]
        assert items["discriminator"]["propertyName"] == "action"


def test_payloads_are_proven() -> None:
    """What is cut or repaired is used only if it is certain, and what the model describes."""

    class Seats(BaseModel):
        seats: int

    registry = PayloadRegistry([PayloadType("ferry", "FERRY:", Seats)])
    for data in ('{"seats": 12', '{"seats": 12,5}', '{"seats": 010}', '{"seats": 1/2}', '{"seats": 12,, "sxts": 3}'):
        reply = registry.parse(f"FERRY: {data}", finish_reason="stop")
        assert reply.payloads == [], data
        assert reply.unfinished_payloads, data
    assert registry.parse('FERRY: {"seats": 12,}').payloads[0].data == {"seats": 12}
