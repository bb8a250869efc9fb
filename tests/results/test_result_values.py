"""Replies are values: equal replies stay equal when they are read, copied, pickled and serialised."""

import pickle
from collections.abc import AsyncIterator
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError
from typing import Any, cast

import pytest
from pydantic import ValidationError

from outspoken import Parser, Reply, Screen, Settings, astream, parse, stream
from outspoken.actions import Point
from outspoken.processing.cache import fingerprint
from outspoken.providers import ProviderStream
from outspoken.results.geometry import Box
from tests.cases import Case
from tests.loops import DRAWN, by_format, some


async def aiter_of(*chunks: str) -> AsyncIterator[str]:
    """Chunks that arrive asynchronously."""
    for chunk in chunks:
        yield chunk


PROPERTIES = [name for name, value in vars(Reply).items() if isinstance(value, property)]


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
    assert Reply.model_validate(reply.model_dump()) == reply
    assert Reply.model_validate_json(reply.model_dump_json()) == reply
    assert {name: getattr(reply, name) for name in PROPERTIES} == read
    lists = [cast("list[object]", found) for found in read.values() if isinstance(found, list)]
    assert all(segment in reply.segments for found in lists for segment in found)


def test_a_changed_copy_has_its_own_text() -> None:
    reply = parse("Hello", format="hermes")
    assert reply.text == "Hello"
    assert reply.model_copy(update={"segments": []}).text == ""


FROZEN: list[tuple[Any, str]] = [
    (parse("Hello", format="hermes"), "status"),
    (Point(x=1, y=2), "x"),
    (Box(1, 2, 3, 4), "left"),
    (Screen(10, 10), "width"),
    (Settings(), "max_chars"),
]


@pytest.mark.parametrize(("value", "field"), FROZEN, ids=lambda value: type(value).__name__)
def test_values_are_frozen(value: Any, field: str) -> None:
    with pytest.raises((AttributeError, FrozenInstanceError, ValidationError)):
        setattr(value, field, 1)
    assert pickle.loads(pickle.dumps(value)) == deepcopy(value) == value


@pytest.mark.parametrize(
    "reader", [Parser().session(), stream(["a"], "hermes"), astream(aiter_of("a"), "hermes"), ProviderStream()]
)
@pytest.mark.parametrize("made", [copy, deepcopy, pickle.dumps])
def test_what_reads_one_response_cannot_be_copied(reader: Any, made: Any) -> None:
    """It holds a place in the response, and says so."""
    with pytest.raises(TypeError, match="reads one response and cannot be copied"):
        made(reader)
