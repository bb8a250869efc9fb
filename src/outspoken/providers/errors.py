"""The errors for input that is not a response of a provider. The output of a model never raises them."""

from __future__ import annotations

from outspoken.results.errors import OutspokenError


class ProviderFormatError(OutspokenError, ValueError):
    """The provider's API has no such response or chunk.

    `path` is the field, "" for the whole; `found` describes its value and `expected` what it may be. `place` is the
    chunk, counted from 1, as in "chunk 3"; it is "" for the first.
    """

    def __init__(self, path: str, found: str, expected: str, place: str = "") -> None:
        self.path, self.found, self.expected, self.place = path, found, expected, place
        subject = f"`{path}`" if path else "the response"
        super().__init__(f"{f'{place}: ' if place else ''}{subject} is {found}; expected {expected}")


class UnknownProviderError(OutspokenError, ValueError):
    """There is no provider with this name."""

    def __init__(self, name: object, known: list[str]) -> None:
        self.name = name
        super().__init__(f"there is no provider {name!r}; the providers are {', '.join(known)}")
