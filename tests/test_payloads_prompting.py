"""What the model is told about payloads, as snapshots, and that it is true."""

import json
import re

import pytest
from pydantic import BaseModel, Field
from syrupy.assertion import SnapshotAssertion

from outspoken.contrib.table_chat import DATA_PROPOSAL, TYPES, tables_registry
from outspoken.payloads import PayloadRegistry, PayloadSettings, PayloadType
from outspoken.payloads.prompting import write_payload
from outspoken.payloads.types import Validation

TABLES = tables_registry({"table_view": {"open_filters": "Open the filters of the table"}})


@pytest.mark.parametrize("page", ["tables_list", "table_view"])
def test_instructions(page: str, snapshot: SnapshotAssertion) -> None:
    assert TABLES.instructions(page) == snapshot


def test_examples_parse_to_what_they_show() -> None:
    for page in TABLES.pages:
        text = TABLES.instructions(page)
        for type_ in TABLES.page(page).types:
            assert write_payload(type_, type_.example) in text
            reply = TABLES.parse(write_payload(type_, type_.example), page=page)
            assert [(one.type, one.data) for one in reply.payloads] == [(type_.name, type_.example)]
            assert (reply.diagnostics, reply.text) == ([], "")


def test_instructions_name_every_field() -> None:
    text = TABLES.instructions("table_view")
    for type_ in TYPES:
        assert type_.adapter is not None
        schema = json.dumps(type_.adapter.json_schema(by_alias=True))
        for key in re.findall(r'"properties": \{"(\w+)"', schema):
            assert re.search(rf"^ +{key}\??: ", text, re.MULTILINE)


def test_instructions_name_only_payloads_of_the_page() -> None:
    assert "DATA_PROPOSAL" not in TABLES.instructions("tables_list")
    assert "open_filters" not in TABLES.instructions("tables_list")
    assert "DATA_PROPOSAL" in TABLES.instructions("table_view")


class Harbour(BaseModel):
    """A harbour."""

    name: str = Field(description="As on the map")
    depth: float | None = None
    ferries: list[dict[str, int]] = []


def test_a_type_of_ones_own(snapshot: SnapshotAssertion) -> None:
    types = [
        PayloadType("harbour", "HARBOUR", Harbour, example={"name": "Ystad"}, instructions="Shows a harbour."),
        PayloadType("anything", "ANYTHING"),
    ]
    assert PayloadRegistry(types).instructions() == snapshot


def test_the_manifest(snapshot: SnapshotAssertion) -> None:
    registry = PayloadRegistry([*TYPES, PayloadType("harbours", "HARBOURS", kind="array", beside=True)])
    texts = [
        "Hello.",
        *[write_payload(type_, type_.example) for type_ in TYPES],
        f"HARBOURS: [1, 2, 3]\n{write_payload(DATA_PROPOSAL, DATA_PROPOSAL.example)}",
        'SUGGESTED_VALUES: [{"label": "' + "long " * 40 + '", "value": "x"}]',
    ]
    assert registry.manifest([registry.parse(text) for text in texts]) == snapshot
    assert registry.manifest([registry.parse("Hello.")]) == ""


@pytest.mark.parametrize(
    "text",
    [
        'DATA_PROPOSAL: {"operations": 5}',
        'DATA_PROPOSAL: {"operations": ["x", {"action": ["y"]}]}',
        'SCHEMA_PROPOSAL: {"operations": {"action": "add"}, "table_name": ["x"]}',
        'SUGGESTED_VALUES: ["x", 1, {}]',
    ],
)
@pytest.mark.parametrize("validation", ["off", "warn"])
def test_summary_of_any_text(text: str, validation: Validation) -> None:
    reply = TABLES.parse(text, settings=PayloadSettings(validation=validation))
    assert TABLES.manifest([reply]).startswith(f"- answer 1, `{reply.payloads[0].type}`")
