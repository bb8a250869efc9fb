"""Patterns without look-around that match at least what another pattern matches."""

from __future__ import annotations

import re
from functools import lru_cache

from outspoken.patterns import syntax

#: So many repetitions are written as any number.
_MANY = 4
#: No pattern that was cut off matches one of these.
_PROSE = ("", "\n", " ", "a", "I", "1", "there", "Then", "```")
#: A longer pattern is cut off.
_LONGEST = 140
#: A choice of more words is any word.
_MANY_WORDS = 5
#: So many characters do not occur by chance if they are not all letters.
_DISTINCT = 5
#: Escapes as classes of at least the characters that they stand for: beyond ASCII, of all.
_WIDE = {
    r"\s": "\\t-\\r\x1c- \x80-\U0010ffff",
    r"\w": "0-9A-Z_a-z\x80-\U0010ffff",
    r"\d": "0-9\x80-\U0010ffff",
    r"\S": "\x00-\x08\x0e-\x1b!-\U0010ffff",
    r"\W": "\x00-/:-@\\[-\\^`{-\U0010ffff",
    r"\D": "\x00-/:-\U0010ffff",
}
#: Escapes in classes that are negated, as at most the characters that they stand for.
_NARROW = {
    r"\s": "\\t-\\r\x1c- ",
    r"\w": "0-9A-Z_a-z",
    r"\d": "0-9",
    r"\S": "\x00-\x08\x0e-\x1b!-\x7f",
    r"\W": "\x00-/:-@\\[-\\^`{-\x7f",
    r"\D": "\x00-/:-\x7f",
}


@lru_cache(maxsize=4096)
def plain_pattern(pattern: str) -> str:
    """A pattern for texts that hold what another pattern matches with its conditions, and for some more.

    What a look-ahead at the end asks for is a part of it. Other look-arounds are left out, and many repetitions are any
    number. Raises ValueError for references to groups.
    """
    nodes = _core(syntax.parse(pattern))
    written = _sequence(nodes, ignores_case=False)
    for size in (12, 8, 6, 5, 4, 3, 2, 1):
        if _length(written) <= _LONGEST:
            break
        shorter = _sequence(_core(_beginning(nodes, size)), ignores_case=False)
        if any(re.match(f"(?:{shorter})\\Z", text) for text in _PROSE):
            break
        written = shorter
    return written if _length(written) <= _LONGEST else _sequence(_up_to_sign(nodes)[0], ignores_case=False)


def _length(pattern: str) -> int:
    """The length of a pattern in which classes are as long as escapes."""
    for escape_, wide in _WIDE.items():
        pattern = pattern.replace(wide, escape_)
    return len(pattern)


def _up_to_sign(nodes: syntax.Sequence) -> tuple[syntax.Sequence, bool]:
    """The nodes up to the first sign that they need, and whether there is one."""
    leading: list[syntax.Node] = []
    for node in nodes:
        if isinstance(node, syntax.Group):
            body, ends = _up_to_sign(node.body)
            leading.append(node._replace(body=body))
        elif isinstance(node, syntax.Alternatives):
            branches = [_up_to_sign(branch) for branch in node.branches]
            ends = all(ended for _, ended in branches)
            leading.append(syntax.Alternatives(tuple([body for body, _ in branches])) if ends else node)
        else:
            leading.append(node)
            ends = (
                isinstance(node, syntax.Chars)
                and node.only_literals
                and not any(char.isalnum() or char.isspace() for char in node.literals)
            )
        if ends:
            return tuple(leading), True
    return tuple(leading), False


def _beginning(nodes: syntax.Sequence, size: int) -> syntax.Sequence:
    """The first nodes of a sequence, and of each alternative in it. What holds the whole holds its beginning."""
    beginning: list[syntax.Node] = []
    for node in nodes[:size]:
        if isinstance(node, syntax.Group):
            beginning.append(node._replace(body=_beginning(node.body, size)))
            if beginning[-1] != node:
                return tuple(beginning)  # what follows stands behind the whole of the group
        elif isinstance(node, syntax.Alternatives):
            beginning.append(syntax.Alternatives(tuple([_beginning(branch, size) for branch in node.branches])))
            return tuple(beginning)  # what follows stands behind the whole of an alternative
        elif isinstance(node, syntax.Look) and node.is_ahead and not node.is_negative:
            beginning.append(node._replace(body=_rear(_beginning(node.body, size))))
            return tuple(beginning)
        else:
            beginning.append(node)
    return tuple(beginning)


def _core(nodes: syntax.Sequence) -> syntax.Sequence:
    """A sequence without optional parts at its ends. A text holds the one if it holds the other."""
    first = 0
    while first < len(nodes) and _is_optional(nodes[first]):
        first += 1
    inner = _distinct(_rear(nodes[first:]))
    if len(inner) == 1 and isinstance(inner[0], syntax.Group):
        return (inner[0]._replace(body=_core(inner[0].body)),)
    if len(inner) == 1 and isinstance(inner[0], syntax.Alternatives):
        return (syntax.Alternatives(tuple([_core(branch) for branch in inner[0].branches])),)
    return inner


def _rear(nodes: syntax.Sequence) -> syntax.Sequence:
    """A sequence without optional parts at its end."""
    last = len(nodes)
    while last and _is_optional(nodes[last - 1]):
        last -= 1
    return nodes[:last]


def _distinct(nodes: syntax.Sequence) -> syntax.Sequence:
    """The beginning of a sequence that does not occur by chance: some characters, one of them no letter."""
    letters = others = 0
    for index, node in enumerate(nodes):
        if isinstance(node, syntax.Chars) and node.only_literals:
            letters += 1
            others += not all(char.isalnum() or char.isspace() for char in node.literals)
        elif letters + others >= _DISTINCT and others and _is_complex(nodes[index:]):
            return nodes[:index]
    return nodes


def _is_complex(nodes: syntax.Sequence) -> bool:
    return any(not isinstance(node, syntax.Chars) for node in nodes)


def _is_optional(node: syntax.Node) -> bool:
    if isinstance(node, syntax.Look):
        return node.is_negative or not node.is_ahead
    if isinstance(node, syntax.Group):
        return all(map(_is_optional, node.body))
    if isinstance(node, syntax.Alternatives):
        return any(all(map(_is_optional, branch)) for branch in node.branches)
    return isinstance(node, syntax.Position) or (isinstance(node, syntax.Repeat) and node.low == 0)


def _sequence(nodes: syntax.Sequence, *, ignores_case: bool) -> str:
    written = ""
    for index, node in enumerate(nodes):
        if isinstance(node, syntax.Look):
            if node.is_ahead and not node.is_negative and index == len(nodes) - 1:
                written += _sequence(_without_rest(node.body), ignores_case=ignores_case)
        elif not isinstance(node, syntax.Position):
            written += _node(node, ignores_case=ignores_case)
    return written


def _without_rest(nodes: syntax.Sequence) -> syntax.Sequence:
    """What a condition asks for, without a last character that may be nearly any: the text may end before it."""
    if len(nodes) < 2:
        return nodes
    last = nodes[-1]
    if isinstance(last, syntax.Chars) and last.negated:
        return nodes[:-1]
    if isinstance(last, syntax.Alternatives):
        return (*nodes[:-1], syntax.Alternatives(tuple([_without_rest(branch) for branch in last.branches])))
    return nodes


def _node(node: syntax.Node, *, ignores_case: bool) -> str:
    if isinstance(node, syntax.Chars):
        return char_class(node, ignores_case=ignores_case)
    if isinstance(node, syntax.Group):
        return f"(?:{_sequence(node.body, ignores_case=ignores_case or node.ignores_case)})"
    if isinstance(node, syntax.Alternatives):
        if len(node.branches) > _MANY_WORDS and all(_is_word(branch) for branch in node.branches):
            return "[0-9A-Z_a-z]+"
        branches = dict.fromkeys([_sequence(branch, ignores_case=ignores_case) for branch in node.branches])
        return f"(?:{'|'.join(branches)})"
    if isinstance(node, syntax.Repeat):
        body = f"(?:{_sequence(node.body, ignores_case=ignores_case)})"
        if node.high >= _MANY:
            return f"{body}*" if node.low == 0 else f"{body * (min(node.low, _MANY) - 1)}{body}+"
        return f"{body}{{{node.low},{node.high}}}"
    raise ValueError("a pattern refers to a group")


def _is_word(nodes: syntax.Sequence) -> bool:
    return all(
        isinstance(node, syntax.Chars) and node.only_literals and all(c.isalnum() or c == "_" for c in node.literals)
        for node in nodes
    )


def char_class(node: syntax.Chars, *, ignores_case: bool = False) -> str:
    """A class of characters as Python and Rust write it."""
    chars = list(node.literals)
    ranges = list(node.ranges)
    if ignores_case:
        chars += [other for char in node.literals for other in (char.lower(), char.upper()) if len(other) == 1]
        for low, high in node.ranges:
            if low.isascii() and high.isascii() and low.isalpha() and high.isalpha():
                ranges += [(low.lower(), high.lower()), (low.upper(), high.upper())]
    chars = sorted(set(chars))
    if len(chars) == 1 and not ranges and not node.categories and not node.negated:
        return escape(chars[0])
    listed = "".join([in_class(char) for char in chars])
    listed += "".join([f"{in_class(low)}-{in_class(high)}" for low, high in ranges])
    categories = _NARROW if node.negated else _WIDE
    listed += "".join([categories[category] for category in node.categories])
    if not listed:
        return r"(?s:.)" if node.negated else "[^\x00-\U0010ffff]"
    return f"[{'^' * node.negated}{listed}]"


def in_class(char: str) -> str:
    """A character as it is written in a class."""
    return _ESCAPES.get(char) or (f"\\{char}" if char in r"\]^[-&~" else char)


_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape(text: str) -> str:
    """A pattern for a text, as Python and Rust write it."""
    return "".join([_ESCAPES.get(char) or (f"\\{char}" if char in r"\.+*?()|[]{}^$#&-~/" else char) for char in text])
