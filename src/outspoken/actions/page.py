"""The page that a model acts on: the elements against which its actions are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from pydantic import Field

from outspoken.results.actions.base import ElementRef
from outspoken.results.arguments import check_optional
from outspoken.results.construct import FrozenModel


class PageElement(FrozenModel):
    """An element of the page.

    `kind` is its tag (`input`). Of its `attributes`, `type` and `role` describe it as well. `hash` and `data` belong to
    the caller; actions that refer to the element receive them.
    """

    kind: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict[str, Any])
    hash: str | None = None
    text: str | None = None
    data: dict[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def words(self) -> frozenset[str]:
        """The tag, type and role of the element, in lowercase."""
        words = (self.kind, self.attributes.get("type"), self.attributes.get("role"))
        return frozenset([word.strip().lower() for word in words if isinstance(word, str) and word.strip()])


#: An element, or what was scraped of it.
ElementLike: TypeAlias = PageElement | Mapping[str, Any]


class PageContext(FrozenModel):
    """The elements of a page, by the ids, marks or indexes that the model knows them by, as text."""

    elements: dict[str, PageElement] = Field(default_factory=dict[str, PageElement])

    @classmethod
    def of(
        cls, elements: Mapping[str, ElementLike] | None = None, hashes: Mapping[str, str] | None = None
    ) -> PageContext:
        """A page from scraped data: the data and the hash of each element, by id.

        Reads `tagName` (or `tag`), `attributes` and `text` of the data if present. Raises TypeError for an argument of
        a wrong type.
        """
        check_optional(elements, Mapping, "elements")
        check_optional(hashes, Mapping, "hashes")
        data, hashes = elements or {}, hashes or {}
        found = {id: _element(id, data.get(id), hashes.get(id)) for id in dict.fromkeys([*data, *hashes])}
        return cls(elements={str(id): element for id, element in found.items()})

    def find(self, reference: ElementRef) -> tuple[str, PageElement | None]:
        """The name by which a reference identifies an element ("" if it only describes one), and that element."""
        for name in (reference.id, reference.mark, reference.index):
            if name is not None:
                return str(name), self.elements.get(str(name))
        return "", None


def _element(id: str, data: ElementLike | None, hash: str | None) -> PageElement:
    if isinstance(data, PageElement):
        return data if hash is None else data.model_copy(update={"hash": hash})
    check_optional(data, Mapping, f"elements[{id!r}]")
    data = data or {}
    kind, attributes, text = data.get("tagName") or data.get("tag"), data.get("attributes"), data.get("text")
    return PageElement(
        kind=kind.lower() if isinstance(kind, str) else None,
        attributes=dict(cast("Mapping[str, Any]", attributes)) if isinstance(attributes, Mapping) else {},
        hash=hash,
        text=text if isinstance(text, str) else None,
        data=dict(data),
    )
