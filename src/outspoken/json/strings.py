"""Finds where strings end whose inner quotes are not escaped: the reading with the fewest and likeliest damages.

A best-first search over walks. At a string, each quote that could close it leads to another state. The cost of a
reading is what it repairs, and what it passes over that looks like the end of a string: a quote before `, "key":`,
most of all if the schema has that key. Two signs inside a string lower the cost: unescaped quotes that come in pairs,
and balanced brackets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.call_keys import ARGUMENTS_KEYS, NAME_KEYS
from outspoken.results.edits import RepairBudget

from .brackets import WalkState
from .structure import StructureWalk
from .tokens import QUOTES

#: the longest text that is searched, in characters
MAX_SPAN = 64 * 1024
#: how much more another reading may cost and still be as likely, at least
MARGIN = 4
#: the cost of a truncated reading
_TRUNCATED = 25

_NAME = (
    r"""(?:"(?P<name>[^"\\\n]{1,64})"|'(?P<single>[^'\\\n]{1,64})'|[“„‘＂＇「『«`](?P<wide>[^”“’＂＇」』»`\n]{1,64})[”“’＂＇」』»`]"""
    r"""|"?(?P<bare>[A-Za-z_]\w{0,40}))\s*[:：]"""
)
_COMMENT = r"(?:(?://|\#)[^\n]{0,200}\n\s{0,200}|/\*[^*]{0,200}\*/\s{0,200}){0,4}"
#: what may follow the closing quote of a string
_FOLLOW = lazy_pattern(
    rf"\s{{0,200}}(?:(?:[,，]\s*{_COMMENT}|\n\s{{0,200}}){_NAME}|(?P<close>[,，]?\s{{0,200}}{_COMMENT}[}}\])｝］】])|(?P<comma>[,;，、])|(?P<colon>[:：=])"
    r"|(?P<end>\Z)|(?P<comment>//|\#|/\*))",
    re.DOTALL,
)
_LAST = lazy_pattern(r"[\s}\])]{0,400}\Z")
#: where a string without a closing quote may end
_LOST = lazy_pattern(
    r"""(?:(?<=[^\s"'`,:{\[])|(?<=\\"))(?:(?=[\s}\]]{0,40},\s{0,40}"(?P<name>[^"\\\n]{1,64})"\s*:)|(?=\n\s{0,40}"(?P<next>[^"\\\n]{1,64})"\s*:)"""
    r"""|(?P<item>(?=\s{0,40}(?:,\s{0,40}"|\n\s{0,40}[}\]])))|(?P<last>(?=[\s}\]]{1,40}\Z)))"""
)
#: a comma and a key, before the quote that closes the key
_LOST_BEFORE = lazy_pattern(r"""[^\s"'`,:{\[]\s*[,\n]\s*"([^"\\\n]{1,64})\Z""")
_LOST_KEY = lazy_pattern(r"[\w$][\w$ .\-]{0,40}(?=\s*:)")
_PLAIN_KEY = lazy_pattern(r"[\w$][\w$ .\-/@]{0,40}")
#: a key that has quotes inside
_ONE_LINE = lazy_pattern(r"[^\n:{}\[\]]*")
_BRACKETS = lazy_pattern(r"[(){}\[\]]")
_ENVELOPE = frozenset((*NAME_KEYS, *ARGUMENTS_KEYS, "id", "type", "tool_calls"))


def tolerance(weight: int) -> int:
    """How much more than a reading of this cost another one may cost and still be as likely."""
    return max(MARGIN, weight // 5)


class OpenString(NamedTuple):
    """A string whose end is searched: the state before it, and where its quote and its body begin.

    `next` is the index of the next quote to try, `inner` how many quotes were passed over, `passed` their cost. `ended`
    says that one of them was very likely the end.
    """

    state: WalkState
    start: int
    body: int
    quote: str
    next: int
    inner: int
    passed: int
    ended: bool = False


class Reading(NamedTuple):
    """A reading that came to an end: its last state, and whether the value is complete."""

    state: WalkState
    complete: bool


class Follow(NamedTuple):
    """What follows a quote: its kind, and the key if it is one."""

    kind: str
    key: str


class Search:
    """One search, from `first` on, and what it found out about the text.

    `rest` returns the cost of what follows a value that ends at a place.
    """

    def __init__(
        self, walk: StructureWalk, first: int, keys: frozenset[str], rest: Callable[[int], int], budget: RepairBudget
    ) -> None:
        self.walk, self.text, self.first, self.keys, self.rest, self.budget = walk, walk.text, first, keys, rest, budget
        self._heap: list[tuple[int, int, WalkState | OpenString | Reading]] = []
        self._order = 0
        self._margin = MARGIN
        self._seen: dict[tuple[int, str, str], int] = {}
        self._quotes: dict[str, list[int]] = {}
        self._follows: dict[int, Follow] = {}
        self._balance: tuple[list[int], list[tuple[int, int, int]]] | None = None

    def cheapest(self, margin: int) -> list[tuple[int, WalkState, bool]]:
        """The cheapest reading and those within the margin: each with its cost and whether it is complete."""
        found: list[tuple[int, WalkState, bool]] = []
        self._margin = margin
        limit = 1 << 60
        self._push(0, WalkState(self.first))
        while self._heap and self.budget.search > 0:
            weight, _, what = heappop(self._heap)
            if weight > limit or len(found) > 7:
                break
            self.budget.search -= 1
            if isinstance(what, WalkState):
                self._walk(what)
            elif isinstance(what, OpenString):
                self._string(what)
            else:
                found.append((weight, what.state, what.complete))
                limit = min(limit, weight + max(margin, tolerance(weight)))
        return found

    def _push(self, weight: int, what: WalkState | OpenString | Reading) -> None:
        self._order += 1
        heappush(self._heap, (weight, self._order, what))

    def _walk(self, s: WalkState) -> None:
        """Walk on to the next string, choice or end."""
        self.walk.steps = 0
        stop = self.walk.run(s, 5_000)
        self.budget.search -= self.walk.steps // 8
        if stop == "stuck":
            self._unquoted(s)
        elif stop == "choice":
            if self._new(s):
                for other in self.walk.choices(s):
                    self._push(other.weight, other)
        elif stop == "done":
            self._push(s.weight + self.rest(s.pos), Reading(s, True))
        elif stop == "end":
            if self.walk.finish(s):
                self._push(s.weight + (0 if self.walk.closed else _TRUNCATED), Reading(s, self.walk.closed))
        elif self._new(s):
            quote = self.text[s.pos]
            first = bisect_left(self._places(quote), s.pos + 1)
            self._push(s.weight, OpenString(s, s.pos, s.pos + 1, quote, first, 0, 0))

    def _new(self, s: WalkState) -> bool:
        """Did no cheaper reading come to this place in the same brackets?"""
        known = self._seen.setdefault((s.pos, s.mode, s.stack), s.weight)
        return s.weight <= known + self._margin

    def _unquoted(self, s: WalkState) -> None:
        """Try a value that lost its first quote."""
        if self.walk.first_quote_ends or s.mode != "V" or s.pos >= self.walk.end or s.opened >= 0:
            return
        places = self._places('"')
        index = bisect_left(places, s.pos)
        if (self.text[s.pos].isalnum() or self.text[s.pos] in "<#/$@") and index < len(places) and self._new(s):
            self._push(s.weight + 60, OpenString(s, s.pos, s.pos, '"', index, 0, 0))

    # -- where a string may end

    def _string(self, o: OpenString) -> None:
        """Try the next quote that could close a string, and queue the search past it."""
        places, text = self._places(o.quote), self.text
        index, inner, passed = o.next, o.inner, o.passed
        key = o.state.mode in "FK"
        if index == bisect_left(places, o.body):
            self._try_lost_quotes(o, key)
        while index < len(places):
            place = places[index]
            follow = self._follow(place)
            self.budget.search -= index & 1
            weight = self._key_weight(o, place, inner, follow) if key else self._value_weight(o, place, inner, follow)
            if weight >= 0:
                s = o.state.copy()
                s.weight += weight + (0 if key else passed)
                self.walk.take_string(s, o.start, o.body, place, place + 1, o.quote)
                self._push(s.weight, s)
            more = 10 if key else self._passed(o, place, inner, follow)
            index, inner, passed = index + 1, inner + 1, passed + more
            if key and inner > 6:
                return
            if weight >= 0 and more:
                ended = o.ended or more >= 70
                self._push(o.state.weight + passed, o._replace(next=index, inner=inner, passed=passed, ended=ended))
                return
        if not key and not self.walk.closed and text[o.start : o.start + 1] == o.quote:
            s = o.state.copy()
            s.opened = o.start
            self.walk.finish(s)
            self._push(s.weight + passed + _TRUNCATED + (30 if inner else 0), Reading(s, False))

    def _key_weight(self, o: OpenString, place: int, inner: int, follow: Follow) -> int:
        """The cost of a key that ends at a quote; -1 if it cannot."""
        if follow.kind != "colon":
            return -1
        key = self.text[o.body : place]
        if inner and not _ONE_LINE.fullmatch(key):
            return -1
        weight = 40 + 5 * inner if inner else 0
        if self.keys and key not in self.keys and key not in _ENVELOPE:
            weight += 25
        elif not self.keys and key and not _PLAIN_KEY.fullmatch(key):
            weight += 15
        return weight

    def _value_weight(self, o: OpenString, place: int, inner: int, follow: Follow) -> int:
        """The cost of a value that ends at a quote; -1 if it cannot."""
        kind, top = follow.kind, o.state.stack[-1:]
        if not kind or kind == "colon" or (kind == "key" and top not in ("}", "D")):
            return -1
        if kind == "comma" and top in ("}", "D"):
            return -1
        if not inner:
            return 0
        if self._is_balanced(o, place, inner):
            return 30
        if inner == 1 and top not in ("}", "D"):
            return 60
        return 55 if inner % 2 and o.quote == '"' else 45

    def _is_balanced(self, o: OpenString, place: int, inner: int) -> bool:
        """Are there pairs of quotes and balanced brackets inside?"""
        if o.quote == '"':
            if inner % 2:
                return False
        elif o.quote not in QUOTES[o.quote] and self.text.count(o.quote, o.body, place) != inner:
            return False
        if self._open_brackets(place) != self._open_brackets(o.body):
            return False
        first = max(o.body, place - 300)
        return self.text.rfind("<", first, place) <= self.text.rfind(">", first, place)

    def _passed(self, o: OpenString, place: int, inner: int, follow: Follow) -> int:
        """The cost of a quote that is inside a value."""
        kind, top = follow.kind, o.state.stack[-1:]
        if kind == "key":
            if follow.key in self.keys:
                return 45
            if self.keys and follow.key not in _ENVELOPE:
                return 1
            return 70 if not inner else 25 if o.ended or self._is_balanced(o, place, inner) else 4
        if kind == "close":
            balanced = self._is_balanced(o, place, inner)
            if _LAST.match(self.text, place + 1):
                return 40 if balanced else 15
            return 12 if balanced else 3
        if kind == "comma" and top not in ("}", "D"):
            return 14 if self._is_balanced(o, place, inner) else 4
        if kind == "colon" and inner and (match := _LOST_BEFORE.search(self.text, max(o.body, place - 80), place)):
            return 40 if match[1] in self.keys else 10 if self.keys else 18
        if kind == "comma" and not inner and place > o.body:
            return 20
        return 20 if kind == "end" else 0

    def _try_lost_quotes(self, o: OpenString, key: bool) -> None:
        """Try readings in which the string lost its closing quote."""
        if key:
            if match := _LOST_KEY.match(self.text, o.body):
                self._end_without_quote(o, match.end(), 0)
            return
        listed = o.state.stack[-1:] == "]"
        for match in _LOST.finditer(self.text, o.body, min(self.walk.end, o.body + 2_000)):
            if self.budget.search <= 0:
                return
            self.budget.search -= 1
            if (match["last"] is not None and not self.walk.closed) or (match["item"] is not None and not listed):
                continue
            name = match["name"] or match["next"]
            balanced = self._open_brackets(match.start()) == self._open_brackets(o.body)
            self._end_without_quote(o, match.start(), (0 if name in self.keys else 10) + (0 if balanced else 10))
        if self.walk.closed:
            self._end_without_quote(o, self.walk.end, 10)

    def _end_without_quote(self, o: OpenString, place: int, weight: int) -> None:
        places = self._places(o.quote)
        inner = bisect_left(places, place) - o.next
        s = o.state.copy()
        s.weight += weight + (30 + 10 * inner if inner else 0)
        self.walk.take_string(s, o.start, o.body, place, place, o.quote)
        self._push(s.weight, s)

    # -- facts about the text

    def _places(self, quote: str) -> list[int]:
        """The places of unescaped quotes that can close a string which opens with `quote`."""
        if quote not in self._quotes:
            chars = re.escape(QUOTES[quote])
            found = re.finditer(rf"\\.|[{chars}]", self.text[: self.walk.end], re.DOTALL)
            places = [match.start() for match in found if match[0] in QUOTES[quote]]
            if quote in "'‘":
                places = [place for place in places if not self.text[place + 1 : place + 2].isalnum()]
            self._quotes[quote] = places
        return self._quotes[quote]

    def _follow(self, place: int) -> Follow:
        """What follows the quote at a place; kept."""
        found = self._follows.get(place)
        if found is None:
            match = _FOLLOW.match(self.text, place + 1)
            name = next(filter(None, match.group("name", "single", "wide", "bare")), "") if match else ""
            found = Follow("key" if name else (match.lastgroup or "") if match else "", name)
            self._follows[place] = found
        return found

    def _open_brackets(self, place: int) -> tuple[int, int, int]:
        """How many brackets of each kind are open at a place, from the start of the text, strings included."""
        if self._balance is None:
            places, nets, open_ = [-1], [(0, 0, 0)], [0, 0, 0]
            for match in _BRACKETS.finditer(self.text):
                kind = "([{)]}".index(match[0])
                open_[kind % 3] += 1 if kind < 3 else -1
                places.append(match.start())
                nets.append((open_[0], open_[1], open_[2]))
            self._balance = places, nets
        places, nets = self._balance
        return nets[bisect_left(places, place) - 1]
