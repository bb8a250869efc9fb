"""What the text and the repairs of a finished call must show before it may run; for its schema: `schema_objections`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.edits import Edit

from .open_node import OpenNode
from .segments import find_lone_surrogate
from .value_edges import has_odd_end, has_odd_start

#: A path that JSON escapes have damaged: `"C:\temp"`, whose `\t` is a tab.
_LOST_PATH = lazy_pattern(r'"[A-Za-z]:\\[bfnrt]\w')


#: An integer with a zero before it, and a string of Python.
PADDED = re.compile(r"0(?<![\w.]0)(?<![\w.][+-]0)[0-9]*[1-9][0-9]*(?![\w.])")
_PYTHON_STRING = re.compile(
    r"'{3}(?:[^'\\]|\\.|'(?!''))*'{3}|\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*\"{3}|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"",
    re.DOTALL,
)
#: Two strings of Python beside each other, on one line; and where they are a value without a name, each as `''`.
ADJACENT = re.compile(r"['\"](?<=[^\s(,=\[{:]['\"])[ \t]{0,9}['\"][^\s,)\]}:]")
_ADJACENT_VALUES = lazy_pattern(r"[(,]\s{0,99}''[ \t]{0,9}''")
#: The last comma of a call, if no argument follows it.
_LAST_COMMA = lazy_pattern(r",\s{0,99}\)\s{0,99}\Z")
#: A comma before the bracket that ends a call or a tuple, on one line.
LAST_IN_LINE = re.compile(r",[ \t]{0,99}\)")
#: A value that is closed by its own sign.
_CLOSED = lazy_pattern(r"[\"'}\])]\Z|(?<!\w)(?:true|false|null|True|False|None)\Z")
#: Arguments that are closed by their own sign.
_CLOSED_LIST = lazy_pattern(r"[})]\Z")
#: What stands behind one of these belongs to no value before it.
_CLOSING_BRACKETS = ("}", "]", ")")
#: A mark of a fence with its language, which says nothing.
_MARKS = ("```", "~~~")
_FENCE = lazy_pattern(r"[`~]{3,}\w*")
_MARK_SIGNS = frozenset("`~")
#: What stands between the name of a call and its arguments.
_OPENS_ARGUMENTS = " \t\r\n\"'>({[]"
#: What opens a value.
_BEGINS_VALUE = frozenset({"{", "[", "```", "~~~", "```{", "```json"})
#: What may be dropped behind a number, since it is no part of it.
_PUNCTUATION = frozenset(" \t\r\n\"'`{}[]()<>,;:|=/\\")
#: A repair that says where a string ends, or that it is one.
_QUOTING = frozenset({"bare-quote", "lost-quote", "stray-quote", "missing-quote", "bare-value", "heuristic"})
#: What no key holds: a colon or a comma and what follows it, or two brackets or bars, as markers and ends of JSON have.
_JOINED_KEY = lazy_pattern(r"[:=,]\s|[{}<>|]{2}")
#: The end of a string, and a colon, the next string or a word of JSON, or a number at the end.
_JOINED = re.compile(r"[\"']\s{0,9}(?::|,\s{0,9}(?:[\"']|(?:true|false|null)\b|-?\d[\d.]*\Z))")
#: A comma or a colon, and a quotation mark, at the beginning or the end of a string.
_JOINED_AT_EDGE = re.compile(r"\A\s{0,9}[,:]\s{0,9}[\"']|[\"']\s{0,9}[,:]\s{0,9}\Z")
#: The next argument, with its name, or its beginning at the end of the text.
_MORE_ARGUMENTS = lazy_pattern(r"[ \t]{0,9},\s{0,20}(?:[\w\"']{1,60}\s{0,9}(?:[=:]|\Z)|\Z)")
#: An object or a list on the same line.
_MORE_JSON = lazy_pattern(r"[ \t]{0,9}(?:\{|\[\s{0,9}[\[{\"'\d\-])")
#: A word on the line of a closing bracket.
_WORD_BEHIND = lazy_pattern(r"[)\]}]{1,9}[ \t]{1,9}\w")
#: What may become one of these, or is the end of a text so far.
_UNDECIDED = lazy_pattern(r"(?:[ \t]{0,9}(?:,\s{0,20}(?:[\w\"']{1,60}\s{0,9})?|\[\s{0,9})|\s{0,199})\Z")
#: What may be dropped beside a quote, since it is no part of a value; a backslash there escaped the quote.
_PUNCTUATION_OF_JSON = _PUNCTUATION - {"/"}
_BRACKETS = {"}": "{", "]": "[", ")": "("}
_MARKS_BESIDE = frozenset((",", ":", *_BRACKETS))
#: A bracket behind a number or a word.
_BEHIND_WORD = re.compile(r"\w[}\])]\Z")
_QUOTE_MARKS = frozenset({'"', "'"})
_BEFORE_KEY = frozenset("{[,")
#: So far before an insertion, a string may end.
_SWAP = 20
#: So far behind an insertion, nothing but white space shows that the text ends there.
_FAR = 200
#: Why a call is refused of which the end was supplied from that of its last bare value on.
ENDS_BY_SUPPLY = "nothing but another call shows that the last value ends"


def loses_path(arguments_text: str) -> bool:
    """Do escapes in the JSON text of arguments damage a path, as in `"C:\\temp"`?"""
    return ":\\" in arguments_text and _LOST_PATH.search(arguments_text) is not None


def pads_number(arguments: Mapping[str, Any], written: str) -> bool:
    """Is an integer of the arguments written with a zero before it in Python? To Python, that is no number."""
    if PADDED.search(written) is None:
        return False
    padded = {int(found[0]) for found in PADDED.finditer(_PYTHON_STRING.sub("''", written))}
    return any(abs(value) in padded for value, _ in _within([*arguments.values()]) if value.__class__ is int)


def lacks_comma(arguments: Mapping[str, Any], written: str) -> bool:
    """Do two strings of Python stand for one argument without a name? A comma may be missing between them."""
    if "$1" not in arguments or ADJACENT.search(written) is None:
        return False
    return _ADJACENT_VALUES.search(_PYTHON_STRING.sub("''", written)) is not None


def loses_argument(written: str) -> bool:
    """Do two strings of Python touch, or does nothing follow the last comma of a call? Something may be missing."""
    return ADJACENT.search(written) is not None or _LAST_COMMA.search(written) is not None


def may_lose_argument(written: str) -> bool:
    """Do two strings of Python touch, or does a call end with a comma in its last line?

    Something that a call need not have may be missing there.
    """
    if written[-1:] == ")" and written[:-1].rstrip(" \t")[-1:] == ",":
        return True
    return ADJACENT.search(written) is not None and "''''" in _PYTHON_STRING.sub("''", written)


def loses_character(arguments: Mapping[str, Any], written: str) -> bool:
    """Is half a character in the text of a call, so that U+FFFD stands for it in the arguments?"""
    return "\\u" in written and "\ufffd" in str(arguments) and find_lone_surrogate(written) is not None


def _within(value: Any) -> Iterator[tuple[Any, bool]]:
    """The keys and values within a list or an object, at any depth, each with whether it is a key."""
    if not isinstance(value, (dict, list)):
        return
    held = cast("dict[str, Any] | list[Any]", value)
    if isinstance(held, dict):
        yield from ((key, True) for key in held)
    for one in held.values() if isinstance(held, dict) else held:
        yield one, False
        yield from _within(one)


def keys_within(value: Any) -> Iterator[str]:
    """The keys of the objects within a list or an object."""
    return (one for one, is_key in _within(value) if is_key)


def texts_within(value: Any) -> Iterator[str]:
    """The strings and keys within a list or an object."""
    return (one for one, _ in _within(value) if isinstance(one, str))


class RepairedCall(NamedTuple):
    """A repaired call, action or payload, and what its repairs say against it.

    `read` gives the response between two offsets, and the call ends at `end`. `closers` are the markers that close
    values and calls, and `value_ends` those that close bare values.
    """

    edits: Collection[Edit]
    read: Callable[[int, int], str]
    node: OpenNode
    name: str
    arguments: Mapping[str, Any]
    end: int
    closers: Collection[str]
    value_ends: Collection[str]
    is_action: bool

    def in_values(self, names: Collection[str]) -> Iterator[str]:
        """What says that the values are not what was meant. `names` are those of the tool's arguments."""
        if key := self._misquoted(names):
            yield f"the value of `{key}` seems to hold a part of another one"
        is_begun = any(text.endswith(("{", "[", "(")) for text in texts_within([*self.arguments.values()]))
        if is_begun or self._moves_quote() or any(map(self._may_end_later, self.edits)):
            yield "a value may end before its last characters"
        if any(map(self._swaps, self.edits)):
            yield "a character beside a value may belong to it"
        if self._holds_argument({*names} - self.arguments.keys()):
            yield "an object within a value holds an argument that the call lacks"
        if self._invents_key():
            yield "a word between two values was read as a key"
        supplied = {edit.after.strip() for edit in self.edits if edit.start == edit.end} & {*self.value_ends}
        texts = texts_within([*self.arguments.values()]) if self.node.looseness else ()
        if any(marker in text for text in texts for marker in supplied):
            yield "a value holds the marker that is missing behind it"

    def at_end(self) -> str:
        """What says that the call may go on, or that it never began; "" if nothing does."""
        if why := self._unproven():
            return why
        if self._ends_by_supply():
            return ENDS_BY_SUPPLY
        if self._ends_in_opener():
            return "nothing shows that a value follows the last marker"
        if not self.arguments and self._ends_in_name():
            return "nothing shows that the call has no arguments"
        return ""

    def _before(self, edit: Edit) -> str:
        """The text before an edit, without white space at its end."""
        return self.read(max(edit.start - _FAR, 0), edit.start).rstrip()

    def _holds_argument(self, absent: Collection[str]) -> bool:
        """Does an object within a value hold one of these, and a bracket may be missing that ends the object?"""
        closes = any(edit.after in _CLOSING_BRACKETS and edit.level != "markup" for edit in self.edits)
        values = self.arguments.values() if closes and absent else ()
        return any(key in absent for value in values for key in keys_within(value))

    def _invents_key(self) -> bool:
        """Was a bare word read as a key, although no colon is behind it? It is a word between values."""
        ends = {edit.end for edit in self.edits if edit.code == "bare-key"}
        return any(e.code == "missing-colon" and ends.intersection((e.start, e.start - 1)) for e in self.edits)

    def _moves_quote(self) -> bool:
        """Does a string begin or end a letter or two beside a quotation mark, which may be its own?

        Or right behind one with a backslash, which may be the mistake.
        """
        kept = [edit for edit in self.edits if edit.code == "bare-quote" or edit.after == '\\"']
        lost = [edit.start for edit in self.edits if edit.code == "lost-quote"]
        return any(self.read(max(at - 2, 0), at) in ('\\"', "\\'") for at in lost) or any(
            0 <= at - edit.end <= 2 or 0 <= edit.start - at <= 2 for at in lost for edit in kept
        )

    def _may_end_later(self, edit: Edit) -> bool:
        """May a string go on, since it opens brackets that it does not close?

        Its quotation mark was lost before such a bracket, or its end is a guess. If it was lost, the string may also
        hold brackets that close what is around it.
        """
        closers = self.read(edit.end, edit.end + 1) if edit.code == "lost-quote" else ""
        pairs = [(closer, _BRACKETS[closer]) for closer in closers if closer in _BRACKETS]
        if edit.code in ("heuristic", "bare-quote"):
            pairs = [*_BRACKETS.items()]
        texts = [*texts_within([*self.arguments.values()])] if pairs else ()
        if edit.code == "lost-quote":
            ahead = self.read(edit.end, edit.end + _SWAP).lstrip()[:1]
            ends = not ahead or ahead in _MARKS_BESIDE
            before = self.read(max(edit.start - _FAR, 0), edit.start).rstrip(" \t")
            if has_odd_end(before) if ends else has_odd_start(ahead):
                return True
            if any(text.lstrip()[:1] in _BRACKETS for text in texts):
                return True
        return any(text.count(opener) > text.count(closer) for text in texts for closer, opener in pairs)

    def _swaps(self, edit: Edit) -> bool:
        """May a value and what stands beside it have swapped their last or first characters?

        A repair drops a letter beside a quote (`w"ait"`) or within the edge of a marker (`Lichen<s/title>`), or it
        supplies what the value ends or begins with: `"wait," "n"`, `"Leith}"`, `<p name="title>"Lichens`.
        """
        read, marker = self.read, edit.after.strip()
        is_dropped, is_mark = edit.code in ("dropped-text", "stray-text"), marker[:1] in _MARKS_BESIDE
        if edit.start < edit.end and edit.level != "markup" and not (is_dropped or is_mark):
            return False  # it neither drops nor supplies anything
        before, written = read(max(edit.start - _SWAP, 0), edit.start), read(*edit[:2])
        behind = read(edit.end, edit.end + max(len(marker), 1))
        if is_dropped:
            is_beside = not _QUOTE_MARKS.isdisjoint((behind[:1], before[-1:]))
            if is_beside and not _PUNCTUATION_OF_JSON.issuperset(written):
                return True
            return written.isalnum() and _BEHIND_WORD.search(before) is not None
        if is_mark and _ends_with_mark(before, marker[:1], self.arguments):
            return True
        if edit.level == "markup" and len(marker) > 1:
            if not written and _is_swapped(behind, marker):
                return True
            core, is_key = written.strip(), marker[0] in _QUOTE_MARKS  # signs of JSON are beside a key, and no value
            sides = "" if is_key and before[-1:] in _BEFORE_KEY else before[-1:], "" if is_key else behind[:1]
            begins = sides[0].strip() and written[:1] == core[:1] and core[1:2].isalnum()
            ends = sides[1].strip() and written[-1:] == core[-1:] and core[-2:-1].isalnum()
            return bool((begins and core[:1] + core[2:] == marker) or (ends and core[:-2] + core[-1:] == marker))
        ahead = "" if written or not marker else read(edit.end, edit.end + _SWAP).lstrip()
        return ahead[:1] in _QUOTE_MARKS and ahead[1:2] == marker

    def _misquoted(self, names: Collection[str]) -> str:
        """The argument of which the repairs leave quotation marks or another one of some names in the value; or ""."""
        if not any(edit.code in _QUOTING for edit in self.edits):
            return ""
        for key, value in self.arguments.items():
            if value.__class__ is str and (
                _has_lone_quote(value) or holds_key(value, names) or _JOINED_AT_EDGE.search(value)
            ):
                return key
            if any(
                _JOINED.search(text) or _has_lone_quote(text) or holds_key(text, names) for text in texts_within(value)
            ):
                return key
            if any(_JOINED_KEY.search(inner) or _has_lone_quote(inner) for inner in (key, *keys_within(value))):
                return key
        return ""

    def _unproven(self) -> str:
        """Why the repairs prove nothing: words were dropped, or the end of the text closes a value.

        Words that stand before the call's name belong to no argument. The end of the text may only close markup, behind
        a value or a marker that is closed itself; a bare value has no sign of its own. It does not close the arguments
        of an action, since those that are missing may say where it is to be done.
        """
        ends: list[Edit] = []
        for edit in self.edits:
            is_inside = edit.start > self.node.start
            if is_inside and not edit.after and self.read(edit.start, edit.end + _FAR).strip() in _BEGINS_VALUE:
                return "the text ends where a value begins"
            is_dropped = is_inside and edit.code in ("stray-text", "dropped-text")
            if is_dropped and self.name in self.read(self.node.start, edit.start) and (why := self._loses(edit)):
                return why
            behind = self.read(edit.start, edit.start + _FAR) if edit.start == edit.end and edit.after else "-"
            if not behind.strip():
                ends.append(edit)
            elif edit.after.strip() in self.closers and _MORE_ARGUMENTS.match(behind):
                return "more arguments follow what seems to be the end"
            elif edit.after in _CLOSING_BRACKETS and _MORE_JSON.match(behind):
                return "more JSON follows what seems to be the end"
            elif edit.code == "lost-quote" and _WORD_BEHIND.match(behind):
                return "a string without its last quotation mark may go on"
        if any(edit.path and edit.after in _CLOSING_BRACKETS for edit in ends):
            return "the text ends within a list or an object"
        if not ends or self._is_ended(min(ends, key=lambda edit: edit.start)):
            return ""
        return "the text ends before it is certain what this says"

    def _loses(self, edit: Edit) -> str:
        """Why text that was dropped may belong to a value; "" if it may not."""
        mark, dropped = self.read(max(edit.start - 3, 0), edit.start), self.read(edit.start, edit.end)
        dropped = _FENCE.sub("", mark + dropped if mark in _MARKS else dropped)
        before = self._before(edit)[-1:]
        if before.isdigit() and not _PUNCTUATION.issuperset(dropped):
            return f"{dropped.strip()!r} behind a number may belong to it"
        is_word = any(map(str.isdigit, dropped)) or sum(map(str.isalnum, dropped)) > 1
        is_first = self._before(edit).rstrip("".join(_CLOSING_BRACKETS)).endswith(self.name)
        if is_word and (is_first or before not in _CLOSING_BRACKETS):
            return f"the text {dropped.strip()!r} between markers belongs to nothing"
        return ""

    def _is_ended(self, first: Edit) -> bool:
        """Does the call end before the first marker that was supplied at the end of the text?"""
        tail, marker = self._before(first), first.after.strip()
        is_closed, is_bare = any(map(tail.endswith, self.closers)), self.node.keyed and marker in self.closers
        if marker in self.value_ends:
            is_closed, is_bare = False, True
        elif self.is_action and marker == "]":
            return False  # of parts or places, more may be missing
        elif self.is_action and self.node.keyed and any(map(tail.endswith, self.value_ends)):
            is_closed = False
        closed = _CLOSED_LIST if self.is_action else _CLOSED
        return is_closed or (bool(self.arguments) and closed.search(tail) is not None and not is_bare)

    def _ends_by_supply(self) -> bool:
        """Was all supplied that ends the call, from the end of its last bare value on?

        What stands behind it then begins another call, and that may be a part of the value.
        """
        first = next(self._supplied_at_end(), None)
        last = [*self.arguments.values()][-1:] if self.node.keyed and self.value_ends else []
        value = last[0].rstrip() if last and isinstance(last[0], str) else ""
        if first is not None and value and self._before(first).endswith(value):
            return True
        return any(edit.after.strip() in self.value_ends for edit in self._supplied_at_end())

    def _ends_in_name(self) -> bool:
        """Was all supplied that ends the call, from its name or the bracket of its arguments on?

        What stands behind it, unless that closes the section of the call, may be its arguments.
        """
        behind = self.read(self.end, self.end + _FAR).lstrip()
        found = next((closer for closer in self.closers if behind.startswith(closer)), "")
        if found and not (set(found) <= _MARK_SIGNS and behind[len(found) :][:1].isalnum()):
            return False  # a fence with a word behind it is none
        leads = (self._before(edit) for edit in self._supplied_at_end())
        return any(lead[-1:] in ("{", "(") or lead.rstrip(_OPENS_ARGUMENTS).endswith(self.name) for lead in leads)

    def _supplied_at_end(self) -> Iterator[Edit]:
        """The edits that supply something, behind which nothing else of the call stands."""
        return (e for e in self.edits if e.start == e.end and not self.read(e.start, self.end).strip())

    def _ends_in_opener(self) -> bool:
        """Does the call end behind a marker that was repaired and closes nothing, so that its value is empty?"""
        return any(e.start < e.end == self.end and e.after and e.after.strip() not in self.closers for e in self.edits)


def _is_swapped(text: str, marker: str) -> bool:
    """Is a text a marker of which two neighbours are swapped?"""
    places = [at for at, pair in enumerate(zip(text, marker, strict=False)) if pair[0] != pair[1]]
    if len(text) != len(marker) or len(places) != 2 or places[1] != places[0] + 1:
        return False
    return text[places[0]] == marker[places[1]] and text[places[1]] == marker[places[0]]


def _ends_with_mark(before: str, mark: str, arguments: Mapping[str, Any]) -> bool:
    """Does a text end with a string that ends with a mark of JSON or Python? A bracket that closes another is none."""
    string = before.rstrip(" \t\r\n}])")
    if string[-1:] not in _QUOTE_MARKS or not string[:-1].rstrip().endswith(mark):
        return False
    opener = _BRACKETS.get(mark)
    texts = [text for text in texts_within([*arguments.values()]) if text.rstrip().endswith(mark)]
    return opener is None or any(text.count(mark) > text.count(opener) for text in texts)


def _has_lone_quote(text: str) -> bool:
    return any(text.count(text.strip()[at]) == 1 for at in (0, -1) if text.strip()[at:][:1] in ("'", '"'))


def holds_key(text: str, names: Collection[str]) -> bool:
    """Does a text hold one of these names as the key of a value, or as the last attribute of a tag?"""
    behind = r"(?:[\"'”]\s*[:=]|\s?=\s?[\"'\[{\d])"
    found = [re.escape(name) for name in names if name in text]
    return any(re.search(rf"(?<!\w){name}{behind}", text) for name in found) or holds_attribute(text, names)


def holds_attribute(text: str, names: Collection[str]) -> bool:
    """Does a text hold one of these names as the last attribute of a tag?"""
    return any(re.search(rf"=[\"']?{re.escape(name)}[\"']?>", text) for name in names if name in text)


def holds_line(text: str, names: Collection[str]) -> bool:
    """Does a line of a text, but the first, begin with one of these names and a value?"""
    return "\n" in text and any(re.search(rf"\n[ \t]*{re.escape(name)}[ \t]\S", text) for name in names if name in text)


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


def is_cut_json(value: Any) -> bool:
    """Is a value the beginning of an object or a list, as text?"""
    return isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and value.rstrip()[-1:] not in ("}", "]")
