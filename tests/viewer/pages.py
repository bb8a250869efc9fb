"""A page with the view of a response, in a real browser."""

import json
from typing import Any

from selenium.webdriver.common.action_chains import ActionChains


def long_response(calls: int) -> str:
    """A response with so many calls, and a text before each."""
    call = f'<tool_call>\n{{"name": "f", "arguments": {{"n": "{"x" * 150}"}}}}\n</tool_call>'
    return "".join([f"Step {n}.\n{call}\n" for n in range(calls)])


class Page:
    """The page that a browser shows."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser

    def open(self, url: str, width: int = 1280, scheme: str = "light") -> None:
        """Open a page anew, in a window of a width."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.browser.get("about:blank")
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)
        self.browser.get(url)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements of a selector."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((n) => n.textContent)", selector)

    def press(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def click(self, selector: str) -> None:
        self.browser.find_element("css selector", selector).click()

    def choose(self, name: str, value: str) -> None:
        """Choose an option of a list."""
        script = "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        self.run(f"{script} s.dispatchEvent(new Event('change'))", name, value)

    def requested(self) -> list[str]:
        """What was requested since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the console says, but for the answers that refuse what a test asks for."""
        found = [entry["message"] for entry in self.browser.get_log("browser")]
        return [message for message in found if " 422 " not in message]

    def clipped(self) -> list[str]:
        """The buttons that are narrower than their words."""
        return self.run(
            "return [...document.querySelectorAll('button')].filter((n) => !n.classList.contains('leaf')"
            "&& n.offsetParent && n.scrollWidth > n.clientWidth + 1).map((n) => n.textContent)"
        )

    def overflow(self) -> int:
        return self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def unnamed(self, *roles: str) -> set[str]:
        """The roles of controls that have no name, of some roles that occur."""
        tree = self.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        controls = [n for n in tree if n.get("role", {}).get("value") in roles and not n.get("ignored")]
        assert len(controls) > 10
        return {n["role"]["value"] for n in controls if not n.get("name", {}).get("value")}
