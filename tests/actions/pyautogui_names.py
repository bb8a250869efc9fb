"""The names of pyautogui that written code may use: its functions with their arguments by name, and its keys."""

from tests.tables import tables

TABLES = tables(__file__)

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


#: The keys of `pyautogui.KEYBOARD_KEYS` that one may press.
KEY_NAMES = {
    *TABLES["NAMED"].split(),
    *[f"f{number}" for number in range(1, 25)],
    *[f"num{digit}" for digit in range(10)],
    *[chr(code) for code in range(ord(" "), ord("~") + 1)],
}
