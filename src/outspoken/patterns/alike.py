r"""Patterns for `regex` that match what `re` matches.

Complete text is matched by `re`, text that is still arriving by `regex`, which has partial matches. The two disagree on
`\s` (U+001C to U+001F), on `\w` and `\d` (combining marks, and letters and digits that are newer than Python's Unicode)
and on the cases of `i`. The meaning is that of `re`, which is that of `str`: `\s` is `str.isspace`, `\d` is
`str.isdecimal`, and `\w` is `str.isalnum` or `_`. So each pattern that `regex` compiles is rewritten first.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from .arriving import while_arriving
from .lazy import lazy_pattern

#: What may have another meaning, and what tells whether case is ignored: escapes, classes and groups.
_TOKEN = lazy_pattern(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?i:|[()iI]", re.DOTALL)
_CATEGORY = lazy_pattern(r"\\[sSwWdD]")
_IN_CLASS = lazy_pattern(r"\\.|[\[&|~]", re.DOTALL)
#: What `re` takes for an `i` if it ignores case, and all letters that are or become a letter of ASCII.
_CASES_OF_I = "iI\u0130\u0131"
_CASES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\u0130\u0131\u017f\u212a"
#: The planes of Unicode that hold letters and digits.
_PLANES = range(4)


def compile_alike(pattern: str) -> Any:
    """The pattern compiled by `regex`, with the meaning that it has for `re`."""
    import regex

    return regex.compile(_rewritten(pattern), regex.V1)


def compile_arriving(pattern: str) -> Any:
    """The pattern compiled for the partial matching of text that is still arriving; see `while_arriving`."""
    return compile_alike(while_arriving(pattern))


@lru_cache(maxsize=4096)
def _rewritten(pattern: str) -> str:
    ignores_case = [False]  # for each group that is open

    def rewrite(found: re.Match[str]) -> str:
        token = found[0]
        if token[0] == "(":
            ignores_case.append(ignores_case[-1] or token == "(?i:")
            return token.replace("i", "i-f")  # in full case folding, `ss` is `ß`
        if token == ")":
            ignores_case.pop()
        elif token in "iI":
            return f"(?-i:[{_CASES_OF_I}])" if ignores_case[-1] else token
        elif token in (r"\b", r"\B"):
            return _boundary(is_negative=token == r"\B")
        elif token[0] == "[" or _CATEGORY.match(token):
            return _class(token, ignores_case=ignores_case[-1])
        return token

    return _TOKEN.sub(rewrite, pattern)


def _boundary(*, is_negative: bool) -> str:
    word = _class(r"\w", ignores_case=False)
    sides = ("(?<={0})(?={0})", "(?<!{0})(?!{0})") if is_negative else ("(?<={0})(?!{0})", "(?<!{0})(?={0})")
    return f"(?:{'|'.join(sides).format(word)})"


@lru_cache(maxsize=1024)
def _class(token: str, *, ignores_case: bool) -> str:
    """A class or a category as a class of `regex`, in which classes may stand."""
    body = token[1:-1] if token[0] == "[" else token
    sign = "^" if body.startswith("^") else ""
    body = body[len(sign) :]
    if ignores_case:
        body += "".join(filter(re.compile(f"(?i:[{body}])").match, _CASES))
    found = f"[{sign}{_IN_CLASS.sub(lambda part: _listed(part[0]), body)}]"
    return f"(?-i:{found})" if ignores_case and _CATEGORY.search(body) else found


@cache
def _listed(part: str) -> str:
    r"""A category such as `\s`, or any other part of a class, in a class of `regex`."""
    if len(part) == 1:  # it means something more for `regex`
        return f"\\{part}"
    if part == r"\s":
        return r"\s\x1c-\x1f"
    if part in (r"\w", r"\d"):
        return in_class(part[1], *differences())
    return f"[^{_listed(part.lower())}]" if _CATEGORY.match(part) else part


def in_class(category: str, unknown: str, lacking: str) -> str:
    """The letters (`w`) or digits (`d`) that `re` knows, in a class of `regex`; see `differences`."""
    if category == "d":  # new digits come with new letters
        return rf"0-9[\p{{Nd}}--[{unknown}]]" if unknown else r"\p{Nd}"
    known = rf"[[\p{{L}}\p{{N}}]--[{unknown}]]" if unknown else r"\p{L}\p{N}"
    return f"a-zA-Z0-9_{known}{lacking}"


@cache
def differences() -> tuple[str, str]:
    """The letters and digits that `re` does not know, and those that `regex` does not know, as ranges.

    They are as many as the versions of Unicode that both have are apart.
    """
    import regex

    runs, unknown, lacking = regex.compile(r"([\p{L}\p{N}_]+)|[^\p{L}\p{N}_]+"), list[str](), list[str]()
    is_behind_unknown = False
    for run in [run for plane in _PLANES for run in runs.finditer(_characters(plane))]:
        if not run[1]:
            lacking += [f"{part[0][0]}-{part[0][-1]}" for part in re.finditer(r"\w+", run[0])]
        elif run[1].replace("_", "").isalnum():
            is_behind_unknown = False
        else:
            for part in re.finditer(r"\W+", run[1]):
                is_joined = is_behind_unknown and not part.start()  # what is between is neither letter nor digit
                first = unknown.pop()[0] if is_joined else part[0][0]
                unknown.append(f"{first}-{part[0][-1]}")
                is_behind_unknown = part.end() == len(run[1])
    return "".join(unknown), "".join(lacking)


def _characters(plane: int) -> str:
    """All characters of a plane of Unicode."""
    units = bytearray(4 << 16)  # in UTF-32: the two lower bytes count, the third is the plane
    units[0::4] = bytes(range(256)) * 256
    units[1::4] = b"".join([bytes([high]) * 256 for high in range(256)])
    units[2::4] = bytes([plane]) * (1 << 16)
    return units.decode("utf-32-le", "surrogatepass")
