"""Names of keys for Playwright."""

from __future__ import annotations

import pytest

from outspoken.actions.key_names import playwright_key
from tests.actions.playwright_keys import KEYS
from tests.loops import in_one_item

NAMES = {
    "ctrl": "Control",
    "control": "Control",
    "cmd": "Meta",
    "super": "Meta",
    "return": "Enter",
    "esc": "Escape",
    "Page_Down": "PageDown",
    "pgup": "PageUp",
    "down": "ArrowDown",
    "ArrowLeft": "ArrowLeft",
    "del": "Delete",
    "spacebar": "Space",
    " ": "Space",
    "f5": "F5",
    "F12": "F12",
    "+": "+",
    "A": "A",
    "é": None,
    "f25": None,
    "f0": None,
    "warp": None,
    "": None,
    "prtsc": "PrintScreen",
    "caps_lock": "CapsLock",
    "apps": "ContextMenu",
    "Num Lock": "NumLock",
    "~": "~",
    "ctrl+a": None,
    "volumeup": "AudioVolumeUp",
}


@in_one_item("name", NAMES)
def test_a_key_has_the_name_that_playwright_knows(name: str) -> None:
    expected = NAMES[name]
    if expected is None:
        with pytest.raises(ValueError, match="Playwright has no key"):
            playwright_key(name)
    else:
        assert playwright_key(name) == expected
        assert expected in KEYS
