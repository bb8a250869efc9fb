"""What a tool's JSON schema says of values that are written without types."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from typing_extensions import Self, override

from outspoken.results.schemas.schema import Schema

from .coerce import read_bare


class SchemaView(Schema):
    """One place of a schema, with `fallback`: how bare text is read if the schema gives no type, "json" or "text"."""

    def __init__(self, node: Any, root: Any, fallback: str) -> None:
        super().__init__(node, root)
        self._fallback = fallback

    @override
    def _at(self, node: Any) -> Self:
        return type(self)(node, self._root, self._fallback)

    @cached_property
    def is_text(self) -> bool:
        """Can the value only be a string?"""
        return self.types is not None and self.types <= {"string"}

    @cached_property
    def may_be_text(self) -> bool:
        """Can the value be a string?"""
        return self.types is None or "string" in self.types

    def may_be(self, kind: str) -> bool:
        """Can the value be of a JSON type?"""
        return self.types is None or kind in self.types

    def bare(self, text: str) -> Any:
        """The value of bare text."""
        return read_bare(text, self.types, self._fallback)

    def quoted(self, text: str) -> Any:
        """The value of text that is marked as a string. It is read as bare text only if no string is allowed."""
        return text if self.may_be_text else read_bare(text, self.types, "text")


#: The view of a value of which nothing is known.
ANY = SchemaView(None, None, "json")
