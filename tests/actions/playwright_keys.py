"""The names that Playwright's keyboard accepts, from its documentation of `keyboard.press` and its US layout."""

from tests.tables import tables

TABLES = tables(__file__)

MODIFIERS = frozenset({"Alt", "Control", "ControlOrMeta", "Meta", "Shift"})


#: Every name of a key: those of keys, and the characters of the US layout.
KEYS = MODIFIERS | {
    *TABLES["NAMED"].split(),
    *[f"Digit{digit}" for digit in range(10)],
    *[f"Numpad{digit}" for digit in range(10)],
    *[f"Key{chr(code)}" for code in range(ord("A"), ord("Z") + 1)],
    *[chr(code) for code in range(ord(" "), ord("~") + 1)],
}


def parts(combination: str) -> list[str]:
    """The keys of a combination such as `Control+Shift+T`; a last `+` is a key."""
    keys = combination.split("+")
    return [*keys[:-2], "+"] if len(keys) > 1 and not keys[-1] else keys
