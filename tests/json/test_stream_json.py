"""`stream_json`: snapshots of a value that arrives, their states and events, at any split, and what they cost."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

import outspoken.json as oj
from outspoken.results.errors import StreamClosedError
from outspoken.results.settings import Settings
from tests.invariants.cost import calls_in
from tests.invariants.replies import pieces
from tests.json.test_describe import Sail, Walk
from tests.json.test_json_repairs import CONTAINERS, DAMAGED
from tests.json.typed_types import Board
from tests.streams import collected, later
from tests.tables import tables

ORDER = {"absent": 0, "growing": 1, "complete": 2}


class Item(BaseModel):
    """A record in a list."""

    name: str
    seats: int
    board: Board | None = None


@dataclass
class Place:
    """A dataclass in a model."""

    harbour: str = ""
    berth: int | None = None
    notes: dict[str, str] = field(default_factory=dict[str, str])


class Extra(TypedDict, total=False):
    """A TypedDict in a model."""

    pets: int
    wish: str


class Trip(BaseModel):
    """Every kind of part."""

    title: str
    day: date
    items: list[Item] = []
    place: Place | None = None
    extra: Extra = {}
    legs: list[Walk | Sail] = []
    is_open: bool = Field(default=False, alias="isOpen")
    next: Trip | None = None


TABLES = tables(__file__)
TRIP: dict[str, Any] = TABLES["TRIP"]


def cut_at(text: str, cuts: list[int]) -> list[str]:
    """A text, cut at some places."""
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


def replayed(snapshots: list[oj.Snapshot[Any]]) -> Any:
    """The value that the events of snapshots tell."""
    made: dict[str, Any] = {}
    for event in (event for snapshot in snapshots for event in snapshot.events):
        if event.kind == "restart":
            made = {}
        elif event.kind == "start":
            made[event.path] = event.value
        elif event.kind == "text":
            made[event.path] += event.value
        elif event.kind == "corrected" or not isinstance(made.get(event.path), (dict, list)):
            made[event.path] = event.value
    return made


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """The parts of a JSON value by path; those of objects and lists are empty ones."""
    if isinstance(value, dict):
        parts = [(key.replace("~", "~0").replace("/", "~1"), one) for key, one in cast("dict[str, Any]", value).items()]
        empty: dict[str, Any] = {path: {}}
        return empty | {k: v for key, one in parts for k, v in flat(one, f"{path}/{key}").items()}
    if isinstance(value, list):
        parts = enumerate(cast("list[Any]", value))
        empty = {path: list[Any]()}
        return empty | {k: v for at, one in parts for k, v in flat(one, f"{path}/{at}").items()}
    return {path: value}


def check_order(snapshots: list[oj.Snapshot[Any]], paths: list[str]) -> None:
    """The states of parts never go back."""
    for path in paths:
        states = [ORDER[snapshot.state(path)] for snapshot in snapshots]
        assert states == sorted(states), path
        assert states[-1] == ORDER["complete"], path


def plain(value: Any) -> Any:
    """What a `Partial` shows, as plain values without None."""
    if isinstance(value, oj.Partial):
        return {key: plain(one) for key, one in vars(value).items() if one is not None}
    if isinstance(value, list):
        return [plain(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in cast("dict[str, Any]", value).items()}
    return value


@given(CONTAINERS, st.lists(st.integers(0, 10_000), max_size=12), st.booleans())
def test_any_split_shows_the_same_value(value: Any, cuts: list[int], ascii: bool) -> None:
    """Whatever is sound is shown as it is, at every split, and its events tell the same."""
    text = json.dumps(value, ensure_ascii=ascii)
    snapshots = [*oj.stream_json(cut_at(text, cuts))]
    last, whole = snapshots[-1], oj.read_json(text)
    assert last.reading == whole
    assert last.value == last.partial == whole.value
    assert replayed(snapshots) == flat(whole.value)
    assert not any(event.kind in ("restart", "corrected") for one in snapshots for event in one.events)
    check_order(snapshots, [*flat(whole.value)])


@given(DAMAGED, st.lists(st.integers(0, 10_000), max_size=6))
def test_damaged_text_ends_as_it_is_read_whole(text: str, cuts: list[int]) -> None:
    """The events of any text lead to the value that `read_json` reads, or say what they corrected."""
    snapshots = [*oj.stream_json(cut_at(text, cuts))]
    whole = oj.read_json(text)
    assert snapshots[-1].reading == whole
    if whole.status in ("ok", "repaired"):
        assert snapshots[-1].partial == whole.value
        told = replayed(snapshots)
        assert {path: value for path, value in told.items() if path in flat(whole.value)} == flat(whole.value)


def test_every_prefix_of_a_typed_value_is_right() -> None:
    """After each character, each part is what has arrived of it: only texts and lists grow."""
    text = json.dumps(TRIP)
    stream = oj.JsonStream(Trip)
    last: dict[str, int] = {}
    for char in text:
        shown = stream.feed(char)
        partial = shown.partial
        if partial is None:
            assert shown.state() == "absent"
            continue
        assert partial.title is None or TRIP["title"].startswith(partial.title)  # pyright: ignore
        assert partial.day in (None, date(2026, 3, 1))
        assert (partial.day is not None) == (shown.state("/day") == "complete")
        for item in partial.items or []:
            assert item.seats in (None, 2, 13)
        assert len(partial.legs or []) == sum(shown.state(f"/legs/{at}") == "complete" for at in (0, 1))
        for path in flat(TRIP):
            state = ORDER[shown.state(path)]
            assert state >= last.get(path, 0)
            last[path] = state
    shown = stream.close()
    assert shown.value == Trip.model_validate(TRIP)
    assert isinstance(shown.value, Trip)
    assert shown.events == []
    assert plain(shown.partial)["place"] == {"harbour": "Bergen", "berth": 4, "notes": {"a/b": "x", "~": "y"}}
    assert plain(shown.partial)["items"][0]["board"] is Board.FULL
    assert plain(shown.partial)["is_open"] is True
    assert shown.partial is not None
    assert shown.partial.legs == [Walk(kind="walk", km=2.5), Sail(kind="sail", ship="Sol")]


@pytest.mark.parametrize("text", TABLES["CONVERTED"])
def test_parts_are_converted_as_in_the_whole(text: str) -> None:
    """A part in another spelling is shown as it will be read."""
    *shown, last = oj.stream_json([text[:-2], text[-2:]], Trip)
    assert shown[-1].partial is not None
    item = shown[-1].partial.items[0]
    assert (item.seats, item.board) == (2, Board.FULL)
    assert shown[-1].partial.title == "T"
    assert last.value == oj.read_json(text, Trip).value
    assert last.events == []


@pytest.mark.parametrize(
    "before", ["", "Sure: [1], {x} and\n```json\n", '<think>{"title": "no"}</think>\n', "a {{b}} "]
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_what_stands_before_a_value_is_passed_over(before: str, size: int) -> None:
    """Prose, fences and reasoning show nothing."""
    text = before + json.dumps(TRIP) + ("\n```\n" if "```" in before else " That is all. {}")
    shown = [*oj.stream_json(pieces(text, size), Trip)]
    assert {event.kind for one in shown for event in one.events} == {"start", "text", "end"}
    assert shown[-1].value == Trip.model_validate(TRIP)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_another_value_that_is_meant_restarts(size: int) -> None:
    """A value that does not fit, or stands in reasoning that the prompt opened, gives way to the one that is meant."""
    item = '{"name": "Ann", "seats": 2}'
    for text in ('{"name": "Bo"} ' + item, '{"name": "Bo", "seats": 1} no</think>' + item):
        shown = [*oj.stream_json(pieces(text, size), Item)]
        assert [event.kind for one in shown for event in one.events].count("restart") == 1
        assert replayed(shown) == {"": {}, "/name": "Ann", "/seats": 2}
        assert shown[-1].value == Item(name="Ann", seats=2)
        assert shown[-2].partial is not None
        assert shown[-2].partial.name == "Ann"


@pytest.mark.parametrize(("text", "kinds"), TABLES["DAMAGED"])
def test_damage_is_told_at_the_end(text: str, kinds: list[str]) -> None:
    """A text whose end is not certain goes on; another one that was shown is corrected."""
    *shown, last = oj.stream_json(list(text), Item)
    assert last.value is not None
    assert [event.kind for event in last.events if event.path == "/name"] == kinds
    assert oj.JsonEvent("/seats", "end", 2) in last.events
    assert last.partial == oj.Partial(name=last.value.name, seats=2, board=None)
    assert replayed([*shown, last])["/name"] == last.value.name


def test_a_cut_text_keeps_what_was_shown() -> None:
    """The last snapshot of a text that breaks off has no value, and shows what has arrived."""
    *_, last = oj.stream_json(['{"name": "An', "n"], Item)
    assert last.value is None
    assert last.partial == oj.Partial(name="Ann", seats=None, board=None)
    assert last.state("/name") == "growing"
    assert last.reading is not None
    assert last.reading.status == "truncated"


def test_a_value_that_does_not_fit_has_no_value() -> None:
    """What is shown is not yet valid; the reading says why."""
    *_, last = oj.stream_json(['{"name": "Ann", "seats": "many"}'], Item)
    assert (last.value, last.partial) == (None, oj.Partial(name="Ann", seats=None, board=None))
    assert "seats" in cast("oj.Reading[Any]", last.reading).retry


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (int, " 12", 12),
        (TypeAdapter(list[Item]), '[{"name": "A", "seats": 1}]', [Item(name="A", seats=1)]),
        (dict[str, list[int]], '{"a": [1, 2], "b": []}', {"a": [1, 2], "b": []}),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": "3"}', {"n": 3}),
        (set[int], "[1, 2]", {1, 2}),
        (Any, '{"": 1, "a": {"": "x"}}', {"": 1, "a": {"": "x"}}),
    ],
)
def test_other_types(type_: Any, text: str, value: Any) -> None:
    """Whatever `read_json` takes."""
    *_, last = oj.stream_json(list(text), type_)
    assert last.value == value
    assert replayed([*oj.stream_json(list(text), type_)])


def test_chunks_that_arrive_asynchronously() -> None:
    """`astream_json` gives the same."""

    snapshots = collected(oj.astream_json(later('{"name": "Ann", "seats": 2}'), Item))
    assert snapshots[-1].value == Item(name="Ann", seats=2)


def test_limits_and_mistakes() -> None:
    """Too long a text, a chunk behind the end, and arguments that are none."""
    stream = oj.JsonStream[Any](settings=Settings(max_chars=4))
    stream.feed("[1, ")
    with pytest.raises(oj.JsonLimitError):
        stream.feed("2]")
    stream = oj.JsonStream[Any]()
    assert stream.close() is stream.close()
    with pytest.raises(StreamClosedError):
        stream.feed("")
    with pytest.raises(TypeError, match="chunk"):
        oj.JsonStream[Any]().feed(cast("Any", b"{}"))
    with pytest.raises(TypeError, match="schema"):
        oj.stream_json([], object())
    with pytest.raises(ValueError, match="convert"):
        oj.stream_json([], convert=cast("Any", "some"))
    deep = "[" * 500
    assert oj.stream_json([deep], settings=Settings(max_depth=64)) is not None
    *_, last = oj.stream_json([deep], settings=Settings(max_depth=64))
    assert last.value is None


@pytest.mark.parametrize("type_", [None, Trip])
def test_a_chunk_costs_what_it_brings(type_: Any) -> None:
    """The last chunks of a long text call as many functions as the first ones."""
    item = '{"name": "Ann with a name", "seats": 2}, '
    chunks = ['{"title": "' + "long " * 2000, '", "items": [', *pieces(item, 7) * 800]
    stream = oj.JsonStream[Any](type_)

    def feed(some: list[str]) -> None:
        for chunk in some:
            stream.feed(chunk)

    feed(chunks[:14])
    first = calls_in(lambda: feed(chunks[14:70]))
    feed(chunks[70:-56])
    assert calls_in(lambda: feed(chunks[-56:])) <= first * 1.02
