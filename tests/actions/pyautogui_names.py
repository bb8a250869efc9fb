"""The names of pyautogui that written code may use: its functions with their arguments by name, and its keys."""

from __future__ import annotations

_PLACE = {"x", "y", "button", "duration"}

#: A function, and the arguments that are given by name.
FUNCTIONS: dict[str, set[str]] = {
    "pyautogui.click": _PLACE | {"clicks", "interval"},
    "pyautogui.mouseDown": _PLACE,
    "pyautogui.mouseUp": _PLACE,
    "pyautogui.moveTo": {"duration"},
    "pyautogui.dragTo": {"duration", "button"},
    "pyautogui.scroll": set(),
    "pyautogui.hscroll": set(),
    "pyautogui.write": {"interval"},
    "pyautogui.press": {"presses", "interval"},
    "pyautogui.hotkey": {"interval"},
    "pyautogui.keyDown": set(),
    "pyautogui.keyUp": set(),
    "pyautogui.screenshot": {"region"},
    "pyautogui.position": set(),
    "pyperclip.copy": set(),
    "time.sleep": set(),
}

_NAMED = """
add alt altleft altright apps backspace browserback browserfavorites browserforward browserhome browserrefresh
browsersearch browserstop capslock clear command ctrl ctrlleft ctrlright decimal del delete divide down end enter esc
escape fn help home insert left multiply numlock option optionleft optionright pagedown pageup pause pgdn pgup playpause
print printscreen prntscrn prtsc prtscr return right scrolllock select separator shift shiftleft shiftright space
subtract tab up volumedown volumemute volumeup win winleft winright
"""

#: The keys of `pyautogui.KEYBOARD_KEYS` that one may press.
KEY_NAMES = {
    *_NAMED.split(),
    *[f"f{number}" for number in range(1, 25)],
    *[f"num{digit}" for digit in range(10)],
    *[chr(code) for code in range(ord(" "), ord("~") + 1)],
}
