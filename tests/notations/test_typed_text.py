"""The text of a `type_text` action streams early, and sent text is never withdrawn."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outspoken import RenderError, Screen, Settings, parse, render
from outspoken.actions import Click, Drag, LongPress, Move, Point, PressKeys, Scroll, Swipe, TypeText, Wait
from tests.tables import tables

TABLES = tables(__file__)

TARS = ["ui_tars", "ui_tars_1_0", "doubao_ui_tars", "ui_tars_calls"]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
PLACES = st.builds(Point.of, st.lists(st.integers(0, 1000) | st.floats(0, 1000), min_size=2, max_size=2) | st.lists(
    st.integers(0, 1000), min_size=4, max_size=4), st.just("rel1000"))  # fmt: skip
KEYS = st.lists(st.sampled_from(["ctrl", "shift", "a", "enter", "page_down"]), min_size=1, max_size=3)
WAYS = st.sampled_from(["up", "down", "left", "right"])
ACTIONS: Any = st.one_of(
    st.builds(Click, point=PLACES, clicks=st.integers(1, 3), button=st.just("left")),
    st.builds(Click, point=PLACES, button=st.sampled_from(["right", "middle"])),
    st.builds(Drag, start=PLACES, end=PLACES),
    st.builds(Swipe, start=PLACES, end=PLACES),
    st.builds(Scroll, point=st.none() | PLACES, direction=WAYS),
    st.builds(LongPress, point=PLACES, seconds=st.none() | st.floats(0, 100)),
    st.builds(Move, point=PLACES),
    st.builds(PressKeys, keys=KEYS),
    st.builds(Wait, seconds=st.none() | st.floats(0, 100)),
    st.builds(TypeText, text=TEXTS.filter(lambda text: not text.endswith("\n")), submit=st.booleans(),
              point=st.none() | PLACES),
)  # fmt: skip


@pytest.mark.parametrize("format", TARS)
@given(actions=st.lists(ACTIONS, min_size=1, max_size=3))
def test_actions_are_written_in_the_words_of_a_format(format: str, actions: list[Any]) -> None:
    settings = Settings(coordinates="rel1000")
    text = render(actions, format=format, settings=settings)
    reply = parse(text, format=format, settings=settings)
    left_out = {"name", "raw", "span", "order", "point", "start", "end", "submit"}
    assert [a.model_dump(exclude=left_out) for a in reply.actions] == [a.model_dump(exclude=left_out) for a in actions]
    for one, other in zip(reply.actions, actions, strict=True):
        for key in ("point", "start", "end"):
            assert getattr(one, key, None) == getattr(other, key, None)
        assert bool(getattr(one, "submit", False)) == bool(getattr(other, "submit", False))


def test_points_are_moved_into_the_space_of_the_format() -> None:
    click = Click(point=Point(x=960, y=540, space="px"))
    for format, written in TABLES["MOVED"].items():
        assert render(click, format=format, screen=Screen(1920, 1080)) == written
    with pytest.raises(RenderError, match="requires the size of the screen"):
        render(click, format="ui_tars")
