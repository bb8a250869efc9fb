"""The cache: against a model, from several threads, and with callers who change what they get; digests of values."""

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr

from outspoken import Parser, ResponseError, Screen, Settings
from outspoken.actions.page import PageContext, PageElement
from outspoken.notations.tools import Tools
from outspoken.parsing.options import ParserChanges
from outspoken.processing import CacheInfo, ResponseCache, ResponseProcessor
from outspoken.processing.cache import FingerprintError, fingerprint
from tests.loops import in_threads

KEYS = st.sampled_from("abcdef")
STEPS = st.lists(st.tuples(st.sampled_from(["put", "get"]), KEYS, st.integers()))


@given(st.integers(0, 4), STEPS)
def test_cache_is_first_in_first_out(size: int, steps: list[tuple[str, str, int]]) -> None:
    cache, model = ResponseCache(size), OrderedDict[str, int]()
    hits = misses = 0
    for step, key, value in steps:
        if step == "put":
            cache.put(key, value)
            if size and key not in model and len(model) == size:
                model.popitem(last=False)
            if size:
                model[key] = value
        else:
            assert cache.get(key) == model.get(key)
            hits, misses = hits + (key in model), misses + (key not in model)
    assert cache.info() == CacheInfo(hits, misses, len(model), size)
    cache.clear()
    assert cache.info() == CacheInfo(0, 0, 0, size)


def test_existing_key_evicts_nothing() -> None:
    assert ResponseCache().info() == CacheInfo(0, 0, 0, 1000)
    cache = ResponseCache(2)
    for key, value in (("a", 1), ("b", 2), ("b", 3)):
        cache.put(key, value)
    assert [cache.get(key) for key in "ab"] == [1, 3]
    cache.put("c", 4)
    assert [cache.get(key) for key in "abc"] == [None, 3, 4]


@pytest.mark.parametrize("size", [-1, 1.5, True, None])
def test_a_size_is_a_whole_number(size: Any) -> None:
    with pytest.raises(ValueError, match="expected an integer of at least 0"):
        ResponseCache(size)


def test_several_threads_share_a_cache() -> None:
    cache, wrong = ResponseCache(8), list[Any]()

    def work() -> None:
        for number in range(3000):
            key = str(number % 20)
            found = cache.get(key)
            if found not in (None, [key]):
                wrong.append(found)
            cache.put(key, [key])

    in_threads([work] * 6)
    info = cache.info()
    assert (wrong, info.hits + info.misses, info.size) == ([], 18_000, 8)


# digests


class Colour(Enum):
    RED = 1
    BLUE = 2


class Place(BaseModel):
    x: int
    rest: dict[str, Any] = {}


class Pair(NamedTuple):
    x: int
    y: int


class Hidden(BaseModel):
    _secret: int = PrivateAttr(default=1)


@dataclass
class Spot:
    x: int
    y: Any = None


def weather(city: str) -> None: ...


VALUES: list[Any] = [
    None, True, 1, 1.0, "1", b"1", "", [], (), {}, [1], [[1]], [1, 1], (1,), {1: 1}, {"1": 1}, ["1", 1], ["11"],
    {1, 2}, {1}, frozenset({1, 2}), float("nan"), -0.0, 0.0, Colour.RED, Colour.BLUE, Place(x=1), Place(x=2), Spot(1),
    Spot(1, [2]), Pair(1, 2), (1, 2), Place, Spot(1, Place(x=1)), Settings(), Settings(max_depth=3), "\ud800", "?",
    {"a": 1, "b": 2}, {"b": 2, "a": 1}, Tools.of([weather]), Tools.of([{"name": "weather"}]), ["a", "b"], ["a b"],
]  # fmt: skip


def test_each_value_has_its_own_digest() -> None:
    assert len({fingerprint(value) for value in VALUES}) == len(VALUES)
    assert fingerprint(1, 2) != fingerprint((1, 2))
    assert all(len(fingerprint(value)) == 32 for value in VALUES)


def test_equal_values_have_one_digest() -> None:
    assert fingerprint({3, 1, 2}) == fingerprint({2, 3, 1})
    assert fingerprint(Place(x=1)) == fingerprint(Place(x=1, rest={}))
    assert fingerprint(Tools.of([weather])) == fingerprint(Tools.of([weather]))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(PLAIN, PLAIN)
def test_digests_are_equal_as_the_values_are(one: Any, two: Any) -> None:
    assert (fingerprint(one) == fingerprint(two)) == (repr(one) == repr(two))


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


UNSEEN: list[Any] = [weather, object(), [print], {"a": iter([])}, Hidden(), Spot, nested(200)]


def test_objects_with_hidden_state_have_no_digest() -> None:
    for value in UNSEEN:
        with pytest.raises(FingerprintError):
            fingerprint(value)


PAID = '<tool_call>\n{"name": "pay", "arguments": {"to": "ann"}}\n</tool_call>'
PAY = {"name": "pay", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}
#: Changes of a parser, each of which may change what a text is read as.
CHANGES: list[ParserChanges] = [
    {},
    {"format": "auto"},
    {"tools": [PAY]},
    {"tools": [{**PAY, "annotations": {"destructiveHint": True}}]},
    {"repair": "none"},
    {"on_error": "raise"},
    {"settings": Settings(max_chars=1000)},
    {"screen": Screen(10, 10)},
    {"context": [{"role": "user", "content": f"Read this: {PAID}"}]},
    {"context": [{"role": "user", "content": "Pay Ann."}]},
    {"proof": {"pay": "exact"}},
    {"page": PageContext(elements={"1": PageElement(kind="input")})},
    {"given": {"to": "ben"}},
]


def test_parsers_that_differ_share_no_result() -> None:
    """Whatever of the parser differs: a call that stands in the messages must not run because another parser ran it."""
    texts = (PAID, PAID[:-14], "Action: click(start_box='(1,2)')")
    cache, alone = ResponseCache(), [ResponseProcessor(Parser("hermes").replace(**change)) for change in CHANGES]
    for text in texts:
        for change, one in zip(CHANGES, alone, strict=True):
            shared = ResponseProcessor(Parser("hermes").replace(**change), cache=cache)
            assert outcome(shared, text) == outcome(one, text), change
    keys = [one.parser.options.parts() for one in alone]
    assert all(one != other for one, other in combinations(keys, 2))


def outcome(processor: ResponseProcessor, text: str) -> Any:
    """What becomes of a text; the name of the error if it cannot be read."""
    try:
        return processor.process(text).reply
    except ResponseError as error:
        return type(error).__name__, str(error)
