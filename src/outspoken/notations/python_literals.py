"""Python literals, read without evaluating anything; `python_notation` finds where one ends that arrives in pieces.

A literal ends before a comma, closing bracket or line break outside of brackets. Names, calls and operators are not
literals. Read at once or in pieces, a literal has the same extent and value.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Literal, NamedTuple

from outspoken.json.decoder import NotJsonError, encodable_value, finite, repeated_keys, scan_once, too_deep
from outspoken.patterns.lazy import lazy_pattern

_BLANK = r"[ \t\f]*"
_SPACE = r"[ \t\f\r\n]*"
_TAIL = _BLANK + r"(?=[,)\]}\r\n]|\Z)"
_OPENING = r"((?:[rR][bBfF]?|[bBfF][rR]?|[uU])?)('''|\"\"\"|'|\")"
_PLAIN = (
    r"(?:'(?P<single>[^'\\]*)'|\"(?P<double>[^\"\\]*)\""
    r"|(?P<decimal>[+-]?[0-9]{1,17}(?:\.[0-9]{1,17})?)|(?P<word>True|False|None|true|false|null))"
)
_RADIX = r"[+-]?0[xXoObB][0-9a-fA-F_]+"
_NUMBER = r"[+-]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9][0-9_]*)?"


def _token(space: str, after: str) -> re.Pattern[str]:
    """The first token of a value. A plain value is complete if `after` matches behind it."""
    others = rf"(?P<open>[\[({{])|(?P<string>{_OPENING})|(?P<radix>{_RADIX})|(?P<number>{_NUMBER})"
    return re.compile(f"{space}(?:{_PLAIN}(?={after})|{others})")


_SIMPLE = lazy_pattern(_PLAIN + _TAIL)
_ENDED = lazy_pattern(_TAIL)


class _Patterns(NamedTuple):
    """The expressions for literals that are neither plain nor JSON."""

    outer: re.Pattern[str]
    inner: re.Pattern[str]
    joined_outer: re.Pattern[str]
    joined_inner: re.Pattern[str]
    closer: re.Pattern[str]
    after: re.Pattern[str]
    escape: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """These expressions, compiled when a literal first needs them: it takes 1 ms, and most literals are plain."""
    return _Patterns(
        outer=_token(_BLANK, _TAIL),
        inner=_token(_SPACE, _SPACE + r"[,:)\]}]"),
        joined_outer=re.compile(_BLANK + _OPENING),
        joined_inner=re.compile(_SPACE + _OPENING),
        closer=re.compile(_SPACE + r"([)\]}])"),
        after=re.compile(_SPACE + r"(?:(?:(,)" + _SPACE + r")?([)\]}])|([,:]))"),
        escape=re.compile(
            r"\\(?:[\\'\"abfnrtv]|x[0-9a-fA-F]{2}|u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
            r"|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|[0-7]{1,3}|\r\n|\r|\n)"
        ),
    )


#: Which adjacent strings are one: all, or in lists those on lines of their own with white space or a sign between their
#: words. Else, a comma is missing between them.
Joins = Literal["all", "lines", "none"]

_WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_PAIRS = {"[": "]", "(": ")", "{": "}"}
_MAX_BITS = 14_000  # of an integer that can still be written in decimal
_ESCAPED = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True)) | {"\n": "", "\r": "", "\r\n": ""}


def read_at(text: str, pos: int, max_depth: int, *, joins: Joins = "all") -> tuple[Any, int] | None:
    """Read the literal that begins at `pos`. Returns its value and end; None if there is no sound one."""
    match = _SIMPLE.match(text, pos)
    if match is not None:
        return _scalar(match), match.end()
    if text.startswith(("[", "{"), pos) and (shared := _read_shared(text, pos, max_depth)) is not None:
        return shared
    try:
        value, end = _read(text, pos, max_depth, joins=joins)
    except ValueError:
        return None
    match = _ENDED.match(text, end)
    return None if match is None else (value, match.end())


def decode(text: str, max_depth: int, *, joins: Joins = "all") -> Any:
    """Read a text that is one literal; `joins` as for `read_at`. Raises NotJsonError."""
    text = text.strip(" \t\f\r\n")
    try:
        value, end = _read(text, 0, max_depth, joins=joins)
        if end == len(text):
            return value
    except ValueError:
        pass
    raise NotJsonError(text[:80])


def _read_shared(text: str, pos: int, max_depth: int) -> tuple[Any, int] | None:
    """The same by the JSON decoder, for a literal that is also JSON. Escapes differ, so a literal with any is not."""
    try:
        value, end = scan_once(text, pos)
    except (StopIteration, ValueError, RecursionError):
        return None
    match, piece = _ENDED.match(text, end), text[pos:end]
    if match is None or "\\" in piece or too_deep(value, piece, max_depth):
        return None
    if piece.count(":") > 1 and repeated_keys(piece, contradict=True):
        return None
    return (value if piece.isascii() else encodable_value(value)), match.end()


def _read(text: str, pos: int, max_depth: int, *, joins: Joins) -> tuple[Any, int]:
    """The literal that begins at `pos`, blanks skipped, and the end of its last token. Raises ValueError."""
    stack: list[tuple[str, list[Any], list[str]]] = []
    patterns = _patterns()
    token, joined = patterns.outer, patterns.joined_outer
    while (match := token.match(text, pos)) is not None:
        if match.lastgroup == "string":
            is_free = joins == "lines" and (not stack or stack[-1][0] == "(")
            value, pos = _strings(text, match.start("string"), joined, "all" if is_free else joins)
        elif match.lastgroup != "open":
            value, pos = _scalar(match), match.end()
        elif len(stack) >= max_depth:
            break
        else:
            pos = match.end()
            if (closing := patterns.closer.match(text, pos)) is None:
                stack.append((match["open"], [], []))
                token, joined = patterns.inner, patterns.joined_inner
                continue
            value, pos = _closed(match["open"], closing[1], [], []), closing.end()
        while stack:
            if (after := patterns.after.match(text, pos)) is None:
                raise NotJsonError(text[pos : pos + 80])
            opener, items, marks = stack[-1]
            comma, closer, mark = after.groups()
            items.append(value)
            pos = after.end()
            marks += mark or comma or ""
            if mark:
                break
            value = _closed(opener, closer, items, marks)
            stack.pop()
        else:
            return value, pos
    raise NotJsonError(text[pos : pos + 80])


def _closed(opener: str, closer: str, items: list[Any], marks: list[str]) -> Any:
    """The value of a pair of brackets; `marks` are the commas and colons between and after its items."""
    if _PAIRS[opener] != closer:
        raise NotJsonError(closer)
    if ":" not in marks:
        if opener == "{" and not items:
            return {}
        return items[0] if opener == "(" and len(items) == 1 and not marks else items
    if opener != "{" or len(items) % 2 or any(mark != ":,"[i % 2] for i, mark in enumerate(marks)):
        raise NotJsonError(":")
    members: dict[str, Any] = {}
    for key, value in zip(map(_key, items[::2]), items[1::2], strict=True):
        if key in members and members[key] != value:
            raise NotJsonError(key)  # Python keeps the last value without a word
        members[key] = value
    return members


def _scalar(match: re.Match[str]) -> Any:
    """The value of a token that is neither a bracket nor a string with escapes. Raises ValueError."""
    kind = match.lastgroup or ""
    raw = match[kind]
    if kind == "single" or kind == "double":
        return raw if raw.isascii() else encodable_value(raw)
    if kind == "word":
        return _WORDS[raw]
    if kind != "radix":
        return finite(raw) if "." in raw or "e" in raw or "E" in raw else int(raw)
    value = int(raw, 0)
    if value.bit_length() > _MAX_BITS:
        raise NotJsonError(raw[:80])
    return value


def _strings(text: str, pos: int, joined: re.Pattern[str], joins: Joins) -> tuple[str, int]:
    """The value of adjacent strings, and its end."""
    parts: list[str] = []
    while (match := joined.match(text, pos)) is not None:
        ahead = text[match.end() : match.end() + 1]
        if parts and (joins == "none" or (joins == "lines" and not _goes_on(parts[-1], match[0], ahead))):
            break
        start, quote = match.end(), match[2]
        end = _closing(text, start, quote)
        parts.append(_body(match[1].lower(), text[start:end]))
        pos = end + len(quote)
    return encodable_value("".join(parts)), pos


def _goes_on(part: str, between: str, ahead: str) -> bool:
    """Does a string go on behind what is `between` it and the next one, which begins with what is `ahead`?"""
    return "\n" in between and not (part[-1:].isalnum() and ahead.isalnum())


def _closing(text: str, start: int, quote: str) -> int:
    """The end of the string body that begins at `start`: the first quote behind an even number of backslashes."""
    end = text.find(quote, start)
    while end >= 0:
        slash = end
        while slash > start and text[slash - 1] == "\\":
            slash -= 1
        if not (end - slash) % 2:
            return end
        end = text.find(quote, end + 1)
    raise NotJsonError(text[start : start + 80])


def _body(prefix: str, body: str) -> str:
    """The text of a string body, with its escapes read. Raises NotJsonError for an f-string with fields."""
    if "f" in prefix:
        rest = body.replace("{{", "").replace("}}", "")
        if "{" in rest or "}" in rest:
            raise NotJsonError(body[:80])
        body = body.replace("{{", "{").replace("}}", "}")
    return body if "\\" not in body or "r" in prefix else _patterns().escape.sub(_unescaped, body)


def _unescaped(match: re.Match[str]) -> str:
    """The character that an escape stands for."""
    escape = match[0][1:]
    if escape in _ESCAPED:
        return _ESCAPED[escape]
    if len(escape) == 11:
        return chr(0x10000 + ((int(escape[1:5], 16) & 0x3FF) << 10) + (int(escape[7:], 16) & 0x3FF))
    return chr(int(escape[1:], 16) if escape[0] in "xuU" else int(escape, 8))


def _key(value: Any) -> str:
    """A key of a dict as a key of JSON. Raises NotJsonError for lists and dicts."""
    if isinstance(value, (list, dict)):
        raise NotJsonError("key")
    return value if isinstance(value, str) else json.dumps(value)
