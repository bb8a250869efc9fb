"""The page of `outspoken report`, as a real browser shows it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from outspoken.batch import Summary, run, write_report
from outspoken.results.snippet import visible
from tests.batch.batch_files import HOSTILE, OPTIONS, write_mixed
from tests.tables import tables
from tests.viewer.pages import Page
from tools.shared.browser import opened

TABLES = tables(__file__)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened() as driver:
        yield Page(driver)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Summary, Path]:
    """The summary of a batch, and its page."""
    path = tmp_path_factory.mktemp("batch")
    files = [write_mixed(path / "in" / f"{name}.jsonl", times=3, day=day) for name, day in (("a", 1), ("b", 15))]
    summary = run(files, path / "out", OPTIONS, workers=1)
    return summary, write_report(path / "out")


Open = Callable[..., Page]


@pytest.fixture
def open_page(page: Page, batch: tuple[Summary, Path]) -> Open:
    """Opens the report in a window of a width, and returns the page."""

    def run(width: int = 1400, scheme: str = "light") -> Page:
        page.open(batch[1].as_uri(), width, scheme)
        return page

    return run


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_is_readable_and_loads_nothing(open_page: Open, width: int, scheme: str) -> None:
    page = open_page(width, scheme)
    page.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    assert page.overflow() == 0
    assert page.browser.title == "Batch report: out"
    assert page.complaints() == []
    assert page.requested() == [page.browser.current_url]
    assert page.run("return [document.scripts.length, document.images.length]") == [0, 0]
    assert visible(HOSTILE) in page.texts("td code, th code")
    low = page.run(TABLES["CONTRASTS"])
    assert low == []


def test_the_counts_are_those_of_the_summary(open_page: Open, batch: tuple[Summary, Path]) -> None:
    page, total = open_page(), batch[0].total
    tiles = dict(zip(page.texts(".tiles dt"), page.texts(".tiles dd"), strict=True))
    assert tiles["rows read"] == str(total.rows)
    assert tiles["in quarantine"].startswith(str(total.quarantined))
    for status in ("ok", "repaired", "truncated", "invalid"):
        count = sum(own.get(status, 0) for own in total.statuses.values())
        assert tiles[status] == f"{count / total.rows:.1%}{count}"
    rows = "[aria-label=Formats] tbody tr"
    names, counts = page.texts(f"{rows} th"), page.texts(f"{rows} td:nth-child(2)")
    found = dict(zip(names, map(int, counts), strict=True))
    assert found == {name: sum(own.values()) for name, own in total.statuses.items()}
    bars = page.run(
        "return [...document.querySelectorAll('.bar rect')].every((n) => n.getBoundingClientRect().width > 0)"
    )
    assert bars
    assert page.texts("#quarantine ~ details .name") == ["not-json", "not-text"]


def test_an_example_opens_with_the_keyboard(open_page: Open) -> None:
    page = open_page()
    summary: Any = None
    for _ in range(60):
        page.press(Keys.TAB)
        summary = page.run("return document.activeElement")
        if summary.text.split()[:1] == ["trailing-comma"]:
            break
    assert summary.tag_name == "summary"
    outline = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    snippet = summary.find_element("xpath", "../div//pre")
    assert not snippet.is_displayed()
    page.press(Keys.ENTER)
    assert snippet.is_displayed()
    assert re.match(r"warning\[trailing-comma\]: a comma .*\n +--> hermes:2:\d+ \(offset \d+\)\n", snippet.text)
    assert "^ dropped" in snippet.text


def test_everything_that_scrolls_or_opens_has_a_name(open_page: Open) -> None:
    page = open_page(400)
    tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    shown = [n for n in tree if not n.get("ignored")]
    parts = [n for n in shown if n.get("role", {}).get("value") in ("region", "table", "DisclosureTriangle", "img")]
    assert len(parts) > 20
    assert [
        n["role"]["value"] for n in parts if not n.get("name", {}).get("value") and n["role"]["value"] != "table"
    ] == []
    heads = page.run("return [...document.querySelectorAll('th')].map((n) => n.scope)")
    assert set(heads) == {"row", "col"}
