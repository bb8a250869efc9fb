"""Objects as elements named after their keys, with a prefix before each tag: `~<days>3~</days>`.

With the prefix `<`, tags are plain (`<days>3</days>`). Then values hold such tags as text unless the schema says that
elements stand in them, and the line breaks at their two ends belong to the tags.

Elements nest. Elements with the same name are a list, as are elements that are all called `item`. Text gets its type
from the tool's schema, or is read as JSON; where only a string is allowed, it is kept exactly, tags included. Nothing
encloses the object: it ends before a closing tag that closes none of its elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.schemas.schema import fits

from .coerce import ANY, SchemaView, escape, to_json
from .transcoder import MarkedNotation, ReadValue, Transcoder, overlap, search_mark

_ITEM = "item"
_BLANK = " \t\r\n\f"
_NAME = r"[^\s<>/]{1,128}"
_WHOLE_NAME = lazy_pattern(_NAME)
_TAG_BEGUN = lazy_pattern(r"(?:<(?:/?[^\s<>/]{0,128})?)?")


@lru_cache(maxsize=64)
def _tag(prefix: str) -> Any:
    return re.compile(rf"{re.escape(prefix)}<(/?)({_NAME})>")


def _trimmed(text: str) -> str:
    """A value between plain tags without the line breaks at its ends."""
    body = text.removeprefix("\r").removeprefix("\n")
    return body if body is text else re.sub(r"\r?\n[ \t]*\Z", "", body)


def _of_text(text: str, schema_view: SchemaView) -> Any:
    """The value of an element that holds text."""
    if schema_view.is_text:
        return text
    if not text.strip(_BLANK) and not schema_view.may_be_text:
        if schema_view.may_be("array"):
            return []
        if schema_view.may_be("object"):
            return {}
    return schema_view.bare(text)


class _Child(NamedTuple):
    """A complete element. `loose`: an item of a list without an element of its own; `single`: it cannot be a list."""

    name: str
    value: Any
    loose: bool
    single: bool


class _Element:
    """An open element. `raw`: only text is allowed in it. `written`: its text is transcoded while it arrives."""

    __slots__ = ("name", "schema_view", "pieces", "children", "inner", "raw", "written")

    def __init__(self, name: str, schema_view: SchemaView) -> None:
        self.name, self.schema_view = name, schema_view
        self.raw = schema_view.is_text
        self.written = False
        self.pieces: list[str] = []
        self.children: list[_Child] = []
        #: the open tags in raw text
        self.inner: list[str] = []


class TaggedScanner(Transcoder):
    """Reads one object in elements that arrives in pieces, and transcodes it to JSON.

    Elements that may be repeated, and so become a list, are written at the end.
    """

    def __init__(self, prefix: str, max_depth: int, schema_view: SchemaView) -> None:
        super().__init__()
        self._mark, self._max = f"{prefix}<", max_depth
        self._tag, self._is_plain = _tag(prefix), not prefix
        self._root = _Element("", schema_view)
        self._root.raw = False
        self._stack = [self._root]
        #: how many elements are written
        self._sure = 0

    @property
    def depth(self) -> int:
        return len(self._stack) - 1

    @property
    def search_special(self) -> Callable[[str], re.Match[str] | None] | None:
        return search_mark(self._mark) if self._stack[-1].written else None

    def receive(self, piece: str) -> str:
        self._stack[-1].pieces.append(piece)
        return self._receive(escape(piece))

    def feed(self, text: str, pos: int) -> tuple[int, bool]:
        while not self.broken:
            start, match = self._next(text, pos)
            if start > pos:
                pos = self._text(text, pos, start)
                if self.broken:
                    break
            if match is None:
                break
            if not self._written:
                self._written.append("{")
            if match[1] and self._stack[-1] is self._root:
                self._end()
                return start, True
            self._on_tag(match, text)
            pos = match.end() if not self.broken else start
        return pos, False

    def _next(self, text: str, pos: int) -> tuple[int, Any]:
        """The start of the next tag and its match, or the start of an incomplete tag and None."""
        mark, at = self._mark, pos
        while (at := text.find(mark, at)) >= 0:
            if (match := self._tag.match(text, at)) is not None:
                return at, match
            if _TAG_BEGUN.fullmatch(text, at + len(mark) - 1):
                return at, None
            at += 1
        return len(text) - overlap(text, pos, mark), None

    def _text(self, text: str, pos: int, end: int) -> int:
        """Read text within an element. Returns where reading stopped."""
        element, piece = self._stack[-1], text[pos:end]
        if element is self._root or element.children:
            rest = piece.lstrip(_BLANK)
            self.broken = bool(rest)
            return end - len(rest)
        self._add(element, piece)
        return end

    def _add(self, element: _Element, piece: str) -> None:
        element.pieces.append(piece)
        if element.written:
            self._written.append(escape(piece))

    def _on_tag(self, match: Any, text: str) -> None:
        """Read a tag: it opens or closes an element, or is text where only text is allowed."""
        closes, name = match.groups()
        element = self._stack[-1]
        if element.raw and not (closes and not element.inner and name == element.name):
            if self._is_plain and name != element.name:
                pass  # as other text: nothing says that such tags come in pairs
            elif not closes:
                element.inner.append(name)
            elif not element.inner or element.inner.pop() != name:
                self.broken = True
                return
            self._add(element, match[0])
        elif closes:
            self.broken = name != element.name
            if not self.broken:
                self._close()
        elif "".join(element.pieces).strip(_BLANK) or len(self._stack) > self._max:
            self.broken = True
        else:
            element.pieces.clear()
            self._open(element, name)

    def _open(self, parent: _Element, name: str) -> None:
        schema_view = parent.schema_view
        listed = (
            parent is not self._root
            and schema_view.may_be("array")
            and (name == _ITEM or not schema_view.may_be("object"))
        )
        element = _Element(name, schema_view.item if listed else schema_view.member(name))
        element.raw |= self._is_plain and element.schema_view.types is None
        if parent is self._root and element.raw and not self._is_plain and self._sure == len(parent.children):
            element.written = True
            self._written.append(f'{self._lead(name)}"')
        self._stack.append(element)

    def _lead(self, name: str) -> str:
        return f"{', ' if self._sure else ''}{to_json(name)}: "

    def _close(self) -> None:
        """An element is complete."""
        element = self._stack.pop()
        parent, schema_view = self._stack[-1], element.schema_view
        value, loose = self._value(element)
        single = schema_view.types is not None and "array" not in schema_view.types
        parent.children.append(_Child(element.name, value, loose, single))
        if parent is self._root and single and self._sure == len(parent.children) - 1:
            self._written.append('"' if element.written else f"{self._lead(element.name)}{to_json(value)}")
            self._sure += 1

    def _value(self, element: _Element) -> tuple[Any, bool]:
        """The value of an element, and whether it is `loose`."""
        schema_view, children = element.schema_view, element.children
        if children:
            all_items = all(child.name == _ITEM for child in children)
            if schema_view.may_be("array") and (all_items or not schema_view.may_be("object")):
                return [[child.value] if child.loose else child.value for child in children], False
            return _grouped(children), False
        text = "".join(element.pieces)
        text = _trimmed(text) if self._is_plain else text
        value = _of_text(text, schema_view)
        if schema_view.types is not None and "array" in schema_view.types and not fits(value, schema_view.types):
            return schema_view.item.bare(text), True
        return value, False

    def _end(self) -> None:
        """The object is complete: write what is not written yet."""
        for name, value in _grouped(self._root.children[self._sure :]).items():
            self._written.append(f"{self._lead(name)}{to_json(value)}")
            self._sure += 1
        self._written.append("}")


def _grouped(children: list[_Child]) -> dict[str, Any]:
    """The object of elements. Elements with the same name are a list, unless the schema allows none."""
    groups: dict[str, list[_Child]] = {}
    for child in children:
        groups.setdefault(child.name, []).append(child)
    found: dict[str, Any] = {}
    for name, group in groups.items():
        last = group[-1]
        many = last.loose or (len(group) > 1 and not last.single)
        found[name] = [child.value for child in group] if many else last.value
    return found


class TaggedNotation(MarkedNotation):
    """Objects as elements. `mark` is the prefix of tags; "" if the string of the terminal is `<`."""

    def __init__(self, mark: str) -> None:
        super().__init__("" if mark == "<" else mark, mark[:1])
        self.ending = f"{self.mark}</->"

    def scanner(self, max_depth: int, view: SchemaView = ANY) -> TaggedScanner:
        return TaggedScanner(self.mark, max_depth, view)

    def read_plain(self, text: str, pos: int, view: SchemaView) -> ReadValue | None:
        """Read a complete object in which no element holds another or may be a list."""
        tag, prefix = _tag(self.mark), f"{self.mark}<"
        value: dict[str, Any] = {}
        written: list[str] = []
        while (at := text.find(prefix, pos)) >= 0 and not text[pos:at].strip(_BLANK):
            opened = tag.match(text, at)
            if opened is None:
                return None
            name = opened[2]
            if opened[1]:
                return value, at, f"{{{', '.join(written)}}}"
            pos = opened.end()
            at = text.find(prefix, pos)
            closed = tag.match(text, at) if at >= 0 else None
            member_view = view.member(name)
            if (
                closed is None
                or not closed[1]
                or closed[2] != name
                or member_view.types is None
                or "array" in member_view.types
            ):
                return None
            member = value[name] = _of_text(text[pos:at] if self.mark else _trimmed(text[pos:at]), member_view)
            written.append(f"{to_json(name)}: {to_json(member)}")
            pos = closed.end()
        return None

    def open_end(self, text: str, max_depth: int) -> str:
        return "cut"  # an element is open in all that is not complete

    def ends_before(self, text: str, pos: int, max_depth: int, view: SchemaView) -> list[int]:
        scanner = self.scanner(max_depth, view)
        end, is_done = scanner.feed(text, pos)
        return [] if is_done or scanner.depth or end == pos else [end]

    def write(self, value: Any) -> str | None:
        """The object in this notation; None if the notation cannot express it."""
        parts: list[str] = []
        for key, inner in cast("dict[str, Any]", value).items():
            text = self._written(inner)
            if text is None or not _WHOLE_NAME.fullmatch(key):
                return None
            parts.append(f"{self.mark}<{key}>{text}{self.mark}</{key}>")
        return "".join(parts)

    def _written(self, value: Any) -> str | None:
        if isinstance(value, dict):
            return self.write(value)
        if isinstance(value, list):
            items = [self.write({_ITEM: inner}) for inner in cast("list[Any]", value)]
            return None if None in items else "".join(map(str, items))
        return value if isinstance(value, str) else to_json(value)
