"""Key names for those who carry out actions: `playwright_key`."""

from __future__ import annotations

import re
from difflib import get_close_matches

from .fields import key_name

#: Our names that Playwright writes differently from `PageUp` for `page_up`.
_OTHERS = {
    "ctrl": "Control",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "menu": "ContextMenu",
    "volume_up": "AudioVolumeUp",
    "volume_down": "AudioVolumeDown",
}
_SAME = (
    "alt meta shift enter escape tab space backspace delete insert home end pause page_up page_down caps_lock "
    "num_lock scroll_lock print_screen"
)
_NAMED = {name: name.title().replace("_", "") for name in _SAME.split()} | _OTHERS
_FUNCTION = re.compile(r"f(?:[1-9]|1[0-2])")
#: Other spellings that `key_name` leaves as they are.
_SPELLINGS = {
    "contextmenu": "menu", "apps": "menu", "context_menu": "menu", "audiovolumeup": "volume_up",
    "volumeup": "volume_up", "audiovolumedown": "volume_down", "volumedown": "volume_down", "metaleft": "meta",
    "metaright": "meta", "winright": "meta", "controlormeta": "ctrl", "break": "pause",
}  # fmt: skip


def playwright_key(name: str) -> str:
    """The name under which Playwright's `keyboard.press` knows a key: `Control` for `ctrl`, `PageUp` for `page_up`.

    `name` is a key of an action or any synonym that `key_name` knows. A printable ASCII character is its own name.
    Raises ValueError for a key that Playwright does not have.
    """
    if len(name) == 1 and "!" <= name <= "~":
        return name
    known = key_name(name)
    known = _SPELLINGS.get(known, known)
    if known in _NAMED:
        return _NAMED[known]
    if _FUNCTION.fullmatch(known):
        return known.upper()
    if len(known) == 1 and "!" <= known <= "~":
        return known
    near = get_close_matches(known, _NAMED, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "to enter text, type it"
    raise ValueError(f"Playwright has no key `{name[:40]}`; {hint}")
