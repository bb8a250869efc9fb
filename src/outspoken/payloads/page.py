"""A page of an application: which payloads and which of the client's actions there are."""

from __future__ import annotations

from dataclasses import dataclass

from .types import PayloadType


@dataclass(frozen=True)
class Page:
    """What a registry says of one page; `name` is None where no page was named, so that all of them count.

    `types` are the payloads that count, in the order in which they were registered; `elsewhere` are those of other
    pages. `actions` is what the client can do, each with what is said of it to the model.
    """

    name: str | None
    types: tuple[PayloadType, ...]
    elsewhere: tuple[PayloadType, ...]
    actions: dict[str, str]

    def of(self, marker: str) -> PayloadType | None:
        """The type of a marker; None where it is that of another page."""
        return next((one for one in self.types if one.marker == marker), None)

    @property
    def beside(self) -> tuple[str, ...]:
        """The names of the types that have keys of their own in a message."""
        return tuple([one.name for one in self.types if one.beside])
