"""The page that a model acts on, as far as its actions are checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from outspoken.results.actions.base import ElementRef

_MODEL = ConfigDict(frozen=True)


class PageElement(BaseModel):
    """An element of the page.

    `kind` is its tag (`input`), `attributes` are those of the page, of which `type` and `role` say what it is, too.
    `hash` and `data` are the caller's: actions that name the element get them.
    """

    model_config = _MODEL

    kind: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict[str, Any])
    hash: str | None = None
    text: str | None = None
    data: dict[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def words(self) -> frozenset[str]:
        """All that says what it is, in small letters: its tag, type and role."""
        said = (self.kind, self.attributes.get("type"), self.attributes.get("role"))
        return frozenset([word.strip().lower() for word in said if isinstance(word, str) and word.strip()])


class PageContext(BaseModel):
    """The elements of a page by the ids, marks or indexes that the model was given for them, as text."""

    model_config = _MODEL

    elements: dict[str, PageElement] = Field(default_factory=dict[str, PageElement])

    @classmethod
    def of(
        cls, elements: Mapping[str, Mapping[str, Any]] | None = None, hashes: Mapping[str, str] | None = None
    ) -> PageContext:
        """A page from what a scraper made of it: each element's data and its hash, by id.

        Of the data, `tagName` (or `tag`), `attributes` and `text` are used, where they are there.
        """
        data, hashes = elements or {}, hashes or {}
        found = {id: _element(data.get(id) or {}, hashes.get(id)) for id in dict.fromkeys([*data, *hashes])}
        return cls(elements={str(id): element for id, element in found.items()})

    def find(self, named: ElementRef) -> tuple[str, PageElement | None]:
        """The name that an action has for an element, and that element; "" where its words are no such name."""
        for name in (named.id, named.mark, named.index):
            if name is not None:
                return str(name), self.elements.get(str(name))
        return "", None


def _element(data: Mapping[str, Any], hash: str | None) -> PageElement:
    kind, attributes, text = data.get("tagName") or data.get("tag"), data.get("attributes"), data.get("text")
    return PageElement(
        kind=kind.lower() if isinstance(kind, str) else None,
        attributes=dict(cast("Mapping[str, Any]", attributes)) if isinstance(attributes, Mapping) else {},
        hash=hash,
        text=text if isinstance(text, str) else None,
        data=dict(data),
    )
