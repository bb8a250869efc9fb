"""Finds a browser and its driver on this machine, and opens it without a window. It downloads nothing.

`python -m tools.shared.browser` prints both paths, or exits with 1 where there are none.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, NamedTuple

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

#: Where each is named in the environment, and what it is called on the PATH.
BROWSER, DRIVER = "OUTSPOKEN_BROWSER", "OUTSPOKEN_CHROMEDRIVER"
_BROWSERS = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "chrome")
_DRIVERS = ("chromedriver", "chromium.chromedriver")

_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-default-browser-check"),
    "--force-color-profile=srgb",
)


class NoBrowserError(Exception):
    """There is no browser, or no driver for it."""


class Installed(NamedTuple):
    """The paths of a browser and of its driver."""

    browser: str
    driver: str


def find() -> Installed:
    """The browser and driver of this machine. Raises NoBrowserError, which says what is missing."""
    return Installed(_find("browser", BROWSER, _BROWSERS), _find("driver", DRIVER, _DRIVERS))


def _find(what: str, variable: str, names: Iterable[str]) -> str:
    named = os.environ.get(variable)
    found = next((path for name in ([named] if named else names) if (path := shutil.which(name))), None)
    if found is None:
        where = f"{variable}={named} is none" if named else f"neither {variable} nor the PATH names one"
        raise NoBrowserError(f"there is no {what}: {where}")
    return found


@contextmanager
def opened(width: int = 1280, height: int = 900) -> Generator[Any]:
    """A new browser without a window, as a selenium driver that keeps what the console says and what is requested."""
    installed = find()
    with tempfile.TemporaryDirectory(prefix="outspoken-browser-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = installed.browser
        for option in (*_OPTIONS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(executable_path=installed.driver))
        try:
            yield driver
        finally:
            driver.quit()


def main() -> int:
    """Print the paths of the browser and its driver, or why there are none."""
    try:
        print(*find(), sep="\n")
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
