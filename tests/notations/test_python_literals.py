"""Python literals: what they mean, where they end, and that pieces make no difference to either."""

import ast
import json
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from outspoken.json.decoder import NotJsonError
from outspoken.notations.python_literals import decode, read_at
from outspoken.notations.python_notation import PythonScanner
from tests.invariants.cost import calls_in
from tests.invariants.replies import pieces
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

DEPTH = 8

VALUES: list[tuple[str, Any]] = [
    *TABLES["VALUES"],
    ("'\ud83d'", "�"),
    ("['\ud83d', 1]", ["�", 1]),
    ('["\ud83d"]', ["�"]),
]

NO_VALUES = [*TABLES["NO_VALUES"], "9" * 5000, "[" + "9" * 5000 + "]", "0x" + "f" * 4000]


def scan(pieces: list[str]) -> tuple[int, bool, int, bool]:
    """Where the literal ends that the pieces hold, whether it is complete, and the scanner's last state."""
    scanner = PythonScanner(DEPTH)
    read = 0
    for piece in pieces:
        end, done = scanner.feed(piece, 0)
        read += end
        if done:
            return read, True, scanner.depth, scanner.too_deep
        assert end == len(piece)
    return read, scanner.finish(), scanner.depth, scanner.too_deep


def by_scanner(text: str, pos: int) -> tuple[Any, int] | None:
    """What the scanner and the decoder find together."""
    end, complete, _, too_deep = scan([text[pos:]])
    if not complete or too_deep:
        return None
    try:
        return decode(text[pos : pos + end], DEPTH), pos + end
    except NotJsonError:
        return None


@in_one_item("text, value", VALUES)
def test_values(text: str, value: Any) -> None:
    found = decode(text, DEPTH)
    assert found == value
    assert repr(found) == repr(value)
    assert decode(f"\t{text} \n", DEPTH) == value


@in_one_item("text, value", VALUES)
@in_one_item("after", ["", ",", ")", "]", "}", "\n", "\r\n", ", b='x')"])
@in_one_item("blank", ["", " \t"])
def test_values_inside_a_text(text: str, value: Any, after: str, blank: str) -> None:
    whole = f"f(a={text}{blank}{after}"
    assert read_at(whole, 4, DEPTH) == (value, len(whole) - len(after))
    assert by_scanner(whole, 4) == (value, len(whole) - len(after))


@in_one_item("text", NO_VALUES)
def test_texts_without_a_value(text: str) -> None:
    with pytest.raises(NotJsonError):
        decode(text, DEPTH)
    assert read_at(text, 0, DEPTH) is None
    assert by_scanner(text, 0) is None


@in_one_item("text, end", TABLES["ENDS"])
def test_ends(text: str, end: int | None) -> None:
    found, complete, *_ = scan([text])
    assert (found if complete else None) == end


def test_depth() -> None:
    scanner = PythonScanner(2)
    assert scanner.feed("[(", 0) == (2, False)
    assert (scanner.depth, scanner.too_deep, scanner.finish()) == (2, False, False)
    assert scanner.feed("{})", 0) == (3, False)
    assert (scanner.depth, scanner.too_deep) == (1, True)
    assert scanner.feed("] ,", 0) == (2, True)


PIECES = [*TABLES["PIECES"], "\ud800"]
texts = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@given(texts, st.lists(st.integers(0, 40), max_size=6))
@example("'''a\\''''''b', c", [1, 2, 3, 4, 5, 6])
def test_pieces_make_no_difference(text: str, cuts: list[int]) -> None:
    whole = scan([text])
    for cut in range(len(text) + 1):
        assert scan([text[:cut], text[cut:]]) == whole
    assert scan(list(text)) == whole
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    assert scan([text[a:b] for a, b in pairwise(places)]) == whole


@given(texts | st.text(max_size=20), st.integers(0, 3))
@settings(max_examples=200)
@example("'a\\\n", 0)
@example("'' ''', 1", 0)
@example("1 \t", 0)
@example("[1e999]", 0)
@example('["\\/"]', 0)
def test_read_at_agrees_with_the_scanner(text: str, pos: int) -> None:
    found = read_at(text, pos, DEPTH)
    expected = by_scanner(text, pos)
    assert found == expected
    assert repr(found) == repr(expected)


literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=10,
)


@given(literals, st.sampled_from(["", ",", ")", " ]", "\n"]))
def test_python_repr_is_read(value: Any, after: str) -> None:
    text = repr(value)
    expected = json.loads(json.dumps(value))
    assert read_at(text + after, 0, 50) == (expected, len(text) + after.count(" "))
    assert decode(text, 50) == expected


@given(st.lists(st.sampled_from(TABLES["TOKENS"]), max_size=12).map("".join))
@settings(max_examples=300)
def test_agrees_with_literal_eval(text: str) -> None:
    text = f"[{text}]"
    try:
        value = ast.literal_eval(text)
        expected = json.loads(json.dumps(value, allow_nan=False))
    except Exception:  # no literal, or a value that JSON does not have
        return
    assume(isinstance(value, list))
    assert decode(text, 50) == expected


@given(texts | st.text())
def test_never_raises_and_values_serialise(text: str) -> None:
    try:
        value = decode(text, DEPTH)
    except NotJsonError:
        return
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


HOSTILE: dict[str, str] = {
    name: head + unit * count + tail for name, (head, unit, count, tail) in TABLES["HOSTILE"].items()
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_linear_work(text: str) -> None:
    found = read_at(text, 0, 128)
    assert found is None or len(found[0]) == 1

    def scanned(text: str) -> None:
        read_at(text, 0, 128)
        scan([text])
        scan(pieces(text, 9))

    less, more = [calls_in(partial(scanned, part)) for part in (text[: len(text) // 2], text)]
    assert more <= 2.2 * less + 500
