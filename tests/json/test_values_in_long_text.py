"""JSON values far into a long text: read as at its beginning, at a bounded cost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken.json import decoder
from tests.tables import tables

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
