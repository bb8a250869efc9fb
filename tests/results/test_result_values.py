"""Replies and their parts are values: equal ones stay equal when they are read, copied, pickled and serialised."""

import pickle
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError
from typing import Any, cast

import pytest
from pydantic import BaseModel, ValidationError

from outspoken import Parser, Reply, Screen, Settings, Text, ToolCall, astream, parse, stream
from outspoken.actions import Point
from outspoken.processing.cache import fingerprint
from outspoken.providers import ProviderStream
from outspoken.results.construct import construct
from outspoken.results.geometry import Box
from tests.cases import Case
from tests.loops import DRAWN, by_format, some
from tests.streams import later
from tests.tables import tables

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


#: The layout of an instance of pydantic. The next test fails if pydantic changes it.
PARTS = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


@pytest.mark.parametrize(("model", "values"), [*zip((Text, Point, ToolCall), tables(__file__)["BUILT"], strict=True)])
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
    (construct(Text, {"kind": "text", "text": "moss", "span": (0, 4)}), "kind"),
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
    "reader", [Parser().session(), stream(["a"], "hermes"), astream(later("a"), "hermes"), ProviderStream()]
)
@pytest.mark.parametrize("made", [copy, deepcopy, pickle.dumps])
def test_what_reads_one_response_cannot_be_copied(reader: Any, made: Any) -> None:
    """It holds a place in the response, and says so."""
    with pytest.raises(TypeError, match="reads one response and cannot be copied"):
        made(reader)
