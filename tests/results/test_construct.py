"""Instances built without validation equal those that pydantic builds. This fails if pydantic changes their layout."""

import pickle
from copy import deepcopy
from typing import Any

import pytest
from pydantic import BaseModel

from outspoken import Text, ToolCall
from outspoken.actions import Point
from outspoken.results.construct import construct

PARTS = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
VALUES: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (Text, {"kind": "text", "text": "moss", "span": (0, 4)}),
    (Point, {"x": 1.5, "y": 2.0, "space": "px", "box": None}),
    (
        ToolCall,
        {
            "kind": "tool_call",
            "name": "rank",
            "arguments": {"genus": ["Sphagnum"]},
            "arguments_text": '{"genus": ["Sphagnum"]}',
            "id": None,
            "status": "ok",
            "span": (3, 9),
            "repairs": (),
        },
    ),
]


@pytest.mark.parametrize(("model", "values"), VALUES, ids=lambda value: getattr(value, "__name__", ""))
def test_constructed_instance_equals_a_validated_one(model: type[BaseModel], values: dict[str, Any]) -> None:
    assert list(values) == list(model.model_fields)
    made, validated = construct(model, dict(values)), model(**values)
    for part in PARTS:
        assert getattr(made, part) == getattr(validated, part) == getattr(model.model_construct(**values), part)
    assert made == validated == pickle.loads(pickle.dumps(made)) == deepcopy(made) == made.model_copy()
    assert (repr(made), made.model_dump_json()) == (repr(validated), validated.model_dump_json())
    with pytest.raises(ValueError, match="frozen"):
        setattr(made, next(iter(values)), None)
