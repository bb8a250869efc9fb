"""What the engine must know of a terminal's pattern: its first characters, what it requires, and how it ends.

Every analysis is one function over the nodes of `syntax`. Most run when a grammar is compiled.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from .alike import compile_alike
from .syntax import SPACE, Alternatives, Chars, Group, Look, Node, Position, Repeat, Sequence, nodes_in, parse

#: All white space.
_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000").union(
    map(chr, range(0x2000, 0x200B))
)


class UnsafePatternError(ValueError):
    """The pattern cannot be matched in a stream: whether a match has ended depends on text that has not arrived."""


class Leading(NamedTuple):
    """The characters with which a match may begin, and the first ones behind white space.

    `first` and `after_space` are None if they may be any. `space` is the white space with which a match may begin.
    `may_be_empty` and `may_be_space` say whether the match may hold nothing, or nothing but white space.
    """

    first: frozenset[str] | None = frozenset()
    may_be_empty: bool = True
    space: frozenset[str] = frozenset()
    after_space: frozenset[str] | None = frozenset()
    may_be_space: bool = True


def first_chars(pattern: str) -> str:
    """The characters with which a match may begin, sorted; "" if it may begin with any or be empty."""
    found = _leading(parse(pattern), False)
    return "" if found.first is None or found.may_be_empty else "".join(sorted(found.first))


@lru_cache(maxsize=4096)
def leading_chars(pattern: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The white space with which a match may begin, and the characters that may stand first behind it.

    None if these may be any, or if a match may be nothing but white space.
    """
    found = _leading(parse(pattern), False)
    return None if found.after_space is None or found.may_be_space else (found.space, found.after_space)


def _leading(items: Sequence, folds: bool) -> Leading:
    leading = Leading()
    for item in items:
        if not leading.may_be_space:
            break
        more = _leading_of(item, folds)
        leading = Leading(
            _union(leading.first, more.first) if leading.may_be_empty else leading.first,
            leading.may_be_empty and more.may_be_empty,
            leading.space | more.space,
            _union(leading.after_space, more.after_space),
            more.may_be_space,
        )
    return leading


def _leading_of(item: Node, folds: bool) -> Leading:
    if isinstance(item, Chars):
        return _leading_char(item, folds)
    if isinstance(item, Group):
        return _leading(item.body, folds or item.ignores_case)
    if isinstance(item, Repeat):
        leading = _leading(item.body, folds)
        return leading if item.low else leading._replace(may_be_empty=True, may_be_space=True)
    if isinstance(item, Alternatives):
        leading, *others = [_leading(branch, folds) for branch in item.branches]
        for other in others:
            leading = Leading(
                _union(leading.first, other.first),
                leading.may_be_empty or other.may_be_empty,
                leading.space | other.space,
                _union(leading.after_space, other.after_space),
                leading.may_be_space or other.may_be_space,
            )
        return leading
    return Leading() if isinstance(item, (Look, Position)) else Leading(None, False, frozenset(), None, False)


def _leading_char(chars: Chars, folds: bool) -> Leading:
    if chars.negated or chars.ranges or chars.categories not in ((), (SPACE,)):
        return Leading(None, False, frozenset(), None, False)
    found = frozenset(chars.literals).union(_SPACES if chars.categories else ())
    if folds:
        found = frozenset(form for char in found for form in (char.lower(), char.upper()))
    space = found & _SPACES
    return Leading(found, False, space, found - space, bool(space))


def _union(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return None if one is None or other is None else one | other


def required_chars(pattern: str) -> set[str]:
    """Characters that stand in every match, or in what the pattern looks ahead to."""
    return _required(parse(pattern))


def _required(items: Sequence) -> set[str]:
    chars = set[str]()
    for item in items:
        if isinstance(item, Chars):
            chars.update(item.literals if item.only_literals and len(item.literals) == 1 else ())
        elif isinstance(item, Alternatives):
            chars |= set[str].intersection(*[_required(branch) for branch in item.branches])
        elif isinstance(item, Group) and item.ignores_case:
            chars |= {char for char in _required(item.body) if char.lower() == char.upper()}
        elif (
            (isinstance(item, Look) and item.is_ahead and not item.is_negative)
            or (isinstance(item, Repeat) and item.low)
            or isinstance(item, Group)
        ):
            chars |= _required(item.body)
    return chars


def required_text(pattern: str) -> str:
    """The longest text that is known to stand in every match; "" if none is."""
    return max(sorted(_texts(parse(pattern))), key=len, default="")


def _texts(items: Sequence) -> set[str]:
    """All texts that are known to stand in every match of a sequence."""
    texts, run = set[str](), ""
    for item in items:
        text = literal_text((item,))
        run = run + text if text else ""
        texts.update([run[at:] for at in range(len(run))])
        if isinstance(item, Alternatives):
            texts |= set[str].intersection(*map(_texts, item.branches))
        elif (isinstance(item, Group) and not item.ignores_case) or (isinstance(item, Repeat) and item.low):
            texts |= _texts(item.body)
    return texts


def may_stay_open(pattern: str) -> bool:
    """May a match still be incomplete where a shorter or later one has matched already?

    This holds for patterns that span other text (`` `[^`]*` ``) and for those that look ahead.
    """
    return _may_stay_open(parse(pattern))


def _may_stay_open(items: Sequence) -> bool:
    for item in items:
        if isinstance(item, Look) and item.is_ahead and not item.is_negative:
            return True
        if isinstance(item, Repeat) and item.high > 1 and not _is_space(item.body):
            return True
        if isinstance(item, (Group, Repeat)) and _may_stay_open(item.body):
            return True
        if isinstance(item, Alternatives) and any(_may_stay_open(branch) for branch in item.branches):
            return True
    return False


def _is_space(body: Sequence) -> bool:
    return len(body) == 1 and isinstance(body[0], Chars) and body[0].is_space


#: How many matches of a pattern are tried, and which characters stand for those that it leaves open.
_MAX_SAMPLES, _SAMPLE_CHARS = 64, "x0_ <>{(\"':-"
_SAMPLES = {r"\d": "0", SPACE: " ", r"\w": "x"}


def may_begin_match_of(one: str, other: str) -> bool:
    """May a match of `one` be the beginning of a match of `other`? Only the shortest matches of both are tried."""
    match = compile_alike(other).match
    texts = [text for text in _shortest(parse(one)) if text]
    if any((found := match(text, partial=True)) is not None and found.partial for text in texts):
        return True
    beginning = compile_alike(one).match
    longer = [text for text in _shortest(parse(other)) if match(text)]
    return any((found := beginning(text)) is not None and 0 < found.end() < len(text) for text in longer)


def _shortest(items: Sequence) -> list[str]:
    """The shortest matches of a sequence, one for each combination of alternatives, look-arounds aside."""
    texts = [""]
    for item in items:
        if isinstance(item, Alternatives):
            endings = [text for branch in item.branches for text in _shortest(branch)]
        elif isinstance(item, Group):
            endings = _shortest(item.body)
        elif isinstance(item, Repeat):
            endings = [text * item.low for text in _shortest(item.body)] if item.low else [""]
        else:
            endings = _sample_chars(item) if isinstance(item, Chars) else [""]
        texts = list(dict.fromkeys([text + more for text in texts for more in endings]))[:_MAX_SAMPLES]
    return texts


def _sample_chars(chars: Chars) -> list[str]:
    if not chars.negated:
        return [
            *chars.literals,
            *[low for low, _ in chars.ranges],
            *[_SAMPLES.get(category, "~") for category in chars.categories],
        ][:4]
    excluded = {*chars.literals, *(" " if chars.ranges or chars.categories else "")}
    return [next((char for char in "~" * bool(excluded) + _SAMPLE_CHARS if char not in excluded), "")]


def may_grow(pattern: str) -> bool:
    """May a match at the end of the input become longer with more input?

    Raises UnsafePatternError if that cannot be told from the match reaching the end: for an optional tail of several
    characters (`(name\\.)?` matches before its tail has arrived), an alternative that is the beginning of another, a
    negative look-ahead of several characters at the end, and `$`.
    """
    items = parse(pattern)
    if any(isinstance(node, Position) and node.is_end for node in nodes_in(items)):
        raise UnsafePatternError("`$` is true at the end of every chunk; the end of the text needs no marker")
    return _may_grow(items)


def _may_grow(items: Sequence) -> bool:
    if not items:
        return False
    last = items[-1]
    if isinstance(last, Repeat):
        if not last.low:
            _may_grow(items[:-1])  # what precedes it may be the end as well; this raises if that is unsafe
        if last.low == last.high:
            return _may_grow(last.body)
        if last.width != (1, 1):
            raise UnsafePatternError("an optional tail of several characters; make it a terminal of its own")
        return True
    if isinstance(last, Group):
        return _may_grow(last.body)
    if isinstance(last, Alternatives):
        return _branches_may_grow(last.branches)
    if isinstance(last, Look) and last.is_negative:
        if last.width[1] > 1:
            raise UnsafePatternError("a negative look-ahead at the end may look at one character only")
        return True
    return False


def _branches_may_grow(branches: tuple[Sequence, ...]) -> bool:
    # what a branch asks for behind it may tell it from another one
    texts = [_shortest(branch) for branch in branches if not (branch and isinstance(branch[-1], Look))]
    for one, other in [(a, b) for ones, others in permutations(texts, 2) for a in ones for b in others]:
        if one != other and other.startswith(one):
            raise UnsafePatternError(f"the alternative {one!r} begins {other!r}; make the rest a terminal of its own")
    growing = [_may_grow(branch) for branch in branches]  # all of them, since each may raise
    return any(growing)


def literal_text(items: Sequence) -> str | None:
    """The text of a sequence of plain characters; None if it holds anything else."""
    if not all(isinstance(item, Chars) and item.only_literals and len(item.literals) == 1 for item in items):
        return None
    return "".join([item.literals[0] for item in items if isinstance(item, Chars)])
