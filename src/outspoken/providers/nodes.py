"""The fields of an object that a provider sent, each read as what it has to be, or refused with its path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from .errors import ProviderFormatError

#: How much of an odd value an error shows.
_SHOWN = 40


def shown(value: Any) -> str:
    """What a value is, in words."""
    if value is None:
        return "missing"
    if isinstance(value, dict):
        keys = ", ".join([f"`{key}`" for key in list(cast("dict[str, Any]", value))[:6]])
        return f"an object with {keys}" if keys else "an empty object"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    kind = {str: "the text", bool: "the truth value", int: "the number", float: "the number"}
    return f"{kind.get(cast('type[Any]', type(value)), 'the value')} {text}"


class Node:
    """An object with the path that leads to it. A field that is `null` counts as missing."""

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        if not isinstance(value, dict):
            raise ProviderFormatError(path, shown(value), "an object")
        self.value = cast("dict[str, Any]", value)
        self.path = path

    def get(self, *keys: str) -> Any:
        """The first of these fields that there is, whatever it is; None where there is none."""
        for key in keys:
            found = self.value.get(key)
            if found is not None:
                return found
        return None

    def has(self, *keys: str) -> bool:
        """Is one of these fields there, even if it is `null`?"""
        return any(key in self.value for key in keys)

    def wrong(self, key: str, expected: str) -> ProviderFormatError:
        """The error that says that a field is not what it has to be."""
        return ProviderFormatError(self._at(key), shown(self.value.get(key)), expected)

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _first(self, keys: tuple[str, ...]) -> tuple[str, Any]:
        for key in keys:
            found = self.value.get(key)
            if found is not None:
                return key, found
        return keys[0], None

    def text(self, *keys: str) -> str | None:
        """A text; None where there is none. Several keys are spellings of one field, here and below."""
        key, found = self._first(keys)
        if found is not None and not isinstance(found, str):
            raise self.wrong(key, "text")
        return found

    def word(self, *keys: str) -> str | None:
        """A text or a number, as text."""
        key, found = self._first(keys)
        if found is None or isinstance(found, str):
            return found
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return str(found)
        raise self.wrong(key, "text")

    def whole(self, *keys: str) -> int | None:
        """A whole number, which some servers write as text."""
        key, found = self._first(keys)
        if isinstance(found, str) and found.strip().lstrip("-").isdecimal():
            return int(found)
        if isinstance(found, float) and found.is_integer():
            return int(found)
        if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
            raise self.wrong(key, "a whole number")
        return found

    def node(self, *keys: str) -> Node | None:
        """An object; None where there is none."""
        key, found = self._first(keys)
        return None if found is None else Node(found, self._at(key))

    def nodes(self, *keys: str) -> list[Node]:
        """A list of objects; an empty one where there is none."""
        key, found = self._first(keys)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self.wrong(key, "a list")
        at = self._at(key)
        return [Node(item, f"{at}[{i}]") for i, item in enumerate(cast("Iterable[Any]", found))]
