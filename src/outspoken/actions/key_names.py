"""Names of keys: those that there are, and those of Playwright, for those who carry out actions."""

from __future__ import annotations

import re
from functools import cache

from .fields import KEY_SYNONYMS, key_name

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
#: Keys that a browser does not have: further function keys, keypads, and the keys of phones, media and laptops.
_OF_DEVICES = re.compile(
    r"f(?:1[3-9]|2[0-4])|(?:num_?pad|kp|keypad|media|audio|launch|browser|brightness|soft|dpad)[_a-z0-9]*|fn|back|power|"
    r"camera|search|call|end_?call|app_?(?:select|switch)|recents?|mute|volume_?mute|sleep|wake_?up|help|clear|"
    r"select|play|stop|next|previous|eject|hyper|compose|alt_?gr|sys_?rq|scroll|cut|copy|paste|undo|redo|num_?[0-9]|"
    r"add|subtract|multiply|divide|decimal|separator|plus|minus|equals?|comma|period|slash|backslash|semicolon|"
    r"apostrophe|grave|bracket_?(?:left|right)|underscore|colon|question|exclam|asterisk|quote(?:dbl|left|right)?"
)
#: Other spellings that `key_name` leaves as they are.
_SPELLINGS = {
    "contextmenu": "menu", "apps": "menu", "context_menu": "menu", "audiovolumeup": "volume_up",
    "volumeup": "volume_up", "audiovolumedown": "volume_down", "volumedown": "volume_down", "metaleft": "meta",
    "metaright": "meta", "winright": "meta", "controlormeta": "ctrl", "break": "pause",
}  # fmt: skip


def is_key(name: str) -> bool:
    """Is this the name of a key, as `key_name` returns it? A single character is one."""
    known = _spelled(name)
    return len(known) == 1 or known in _NAMED or any(names.fullmatch(known) for names in (_FUNCTION, _OF_DEVICES))


@cache
def key_pattern() -> str:
    """A regular expression of names of keys for which `is_key` holds: in lowercase, in capitals, or with initials."""
    names = sorted({*_NAMED, *KEY_SYNONYMS, *_SPELLINGS})
    written = [f"[{name[0]}{name[0].upper()}]{name[1:]}|{name.upper()}" for name in names]
    initials = dict.fromkeys([*[name.title() for name in names if "_" in name], *_NAMED.values()])
    functions = "[fF](?:[1-9]|1[0-9]|2[0-4])"
    return "|".join(["[a-zA-Z0-9_]", "[-=./;,*]", functions, *written, *initials, _OF_DEVICES.pattern])


def _spelled(name: str) -> str:
    known = key_name(name)
    return _SPELLINGS.get(known, known)


def playwright_key(name: str) -> str:
    """The name under which Playwright's `keyboard.press` knows a key: `Control` for `ctrl`, `PageUp` for `page_up`.

    `name` is a key of an action or any synonym that `key_name` knows. A printable ASCII character is its own name.
    Raises ValueError for a key that Playwright does not have.
    """
    if len(name) == 1 and "!" <= name <= "~":
        return name
    spelled = _spelled(name)
    if spelled in _NAMED:
        return _NAMED[spelled]
    if _FUNCTION.fullmatch(spelled):
        return spelled.upper()
    if len(spelled) == 1 and "!" <= spelled <= "~":
        return spelled
    from difflib import get_close_matches  # reading an action does not need it

    near = get_close_matches(spelled, _NAMED, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "to enter text, type it"
    raise ValueError(f"Playwright has no key `{name[:40]}`; {hint}")
