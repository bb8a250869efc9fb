"""`read_json` with a type on answers such as models give: what they mean is in typed_texts.yaml."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from outspoken import read_json
from outspoken.json import Reading
from outspoken.results.schemas.convert import CONVERSIONS
from tests.json.typed_types import TYPES, Answer, answers, misses

ANSWERS, MISSES = answers(), misses()


def read(answer: Answer) -> Reading[Any]:
    """The reading of an answer."""
    return cast("Reading[Any]", read_json(answer.text, TYPES[answer.type]))


def as_meant(answer: Answer, found: Reading[Any]) -> bool:
    """Is the value the one that is meant? Where none is, there is none, or it is said that it may be another one."""
    if answer.meant is None:
        return not found.is_valid or found.ambiguous
    return found.is_valid and found.value == TypeAdapter(TYPES[answer.type]).validate_json(answer.meant)


@pytest.mark.parametrize("name", TYPES)
def test_answers_are_read_as_they_are_meant(name: str) -> None:
    of_type = [answer for answer in ANSWERS if answer.type == name]
    assert of_type
    wrong = {answer.text for answer in of_type if not as_meant(answer, read(answer))}
    assert wrong == {answer.text for answer in of_type if answer.text in MISSES}


def test_few_are_missed_and_none_is_wrong_in_silence() -> None:
    assert len(ANSWERS) >= 600
    missed = [answer for answer in ANSWERS if answer.text in MISSES]
    assert len(missed) <= 18
    assert [one.text for one in missed if (found := read(one)).is_valid and not found.ambiguous] == []


def test_every_conversion_is_in_an_answer() -> None:
    assert {one.code for answer in ANSWERS for one in read(answer).conversions} == {*CONVERSIONS}


def test_what_is_meant_is_left_as_it_is() -> None:
    for answer in ANSWERS:
        if answer.meant is not None:
            found = read(answer._replace(text=answer.meant))
            assert (found.status, found.conversions) == ("ok", ()) or json.loads(answer.meant) is None, answer
