"""What an application declares: types, pages, client actions, packages; and what is refused."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from outspoken import Done, LimitError, PayloadParsed, ResponseError
from outspoken.contrib.table_chat import SUGGESTED_VALUES, TYPES, tables_registry
from outspoken.payloads import PayloadRegistry, PayloadSettings, PayloadType, TypedPayload, grammar, registry
from tests.streams import collected, later
from tests.tables import tables

TABLES = tables(__file__)


class Ferry(BaseModel):
    """A ferry."""

    harbour: str
    seats: int


FERRY = PayloadType("ferry", "FERRY:", Ferry)


@pytest.mark.parametrize("marker", ["FERRY", "FERRY:", " FERRY : "])
def test_marker_with_or_without_colon(marker: str) -> None:
    assert PayloadType("ferry", marker).marker == "FERRY"
    reply = PayloadRegistry([PayloadType("ferry", marker)]).parse('FERRY: {"a": 1}')
    assert [one.data for one in reply.payloads] == [{"a": 1}]


def test_marker_can_differ_by_page() -> None:
    types = [
        PayloadType("ship", "OFFER", kind="object", pages=("sea",)),
        PayloadType("trains", "OFFER", kind="array", pages=("land",)),
    ]
    registry = PayloadRegistry(types)
    assert [(one.type, one.data) for one in registry.parse('OFFER: {"a": 1}', page="sea").payloads] == [
        ("ship", {"a": 1})
    ]
    assert [(one.type, one.data) for one in registry.parse("OFFER: [1]", page="land").payloads] == [("trains", [1])]


def test_marker_applies_only_on_its_pages() -> None:
    tables = tables_registry()
    text = 'DATA_PROPOSAL: {"operations": [{"action": "delete", "row_id": 4}]}'
    for page, there in (("tables_list", False), ("table_edit", False), ("table_view", True)):
        assert bool(tables.parse(text, page=page).payloads) is there
    assert [[one.name for one in tables.page(page).types] for page in tables.pages] == [
        ["suggested_values", "suggested_actions", "schema_proposal"],
        ["suggested_values", "suggested_actions", "schema_proposal", "data_proposal"],
        ["suggested_values", "suggested_actions", "schema_proposal"],
    ]


def test_client_actions_of_the_page_and_of_all_pages() -> None:
    tables = tables_registry({"table_view": {"open_filters": ""}})
    assert list(tables.page("table_view").actions) == ["close_chat", "open_filters"]
    assert list(tables.page("table_edit").actions) == ["close_chat"]
    assert list(tables.page().actions) == ["close_chat", "open_filters"]
    text = 'SUGGESTED_ACTIONS: [{"label": "Filter", "action": "open_filters", "handler": "client"}]'
    assert [len(tables.parse(text, page=page).payloads[0].data) for page in ("table_view", "table_edit")] == [1, 0]


def test_added_type_applies_to_later_parses() -> None:
    registry = PayloadRegistry()
    begun = registry.parser().session()
    begun.feed("FERRY: ")
    assert registry.parse('FERRY: {"harbour": "Ystad", "seats": 1}').payloads == []
    assert registry.add(FERRY) is FERRY
    assert registry.types == (FERRY,)
    assert registry.parse('FERRY: {"harbour": "Ystad", "seats": 1}').payloads[0].type == "ferry"
    begun.feed('{"harbour": "Ystad", "seats": 1}')
    begun.close()
    assert begun.reply is not None
    assert begun.reply.payloads == []


def test_the_same_markers_have_one_grammar() -> None:
    made: list[object] = []
    for order in (TYPES, TYPES[::-1]):
        markers = grammar.markers_of(order)
        made.append(grammar.automaton_of(markers, lenient=True))
    assert made[0] is made[1]


def test_threads_may_share_a_registry() -> None:
    registry = PayloadRegistry()

    def add_and_read(number: int) -> list[Any]:
        registry.add(PayloadType(f"kind_{number}", f"KIND_{number}:"))
        return [one.data for one in registry.parse(f'Hi\nKIND_{number}: {{"a": {number}}}').payloads]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(add_and_read, range(12)))
    assert found == [[{"a": number}] for number in range(12)]
    assert len(registry.types) == 12


def test_invalid_entry_point_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(group: str) -> list[Any]:
        return [SimpleNamespace(name="odd", load=lambda: ["FERRY"])]

    monkeypatch.setattr(registry, "entry_points", points)
    with pytest.raises(ValueError, match=r"the entry point `odd` of `outspoken.payloads` provides 'FERRY'"):
        PayloadRegistry().load()


def test_bytes_may_be_split_within_a_character() -> None:
    raw = 'Grüße\nFERRY: {"harbour": "Tórshavn", "seats": 2} ü'.encode()
    made = PayloadRegistry([FERRY])
    for at in range(len(raw) + 1):
        done = list(made.stream([raw[:at], raw[at:]]))[-1]
        assert isinstance(done, Done)
        assert done.reply == made.parse(raw.decode())


def test_asynchronous_chunks() -> None:
    chunks = later(("Hi FER", 'RY: {"harbour": "Ystad", ', '"seats": 3}'))
    events = collected(PayloadRegistry([FERRY]).astream(chunks))
    (parsed,) = [event.payload for event in events if isinstance(event, PayloadParsed)]
    assert isinstance(parsed, TypedPayload)
    assert parsed.value == Ferry(harbour="Ystad", seats=3)


def test_a_text_over_the_limit() -> None:
    made = PayloadRegistry([FERRY])
    text = 'Hi FERRY: {"harbour": "Ystad", "seats": 3} and a long way to go'
    for whole in (True, False):
        settings = PayloadSettings(max_chars=50)
        with pytest.raises(LimitError) as caught:
            made.parse(text, settings=settings) if whole else list(made.stream([text], settings=settings))
        assert [one.type for one in caught.value.reply.payloads] == ["ferry"]


def test_on_error_raise() -> None:
    made = PayloadRegistry([FERRY], settings=PayloadSettings(validation="strict"))
    with pytest.raises(ResponseError) as caught:
        made.parse('FERRY: {"harbour": "Ystad"}', on_error="raise")
    assert caught.value.diagnostic.code == "invalid-payload"


def test_no_payloads_at_all() -> None:
    assert PayloadRegistry().parse('Hi\nFERRY: {"a": 1}').to_message() == {
        "message": 'Hi\nFERRY: {"a": 1}',
        "custom_payload": None,
    }
    assert PayloadRegistry().instructions() == ""


def test_content_is_what_chat_apis_send() -> None:
    registry, text = PayloadRegistry([FERRY]), 'Hi\nFERRY: {"harbour": "Ystad", "seats": 3}'
    whole = registry.parse(text)
    assert registry.parse(text.encode()) == whole
    assert registry.parse(None) == registry.parse("")
    blocks: list[Any] = [SimpleNamespace(type="thinking", text="no"), SimpleNamespace(type="text", text=text)]
    assert registry.parse(blocks) == registry.parse([{"type": "text", "text": text}])


def test_parser_of_a_page_reads_alike_in_every_way() -> None:
    parser = PayloadRegistry([FERRY]).parser()
    text = 'Hi\nFERRY: {"seats": 3, "harbour": "Ystad"'

    for reason, status in (("stop", "repaired"), (None, "truncated")):
        reply = parser.parse(text, finish_reason=reason)
        assert reply.status == status
        assert list(parser.stream([*text], finish_reason=reason))[-1] == Done(reply)
    last = collected(parser.astream(later(text), finish_reason=lambda: "stop"))[-1]
    assert last == Done(parser.parse(text, finish_reason="stop"))


# a package that is installed brings its payloads along


def test_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_for_travel.py").write_text(TABLES["MODULE"], "utf-8")
    info = tmp_path / "made_for_travel-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-for-travel\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(TABLES["POINTS"], "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    registry = PayloadRegistry([SUGGESTED_VALUES])
    assert [one.name for one in registry.load()] == ["train", "tram", "ferry"]
    assert [one.name for one in registry.types] == ["suggested_values", "train", "tram", "ferry"]
    assert registry.pages == ("town",)
    assert registry.parse('Hi TRAM: {"a": 1}').to_message()["custom_payload"] == {"type": "tram", "data": {"a": 1}}
    with pytest.raises(ValueError, match="a payload `train` is already registered"):
        registry.load()
