"""A JSON object with typed access to its fields. A field of the wrong type raises an error with its path."""

from __future__ import annotations

from typing import Any, cast

from outspoken.providers.errors import ProviderFormatError

#: How many characters of a value, and how many keys of an object, a description shows.
_MAX_CHARS, _MAX_KEYS = 40, 6
_KINDS: dict[type, str] = {str: "the text", bool: "the truth value", int: "the number", float: "the number"}


def describe_value(value: Any) -> str:
    """Describe a value in a few words, for error messages."""
    if value is None:
        return "missing"
    if isinstance(value, dict):
        keys = ", ".join([f"`{key}`" for key in list(cast("dict[str, Any]", value))[:_MAX_KEYS]])
        return f"an object with {keys}" if keys else "an empty object"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    text = text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}..."
    return f"{_KINDS.get(cast('type[Any]', type(value)), 'the value')} {text}"


class JsonObject:
    """An object and the path that leads to it.

    A field that is `null` counts as missing. Where a method takes several keys, they are spellings of one field, and
    the first that is present counts. Raises ProviderFormatError if the value is no object.
    """

    __slots__ = ("path", "value")

    def __init__(self, value: Any, path: str = "") -> None:
        if not isinstance(value, dict):
            raise ProviderFormatError(path, describe_value(value), "an object")
        self.value = cast("dict[str, Any]", value)
        self.path = path

    def get(self, *keys: str) -> Any:
        """Return the field, of whatever type; None if it is missing."""
        return self._find(keys)[1]

    def has(self, *keys: str) -> bool:
        """Is one of these keys present, even with `null`?"""
        return any(key in self.value for key in keys)

    def invalid(self, key: str, expected: str) -> ProviderFormatError:
        """Return an error for a field that is not as `expected`."""
        return ProviderFormatError(self._path_of(key), describe_value(self.value.get(key)), expected)

    def _path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def _find(self, keys: tuple[str, ...]) -> tuple[str, Any]:
        for key in keys:
            found = self.value.get(key)
            if found is not None:
                return key, found
        return keys[0], None

    def string(self, *keys: str) -> str | None:
        """Return a string; None if it is missing."""
        key, found = self._find(keys)
        if found is not None and not isinstance(found, str):
            raise self.invalid(key, "text")
        return found

    def string_or_number(self, *keys: str) -> str | None:
        """Return a string, or a number as a string; None if it is missing."""
        key, found = self._find(keys)
        if found is None or isinstance(found, str):
            return found
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return str(found)
        raise self.invalid(key, "text")

    def integer(self, *keys: str) -> int | None:
        """Return an integer, which some servers send as text; None if it is missing."""
        key, found = self._find(keys)
        if isinstance(found, str) and found.strip().lstrip("-").isdecimal():
            return int(found)
        if isinstance(found, float) and found.is_integer():
            return int(found)
        if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
            raise self.invalid(key, "a whole number")
        return found

    def object(self, *keys: str) -> JsonObject | None:
        """Return an object; None if it is missing."""
        key, found = self._find(keys)
        return None if found is None else JsonObject(found, self._path_of(key))

    def required_object(self, key: str) -> JsonObject:
        """Return an object that must be present."""
        found = self.object(key)
        if found is None:
            raise self.invalid(key, "an object")
        return found

    def objects(self, *keys: str) -> list[JsonObject]:
        """Return a list of objects; an empty list if it is missing."""
        key, found = self._find(keys)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self.invalid(key, "a list")
        path = self._path_of(key)
        return [JsonObject(item, f"{path}[{i}]") for i, item in enumerate(cast("list[Any]", found))]
