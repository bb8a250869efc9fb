"""The page of `outspoken report`, as a real browser shows it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from outspoken.batch import Summary, run, write_report
from outspoken.results.snippet import visible
from tests.batch.batch_report import HOSTILE, OPTIONS, write_mixed
from tests.tables import tables
from tools.shared.browser import opened

TABLES = tables(__file__)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as driver:
        yield driver


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Summary, Path]:
    """The summary of a batch, and its page."""
    path = tmp_path_factory.mktemp("batch")
    files = [write_mixed(path / "in" / f"{name}.jsonl", times=3, day=day) for name, day in (("a", 1), ("b", 15))]
    summary = run(files, path / "out", OPTIONS, workers=1)
    return summary, write_report(path / "out")


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, batch: tuple[Summary, Path]) -> Open:
    """Opens the page in a window of a width, and returns the browser."""

    def run(width: int = 1400, scheme: str = "light") -> Any:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get("about:blank")
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(batch[1].as_uri())
        return browser

    return run


def texts(browser: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((n) => n.textContent)"
    return browser.execute_script(script, selector)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_is_readable_and_loads_nothing(open_page: Open, width: int, scheme: str) -> None:
    browser = open_page(width, scheme)
    browser.execute_script("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) == 0
    assert browser.title == "Batch report: out"
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert asked == [browser.current_url]
    assert browser.execute_script("return [document.scripts.length, document.images.length]") == [0, 0]
    assert visible(HOSTILE) in texts(browser, "td code, th code")
    low = browser.execute_script(_CONTRASTS)
    assert low == []


def test_the_counts_are_those_of_the_summary(open_page: Open, batch: tuple[Summary, Path]) -> None:
    browser, total = open_page(), batch[0].total
    tiles = dict(zip(texts(browser, ".tiles dt"), texts(browser, ".tiles dd"), strict=True))
    assert tiles["rows read"] == str(total.rows)
    assert tiles["in quarantine"].startswith(str(total.quarantined))
    for status in ("ok", "repaired", "truncated", "invalid"):
        count = sum(own.get(status, 0) for own in total.statuses.values())
        assert tiles[status] == f"{count / total.rows:.1%}{count}"
    rows = "[aria-label=Formats] tbody tr"
    names, counts = texts(browser, f"{rows} th"), texts(browser, f"{rows} td:nth-child(2)")
    found = dict(zip(names, map(int, counts), strict=True))
    assert found == {name: sum(own.values()) for name, own in total.statuses.items()}
    bars = browser.execute_script(
        "return [...document.querySelectorAll('.bar rect')].every((n) => n.getBoundingClientRect().width > 0)"
    )
    assert bars
    assert texts(browser, "#quarantine ~ details .name") == ["not-json", "not-text"]


def test_an_example_opens_with_the_keyboard(open_page: Open) -> None:
    browser = open_page()
    summary: Any = None
    for _ in range(60):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        summary = browser.execute_script("return document.activeElement")
        if summary.text.split()[:1] == ["trailing-comma"]:
            break
    assert summary.tag_name == "summary"
    outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    snippet = summary.find_element("xpath", "../div//pre")
    assert not snippet.is_displayed()
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert snippet.is_displayed()
    assert re.match(r"warning\[trailing-comma\]: a comma .*\n +--> hermes:2:\d+ \(offset \d+\)\n", snippet.text)
    assert "^ dropped" in snippet.text


def test_everything_that_scrolls_or_opens_has_a_name(open_page: Open) -> None:
    browser = open_page(400)
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    shown = [n for n in tree if not n.get("ignored")]
    parts = [n for n in shown if n.get("role", {}).get("value") in ("region", "table", "DisclosureTriangle", "img")]
    assert len(parts) > 20
    assert [
        n["role"]["value"] for n in parts if not n.get("name", {}).get("value") and n["role"]["value"] != "table"
    ] == []
    heads = browser.execute_script("return [...document.querySelectorAll('th')].map((n) => n.scope)")
    assert set(heads) == {"row", "col"}


#: Texts whose contrast with what is behind them is below 4.5.
_CONTRASTS = TABLES["CONTRASTS"]
