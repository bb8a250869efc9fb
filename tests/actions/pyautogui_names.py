"""The names of pyautogui that written code may use: its functions with their arguments by name, and its keys."""

from tests.tables import tables

TABLES = tables(__file__)

#: A function, and the arguments that are given by name.
FUNCTIONS: dict[str, set[str]] = {name: {*arguments} for name, arguments in TABLES["FUNCTIONS"].items()}

#: The keys of `pyautogui.KEYBOARD_KEYS` that one may press.
KEY_NAMES = {
    *TABLES["NAMED"].split(),
    *[f"f{number}" for number in range(1, 25)],
    *[f"num{digit}" for digit in range(10)],
    *[chr(code) for code in range(ord(" "), ord("~") + 1)],
}
