"""What is raised where something is no response of a provider. What the model wrote raises nothing."""

from __future__ import annotations

from outspoken.results.errors import OutspokenError


class ProviderFormatError(OutspokenError, ValueError):
    """Something that a provider does not send. `path` is the field, `found` what is there, `expected` what may be.

    `place` is the chunk, counted from 1: "chunk 3", or "" where there is only one.
    """

    def __init__(self, path: str, found: str, expected: str, place: str = "") -> None:
        self.path, self.found, self.expected, self.place = path, found, expected, place
        where = f"`{path}`" if path else "the response"
        super().__init__(f"{f'{place}: ' if place else ''}{where} is {found}; expected {expected}")


class UnknownProviderError(OutspokenError, ValueError):
    """There is no provider of this name."""

    def __init__(self, name: object, known: list[str]) -> None:
        self.name = name
        super().__init__(f"there is no provider {name!r}; there are {', '.join(known)}")
