"""The opening markers of all formats: which formats may begin where one of them stands."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.automaton import Transition, order
from outspoken.grammar.marker_search import first_char_class
from outspoken.grammar.tables import Terminal
from outspoken.notations.interface import notation_of
from outspoken.patterns import prefilter
from outspoken.patterns.prefix_index import PrefixIndex
from outspoken.patterns.prefixes import prefixes
from outspoken.semantics.builder import Builder

#: The format that reads what no other one claims.
PLAIN = "text"

#: How many formats are kept that were found at one marker.
_KEPT = 4


class Opening:
    """An opening marker of a format, and what may follow it."""

    __slots__ = ("name", "_step", "_partial", "__dict__")

    def __init__(self, name: str, step: Transition) -> None:
        self.name, self._step = name, step
        self._partial: Any = None

    @property
    def inserted(self) -> bool:
        """Is another marker missing before this one?"""
        return bool(self._step.inserted)

    @property
    def regex(self) -> str:
        """The pattern of the marker."""
        return self._step.terminal.regex

    @cached_property
    def _parts(self) -> tuple[str, str]:
        """The pattern of the marker, and the one of what may follow it, with "" for anything."""
        config = self._step.target
        if config.free is not None:
            return f"(?:{self.regex})", ""
        islands = [f"(?={notation_of(t.terminal).first})" for t in config.embedded]
        following = "|".join([*[t.terminal.regex for t in config.markers], *islands, r"\Z"])
        return f"(?:{self.regex}){config.automaton.tables.ignore}", following

    @property
    def likely(self) -> str:
        """The pattern of the marker with more of the format behind it."""
        return "{}(?:{})".format(*self._parts)

    @property
    def told(self) -> str:
        """A pattern that takes nothing, with a group for whether more of the format stands here, one for its marker."""
        return "(?:(?={}(?:(?:{})()|)())|)".format(*self._parts)

    def may_come(self, text: str, pos: int) -> bool:
        """Does the text, of which more may come, end within what may be the marker?"""
        if self._partial is None:
            import regex

            self._partial = regex.compile(self.regex).match
        match = self._partial(text, pos, partial=True)
        return match is not None and match.partial


#: Where a marker stands, its number from 1 on, plain text's own ones last, the group of those that begin so, and the
#: match. At the end of a text of which more may come, a marker may be open: its number is 0.
Place = tuple[int, int, int, Any]


class Openers:
    """The opening markers of all formats, in order, and those of plain text, which come into play where others do."""

    def __init__(
        self, found: list[Opening], terminals: dict[str, Terminal], plain: list[Opening], own: list[Terminal]
    ) -> None:
        self.terminals = sorted(terminals.values(), key=order)
        #: plain text's own markers
        self.own = own
        self._found = sorted(found, key=lambda o: o.name)
        self._all = [*self._found, *plain]
        self._patterns = [t.regex for t in [*self.terminals, *own]]
        self._near = PrefixIndex(self._patterns)
        self._openings: dict[int, tuple[list[Opening], Any]] = {}
        self._matches: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        #: what another format than one that is named is likely by, for each group of markers that begin alike
        self._rivals: dict[tuple[str, int], Any] = {}
        #: the formats that were found where the marker of a number stood, the last one first
        self.found: dict[int, tuple[str, ...]] = {}

    def owners(self, number: int) -> set[str]:
        """The formats that have the marker of a number, from 1 on."""
        return {o.name for o in self._found if o.regex == self.terminals[number - 1].regex}

    def names(self, number: int) -> set[str]:
        """The formats that may have a marker where the one of a number stands."""
        own = prefixes(self.terminals[number - 1].regex)
        known = [(o.name, b) for o in self._all for b in prefixes(o.regex)]
        return {name for name, b in known if any(a.startswith(b) or b.startswith(a) for a in own)}

    def at(self, text: str, pos: int, *, final: bool) -> tuple[list[str], list[str]]:
        """The formats that have an opening marker here, and the likely ones.

        Unlikely are those for which a marker before this one is missing and, in text that is all there, those that
        refuse what follows.
        """
        names: dict[str, bool] = {}
        openings, match = self._alike(self._near.at(text, pos))
        groups = match(text, pos).groups()
        for opening, goes_on, stands in zip(openings, groups[::2], groups[1::2], strict=True):
            if stands is not None or (not final and opening.may_come(text, pos)):
                likely = (goes_on is not None or not final) and not opening.inserted
                names[opening.name] = names.get(opening.name, False) or likely
        return list(names), [name for name, likely in names.items() if likely]

    @cached_property
    def begins(self) -> prefilter.Prefilter | None:
        """A search for where a marker may begin, in text that is all there; None where anywhere."""
        return self._beginning(partial=False)

    @cached_property
    def may_begin(self) -> prefilter.Prefilter | None:
        """The same in text of which more may come."""
        return self._beginning(partial=True)

    def _beginning(self, *, partial: bool) -> prefilter.Prefilter | None:
        return prefilter.compile_prefilter(
            self._patterns, first_char_class([*self.terminals, *self.own]), partial=partial
        )

    def place(self, text: str, pos: int, *, partial: bool = False) -> Place | None:
        """The next marker; with `partial`, in text of which more may come."""
        begins = self.may_begin if partial else self.begins
        matches = self._matches[partial]
        while pos < len(text):
            if begins is not None:
                pos = begins(text, pos)
                if pos < 0:
                    return None
            group = self._near.at(text, pos)
            match = matches.get(group) or self._matched(group, partial=partial)
            found: Any = match(text, pos, partial=True) if partial else match(text, pos)
            if found is not None:
                last: int = found.lastindex or 0
                return pos, self._near.groups[group][last - 1] + 1 if last else 0, group, found
            pos += 1
        return None

    def _matched(self, group: int, *, partial: bool) -> Any:
        """What matches the first of the markers that begin alike that matches, each in a group of its own."""
        ways = [f"({self._patterns[i]})" for i in self._near.groups[group]]
        module: Any = re
        if partial:
            import regex as module
        match = self._matches[partial][group] = module.compile("|".join(ways) or "(?!)").match
        return match

    def _alike(self, group: int) -> tuple[list[Opening], Any]:
        """The opening markers that begin alike, in the order of all, and what tells which of them stand somewhere."""
        known = self._openings.get(group)
        if known is None:
            patterns = {self._patterns[i] for i in self._near.groups[group]}
            openings = [o for o in self._all if o.regex in patterns]
            known = self._openings[group] = openings, re.compile("".join([o.told for o in openings])).match
        return known

    def learn(self, number: int, name: str) -> None:
        """A format was found where the marker of a number stood."""
        known = self.found.get(number, ())
        if known[:1] != (name,):
            self.found[number] = (name, *[other for other in known if other != name])[:_KEPT]

    def has_rival(self, name: str, text: str, pos: int, group: int) -> bool:
        """Is another format than this one likely, too, where a marker was found? See `Place` for its group."""
        key = name, group
        if key not in self._rivals:
            near = [o for o in self._alike(group)[0] if not o.inserted and name not in likes(o.name)]
            source = "|".join(dict.fromkeys([o.likely for o in near]))
            self._rivals[key] = re.compile(source).match if source else None
        match = self._rivals[key]
        return match is not None and match(text, pos) is not None


@registry.cached
def opening_markers(lenient: bool, edition: int) -> Openers:
    """The opening markers of the formats in an edition; the lenient ones are those that damage leaves, too."""
    own_steps = registry.automaton(PLAIN, lenient=lenient).top_level_markers
    known = [re.compile(step.terminal.regex) for step in own_steps]
    codes = [step.target.free is not None and step.target.free.terminal.short == "CODE" for step in own_steps]
    plain = [Opening(PLAIN, step) for step, is_code in zip(own_steps, codes, strict=True) if not is_code]
    terminals: dict[str, Terminal] = {}
    found: list[Opening] = []
    for name in registry.names(edition):
        for step in registry.automaton(name, lenient=lenient).top_level_markers:
            regex, written = step.terminal.regex, step.terminal.canonical.strip()
            own = step.target.leading_markers or step.target.embedded
            if own or not any(p.pattern == regex or (written and p.fullmatch(written)) for p in known):
                terminals[regex] = step.terminal
                found.append(Opening(name, step))
    return Openers(found, terminals, plain, [step.terminal for step in own_steps])


@registry.cached
def like(name: str) -> str:
    """The format that spells its calls as this one does, where its header names one."""
    return registry.automaton(name, lenient=True).tables.header.like


@registry.cached
def likes(name: str) -> list[str]:
    """A format, the one that it is like, the one that this is like, and so on."""
    found = [name]
    while (other := like(found[-1])) and other not in found:
        found.append(other)
    return found


def is_lenient(builder: Builder) -> bool:
    """May missing markers be inserted?"""
    return builder.context.repair_limit not in ("none", "notation")
