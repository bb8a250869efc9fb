"""The page of `python -m tools.show --html`, as a real browser shows it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.show import show_response
from outspoken.results.printing import one_line
from outspoken.terminal.errors import UsageError
from outspoken.viewer.lines import segment_title
from outspoken.viewer.page import page as html_page
from outspoken.viewer.view import View, show
from tests.cases import CASES
from tests.loops import some
from tests.tables import tables
from tests.viewer.pages import Page, long_response
from tools.shared.browser import opened

TABLES = tables(__file__)

pytestmark = pytest.mark.browser

LONG = long_response(88)


def corpus(name: str) -> tuple[str, str, dict[str, Any]]:
    """A response of the corpus: its format, its text, its options."""
    case = next(case for case in CASES if str(case) == name)
    return case.format, case.text, case.options


RESPONSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{name: corpus(name) for name in TABLES["CASES_SHOWN"]},
    "detected": ("auto", corpus("hermes-ok-text_around")[1], {}),
    "hostile": ("hermes", TABLES["HOSTILE"], {}),
    "empty": ("hermes", "", {}),
}


def made(name: str, size: int = 1) -> View:
    """What is shown of one of the responses."""
    format_, text, options = RESPONSES[name]
    return show(text, name, format_, size=size, **options)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened() as browser:
        yield Page(browser)


Open = Callable[..., Page]


@pytest.fixture
def open_page(page: Page, tmp_path: Path) -> Open:
    """Opens the page of what is shown, and returns it."""

    def run(view: View, width: int = 1280, at: str = "", scheme: str = "light") -> Page:
        path = tmp_path / "page.html"
        path.write_text(html_page(view), "utf-8", newline="\n")
        page.open(f"{path.as_uri()}{at}", width, scheme)
        return page

    return run


@pytest.mark.parametrize("name", RESPONSES)
def test_page_loads_without_errors_or_requests(open_page: Open, name: str) -> None:
    view = made(name)
    for width, scheme in ((400, "dark"), (1280, "light")):
        page = open_page(view, width, scheme=scheme)
        assert page.text("#text") == view.raw
        assert page.complaints() == []
        assert page.requested() == [page.browser.current_url]
        assert page.overflow() == 0
    assert page.texts(".card h3") == [segment_title(segment) for segment in view.reply.segments]
    assert page.texts("pre") == [*view.refusals, *view.repairs, *view.diagnostics]
    assert page.unnamed("button", "slider", "region") == set()


@pytest.mark.parametrize("name", [name for name in RESPONSES if name != "empty"])
def test_segments_are_coloured_where_they_are(open_page: Open, name: str) -> None:
    view = made(name)
    page = open_page(view)
    found = page.run(TABLES["SEGMENTS_ARE_COLOURED_WHERE_THEY_ARE"])
    colours = dict[str, set[str]]()
    for start, end, colour, classes in found:
        if start == end:
            continue
        segment = next((s for s in view.reply.segments if s.span[0] <= start and end <= s.span[1]), None)
        assert (segment is not None) == (colour != "rgba(0, 0, 0, 0)"), (start, end)
        if segment is not None:
            assert segment.kind in classes.split()
            colours.setdefault(segment.kind, set()).add(colour)
    assert all(len(own) == 1 for own in colours.values())
    assert len({colour for own in colours.values() for colour in own}) == len(colours)
    markers = page.texts("#text .marker")
    assert len(markers) >= len([t for t in view.tokens if t.kind == "marker" and t.end > t.start >= 0])


def test_pointing_and_the_arrow_keys_show_the_span_the_token_and_the_rule(open_page: Open) -> None:
    page = open_page(made("hermes-ok-text_around"))
    piece = page.run("return [...document.querySelectorAll('.piece.value')][0]")
    ActionChains(page.browser).move_to_element(piece).perform()
    said = page.text("#inspector")
    for words in ("JSON_STRING", "37–48 (line 3, column 10)", "tool_call › tool_name", "tool call 16-126: find_book"):
        assert words in said
    assert page.text("#tree .lit") == 'JSON_STRING "find_book"'
    page.run("document.querySelector('#text [tabindex=\"0\"]').focus()")
    for _ in range(2):
        page.press(Keys.ARROW_RIGHT)
    assert "_CALL_OPEN" in page.text("#inspector")
    assert "16–27" in page.text("#inspector")
    assert len(page.texts('#text [tabindex="0"]')) == 1


@pytest.mark.parametrize("name", some([name for name in RESPONSES if name != "empty"], "slider", 0.34))
def test_the_slider_shows_every_moment(open_page: Open, name: str) -> None:
    view = made(name, size=7)
    page = open_page(view, at="#at=0")
    slider = page.browser.find_element("id", "at")
    assert int(slider.get_attribute("max")) == len(view.moments) - 1
    for number, moment in enumerate(view.moments):
        if number:
            slider.send_keys(Keys.ARROW_RIGHT)
        assert slider.get_attribute("value") == str(number)
        held = view.raw[moment.held_from : moment.arrived]
        assert ["".join(page.texts(f"{where} .held")) for where in ("#text", "#held")] == [held, held]
        told = [one_line(event) for event in view.events[: moment.events]]
        assert page.texts("#events li") == (told[-200:] or ["none"])
        assert "".join(page.texts("#text .future")) == view.raw[moment.arrived :]
        configs = [f"c{view.configs.number(config)}" for _, config in moment.places]
        assert page.texts("#config b") == configs
    said = f"{len(view.raw)} of {len(view.raw)} characters, ended · 0 held back"
    assert page.text("#now") == said
    assert slider.get_attribute("aria-valuetext") == said


def test_the_address_sets_the_slider(open_page: Open) -> None:
    view = made("hermes-ok-text_around")
    page = open_page(view, at="#at=60")
    assert page.text("#now") == "60 of 258 characters · 44 held back"
    page.run("location.hash = '#at=16'")
    assert page.text("#now").startswith("16 of 258 ")
    page.click("#last")
    assert page.text("#now") == "258 of 258 characters, ended · 0 held back"
    assert open_page(view).browser.find_element("id", "at").get_attribute("value") == "259"


def test_a_long_response_is_shown(open_page: Open) -> None:
    view = show(LONG, "long", "hermes", size=1)
    assert len(LONG) > 19_000
    assert len(html_page(view)) < 80 * len(LONG)
    page = open_page(view, at="#at=10000")
    assert page.text("#text") == LONG
    assert page.text("#now").startswith("10000 of ")


def test_the_tool_writes_the_page_unless_the_response_is_too_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "long.txt", tmp_path / "out.html"
    path.write_text("x" * 200_001, "utf-8")
    with pytest.raises(UsageError, match="the response has 200,001 characters; a page shows at most 200,000"):
        show_response(Checkout(), "hermes", str(path), html=str(out))
    assert not out.exists()
    assert show_response(Checkout(), "hermes", "ok/text_around", html=str(out)) == 0
    assert capsys.readouterr().out == f"written: {out}\n"
    assert out.read_text("utf-8") == html_page(made("hermes-ok-text_around"))
