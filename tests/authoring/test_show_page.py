"""The page of `python -m tools.show --html`, as a real browser shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from outspoken.authoring.show import main
from outspoken.results.printing import one_line
from outspoken.viewer.page import page
from outspoken.viewer.segments import segment_title
from outspoken.viewer.view import View, show
from tests.cases import CASES
from tools.shared.browser import opened

pytestmark = pytest.mark.browser

HOSTILE = (
    "Hi </script><!-- <script>alert(1)</script> {{data}} \"q\" 'q' &amp; \u2028 \u202e \x1b[31m \x00 \r\n\t| "
    "\U0001f468\u200d\U0001f469 e\u0301\n"
    '<tool_call>\n{"name": "f", "arguments": {"x": "</script><img src=x onerror=alert(1)>"}}\n</tool_call>'
)
LONG = "".join(
    [f'Step {n}.\n<tool_call>\n{{"name": "f", "arguments": {{"n": "{"x" * 150}"}}}}\n</tool_call>\n' for n in range(88)]
)


def corpus(name: str) -> tuple[str, str, dict[str, Any]]:
    """A response of the corpus: its format, its text, its options."""
    case = next(case for case in CASES if str(case) == name)
    return case.format, case.text, case.options


CASES_SHOWN = (
    "hermes-ok-text_around",
    "hermes-ok-reasoning_from_prefix",
    "hermes-err-broken_json",
    "qwen3_coder-err-opener_missing",
    "qwen3_coder-err-cut_inside_value",
    "ui_tars-ok-action_only",
)
RESPONSES: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{name: corpus(name) for name in CASES_SHOWN},
    "detected": ("auto", corpus("hermes-ok-text_around")[1], {}),
    "hostile": ("hermes", HOSTILE, {}),
    "empty": ("hermes", "", {}),
}


def made(name: str, size: int = 1) -> View:
    """What is shown of one of the responses."""
    format_, text, options = RESPONSES[name]
    return show(text, name, format_, size=size, **options)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as driver:
        yield driver


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Open:
    """Opens the page of what is shown, in a window of a width, and returns the browser."""

    def run(view: View, width: int = 1280, at: str = "", scheme: str = "light") -> Any:
        path = tmp_path / "page.html"
        path.write_text(page(view), "utf-8", newline="\n")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get("about:blank")
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(f"{path.as_uri()}{at}")
        return browser

    return run


def requested(browser: Any) -> list[str]:
    """What was requested since the page was opened."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def held(browser: Any) -> list[tuple[str, str]]:
    """What is hatched in the text, and what the panel says is held back: joined."""
    return browser.execute_script(
        "const join = (nodes) => [...nodes].map((n) => n.textContent).join('');"
        "return [join(document.querySelectorAll('#text .held')), join(document.querySelectorAll('#held .held'))]"
    )


def events(browser: Any) -> list[str]:
    return browser.execute_script("return [...document.querySelectorAll('#events li')].map((n) => n.textContent)")


def text_of(browser: Any, selector: str) -> Any:
    return browser.execute_script("return document.querySelector(arguments[0])?.textContent", selector)


@pytest.mark.parametrize("name", RESPONSES)
def test_page_loads_without_errors_or_requests(open_page: Open, name: str) -> None:
    view = made(name)
    for width, scheme in ((1280, "light"), (400, "dark")):
        browser = open_page(view, width, scheme=scheme)
        assert text_of(browser, "#text") == view.raw
        assert [entry["message"] for entry in browser.get_log("browser")] == []
        assert requested(browser) == [browser.current_url]
        overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(overflow) == 0
    cards = browser.execute_script("return [...document.querySelectorAll('.card h3')].map((n) => n.textContent)")
    assert cards == [segment_title(segment) for segment in view.reply.segments]
    frames = browser.execute_script("return [...document.querySelectorAll('pre')].map((n) => n.textContent)")
    assert frames == [*view.refusals, *view.repairs, *view.diagnostics]


@pytest.mark.parametrize("name", [name for name in RESPONSES if name != "empty"])
def test_segments_are_coloured_where_they_are(open_page: Open, name: str) -> None:
    view = made(name)
    browser = open_page(view)
    found = browser.execute_script(
        "let at = 0; const found = [];"
        "for (const node of document.querySelectorAll('#text .piece')) {"
        "  const length = Array.from(node.textContent).length;"
        "  found.push([at, at + length, getComputedStyle(node).backgroundColor, node.className]);"
        "  at += length; }"
        "return found"
    )
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
    markers = browser.execute_script("return document.querySelectorAll('#text .marker').length")
    assert markers >= len([t for t in view.tokens if t.kind == "marker" and t.end > t.start >= 0])


def test_pointing_shows_the_span_the_token_and_the_rule(open_page: Open) -> None:
    browser = open_page(made("hermes-ok-text_around"))
    piece = browser.execute_script("return [...document.querySelectorAll('.piece.value')][0]")
    ActionChains(browser).move_to_element(piece).perform()
    said = text_of(browser, "#inspector")
    assert "JSON_STRING" in said
    assert "37–48 (line 3, column 10)" in said
    assert "tool_call › tool_name" in said
    assert "tool call 16-126: find_book" in said
    assert text_of(browser, "#tree .lit") == 'JSON_STRING "find_book"'


def test_the_arrow_keys_go_through_the_text(open_page: Open) -> None:
    browser = open_page(made("hermes-ok-text_around"))
    browser.execute_script("document.querySelector('#text [tabindex=\"0\"]').focus()")
    assert "0–16" in text_of(browser, "#inspector")
    for _ in range(2):
        ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    assert "_CALL_OPEN" in text_of(browser, "#inspector")
    assert "16–27" in text_of(browser, "#inspector")
    assert browser.execute_script("return document.querySelectorAll('#text [tabindex=\"0\"]').length") == 1


@pytest.mark.parametrize("name", [name for name in RESPONSES if name != "empty"])
def test_the_slider_shows_every_moment(open_page: Open, name: str) -> None:
    view = made(name, size=7)
    browser = open_page(view, at="#at=0")
    slider = browser.find_element("id", "at")
    assert int(slider.get_attribute("max")) == len(view.moments) - 1
    for number, moment in enumerate(view.moments):
        if number:
            slider.send_keys(Keys.ARROW_RIGHT)
        assert slider.get_attribute("value") == str(number)
        expected = view.raw[moment.held_from : moment.arrived]
        assert held(browser) == [expected, expected]
        assert events(browser) == ([one_line(event) for event in view.events[: moment.events]][-200:] or ["none"])
        future = browser.execute_script(
            "return [...document.querySelectorAll('#text .future')].map((n) => n.textContent).join('')"
        )
        assert future == view.raw[moment.arrived :]
        configs = browser.execute_script("return [...document.querySelectorAll('#config b')].map((n) => n.textContent)")
        assert configs == [f"c{view.configs.number(config)}" for _, config in moment.places]
    said = f"{len(view.raw)} of {len(view.raw)} characters, ended · 0 held back"
    assert text_of(browser, "#now") == said
    assert slider.get_attribute("aria-valuetext") == said


def test_the_address_sets_the_slider(open_page: Open) -> None:
    view = made("hermes-ok-text_around")
    browser = open_page(view, at="#at=60")
    assert text_of(browser, "#now") == "60 of 258 characters · 22 held back"
    browser.execute_script("location.hash = '#at=16'")
    assert text_of(browser, "#now").startswith("16 of 258 ")
    browser.find_element("id", "last").click()
    assert text_of(browser, "#now") == "258 of 258 characters, ended · 0 held back"
    assert open_page(view).find_element("id", "at").get_attribute("value") == "259"


def test_every_control_has_a_name(open_page: Open) -> None:
    browser = open_page(made("hermes-err-broken_json"))
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    controls = [n for n in tree if n.get("role", {}).get("value") in ("button", "slider", "region", "group")]
    assert len(controls) > 10
    unnamed = [n for n in controls if not n.get("name", {}).get("value") and not n.get("ignored")]
    assert [n["role"]["value"] for n in unnamed if n["role"]["value"] != "group"] == []


def test_a_long_response_is_shown(open_page: Open) -> None:
    view = show(LONG, "long", "hermes", size=1)
    assert len(LONG) > 19_000
    written = page(view)
    assert len(written) < 80 * len(LONG)
    browser = open_page(view, at="#at=10000")
    assert text_of(browser, "#text") == LONG
    assert text_of(browser, "#now").startswith("10000 of ")


def test_the_tool_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.html"
    assert main(["hermes", "ok/text_around", "--html", str(path)]) == 0
    assert capsys.readouterr().out == f"written: {path}\n"
    assert path.read_text("utf-8") == page(made("hermes-ok-text_around"))


def test_a_response_that_is_too_long_has_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "long.txt", tmp_path / "out.html"
    path.write_text("x" * 200_001, "utf-8")
    assert main(["hermes", str(path), "--html", str(out)]) == 2
    assert capsys.readouterr() == (
        "",
        "show: error: the response has 200,001 characters; a page shows at most 200,000\n",
    )
    assert not out.exists()
