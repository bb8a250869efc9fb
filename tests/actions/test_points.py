"""Points and boxes: every coordinate space to pixels and back, and what is refused."""

import math
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from outspoken import Done, Reply, Screen, Settings, parse, stream
from outspoken.actions import Box, Point
from outspoken.actions.fields import FieldError, read_point
from outspoken.grammar import registry
from outspoken.results.geometry import SPACES, Space, smart_resize
from tests.cases import CASES, FORMATS
from tests.loops import in_one_item, some
from tests.tables import tables

TABLES = tables(__file__)

PLACED = [space for space in SPACES if space not in ("mark", "desc")]
SIDES = st.integers(32, 6000)
SCREENS = st.builds(Screen, SIDES, SIDES, st.none() | st.tuples(SIDES, SIDES))
NUMBERS = st.floats(-10_000, 10_000, allow_nan=False)


@pytest.mark.parametrize("space", PLACED)
@given(screen=SCREENS, x=NUMBERS, y=NUMBERS)
def test_to_pixels_and_back(space: Any, screen: Screen, x: float, y: float) -> None:
    there = Point(x=x, y=y).from_pixels(space, screen)
    back = there.to_pixels(screen)
    assert there.space == space
    assert back.space == "px"
    assert abs(back.x - x) <= 0.5
    assert abs(back.y - y) <= 0.5


@pytest.mark.parametrize("space", PLACED)
@given(screen=SCREENS, x=NUMBERS, y=NUMBERS, wide=NUMBERS, high=NUMBERS)
def test_boxes_are_converted_too(space: Any, screen: Screen, x: float, y: float, wide: float, high: float) -> None:
    point = Point.of([x, y, wide, high], "px")
    there = point.from_pixels(space, screen)
    assert point.box is not None
    assert there.box is not None
    assert there.box.centre == pytest.approx((there.x, there.y), abs=1e-6)
    assert list(there.to_pixels(screen).box or ()) == pytest.approx(list(point.box), abs=0.5)


@pytest.mark.parametrize(("space", "numbers", "pixels"), TABLES["TO_PIXELS"])
def test_to_pixels(space: Any, numbers: list[float], pixels: list[float]) -> None:
    screen = Screen(1920, 1080, sent=(1280, 720))
    point = Point(x=numbers[0], y=numbers[1], space=space).to_pixels(screen)
    assert [point.x, point.y] == pixels


@pytest.mark.parametrize(("size", "resized"), TABLES["SIZES"])
def test_smart_resize(size: list[int], resized: list[int]) -> None:
    assert [*smart_resize(*size)] == resized


def test_smart_resize_keeps_to_its_limits() -> None:
    wide, high = smart_resize(2560, 1440, 28, 4 * 784, 1000 * 784)
    assert wide * high <= 1000 * 784
    assert smart_resize(224, 224, 28, 4 * 784) == (224, 224)
    assert smart_resize(1000, 1000, 32) == (992, 992)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_are_finite(number: float) -> None:
    with pytest.raises(ValidationError):
        Point(x=number, y=1)


def test_a_box_has_its_edges_in_order() -> None:
    assert Box.of(30, 5, 10, 25) == (10, 5, 30, 25)
    assert Box.of(30, 5, 10, 25).centre == (20, 15)
    assert Box.of(1.5e308, 0, -1.5e308, 1).centre == (0, 0.5)


VALUES: list[tuple[Any, list[float] | None]] = [
    *TABLES["VALUES"],
    ((1.5, -2), [1.5, -2]),
    ([math.inf, 2], None),
    ([10**400, 2], None),
]


@in_one_item("value, numbers", VALUES)
def test_values_that_are_points(value: Any, numbers: list[float] | None) -> None:
    if numbers is None:
        with pytest.raises(FieldError, match="needs a point or a box in `at`: 2 or 4 numbers"):
            read_point(value, "px", "at")
    else:
        assert [*read_point(value, "px", "at").numbers()] == numbers


def test_an_unknown_space() -> None:
    with pytest.raises(ValueError, match="`coordinates` is 'inches'"):
        Settings(coordinates="inches")  # pyright: ignore[reportArgumentType]
    assert set(get_args(Space)) == set(SPACES)


# with the format unknown


#: Where no numbers of places are written.
WITHOUT_NUMBERS = ("", "mark", "desc")


def acting(reply: Reply) -> list[Any]:
    """The actions with points of a sound reply, without the spaces of these."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: bare(item) for key, item in items if key not in ("space", "raw", "span")}
        return [bare(item) for item in cast("list[Any]", value)] if isinstance(value, (list, tuple)) else value

    found = [action.model_dump() for action in reply.actions if "Point(" in repr(action)]
    return [bare(action) for action in found] if reply.status == "ok" else []


def test_points_that_two_formats_read_alike_in_other_spaces_are_never_guessed() -> None:
    """Of all pairs of formats with other spaces, the sound texts of one that the other one reads as the same actions.

    With `auto`, all such points stay in the model's numbers, and are reported, with a screen and without.
    """
    spaces = {name: str(registry.header(name).space) for name in FORMATS if registry.header(name).actions}
    spaces = {name: space for name, space in spaces.items() if space not in WITHOUT_NUMBERS}
    cases = [(case.format, case.text) for case in CASES if case.format in spaces and case.kind == "ok"]
    texts = [*cases, *[(name, registry.header(name).example) for name in spaces]]
    pairs: set[tuple[str, str]] = set()
    for name, text in some([pair for pair in texts if len(pair[1]) < 1500], "spaces", 0.25):
        wanted = acting(parse(text, format=name))
        others = {
            other
            for other, space in spaces.items()
            if wanted and space != spaces[name] and acting(parse(text, format=other)) == wanted
        }
        if not others:
            continue
        pairs |= {(name, other) for other in others}
        for screen in (None, Screen(1920, 1080)):
            reply = parse(text, screen=screen)
            assert acting(reply) in ([], wanted), text
            pointing = [action.span for action in reply.actions if "Point(" in repr(action)]
            reported = [found.span for found in reply.diagnostics if found.code == "ambiguous-space"]
            assert reported == pointing, text
            assert list(stream([text[:9], text[9:]], screen=screen))[-1] == Done(reply)
    assert len(pairs) > 4
