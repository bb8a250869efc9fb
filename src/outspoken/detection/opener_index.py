"""The opening markers of all formats: which formats may begin where one of them stands."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.automaton import Transition, order
from outspoken.grammar.marker_search import first_char_class
from outspoken.grammar.registry import PLAIN
from outspoken.grammar.tables import Terminal
from outspoken.notations.interface import notation_of
from outspoken.patterns import prefilter
from outspoken.patterns.prefixes import PrefixIndex, prefixes
from outspoken.semantics.builder import Builder

#: How many formats are remembered for one marker.
_REMEMBERED = 4


class Opener:
    """An opening marker of a format, and what may follow it. `inserted`: another marker is missing before it."""

    __slots__ = ("__dict__", "_partial", "_step", "format", "inserted", "regex")

    def __init__(self, format: str, step: Transition) -> None:
        self.format, self.regex, self.inserted = format, step.terminal.regex, bool(step.inserted)
        self._step = step
        self._partial: Any = None

    @cached_property
    def _parts(self) -> tuple[str, str]:
        """The patterns of the marker and of what may follow it; "" if anything may."""
        config = self._step.target
        if config.free is not None:
            return f"(?:{self.regex})", ""
        embedded = [f"(?={notation_of(t.terminal).first_chars})" for t in config.embedded]
        following = "|".join([*[t.terminal.regex for t in config.markers], *embedded, r"\Z"])
        return f"(?:{self.regex}){config.automaton.tables.ignore}", following

    @property
    def followed(self) -> str:
        """The pattern of the marker with what may follow it."""
        return "{}(?:{})".format(*self._parts)

    @property
    def test(self) -> str:
        """A pattern that takes nothing; its groups match if the marker is followed, and if the marker stands here."""
        return "(?:(?={}(?:(?:{})()|)())|)".format(*self._parts)

    def may_be_open(self, text: str, pos: int) -> bool:
        """Does a text of which more may come end within what may be the marker?"""
        if self._partial is None:
            import regex

            self._partial = regex.compile(self.regex).match
        match = self._partial(text, pos, partial=True)
        return match is not None and match.partial


#: An opening marker that was found: its position; its number, from 1 on, with plain text's own markers last, or 0 if it
#: may still be open at the end of the text; the group of the markers that begin alike; and the match.
FoundOpener = tuple[int, int, int, Any]


class OpenerIndex:
    """The opening markers of all formats, in order, and behind them plain text's own markers.

    `recent` are the formats that were found where the marker of a number stood, the last one first.
    """

    def __init__(
        self, openers: list[Opener], terminals: dict[str, Terminal], plain: list[Opener], own: list[Terminal]
    ) -> None:
        self.terminals = sorted(terminals.values(), key=order)
        #: plain text's own markers
        self.own = own
        self.recent: dict[int, tuple[str, ...]] = {}
        self._openers = sorted(openers, key=lambda o: o.format)
        self._all = [*self._openers, *plain]
        self._patterns = [t.regex for t in [*self.terminals, *own]]
        self._prefixes = PrefixIndex(self._patterns)
        #: by the group of markers that begin alike: its openers with their test, and what matches one of its markers
        self._tests: dict[int, tuple[list[Opener], Any]] = {}
        self._matches: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        #: by format and group, what matches a followed opener of another format
        self._others: dict[tuple[str, int], Any] = {}

    def owners(self, number: int) -> set[str]:
        """The formats that have the marker of a number."""
        return {o.format for o in self._openers if o.regex == self.terminals[number - 1].regex}

    def names(self, number: int) -> set[str]:
        """The formats that may have a marker where the one of a number stands."""
        own = prefixes(self.terminals[number - 1].regex)
        known = [(o.format, b) for o in self._all for b in prefixes(o.regex)]
        return {name for name, b in known if any(a.startswith(b) or b.startswith(a) for a in own)}

    def at(self, text: str, pos: int, *, final: bool) -> tuple[list[str], list[str]]:
        """The formats that have an opening marker at a position, and the likely ones among them.

        A format is unlikely if a marker is missing before this one or, in complete text, if it refuses what follows. If
        all are, all are likely. Of formats that are alike, only the first is.
        """
        names: dict[str, bool] = {}
        openers, match = self._beginning_alike(self._prefixes.at(text, pos))
        groups = match(text, pos).groups()
        for opener, is_followed, stands in zip(openers, groups[::2], groups[1::2], strict=True):
            if stands is not None or (not final and opener.may_be_open(text, pos)):
                likely = (is_followed is not None or not final) and not opener.inserted
                names[opener.format] = names.get(opener.format, False) or likely
        chosen = [name for name, likely in names.items() if likely] or list(names)
        return list(names), [name for name in chosen if like(name) not in chosen]

    @cached_property
    def start_search(self) -> prefilter.Prefilter | None:
        """A search for where a marker may begin in complete text; None if it may begin anywhere."""
        return self._compile_prefilter(partial=False)

    @cached_property
    def partial_start_search(self) -> prefilter.Prefilter | None:
        """The same for text of which more may come."""
        return self._compile_prefilter(partial=True)

    def _compile_prefilter(self, *, partial: bool) -> prefilter.Prefilter | None:
        first = first_char_class([*self.terminals, *self.own])
        return prefilter.compile_prefilter(self._patterns, first, partial=partial)

    def find(self, text: str, pos: int, *, partial: bool = False) -> FoundOpener | None:
        """The next marker; `partial` for text of which more may come."""
        search = self.partial_start_search if partial else self.start_search
        matches = self._matches[partial]
        while pos < len(text):
            if search is not None:
                pos = search(text, pos)
                if pos < 0:
                    return None
            group = self._prefixes.at(text, pos)
            match = matches.get(group) or self._compile_match(group, partial=partial)
            found: Any = match(text, pos, partial=True) if partial else match(text, pos)
            if found is not None:
                last: int = found.lastindex or 0
                return pos, self._prefixes.groups[group][last - 1] + 1 if last else 0, group, found
            pos += 1
        return None

    def _compile_match(self, group: int, *, partial: bool) -> Any:
        """What matches the first of the markers that begin alike, each in a group of its own."""
        patterns = [f"({self._patterns[i]})" for i in self._prefixes.groups[group]]
        module: Any = re
        if partial:
            import regex as module
        match = self._matches[partial][group] = module.compile("|".join(patterns) or "(?!)").match
        return match

    def _beginning_alike(self, group: int) -> tuple[list[Opener], Any]:
        """The openers that begin alike, in order, and the match that tests all of them."""
        known = self._tests.get(group)
        if known is None:
            patterns = {self._patterns[i] for i in self._prefixes.groups[group]}
            openers = [o for o in self._all if o.regex in patterns]
            known = self._tests[group] = openers, re.compile("".join([o.test for o in openers])).match
        return known

    def remember(self, number: int, name: str) -> None:
        """Remember the format that was found where the marker of a number stood."""
        known = self.recent.get(number, ())
        if known[:1] != (name,):
            self.recent[number] = (name, *[other for other in known if other != name])[:_REMEMBERED]

    def has_rival(self, name: str, text: str, pos: int, group: int) -> bool:
        """Is another format than this one likely at a marker that was found? See `FoundOpener` for its group."""
        key = name, group
        if key not in self._others:
            openers = self._beginning_alike(group)[0]
            others = [o for o in openers if not o.inserted and name not in likeness_chain(o.format)]
            source = "|".join(dict.fromkeys([o.followed for o in others]))
            self._others[key] = re.compile(source).match if source else None
        match = self._others[key]
        return match is not None and match(text, pos) is not None


@registry.cached
def opener_index(lenient: bool, edition: int) -> OpenerIndex:
    """The index of the formats in an edition. A `lenient` one has the markers that missing openers leave."""
    own_steps = registry.automaton(PLAIN, lenient=lenient).top_level_markers
    known = [re.compile(step.terminal.regex) for step in own_steps]
    codes = [step.target.free is not None and step.target.free.terminal.short == "CODE" for step in own_steps]
    plain = [Opener(PLAIN, step) for step, is_code in zip(own_steps, codes, strict=True) if not is_code]
    terminals: dict[str, Terminal] = {}
    found: list[Opener] = []
    for name in registry.names(edition):
        for step in registry.automaton(name, lenient=lenient).top_level_markers:
            regex, written = step.terminal.regex, step.terminal.canonical.strip()
            is_special = step.target.leading_markers or step.target.embedded
            if is_special or not any(p.pattern == regex or (written and p.fullmatch(written)) for p in known):
                terminals[regex] = step.terminal
                found.append(Opener(name, step))
    return OpenerIndex(found, terminals, plain, [step.terminal for step in own_steps])


@registry.cached
def like(name: str) -> str:
    """The format that spells its calls as this one does, if its header names one; else ""."""
    return registry.automaton(name, lenient=True).tables.header.like


@registry.cached
def likeness_chain(name: str) -> list[str]:
    """A format, the one that it is like, the one that this is like, and so on."""
    found = [name]
    while (other := like(found[-1])) and other not in found:
        found.append(other)
    return found


def is_lenient(builder: Builder) -> bool:
    """May missing markers be inserted?"""
    return builder.context.repair_limit not in ("none", "notation")
