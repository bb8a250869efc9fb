"""What an application declares: types, pages, client actions, packages; and what is refused."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import BaseModel

from outspoken import Done, Event, LimitError, PayloadParsed, ResponseError, Settings
from outspoken.contrib.table_chat import TYPES, tables_registry
from outspoken.parsing import StreamClosedError
from outspoken.payloads import PayloadRegistry, PayloadSettings, PayloadType, TypedPayload, grammar, registry


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PayloadType("a ferry", "FERRY"), "`a ferry` is not a payload name"),
        (lambda: PayloadType("ferry", "**FERRY**"), r"`\*\*FERRY\*\*` is not a marker"),
        (lambda: PayloadType("ferry", ":"), "`` is not a marker"),
        (lambda: PayloadType("ferry", "7UP"), "`7UP` is not a marker"),
        (lambda: PayloadType("ferry", "FERRY", kind="list"), "`kind` of `ferry` is 'list'; expected one of 'object'"),  # type: ignore[arg-type]
        (lambda: PayloadType("ferry", "FERRY", wrapping="bold"), "`wrapping` of `ferry` is 'bold'"),  # type: ignore[arg-type]
        (lambda: PayloadRegistry([FERRY, FERRY]), "a payload `ferry` is already registered"),
        (
            lambda: PayloadRegistry([FERRY, PayloadType("other", "FERRY")]),
            "`other` and `ferry` have the marker `FERRY` on the same page",
        ),
        (
            lambda: PayloadRegistry([FERRY, PayloadType("other", "Ferry", any_case=True)]),
            "`other` and `ferry` have the marker `Ferry` on the same page",
        ),
        (lambda: PayloadRegistry([FERRY]).parse("Hi", page="home"), "there is no page `home`; there are none"),
        (lambda: tables_registry().parse("Hi", page="table_veiw"), "no page `table_veiw`; did you mean `table_view`?"),
        (lambda: PayloadSettings(extra="drop"), "`extra` is 'drop'; expected one of 'strip', 'keep', 'collect'"),  # type: ignore[arg-type]
        (
            lambda: PayloadRegistry([FERRY]).parser(settings=PayloadSettings(precedence="registration")).session(),
            "requires the whole text; a stream selects the first payload",
        ),
        (
            lambda: PayloadRegistry([PayloadType("ferry", "FERRY", Ferry, example={"seats": "x"})]).instructions(),
            "the example of `ferry` is invalid: `harbour`: Field required; `seats`: Input should be",
        ),
    ],
)
def test_invalid_payload_types_are_rejected(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


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


class Point(SimpleNamespace):
    """An entry point."""

    def load(self) -> Any:
        return self.found


def test_entry_points_add_payloads(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [PayloadType("bus", "BUS"), PayloadType("tram", "TRAM")]
    asked: list[str] = []

    def points(group: str) -> list[Point]:
        asked.append(group)
        return [Point(name="z", found=lambda: iter(others)), Point(name="a", found=FERRY)]

    monkeypatch.setattr(registry, "entry_points", points)
    made = PayloadRegistry()
    assert made.load() == [FERRY, *others]
    assert (asked, made.types) == (["outspoken.payloads"], (FERRY, *others))


def test_invalid_entry_point_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [Point(name="odd", found=["FERRY"])])  # type: ignore[misc]
    with pytest.raises(ValueError, match=r"the entry point `odd` of `outspoken.payloads` provides 'FERRY'"):
        PayloadRegistry().load()


def test_closed_stream_rejects_input() -> None:
    parser = PayloadRegistry([FERRY]).parser().session()
    assert parser.feed(b"H\xc3") == [] or parser.reply is None
    last = parser.close()
    assert isinstance(last[-1], Done)
    assert parser.close() == []
    with pytest.raises(StreamClosedError):
        parser.feed("x")


def test_bytes_may_be_split_within_a_character() -> None:
    raw = 'Grüße\nFERRY: {"harbour": "Tórshavn", "seats": 2} ü'.encode()
    made = PayloadRegistry([FERRY])
    for at in range(len(raw) + 1):
        done = list(made.stream([raw[:at], raw[at:]]))[-1]
        assert isinstance(done, Done)
        assert done.reply == made.parse(raw.decode())


def test_asynchronous_chunks() -> None:
    async def chunks() -> AsyncIterator[str]:
        for chunk in ("Hi FER", 'RY: {"harbour": "Ystad", ', '"seats": 3}'):
            yield chunk

    async def collect() -> list[Event]:
        return [event async for event in PayloadRegistry([FERRY]).astream(chunks())]

    (parsed,) = [event.payload for event in asyncio.run(collect()) if isinstance(event, PayloadParsed)]
    assert isinstance(parsed, TypedPayload)
    assert parsed.value == Ferry(harbour="Ystad", seats=3)


def test_a_text_over_the_limit() -> None:
    made = PayloadRegistry([FERRY])
    text = 'Hi FERRY: {"harbour": "Ystad", "seats": 3} and a long way to go'
    with pytest.raises(LimitError) as caught:
        made.parse(text, settings=PayloadSettings(max_chars=50))
    assert [one.type for one in caught.value.reply.payloads] == ["ferry"]
    with pytest.raises(LimitError) as caught:
        list(made.stream([text], settings=PayloadSettings(max_chars=50)))
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


def test_arguments_of_wrong_types_are_named() -> None:
    known, odd = PayloadRegistry([FERRY]), cast("Any", {"max_hold": 9})
    limits: Any = Settings()
    for call, message in (
        (lambda: PayloadRegistry(cast("Any", 3)), "`types` is an int; expected Iterable"),
        (lambda: PayloadRegistry([*known.types, odd]), "`types[1]` is a dict; expected PayloadType"),
        (lambda: PayloadRegistry(settings=odd), "`settings` is a dict; expected PayloadSettings or None"),
        (lambda: known.parser(settings=odd), "`settings` is a dict; expected PayloadSettings or None"),
        (lambda: known.parse("", settings=limits), "`settings` is a Settings; expected PayloadSettings or None"),
        (lambda: PayloadRegistry(actions=limits), "`actions` is a Settings; expected Mapping or None"),
        (lambda: PayloadType(limits, "A"), "`name` is a Settings; expected str"),
        (lambda: PayloadType("a", limits), "`marker` is a Settings; expected str"),
        (lambda: known.page(limits), "`page` is a Settings; expected str or None"),
        (lambda: known.manifest(limits), "`replies` is a Settings; expected Iterable"),
        (lambda: known.manifest([limits]), "`replies[0]` is a Settings; expected Reply"),
        (lambda: known.parse(odd), "`response` is a dict; expected text or a list of content blocks"),
        (lambda: known.parse(["a", cast("Any", 3)]), "`response[1]` is an int; expected text or a content block"),
        (
            lambda: known.stream("FERRY:"),
            "`chunks` is a str; expected an iterable of chunks (for a whole response, call `parse`)",
        ),
        (lambda: known.parser().session().feed(odd), "`chunk` is a dict; expected str, bytes or None"),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == message


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

    async def chunks() -> AsyncIterator[str]:
        for letter in text:
            yield letter

    async def later() -> list[Event]:
        return [event async for event in parser.astream(chunks(), finish_reason=lambda: "stop")]

    for reason, status in (("stop", "repaired"), (None, "truncated")):
        reply = parser.parse(text, finish_reason=reason)
        assert reply.status == status
        assert list(parser.stream([*text], finish_reason=reason))[-1] == Done(reply)
    assert asyncio.run(later())[-1] == Done(parser.parse(text, finish_reason="stop"))
