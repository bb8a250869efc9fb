"""Sound values are decoded alike in lists, one by one, and far into a long text, at a bounded cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.json import decoder, parts
from outspoken.json.decoder import NotJsonError, decode, nests, read_strictly
from tests.tables import tables

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


# values far into a long text


TABLES = tables(__file__)

VALUES: list[Any] = [*TABLES["VALUES"], "x" * 9000]


def near_and_far(text: str, before: int) -> tuple[Any, Any]:
    """The value at the beginning of a text, and behind so many lines, with its end counted from its beginning."""
    near = decoder.read_at(text, 0, 64)
    far = decoder.read_at("\n" * before + text, before, 64)
    return near, far if far is None else (far[0], far[1] - before, far[2])


@given(
    st.sampled_from(VALUES), st.integers(0, 9100), st.integers(8150, 8250), st.sampled_from(["", " ", "}", ",", "x"])
)
def test_value_does_not_depend_on_its_offset(value: Any, cut: int, before: int, behind: str) -> None:
    text = json.dumps(value, ensure_ascii=bool(cut % 2))
    for written in (
        text + behind,
        text[:cut] + behind,
        text[:cut] + "\x01" + text[cut:],
        text[:cut] + "," + text[cut:],
    ):
        near, far = near_and_far(written or " ", before)
        assert near == far


@pytest.mark.parametrize("token", ["1234567890123456789012345", "-1.5e+10", "true", "null", '"\\ud83d\\ude00"', "1 "])
def test_value_that_ends_with_the_first_piece(token: str) -> None:
    for length in range(8192 - 40, 8192 + 8):
        text = '["' + "y" * (length - 4) + '",' + token + "]"
        near, far = near_and_far(text, 9000)
        assert near == far
        assert near is not None
        broken, also = near_and_far(text[:-1] + ";", 9000)
        assert (broken, also) == (None, None)


def test_late_mistake_is_found_without_reading_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    scan = decoder.scan_once

    def count(text: str, pos: int) -> Any:
        seen.append(len(text))
        return scan(text, pos)

    monkeypatch.setattr(decoder, "scan_once", count)
    text = "{bad} [1,} \"a\x01\" {'b'} " * 4000
    for at in range(20_000, 40_000):
        if text[at] in '{["':
            decoder.read_at(text, at, 64)
    assert len(seen) >= 1000
    assert max(seen) <= 8192


def test_undocumented_behaviour_of_the_json_decoder() -> None:
    """`scan_once` gives a value and its end, or the place of the failure."""
    assert decoder.scan_once('x[1, "a"] y', 1) == ([1, "a"], 9)
    with pytest.raises(StopIteration) as stop:
        decoder.scan_once("[1, x]", 4)
    assert stop.value.value == 4
    with pytest.raises(json.JSONDecodeError, match=r"^Unterminated string") as error:
        decoder.scan_once('["a', 0)
    assert error.value.pos == 1
