"""Finds where strings end whose inner quotes are not escaped: the reading with the fewest and likeliest damages.

A best-first search over walks. At a string, each quote that could close it leads to another state. The cost of a
reading is what it repairs, and what it passes over that looks like the end of a string: a quote before `, "key":`,
most of all if the schema has that key. Two signs inside a string lower the cost: unescaped quotes that come in pairs,
and balanced brackets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.call_keys import ARGUMENTS_KEYS, NAME_KEYS
from outspoken.results.edits import RepairBudget

from . import costs
from .brackets import KEYS, WalkState
from .quotes import SINGLE, Follow, Quotes
from .structure import StructureWalk
from .tokens import QUOTES

#: the longest text that is searched, in characters
MAX_SPAN = 64 * 1024
#: what a key, and a value, that holds a quote costs at least
_LEAST_KEY, _LEAST_VALUE = costs.KEY_QUOTES + costs.KEY_QUOTE, costs.PAIRED_QUOTES

_LAST = lazy_pattern(r"[\s}\])]{0,400}\Z")
#: where a string without a closing quote may end
_LOST = lazy_pattern(
    r"""(?=[\s,}\]"'])(?:(?<=[^\s"'`,:{\[])|(?<=\\"))(?:(?=(?:[\s}\]]{0,40},|\n|)\s{0,40}(?P<quote>["'])(?P<name>[^"'\\\n]{1,64})(?P=quote)\s*:)"""
    r"""|(?P<item>(?=\s{0,40}(?:,\s{0,40}"|\n\s{0,40}[}\]])))|(?P<last>(?=[\s}\]]{1,40}\Z)))"""
)
#: a comma and a key, before the quote that closes the key
_LOST_BEFORE = lazy_pattern(r"""[^\s"'`,:{\[]\s*[,\n]\s*["']([^"'\\\n]{1,64})\Z""")
#: marks that close only what another mark opens, and that mark
_OPENING_MARKS = {"”": "“", "’": "‘", "»": "«"}
_OPENSSINGLE = lazy_pattern(r"(?<!\w)['‘](?=\w)")
#: what stands before the quote that a string begins with, but for white space
_TOKEN_BEGINS = frozenset(",:[{")
#: a quote behind a word, and another word (behind digits, it may stand for inches)
_ITEM_ENDS = lazy_pattern(r"[^\W\d_]\S\s+\w")
_LOST_KEY = lazy_pattern(r"[\w$][\w$ .\-]{0,40}(?=\s*:)")
_PLAIN_KEY = lazy_pattern(r"[\w$][\w$ .\-/@]{0,40}")
#: a key that has quotes inside
_ONE_LINE = lazy_pattern(r"[^\n:{}\[\]]*")
_ENVELOPE = frozenset((*NAME_KEYS, *ARGUMENTS_KEYS, "id", "type", "tool_calls"))


class OpenString(NamedTuple):
    """A string whose end is searched: the state before it, and where its quote and its body begin.

    `next` is the index of the next quote to try, `inner` how many quotes were passed over, `passed` their cost. `ended`
    says that one of them was very likely the end, `paired` that they stand as quotation marks do, `at_token` that one
    stands where a token of JSON begins or ends.
    """

    state: WalkState
    start: int
    body: int
    quote: str
    next: int
    inner: int
    passed: int
    ended: bool = False
    paired: bool = True
    at_token: bool = False


class LostQuote(NamedTuple):
    """A string that may have lost its closing quote. It is looked at when a reading may cost so much."""

    string: OpenString


class WalkEnd(NamedTuple):
    """A reading that came to an end: its last state, and whether the value is complete."""

    state: WalkState
    complete: bool


class Search:
    """One search, from `first` on, and what it found out about the text.

    `rest` returns the cost of what follows a value that ends at a place.
    """

    def __init__(
        self,
        walk: StructureWalk,
        quotes: Quotes,
        first: int,
        keys: frozenset[str],
        rest: Callable[[int], int],
        budget: RepairBudget,
    ) -> None:
        self.walk, self.text, self.first, self.keys, self.rest, self.budget = walk, walk.text, first, keys, rest, budget
        self._quotes = quotes
        self._heap: list[tuple[int, int, WalkState | OpenString | LostQuote | WalkEnd]] = []
        self._order = 0
        self._margin = costs.MARGIN
        #: what costs more is not looked at
        self._limit = 1 << 60
        self._seen: dict[tuple[int, str, str], int] = {}

    def cheapest(self, margin: int) -> list[tuple[int, WalkState, bool]]:
        """The cheapest reading and those within the margin: each with its cost and whether it is complete."""
        readings: list[tuple[int, WalkState, bool]] = []
        self._margin = margin
        self._push(0, WalkState(self.first))
        while self._heap and self.budget.search > 0:
            weight, _, what = heappop(self._heap)
            if weight > self._limit or len(readings) > 7:
                break
            self.budget.search -= 1
            if isinstance(what, WalkState):
                self._walk(what)
            elif isinstance(what, OpenString):
                self._string(what)
            elif isinstance(what, LostQuote):
                self._lost_quotes(what.string)
            else:
                readings.append((weight, what.state, what.complete))
                self._limit = min(self._limit, weight + max(margin, costs.tolerance(weight)))
        return readings

    def _push(self, weight: int, what: WalkState | OpenString | LostQuote | WalkEnd) -> None:
        self._order += 1
        if weight <= self._limit:
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
            self._push(s.weight + self.rest(s.pos), WalkEnd(s, True))
        elif stop == "end":
            if self.walk.finish(s):
                self._push(s.weight + (0 if self.walk.closed else costs.TRUNCATED), WalkEnd(s, self.walk.closed))
        elif self._new(s):
            quote = self.text[s.pos]
            first = bisect_left(self._quotes.places(quote), s.pos + 1)
            self._push(s.weight, OpenString(s, s.pos, s.pos + 1, quote, first, 0, 0))

    def _new(self, s: WalkState) -> bool:
        """Did no cheaper reading come to this place in the same brackets?"""
        known = self._seen.setdefault((s.pos, s.mode, s.stack), s.weight)
        return s.weight <= known + self._margin

    def _unquoted(self, s: WalkState) -> None:
        """Try a value that lost its first quote."""
        if self.walk.first_quote_ends or s.mode != "value" or s.pos >= self.walk.end or s.opened >= 0:
            return
        places = self._quotes.places('"')
        index = bisect_left(places, s.pos)
        if (self.text[s.pos].isalnum() or self.text[s.pos] in "<#/$@") and index < len(places) and self._new(s):
            self._push(s.weight + costs.LOST_QUOTE, OpenString(s, s.pos, s.pos, '"', index, 0, 0))

    # -- where a string may end

    def _string(self, o: OpenString) -> None:
        """Try the next quote that could close a string, and queue the search past it."""
        places, text = self._quotes.places(o.quote), self.text
        index, inner, passed, paired, at_token = o.next, o.inner, o.passed, o.paired, o.at_token
        key = o.state.mode in KEYS
        if index == bisect_left(places, o.body):
            self._push(o.state.weight + costs.LOST_QUOTE, LostQuote(o))
        while index < len(places):
            place = places[index]
            follow = self._quotes.follow(place)
            self.budget.search -= index & 1
            if not follow.kind and not key:  # it ends nothing, and costs nothing to pass over
                paired = paired and self._is_mark(o, index, opens=inner % 2 == 0)
                at_token = at_token or self._is_at_token(o, place, follow)
                index, inner = index + 1, inner + 1
                continue
            weight = self._key_weight(o, place, inner, follow) if key else self._value_weight(o, place, inner, follow)
            least = o.state.weight + weight + (0 if key else passed)
            if weight >= 0 and least <= self._limit:
                s = o.state.copy()
                s.weight = least
                is_guess = not key and self._is_guess(o, inner, paired=paired, at_token=at_token)
                self.walk.take_string(s, o.start, o.body, place, place + 1, o.quote, is_guess=is_guess)
                self._push(s.weight, s)
            more = costs.KEPT_IN_KEY if key else self._passed(o, place, inner, follow)
            paired = paired and self._is_mark(o, index, opens=inner % 2 == 0)
            at_token = at_token or self._is_at_token(o, place, follow)
            index, inner, passed = index + 1, inner + 1, passed + more
            if key and inner > 6:
                return
            if weight >= 0 and more:
                ended = o.ended or more >= costs.KEPT_FIRST
                further = OpenString(o.state, o.start, o.body, o.quote, index, inner, passed, ended, paired, at_token)
                self._push(o.state.weight + (_LEAST_KEY if key else passed + _LEAST_VALUE), further)
                return
        if not key and not self.walk.closed and text[o.start : o.start + 1] == o.quote:
            s = o.state.copy()
            s.opened = o.start
            self.walk.finish(s)
            self._push(
                s.weight + passed + costs.TRUNCATED + (costs.TRUNCATED_QUOTES if inner else 0), WalkEnd(s, False)
            )

    def _key_weight(self, o: OpenString, place: int, inner: int, follow: Follow) -> int:
        """The cost of a key that ends at a quote; -1 if it cannot."""
        if follow.kind != "colon":
            return -1
        key = self.text[o.body : place]
        if inner and not _ONE_LINE.fullmatch(key):
            return -1
        weight = costs.KEY_QUOTES + costs.KEY_QUOTE * inner if inner else 0
        if self.keys and key not in self.keys and key not in _ENVELOPE:
            weight += costs.ODD_KEY
        elif not self.keys and key and not _PLAIN_KEY.fullmatch(key):
            weight += costs.NO_NAME
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
            return costs.PAIRED_QUOTES
        if inner == 1 and top not in ("}", "D"):
            return costs.ITEM_QUOTE
        return costs.ODD_QUOTES if inner % 2 and o.quote == '"' else costs.LOOSE_QUOTES

    def _is_balanced(self, o: OpenString, place: int, inner: int) -> bool:
        """Are there pairs of quotes and balanced brackets inside?"""
        if o.quote == '"':
            if inner % 2:
                return False
        elif o.quote not in QUOTES[o.quote] and self.text.count(o.quote, o.body, place) != inner:
            return False
        if not self._quotes.is_balanced(o.body, place):
            return False
        first = max(o.body, place - 300)
        return self.text.rfind("<", first, place) <= self.text.rfind(">", first, place)

    def _is_mark(self, o: OpenString, index: int, *, opens: bool) -> bool:
        """Can a quote open, or close, a quotation? Of single ones, `places` has only those that close."""
        places = self._quotes.places(o.quote)
        place = places[index]
        if o.quote in SINGLE:
            first = max(o.body, places[index - 1] + 1) if index else o.body
            return _OPENSSINGLE.search(self.text, first, place) is not None
        before, after = self.text[place - 1], self.text[place + 1 : place + 2]
        if opens:
            return not before.isalnum() or after.isalnum()
        return not (before.isspace() or before in ",:[{(") or not after.isalnum()

    def _is_guess(self, o: OpenString, inner: int, *, paired: bool, at_token: bool) -> bool:
        """Can as many quotes inside a value be something else than quotation marks, or one of them?

        They can where one stands at a token, and where the first quote of an odd number may be the value's own,
        doubled: `""tide"`. In `""Take" the boat, then" walk."` the third is the odd one.
        """
        if paired and (inner % 2 == 0 or o.quote in SINGLE):
            return False
        return at_token or (paired and self.text[o.body] in QUOTES[o.quote])

    def _is_at_token(self, o: OpenString, place: int, follow: Follow) -> bool:
        """Does a quote stand where a token behind the first begins, or one that a string may end with?"""
        if follow.kind in ("key", "close", "colon"):
            return True
        is_item = o.state.stack[-1:] not in ("}", "D")
        if is_item and (follow.kind == "comma" or _ITEM_ENDS.match(self.text, place - 1)):
            return True
        return self.text[max(o.body, place - 20) : place].rstrip()[-1:] in _TOKEN_BEGINS

    def _passed(self, o: OpenString, place: int, inner: int, follow: Follow) -> int:
        """The cost of a quote that is inside a value."""
        kind, top = follow.kind, o.state.stack[-1:]
        if kind == "key":
            if follow.key in self.keys:
                return costs.KEPT_KNOWN
            if self.keys and follow.key not in _ENVELOPE:
                return costs.KEPT_UNKNOWN
            if not inner:
                return costs.KEPT_FIRST
            return costs.KEPT_LATER if o.ended or self._is_balanced(o, place, inner) else costs.KEPT_INSIDE
        if kind == "close":
            balanced = self._is_balanced(o, place, inner)
            if _LAST.match(self.text, place + 1):
                return costs.KEPT_LAST if balanced else costs.KEPT_LAST_ODD
            return costs.KEPT_CLOSE if balanced else costs.KEPT_CLOSE_ODD
        if kind == "comma" and top not in ("}", "D"):
            return costs.KEPT_ITEM if self._is_balanced(o, place, inner) else costs.KEPT_ITEM_ODD
        if (
            kind == "colon"
            and (inner or o.quote != '"')
            and (match := _LOST_BEFORE.search(self.text, max(o.body, place - 80), place))
        ):
            if match[1] in self.keys:
                return costs.KEPT_COLON_KNOWN
            return costs.KEPT_COLON_UNKNOWN if self.keys else costs.KEPT_COLON
        if kind == "comma" and not inner and place > o.body:
            return costs.KEPT_COMMA
        return costs.KEPT_END if kind == "end" else 0

    def _lost_quotes(self, o: OpenString) -> None:
        """Try readings in which the string lost its closing quote."""
        if o.state.mode in KEYS:
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
            weight = costs.LOST_DOUBT * (match["name"] not in self.keys)
            if o.state.weight + weight <= self._limit:
                weight += costs.LOST_DOUBT * (not self._quotes.is_balanced(o.body, match.start()))
            self._end_without_quote(o, match.start(), weight)
        if self.walk.closed:
            self._end_without_quote(o, self.walk.end, costs.LOST_DOUBT)

    def _end_without_quote(self, o: OpenString, place: int, weight: int) -> None:
        places = self._quotes.places(o.quote)
        inner = bisect_left(places, place) - o.next
        weight += o.state.weight + (costs.LOST_QUOTES + costs.LOST_QUOTE_EACH * inner if inner else 0)
        opener = _OPENING_MARKS.get(self.text[place - 1])
        close = place - (opener is not None and place > o.body and opener not in self.text[o.body : place])
        if weight + costs.LOST_QUOTE * (close == place) > self._limit:
            return
        s = o.state.copy()
        s.weight = weight
        is_guess = inner % 2 == 1 or (inner > 0 and o.start == o.body)
        self.walk.take_string(s, o.start, o.body, close, place, o.quote, is_guess=is_guess)
        self._push(s.weight, s)
