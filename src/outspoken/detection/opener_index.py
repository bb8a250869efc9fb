"""The opening markers of all formats: which formats may begin where one of them stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN, like
from outspoken.patterns.prepared import LOWERCASE, Prefilter, PrefilterSource, PrefixIndex, compile_prefilter

from .evidence import ALONE, AT_END, AT_START, BEHIND, begins_line, end_of_blanks
from .openers import CodeOpeners, Opener, Openers

#: How many formats are remembered for one marker.
_REMEMBERED = 4

#: How much white space behind a marker is waited for at most.
_MAX_SPACE = 200


class Place(NamedTuple):
    """An opening marker that was found: its offset, its number, the group of the markers that begin alike, its match.

    Numbers are from 1 on, with plain text's own markers last; it is 0 if the marker may still be open at the end of the
    text. Parsers know no group, which is -1 then.
    """

    start: int
    number: int
    group: int = -1
    match: Any = None


class _Alike(NamedTuple):
    """The openers of markers that begin alike, in order.

    `match` tests those that open no code sample: it has two groups for each test, and `tested` holds the number of the
    first. `in_code` are the others, by the pattern of their marker.
    """

    tested: list[tuple[Opener, int]]
    match: Any
    in_code: list[CodeOpeners]
    #: what `OpenerIndex.at` returns in complete text, by the groups that match and the openers in the code sample
    known: dict[tuple[Any, ...], Owners]


class Owners(NamedTuple):
    """The `names` of the formats that have an opening marker at a place, and the `likely` ones among them.

    `wanted` is the evidence that segments of some of them need at their end; see `evidence`. Only the `sound` ones may
    read a segment without damage, if any can.
    """

    names: list[str]
    likely: list[str]
    wanted: dict[str, str]
    sound: list[str]


class OpenerIndex:
    """The opening markers of all formats, in order, and behind them plain text's own markers.

    `openers` are the openers of formats, `terminals` their markers, `own` those of plain text. A `lenient` index also
    has the markers that missing openers leave. `recent` are the formats that were found where the marker of a number
    stood, the last one first.

    Patterns are compiled when a text first needs them.
    """

    def __init__(self, data: Openers, *, lenient: bool) -> None:
        self.terminals, self.own = data.markers, data.own
        self.recent: dict[int, tuple[str, ...]] = {}
        self._data = data
        self.openers = [o for o in data.openers if not o.inserted or (lenient and not o.evidence)]
        self._all = [*self.openers, *data.plain_openers]
        self._patterns = [marker.regex for marker in (*self.terminals, *self.own)]
        self._prefixes = PrefixIndex(data.prefixes)
        used = {o.regex for o in self.openers} | {marker.regex for marker in self.own}
        #: the markers that begin alike, by the number of their group
        self.groups = [[i for i in group if self._patterns[i] in used] for group in data.prefixes.groups]
        in_lines = {o.regex for o in data.plain_openers if o.evidence in AT_START}
        anywhere = {o.regex for o in self._all if o.evidence not in AT_START}
        anywhere |= {marker.regex for marker in self.own if marker.regex not in in_lines}
        #: of each group, the markers that count anywhere in a line; None if all do
        self._inline = [_some([i for i in group if self._patterns[i] in anywhere], group) for group in self.groups]
        wanting = {o.regex for o in self._all if o.evidence}
        self._wants_evidence = [not wanting.isdisjoint([self._patterns[i] for i in group]) for group in self.groups]
        #: the openers by the group of their markers
        self._alike: dict[int, _Alike] = {}
        self._matches: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        #: by format and group, what tells whether another format is likely; see `has_rival`
        self._others: dict[tuple[str, int], tuple[Any, _Alike | None]] = {}
        #: by number, how a marker is written
        self._written: dict[int, str] = {}
        #: by number, what matches a marker, whatever stands beside it
        self._whole: dict[int, Any] = {}
        #: by pattern, what matches a marker that may be incomplete at the end of the text
        self._partial: dict[str, Any] = {}

    def at(
        self, text: str, pos: int, *, final: bool, group: int | None = None, behind: int = -1, known: bool = False
    ) -> Owners:
        """The formats that have an opening marker at a position.

        A format is unlikely if a marker is missing before this one or, in complete text, if it refuses what follows. If
        all are, all are likely. Of formats that are alike, only the first is. A format for which a code sample starts
        here is left out. `group` is that of the markers at the position, if it is known; see `Place`. Other
        markup ends at the position `behind`. `known` says that a format was found before.
        """
        alike = self._beginning_alike(self.group_at(text, pos) if group is None else group)
        groups = alike.match(text, pos).groups()
        in_code = [*self._in_code(alike, text, pos, final=final)] if alike.in_code else []
        in_line = not begins_line(text, pos, behind)
        key = (in_line, known, *groups, *in_code)
        if final and (owners := alike.known.get(key)) is not None:
            return owners
        standing = [
            (opener, groups[place] is not None or not final)
            for opener, place in alike.tested
            if groups[place + 1] is not None or (not final and self.may_be_open(opener.regex, text, pos))
        ]
        names: dict[str, bool] = {}
        wanted: dict[str, str] = {}
        for opener, is_followed in [*standing, *[(opener, True) for opener in in_code]]:
            if (in_line and opener.evidence in AT_START) or (not known and opener.evidence == BEHIND):
                continue  # it does not count in a line, or before a format is known
            names[opener.format] = names.get(opener.format, False) or (is_followed and not opener.inserted)
            wanted[opener.format] = wanted.get(opener.format, ALONE) and AT_END.get(opener.evidence, "")
        chosen = [name for name, likely in names.items() if likely] or list(names)
        likely = [name for name in chosen if like(name) not in chosen]
        owners = Owners(list(names), likely, {name: evidence for name, evidence in wanted.items() if evidence}, chosen)
        if final:
            alike.known[key] = owners
        return owners

    def _in_code(self, alike: _Alike, text: str, pos: int, *, final: bool) -> Iterator[Opener]:
        """The openers whose markers may stand at the start of a code sample that begins at a position."""
        for openers in alike.in_code:
            match = openers.find_start(text, pos)
            if match is not None:
                found = openers.possible(text, match.end())
                yield from [o for o in found if not final or openers.is_followed(o, text, pos)]
            elif not final and self.may_be_open(openers.regex, text, pos):
                yield from openers.all

    def is_open(self, text: str, pos: int) -> bool:
        """Does a text of which more may come end where a code sample starts, whose first character is needed?"""
        for openers in self._beginning_alike(self.group_at(text, pos)).in_code:
            match = openers.find_start(text, pos)
            if match is not None and match.end() == len(text) < pos + _MAX_SPACE:
                return True
        return False

    def may_be_open(self, pattern: str, text: str, pos: int) -> bool:
        """Does a text of which more may come end within what may be a marker with a pattern?"""
        match = self._partial.get(pattern)
        if match is None:
            from outspoken.patterns.alike import compile_arriving

            match = self._partial[pattern] = compile_arriving(pattern).match
        found = match(text, pos, partial=True)
        return found is not None and found.partial

    def group_at(self, text: str, pos: int) -> int:
        """The group of the markers that may stand at a position."""
        return self._prefixes.at(text, pos)

    def begins(self, text: str, pos: int) -> int:
        """The next place where a marker may begin in text of which more may come; -1 if there is none."""
        search, skips_words = self._partial_search
        if search is None or (skips_words and self._may_begin(text, pos)):
            return pos if pos < len(text) else -1
        return search(text, pos)

    def _may_begin(self, text: str, pos: int) -> bool:
        """May a marker begin at the start of a search, if that is not inside of a word? Searches miss it."""
        is_inside = pos >= len(text) or (pos and text[pos - 1] in LOWERCASE)
        return not is_inside and bool(self.groups[self._prefixes.at(text, pos)])

    @cached_property
    def _search(self) -> tuple[Prefilter | None, bool]:
        return self._compile(self._data.whole)

    @cached_property
    def _partial_search(self) -> tuple[Prefilter | None, bool]:
        return self._compile(self._data.partial)

    @staticmethod
    def _compile(source: PrefilterSource | None) -> tuple[Prefilter | None, bool]:
        """The search for where a marker may begin, or None if it may anywhere; and whether the search skips words."""
        return (None, False) if source is None else (compile_prefilter(source), source.skips_words)

    def stands_at(self, text: str, pos: int, *, final: bool) -> bool | None:
        """Does a marker stand at a position? None if only more text can tell."""
        group = self.group_at(text, pos)
        if not self.groups[group]:
            return False
        match = self._matches[not final].get(group) or self._compile_match(group, self.groups[group], partial=not final)
        found: Any = match(text, pos) if final else match(text, pos, partial=True)
        return None if found is not None and not final and found.partial else found is not None

    def ends_line(self, text: str, pos: int, *, final: bool) -> bool | None:
        """Does a line end at a position, or does other markup follow? None if only more text can tell."""
        at = end_of_blanks(text, pos)
        if at == len(text):
            return True if final else None
        if text[at] == "\n":
            return True
        follows = [self.stands_at(text, place, final=final) for place in {pos, at}]
        return True if True in follows else None if None in follows else False

    def wants_evidence(self, group: int) -> bool:
        """Does one of the markers of a group ask for evidence?"""
        return self._wants_evidence[group]

    def is_foreign(self, group: int) -> bool:
        """Does plain text itself have none of the markers of a group?"""
        return max(self.groups[group]) < len(self.terminals)

    def numbers_at(self, group: int, text: str, pos: int, behind: int) -> list[int]:
        """The markers of a group that count at a position. Some do at the start of a line only; see `begins_line`."""
        inline = self._inline[group]
        return self.groups[group] if inline is None or begins_line(text, pos, behind) else inline

    def find(self, text: str, pos: int, *, partial: bool = False, behind: int = -1) -> Place | None:
        """The next marker; `partial` for text of which more may come. Other markup ends at the position `behind`."""
        search, skips_words = self._partial_search if partial else self._search
        matches, groups, group_at, in_line = self._matches[partial], self.groups, self._prefixes.at, self._inline
        length = len(text)
        while pos < length:
            place = pos
            if search is not None:
                is_word = skips_words and not (pos and text[pos - 1] in LOWERCASE)
                if pos or not is_word:  # a word is found from the character before it
                    place = search(text, pos - is_word)
                    if place < 0:
                        return None
                    if place < pos:
                        place = pos
            group = key = group_at(text, place)
            numbers = groups[group]
            if numbers and (inline := in_line[group]) is not None and not begins_line(text, place, behind):
                numbers, key = inline, ~group
            if numbers:
                match = matches.get(key) or self._compile_match(key, numbers, partial=partial)
                marker_match: Any = match(text, place, partial=True) if partial else match(text, place)
                if marker_match is not None:
                    last: int | None = marker_match.lastindex
                    return Place(place, numbers[last - 1] + 1 if last else 0, group, marker_match)
            pos = place + 1
        return None

    def _compile_match(self, key: int, numbers: list[int], *, partial: bool) -> Any:
        """What matches the first of the markers that begin alike, each in a group of its own."""
        pattern = "|".join([f"({self._patterns[i]})" for i in numbers]) or "(?!)"
        compile_regex: Any = re.compile
        if partial:
            from outspoken.patterns.alike import compile_arriving

            compile_regex = compile_arriving
        match = self._matches[partial][key] = compile_regex(pattern).match
        return match

    def _beginning_alike(self, group: int) -> _Alike:
        """The openers of a group of markers."""
        alike = self._alike.get(group)
        if alike is None:
            patterns = {self._patterns[i] for i in self.groups[group]}
            openers = [o for o in self._all if o.regex in patterns]
            places: dict[str, int] = {}
            tested = [(o, places.setdefault(o.test, 2 * len(places))) for o in openers if not o.in_code]
            in_code: dict[tuple[str, str], list[Opener]] = {}
            for opener in [o for o in openers if o.in_code]:
                in_code.setdefault((opener.regex, opener.ignored), []).append(opener)
            samples = [CodeOpeners(code_openers) for code_openers in in_code.values()]
            alike = self._alike[group] = _Alike(tested, re.compile("".join(places)).match, samples, {})
        return alike

    def remember(self, number: int, name: str) -> None:
        """Remember the format that was found where the marker of a number stood."""
        known = self.recent.get(number, ())
        if known[:1] != (name,):
            self.recent[number] = (name, *[other for other in known if other != name])[:_REMEMBERED]

    def written(self, number: int) -> str:
        """The marker of a number without mistakes, or the shortest one it begins with, which may have arrived first."""
        known = self._written.get(number)
        if known is None:
            own, found = self.terminals[number - 1].canonical.strip(), list[tuple[int, int]]()
            for other in self.groups[self.group_at(own, 0)] if own else ():
                if other < len(self.terminals) and (place := re.match(self._patterns[other], own)) is not None:
                    found.append((place.end(), other))
            known = self._written[number] = self.terminals[min(found)[1]].canonical.strip() if found else own
        return known

    def is_alone(self, number: int, segment: str) -> bool:
        """Is a segment nothing but the marker of a number, with white space round it?"""
        match = self._whole.get(number)
        if match is None:
            from outspoken.patterns.spellings import without_conditions

            bare = without_conditions(self.terminals[number - 1].regex)
            match = self._whole[number] = re.compile(bare).fullmatch
        return match(segment) is not None or match(segment.strip()) is not None

    def has_rival(self, name: str, text: str, pos: int, group: int) -> bool:
        """Is another format than this one likely at a marker that was found? See `Place` for its group."""
        rivals = self._others.get((name, group))
        if rivals is None:
            rivals = self._others[name, group] = self._compile_others(name, group)
        match, in_code = rivals
        if match is not None and match(text, pos) is not None:
            return True
        if in_code is None:
            return False
        openers = self._in_code(in_code, text, pos, final=True)
        return any(not o.inserted and name not in likeness_chain(o.format) for o in openers)

    def _compile_others(self, name: str, group: int) -> tuple[Any, _Alike | None]:
        """What matches a followed opener of another format than one, and the openers if some are in code samples."""
        alike = self._beginning_alike(group)
        others = [o for o, _ in alike.tested if not o.inserted and name not in likeness_chain(o.format)]
        source = "|".join(dict.fromkeys([o.followed for o in others]))
        return re.compile(source).match if source else None, alike if alike.in_code else None


def _some(part: list[int], whole: list[int]) -> list[int] | None:
    return None if len(part) == len(whole) else part


@registry.cached
def openers_of(edition: int) -> Openers:
    """The openers of the formats in an edition."""

    def collected(names: tuple[str, ...]) -> Openers:
        from .collection import collect

        automata = [(name, registry.automaton(name, lenient=True)) for name in names]
        return collect(automata, registry.automaton(PLAIN, lenient=True))

    format_index, names = registry.index(), registry.names(edition)
    if format_index is None:
        return collected(names)
    openers, added = (
        Openers.from_data(format_index.openers),
        tuple([name for name in names if name not in format_index.headers]),
    )
    if not added:
        return openers
    from .collection import join

    return join(openers, collected(added))


@registry.cached
def opener_index(lenient: bool, edition: int) -> OpenerIndex:
    """The index of the formats in an edition. A `lenient` one has the markers that missing openers leave."""
    return OpenerIndex(openers_of(edition), lenient=lenient)


@registry.cached
def likeness_chain(name: str) -> list[str]:
    """A format, the one that it is like, the one that this is like, and so on."""
    found = [name]
    while (other := like(found[-1])) and other not in found:
        found.append(other)
    return found
