"""Sound items that follow each other are passed over as one list, and end where items end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.json import parts
from outspoken.json.decoder import NotJsonError, decode, nests, read_strictly

SIGNS = ["", ",", '"', "}", "]", "{", "1e999", "[", "\\"]
SEVERAL = ['{"a":1}, {"b":2}', '{"a":1}], [{"b":2}', "[1]] , [[2]", "[1]]", "[[1]", "{}[]", "[NaN]"]


def value(random: Random, depth: int) -> object:
    """Any value, nested so deeply at most."""
    kind = random.randrange(7 if depth else 4)
    if kind < 4:
        return ["".join(random.choices('a ,{}[]":\\é\n', k=random.randrange(7))), random.random(), 1 << 70, None][kind]
    if kind == 4:
        return {key: value(random, depth - 1) for key in random.sample(["id", "on", "at"], random.randrange(4))}
    return [value(random, depth - 1) for _ in range(random.randrange(4))]


@given(st.randoms(use_true_random=True))
def test_runs_of_items(random: Random):
    rows = [random.choice([{"id": value(random, 2)}, value(random, 4)]) for _ in range(random.randrange(14))]
    text = "{}," + json.dumps(rows, indent=random.choice([None, 0, 2]))[1:]
    for _ in range(random.randrange(3)):
        place = random.randrange(len(text))
        text = text[:place] + random.choice(SIGNS) + text[place + 1 :]
    limit, depth = max(len(text) - random.choice([0, 0, 60]), 2), random.choice([2, 3, 20])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_FEW", 0)
        as_list = parts.items_behind(text, 2, limit, depth)
        patch.setattr(parts, "_FEW", len(text))
        single = parts.items_behind(text, 2, limit, depth)
    assert single is None or (as_list is not None and as_list.end >= single.end)
    if as_list is not None:
        assert as_list == list(islice(every_item(text, limit), as_list.number))[-1]
        assert not nests(json.loads(text[as_list.comma + 1 : as_list.end]), depth)


def every_item(text: str, limit: int) -> Iterator[parts.Items]:
    """The items of a list that goes on at 2, with the number of those up to each."""
    pos, number = 2, 0
    while (comma := re.compile(r"\s*(,)\s*").match(text, pos)) is not None:
        pos = json.JSONDecoder().raw_decode(text, comma.end())[1]
        assert pos <= limit
        number += 1
        yield parts.Items(number, comma.start(1), pos)


@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}")])
def test_nesting_is_limited(opening: str, closing: str):
    """The limit holds at any depth, though pydantic has one of its own."""
    for limit in (1, 2, 128, 200, 250):
        assert decode(opening * limit + "7" + closing * limit + " " * 2000, limit)
        with pytest.raises(NotJsonError):
            decode(opening * (limit + 1) + "7" + closing * (limit + 1) + " " * 2000, limit)


@pytest.mark.parametrize("text", SEVERAL)
def test_only_one_value_is_read(text: str):
    with pytest.raises(ValueError, match=r"value|line|unpack"):
        read_strictly(text, 128)
    with pytest.raises(NotJsonError):
        decode(text + " " * 3000, 128)
