"""The opening markers of formats as plain data, collected from their automata ahead of time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Transition
from outspoken.grammar.registry import PLAIN
from outspoken.notations.interface import notation_of
from outspoken.patterns.prefilter import PrefilterSource, prefilter_source
from outspoken.patterns.prefixes import PrefixData, index_prefixes


class Marker(NamedTuple):
    """A marker that may stand in plain text; the fields are those of its terminal."""

    name: str
    regex: str
    canonical: str
    may_stay_open: bool
    priority: int


class Opener(NamedTuple):
    """An opening marker of a format, and what may follow it.

    `inserted` tells that another marker is missing before it. `ignored` and `following` are the patterns of what may
    stand behind the marker and of what must follow that; `following` is "" if anything may.

    With `in_code`, the marker opens a code sample like those of plain text, unless `following` stands at its start.
    Then that begins with one of the characters `first`, or with any if there are none.
    """

    format: str
    regex: str
    inserted: bool
    ignored: str
    following: str
    in_code: bool = False
    first: str = ""

    @property
    def followed(self) -> str:
        """The pattern of the marker with what may follow it."""
        return f"(?:{self.regex}){self.ignored}(?:{self.following})"

    @property
    def test(self) -> str:
        """A pattern that takes nothing; its groups match if the marker is followed, and if the marker stands here."""
        return f"(?:(?=(?:{self.regex}){self.ignored}(?:(?:{self.following})()|)())|)"


class Openers(NamedTuple):
    """The opening markers of formats.

    `markers` are the markers of formats in the order in which they are tried, `own` those of plain text.
    `plain_openers` are the openers of plain text that formats share. `prefixes` and the sources of the searches, in
    complete text and where more may come, tell where one of the markers (those of plain text last) may begin.
    """

    markers: list[Marker]
    own: list[Marker]
    openers: list[Opener]
    plain_openers: list[Opener]
    prefixes: PrefixData
    whole: PrefilterSource | None
    partial: PrefilterSource | None

    def to_data(self) -> dict[str, Any]:
        """The openers as JSON values. Patterns are listed once."""
        patterns: dict[str, int] = {}

        def number(pattern: str) -> int:
            return patterns.setdefault(pattern, len(patterns))

        def row(o: Opener) -> list[Any]:
            return [o.format, number(o.regex), o.inserted, number(o.ignored), number(o.following), *o[5:]]

        return {
            "markers": [[m.name, number(m.regex), *m[2:]] for m in self.markers],
            "own": [[m.name, number(m.regex), *m[2:]] for m in self.own],
            "openers": [row(o) for o in self.openers],
            "plain_openers": [row(o) for o in self.plain_openers],
            "patterns": [*patterns],
            "prefixes": self.prefixes,
            "whole": self.whole,
            "partial": self.partial,
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Openers:
        """The inverse of `to_data`."""
        patterns: list[str] = data["patterns"]

        def opener(name: str, regex: int, inserted: bool, ignored: int, following: int, *rest: Any) -> Opener:
            return Opener(name, patterns[regex], inserted, patterns[ignored], patterns[following], *rest)

        whole, partial = [data[key] and PrefilterSource(*data[key]) for key in ("whole", "partial")]
        return cls(
            markers=[Marker(name, patterns[regex], *rest) for name, regex, *rest in data["markers"]],
            own=[Marker(name, patterns[regex], *rest) for name, regex, *rest in data["own"]],
            openers=[opener(*row) for row in data["openers"]],
            plain_openers=[opener(*row) for row in data["plain_openers"]],
            prefixes=PrefixData(*data["prefixes"]),
            whole=whole,
            partial=partial,
        )


def _order(marker: Marker) -> tuple[int, int, str]:
    """The order in which markers are tried, that of terminals."""
    return -marker.priority, -len(marker.regex), marker.name


def collect(automata: Iterable[tuple[str, Automaton]], plain: Automaton) -> Openers:
    """The openers of formats, by their lenient automata. `plain` is that of plain text."""
    own_steps = plain.top_level_markers
    known = [re.compile(step.terminal.regex) for step in own_steps]
    plain_openers = [
        _opener(PLAIN, step)
        for step in own_steps
        if step.target.free is None or step.target.free.terminal.short != "CODE"
    ]
    markers: dict[str, Marker] = {}
    openers: list[Opener] = []
    for name, automaton in automata:
        for step in automaton.top_level_markers:
            regex, written = step.terminal.regex, step.terminal.canonical.strip()
            is_special = step.target.leading_markers or step.target.embedded
            if is_special or not any(p.pattern == regex or (written and p.fullmatch(written)) for p in known):
                markers[regex] = _marker(step)
                openers.append(_opener(name, step))
    return _indexed(markers, [_marker(step) for step in own_steps], openers, plain_openers)


def join(one: Openers, other: Openers) -> Openers:
    """The openers of both, for the same plain text."""
    markers = {marker.regex: marker for marker in (*one.markers, *other.markers)}
    return _indexed(markers, one.own, one.openers + other.openers, one.plain_openers)


def _indexed(
    markers: dict[str, Marker], own: list[Marker], openers: list[Opener], plain_openers: list[Opener]
) -> Openers:
    ordered = sorted(markers.values(), key=_order)
    patterns = [marker.regex for marker in (*ordered, *own)]
    sources = [prefilter_source(patterns, partial=partial) for partial in (False, True)]
    by_format = sorted(openers, key=lambda o: o.format)
    return Openers(ordered, own, by_format, plain_openers, index_prefixes(patterns), *sources)


def _marker(step: Transition) -> Marker:
    terminal = step.terminal
    return Marker(terminal.name, terminal.regex, terminal.canonical, terminal.may_stay_open, terminal.priority)


def _opener(format: str, step: Transition) -> Opener:
    config, regex, inserted = step.target, step.terminal.regex, bool(step.inserted)
    ignored = config.automaton.tables.ignore
    if config.free is not None and config.free.terminal.short == "CODE":
        following = "|".join([t.terminal.regex for t in config.leading_markers]) or "(?!)"
        firsts = [t.terminal.first for t in config.leading_markers]
        first = "".join(sorted(set("".join(firsts)))) if all(firsts) else ""
        return Opener(format, regex, inserted, ignored, following, True, "" if re.search(r"\s", first) else first)
    if config.free is not None:
        return Opener(format, regex, inserted, "", "")
    embedded = [f"(?={notation_of(t.terminal).first_chars})" for t in config.embedded]
    following = "|".join([*[t.terminal.regex for t in config.markers], *embedded, r"\Z"])
    return Opener(format, regex, inserted, ignored, following)
