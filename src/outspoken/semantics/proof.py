"""What the text and the repairs of a finished call must show before it may run; for its schema: `schema_objections`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, cast

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.edits import Edit

from .open_node import OpenNode
from .segments import find_lone_surrogate

#: A path that JSON escapes have damaged: `"C:\temp"`, whose `\t` is a tab.
_LOST_PATH = lazy_pattern(r'"[A-Za-z]:\\[bfnrt]\w')


#: An integer with a zero before it, and a string of Python.
PADDED = re.compile(r"0(?<![\w.]0)(?<![\w.][+-]0)[0-9]*[1-9][0-9]*(?![\w.])")
_PYTHON_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
#: A value that is closed by its own sign.
_CLOSED = lazy_pattern(r"[\"'}\])]\Z|(?<!\w)(?:true|false|null|True|False|None)\Z")
#: Arguments that are closed by their own sign.
_CLOSED_LIST = lazy_pattern(r"[})]\Z")
#: What stands behind one of these belongs to no value before it.
_CLOSING_BRACKETS = ("}", "]", ")")
#: A mark of a fence with its language, which says nothing.
_MARKS = ("```", "~~~")
_FENCE = lazy_pattern(r"[`~]{3,}\w*")
#: What opens a value.
_BEGINS_VALUE = frozenset({"{", "[", "```", "~~~", "```{", "```json"})
#: What may be dropped behind a number, since it is no part of it.
_PUNCTUATION = frozenset(" \t\r\n\"'`{}[]()<>,;:|=/\\")
#: A repair that says where a string ends, or that it is one.
_QUOTING = frozenset({"bare-quote", "lost-quote", "stray-quote", "missing-quote", "bare-value", "heuristic"})
#: What no key holds: a colon or a comma, and what follows it.
_JOINED_KEY = lazy_pattern(r"[:=,]\s")
#: The end of a string, and a colon or the next string.
_JOINED = re.compile(r"[\"']\s{0,9}(?::|,\s{0,9}[\"'])")
#: The next argument, with its name.
_MORE_ARGUMENTS = lazy_pattern(r"[ \t]{0,9},\s{0,20}[\w\"']{1,60}\s{0,9}[=:]")
#: An object or a list on the same line.
_MORE_JSON = lazy_pattern(r"[ \t]{0,9}(?:\{|\[\s{0,9}[\[{\"'\d\-])")
#: What may become one of these, or is the end of a text so far.
_UNDECIDED = lazy_pattern(r"(?:[ \t]{0,9}(?:,\s{0,20}(?:[\w\"']{1,60}\s{0,9})?|\[\s{0,9})|\s{0,199})\Z")
#: What may be dropped beside a quote, since it is no part of a value; a backslash there escaped the quote.
_PUNCTUATION_OF_JSON = _PUNCTUATION - {"/"}
_BRACKETS = {"}": "{", "]": "[", ")": "("}
_MARKS_BESIDE = frozenset((",", ":", *_BRACKETS))
#: A bracket behind a number or a word.
_BEHIND_WORD = re.compile(r"\w[}\])]\Z")
_QUOTE_MARKS = frozenset({'"', "'"})
#: So far before an insertion, a string may end.
_SWAP = 20
#: So far behind an insertion, nothing but white space shows that the text ends there.
_FAR = 200


def loses_path(arguments_text: str) -> bool:
    """Do escapes in the JSON text of arguments damage a path, as in `"C:\\temp"`?"""
    return ":\\" in arguments_text and _LOST_PATH.search(arguments_text) is not None


def pads_number(arguments: Mapping[str, Any], written: str) -> bool:
    """Is an integer of the arguments written with a zero before it in Python? To Python, that is no number."""
    if PADDED.search(written) is None:
        return False
    padded = {int(found[0]) for found in PADDED.finditer(_PYTHON_STRING.sub("''", written))}
    return not padded.isdisjoint(map(abs, _integers_in([*arguments.values()])))


def _integers_in(value: Any) -> Iterator[int]:
    if value.__class__ is int:
        yield value
    elif isinstance(value, dict | list):
        held = cast("dict[str, Any] | list[Any]", value)
        for one in held.values() if isinstance(held, dict) else held:
            yield from _integers_in(one)


def loses_character(arguments: Mapping[str, Any], written: str) -> bool:
    """Is half a character in the text of a call, so that U+FFFD stands for it in the arguments?"""
    return "\\u" in written and "\ufffd" in str(arguments) and find_lone_surrogate(written) is not None


def invents_key(edits: Collection[Edit]) -> bool:
    """Was a bare word read as a key, although no colon is behind it? It is a word between values."""
    ends = {edit.end for edit in edits if edit.code == "bare-key"}
    return any(edit.code == "missing-colon" and ends.intersection((edit.start, edit.start - 1)) for edit in edits)


def moves_quote(edits: Collection[Edit], read: Callable[[int, int], str]) -> bool:
    """Does a string begin or end a letter or two beside a quotation mark, which may be its own?

    Or right behind one with a backslash, which may be the mistake.
    """
    kept = [edit for edit in edits if edit.code == "bare-quote" or edit.after == '\\"']
    lost = [edit.start for edit in edits if edit.code == "lost-quote"]
    return any(read(max(at - 2, 0), at) in ('\\"', "\\'") for at in lost) or any(
        0 <= at - edit.end <= 2 or 0 <= edit.start - at <= 2 for at in lost for edit in kept
    )


def swaps_characters(edits: Iterable[Edit], read: Callable[[int, int], str], arguments: Mapping[str, Any]) -> bool:
    """May a value and what stands beside it have swapped their last or first characters?

    A repair drops a letter beside a quote (`w"ait"`) or within the edge of a marker (`Lichen<s/title>`), or it supplies
    what the value ends or begins with: `"wait," "n"`, `"Leith}"`, `<p name="title>"Lichens`.
    """
    for edit in edits:
        before, written, marker = read(max(edit.start - _SWAP, 0), edit.start), read(*edit[:2]), edit.after.strip()
        behind = read(edit.end, edit.end + max(len(marker), 1))
        if edit.code in ("dropped-text", "stray-text"):
            is_beside = not _QUOTE_MARKS.isdisjoint((behind[:1], before[-1:]))
            if is_beside and not _PUNCTUATION_OF_JSON.issuperset(written):
                return True
            if written.isalnum() and _BEHIND_WORD.search(before):
                return True
        elif marker[:1] in _MARKS_BESIDE and _ends_with_mark(before, marker[:1], arguments):
            return True
        elif edit.level == "markup" and len(marker) > 1:
            if not written and _is_swapped(behind, marker):
                return True
            core = written.strip()
            begins = before[-1:].strip() and written[:1] == core[:1] and core[1:2].isalnum()
            ends = behind[:1].strip() and written[-1:] == core[-1:] and core[-2:-1].isalnum()
            if (begins and core[:1] + core[2:] == marker) or (ends and core[:-2] + core[-1:] == marker):
                return True
        elif not written and marker and behind in _QUOTE_MARKS and read(edit.end + 1, edit.end + 2) == marker:
            return True
    return False


def _is_swapped(text: str, marker: str) -> bool:
    """Is a text a marker of which two neighbours are swapped?"""
    places = [at for at, pair in enumerate(zip(text, marker, strict=False)) if pair[0] != pair[1]]
    if len(text) != len(marker) or len(places) != 2 or places[1] != places[0] + 1:
        return False
    return text[places[0]] == marker[places[1]] and text[places[1]] == marker[places[0]]


def _ends_with_mark(before: str, mark: str, arguments: Mapping[str, Any]) -> bool:
    """Does a text end with a string that ends with a mark of JSON or Python? A bracket that closes another is none."""
    if not before.rstrip(" \t\r\n}])").endswith((f'{mark}"', f"{mark}'")):
        return False
    opener = _BRACKETS.get(mark)
    texts = [text for text in texts_within([*arguments.values()]) if text.endswith(mark)]
    return opener is None or any(text.count(mark) > text.count(opener) for text in texts)


def supplies_again(edits: Iterable[Edit], read: Callable[[int, int], str], arguments: Mapping[str, Any]) -> bool:
    """Does a bare value end with a marker that was supplied behind it, so that it is not missing?"""
    texts = [value.rstrip() for value in arguments.values() if isinstance(value, str)]
    for edit in edits:
        marker = edit.after.strip()
        if edit.start != edit.end or edit.level != "markup" or not any(map(partial(_ends_in, marker), texts)):
            continue
        if _ends_in(marker, read(max(edit.start - _FAR, 0), edit.start).rstrip()):
            return True
    return False


def _ends_in(marker: str, text: str) -> bool:
    return marker != "" and text.endswith(marker)


def is_misquoted(edits: Iterable[Edit], arguments: Mapping[str, Any], names: Collection[str]) -> str:
    """The argument of which the repairs leave quotation marks or another one of these names in the value; or ""."""
    if not any(edit.code in _QUOTING for edit in edits):
        return ""
    for key, value in arguments.items():
        if value.__class__ is str and (_has_lone_quote(value) or _holds_key(value, names)):
            return key
        if any(_JOINED.search(text) or _has_lone_quote(text) for text in texts_within(value)):
            return key
        if any(_JOINED_KEY.search(inner) or _has_lone_quote(inner) for inner in (key, *keys_within(value))):
            return key
    return ""


def keys_within(value: Any) -> Iterator[str]:
    """The keys of the objects within a list or an object."""
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value)
    held = cast("dict[str, Any]", value).values() if isinstance(value, dict) else value
    for inner in cast("Iterable[Any]", held) if isinstance(value, (dict, list)) else ():
        yield from keys_within(inner)


def texts_within(value: Any) -> Iterator[str]:
    """The strings and keys within a list or an object."""
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value)
    held = cast("dict[str, Any]", value).values() if isinstance(value, dict) else value
    for one in cast("Iterable[Any]", held) if isinstance(value, (dict, list)) else ():
        if isinstance(one, str):
            yield one
        yield from texts_within(one)


def _has_lone_quote(text: str) -> bool:
    return any(text.count(text.strip()[at]) == 1 for at in (0, -1) if text.strip()[at:][:1] in ("'", '"'))


def _holds_key(text: str, names: Collection[str]) -> bool:
    behind = r"(?:[\"'”]\s*[:=]|\s?=\s?[\"'\[{\d])"
    return any(re.search(rf"(?<!\w){re.escape(name)}{behind}", text) for name in names if name in text)


def unproven(
    edits: Iterable[Edit],
    read: Callable[[int, int], str],
    closers: Collection[str],
    value_ends: Collection[str],
    node: OpenNode,
    name: str,
    *,
    has_arguments: bool,
    is_action: bool = False,
) -> str:
    """Why the repairs of a call prove nothing: words were dropped, or the end of the text closes a value.

    `read` gives the response between two offsets, `closers` are the markers that close values and calls, and
    `value_ends` those that close bare values. Words that stand before the call's name belong to no argument. The end
    of the text may only close markup, behind a value or a marker that is closed itself; a bare value has no sign of
    its own. It does not close the arguments of an action, since those that are missing may say where it is to be
    done.
    """
    ends: list[Edit] = []
    for edit in edits:
        if not edit.after and edit.start > node.start and _begins_value(read(edit.start, edit.end + _FAR)):
            return "the text ends where a value begins"
        is_inside = edit.code in ("stray-text", "dropped-text") and edit.start > node.start
        if is_inside and name in read(node.start, edit.start):
            mark = read(max(edit.start - 3, 0), edit.start)
            dropped = _FENCE.sub(
                "", read(edit.start, edit.end) if mark not in _MARKS else mark + read(edit.start, edit.end)
            )
            before = read(max(edit.start - _FAR, 0), edit.start).rstrip()[-1:]
            if before.isdigit() and not _PUNCTUATION.issuperset(dropped):
                return f"{dropped.strip()!r} behind a number may belong to it"
            is_behind = before in _CLOSING_BRACKETS
            if not is_behind and (any(map(str.isdigit, dropped)) or sum(map(str.isalnum, dropped)) > 1):
                return f"the text {dropped.strip()!r} between markers belongs to nothing"
        behind = read(edit.start, edit.start + _FAR) if edit.start == edit.end and edit.after else "-"
        if not behind.strip():
            ends.append(edit)
        elif edit.after.strip() in closers and _MORE_ARGUMENTS.match(behind):
            return "more arguments follow what seems to be the end"
        elif edit.after in _CLOSING_BRACKETS and _MORE_JSON.match(behind):
            return "more JSON follows what seems to be the end"
    if not ends or _is_ended(
        min(ends, key=lambda edit: edit.start), read, closers, value_ends, node, has_arguments, is_action
    ):
        return ""
    return "the text ends before it is certain what this says"


def _is_ended(
    first: Edit,
    read: Callable[[int, int], str],
    closers: Collection[str],
    value_ends: Collection[str],
    node: OpenNode,
    has_arguments: bool,
    is_action: bool,
) -> bool:
    """Does a call end before the first marker that was supplied at the end of the text? See `unproven`."""
    tail = read(max(first.start - _FAR, 0), first.start).rstrip()
    is_closed = any(tail.endswith(closer) for closer in closers)
    is_bare = node.keyed and first.after.strip() in closers
    closed = _CLOSED_LIST if is_action else _CLOSED
    if first.after.strip() in value_ends:
        is_closed, is_bare = False, True
    elif is_action and first.after.strip() == "]":
        return False  # of parts or places, more may be missing
    elif is_action and node.keyed and any(tail.endswith(closer) for closer in value_ends):
        is_closed = False
    return is_closed or (has_arguments and closed.search(tail) is not None and not is_bare)


def _begins_value(dropped: str) -> bool:
    """Is what was dropped, and all that stands behind it, the sign that a value begins?"""
    return dropped.strip() in _BEGINS_VALUE


def is_undecided(text: str, end: int) -> bool:
    """Must more of a text come before `unproven` knows what follows a repair at an offset?"""
    return _UNDECIDED.match(text, end) is not None


def as_repaired(markup: str, start: int, edits: Iterable[Edit]) -> str:
    """The markup that begins at an offset with the repairs within it done, as it was most likely written elsewhere.

    What would be added before or behind it is left out.
    """
    end = start + len(markup)
    within = [e for e in edits if start <= e.start < e.end <= end or start < e.start == e.end < end]
    for edit in sorted(within, reverse=True):
        markup = markup[: edit.start - start] + edit.after + markup[edit.end - start :]
    return markup


def ends_by_supply(
    edits: Iterable[Edit], read: Callable[[int, int], str], value_ends: Collection[str], end: int
) -> bool:
    """Was all supplied that ends a call at an offset, from the end of its last bare value on?

    What stands behind it then begins another call, and that may be a part of the value.
    """
    supplied = [edit for edit in edits if edit.start == edit.end and edit.after.strip() in value_ends]
    return any(not read(edit.start, end).strip() for edit in supplied)


def ends_in_name(edits: Iterable[Edit], read: Callable[[int, int], str], name: str, end: int) -> bool:
    """Was all supplied that ends a call without arguments at an offset, from its name on?

    What stands behind it may be its arguments.
    """
    supplied = [edit.start for edit in edits if edit.start == edit.end and not read(edit.start, end).strip()]
    return any(read(max(start - _FAR, 0), start).rstrip().endswith(name) for start in supplied)


def ends_in_opener(edits: Iterable[Edit], closers: Collection[str], end: int) -> bool:
    """Does a call end at an offset behind a marker that was repaired and closes nothing, so that its value is empty?"""
    return any(edit.start < edit.end == end and edit.after and edit.after.strip() not in closers for edit in edits)


def is_cut_json(value: Any) -> bool:
    """Is a value the beginning of an object or a list, as text?"""
    return isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and value.rstrip()[-1:] not in ("}", "]")
