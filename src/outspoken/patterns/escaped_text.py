"""Text whose markup is written in another way: with entities, with escapes of JSON, Markdown or addresses, with other
brackets or bars, with blanks in its tags, or with characters of no width.

It is plain text for who shows it, and no markup for who reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lazy import lazy_pattern

#: Full-width signs but the bar, and other angle brackets; characters of no width.
_SIGNS = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F) if chr(code) != "|"}
_BRACKETS = {**dict.fromkeys("‹〈⟨", "<"), **dict.fromkeys("›〉⟩", ">")}
_HIDDEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_TABLE = str.maketrans(_SIGNS | _BRACKETS) | str.maketrans("", "", _HIDDEN)
#: Signs that plain text rarely holds.
_RARE = f"＜｛‹〈⟨｜{_HIDDEN}"
#: One of these is in every such text.
ESCAPE_SIGNS = ("&", "\\", "%", "<", *_RARE)
_ASCII_SIGNS = 4
_ESCAPED = lazy_pattern(
    r"&(?:lt|quot|#x?[0-9a-f]{2,4});|\\(?:u[0-9a-f]{4}|[<_\[{n\"'])|%(?:3c|7b|5b|28)|<[ \t]{1,3}(?=[/|｜]?\w)"
    rf"|<?[{_RARE}]",
    re.IGNORECASE,
)
#: A tag that begins with a capital.
_CAPITALS = lazy_pattern(r"<[/|｜]?(?=[A-Z])\w{3,}[^<>\n]{0,80}")
#: A tag in square brackets or braces, and the beginning of one that shows that there are some.
_BRACKETED = lazy_pattern(r"[\[{](/?[A-Za-z_|][^\[\]{}<>\n]{0,60})[\]}]")
_BEGINS_BRACKETED = lazy_pattern(r"[\[{][/|]\w")
_JSON_ESCAPE = lazy_pattern(r"\\u([0-9a-fA-F]{4})")
_SIGN_ESCAPE = lazy_pattern(r"\\([<>_\[\]{}|\"'*n])")
_BLANK_BEFORE, _BLANK_BEHIND = lazy_pattern(r"<[ \t]{1,3}(?=[/|｜]?\w)"), lazy_pattern(r"(?<=[\w|｜\"'])[ \t]{1,3}>")


def plain_text(text: str) -> tuple[str, int] | None:
    """A text with its markup written plainly, and the offset of the first escape in the text; None if it has none.

    Bars are left as they are: markers hold both.
    """
    if (first := _first_escape(text)) is None:
        return None
    import html  # which takes long, and few texts need it
    from urllib.parse import unquote

    plain = text.translate(_TABLE)
    plain = unquote(plain) if "%" in plain else plain
    plain = html.unescape(plain) if "&" in plain else plain
    if "\\" in plain:
        plain = _JSON_ESCAPE.sub(lambda match: chr(int(match[1], 16)), plain)
        plain = _SIGN_ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], plain)
    return _BLANK_BEHIND.sub(">", _BLANK_BEFORE.sub("<", plain)), first


def _first_escape(text: str) -> int | None:
    """The offset of the first escape. One sign after the other is searched: of most, a text has none."""
    first: int | None = None
    for sign in ESCAPE_SIGNS[:_ASCII_SIGNS] if text.isascii() else ESCAPE_SIGNS:
        at = text.find(sign, 0, first)
        while at >= 0 and _ESCAPED.match(text, at) is None:
            at = text.find(sign, at + 1, first)
        first = at if at >= 0 else first
    return first


def other_writings(text: str) -> Iterator[tuple[str, int]]:
    """A text with its escapes read, then with bars of half the width, with tags in small letters, in angle brackets.

    Each is there only if it differs from the one before. With it comes the offset in the text of an escape, or 0.
    """
    at = 0
    if (plain := plain_text(text)) is not None and plain[0] != text:
        text, at = plain[0].strip('"'), plain[1]
        yield text, at
    if "｜" in text:
        text = text.replace("｜", "|")
        yield text, at
    if "<" in text and (tag := _CAPITALS.search(text)) is not None:
        yield _CAPITALS.sub(lambda match: match[0].lower(), text), at or tag.start()
    if ("[" in text or "{" in text) and (tag := _BEGINS_BRACKETED.search(text)) is not None:
        yield _BRACKETED.sub(r"<\1>", text), at or tag.start()
