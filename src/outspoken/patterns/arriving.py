r"""Patterns for text that is still arriving: their look-aheads wait for what a chunk cannot tell.

The partial matching of `regex` does not know negative look-aheads. At the end of a chunk, `(?!d)` is true, though `d`
may come. At the end of a marker this is seen, since the marker touches the end of the chunk. Inside of a positive
look-ahead it is not: `a(?=b(?!d))` matches `a` in `ab`, and nothing in `abd`.
"""

from __future__ import annotations

from functools import lru_cache

from .spellings import end_of
from .syntax import UNBOUNDED, Alternatives, Chars, Group, Node, Repeat, Sequence, parse

#: The end of the text so far, and what matches there partially.
_END, _HOLD = r"\Z", r"(?=\Z[\s\S])"
_BOUNDARIES = (r"\b", r"\B")
_CONDITIONS = ("(?=", "(?!", "(?<=", "(?<!")


@lru_cache(maxsize=4096)
def while_arriving(pattern: str) -> str:
    r"""The pattern for the partial matching of `regex`: a positive look-ahead in it waits where more text can undo it.

    Negative look-aheads and `\b` in positive look-aheads match partially where the text ends before they are decided.
    """
    has_conditions = "(?!" in pattern or r"\b" in pattern or r"\B" in pattern
    return _waiting(pattern, inside=False) if has_conditions and "(?=" in pattern else pattern


def _waiting(pattern: str, *, inside: bool) -> str:
    """The same for a part of a pattern that is `inside` of a positive look-ahead or not."""
    kept, at = "", 0
    while at < len(pattern):
        is_group = pattern[at] == "(" and not pattern.startswith(_CONDITIONS, at)
        end = at + 1 if is_group else end_of(pattern, at)  # what is in a group follows
        part = pattern[at:end]
        if part.startswith("(?="):
            part = f"(?={_waiting(part[3:-1], inside=True)})"
        elif part.startswith("(?!") and inside:
            begun = _begun(parse(part[3:-1]))
            part += f"(?:(?!{begun})|(?={begun}[\\s\\S]))"
        elif part in _BOUNDARIES and inside:
            part = f"(?:(?!{_END}){part}|{_HOLD})"
        kept += part
        at = end
    return kept


def _begun(items: Sequence) -> str:
    """The pattern of what the text so far ends with if a match of the sequence has begun and may still come."""
    if not items:
        return "(?!)"
    first, rest = items[0], items[1:]
    return f"(?:{_begun_in(first)}|{_written(first)}{_begun(rest)})" if rest else _begun_in(first)


def _begun_in(item: Node) -> str:
    """The same for one node."""
    if isinstance(item, Group):
        return f"(?{'i' * item.ignores_case}:{_begun(item.body)})"
    if isinstance(item, Alternatives):
        return f"(?:{'|'.join([_begun(branch) for branch in item.branches])})"
    if isinstance(item, Repeat):
        before = _repeated(item.body, 0, item.high if item.high == UNBOUNDED else item.high - 1)
        return f"{before}{_begun(item.body)}" if item.high > 1 else _begun(item.body)
    return _END


def _written(item: Node) -> str:
    """A node as a pattern, without the conditions in it: more text is waited for than need be."""
    if isinstance(item, Chars):
        return item.pattern() or r"[\s\S]"
    if isinstance(item, Group):
        return f"(?{'i' * item.ignores_case}:{_sequence(item.body)})"
    if isinstance(item, Alternatives):
        return f"(?:{'|'.join([_sequence(branch) for branch in item.branches])})"
    return _repeated(item.body, item.low, item.high) if isinstance(item, Repeat) else ""


def _repeated(body: Sequence, low: int, high: int) -> str:
    return f"(?:{_sequence(body)}){{{low},{'' if high == UNBOUNDED else high}}}"


def _sequence(items: Sequence) -> str:
    return "".join([_written(item) for item in items])
