"""The opening markers of formats as plain data."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from outspoken.patterns.prepared import PrefilterSource, PrefixData


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

    `evidence` is what else must be true for the marker to count; see `outspoken.grammar.header.Header`.
    """

    format: str
    regex: str
    inserted: bool
    ignored: str
    following: str
    in_code: bool = False
    first: str = ""
    evidence: str = ""

    @property
    def followed(self) -> str:
        """The pattern of the marker with what may follow it."""
        return f"(?:{self.regex}){self.ignored}(?:{self.following})"

    @property
    def test(self) -> str:
        """A pattern that takes nothing; its groups match if the marker is followed, and if the marker stands here."""
        return f"(?:(?=(?:{self.regex}){self.ignored}(?:(?:{self.following})()|)())|)"


class CodeOpeners:
    """The openers that open a code sample with one marker, unless a marker of their format stands at its start."""

    def __init__(self, openers: list[Opener]) -> None:
        self.all, self.regex = openers, openers[0].regex
        self.find_start = re.compile(f"(?:{self.regex}){openers[0].ignored}").match
        self._any = [o for o in openers if not o.first]
        self._by_first: dict[str, list[Opener]] = {}
        for opener in openers:
            for char in opener.first:
                self._by_first.setdefault(char, []).append(opener)
        self._matches: dict[str, Any] = {}

    def possible(self, text: str, start: int) -> list[Opener]:
        """The openers whose markers may begin at the start of the sample."""
        return [*self._by_first.get(text[start : start + 1], ()), *self._any]

    def is_followed(self, opener: Opener, text: str, pos: int) -> bool:
        """Does a marker of an opener's format stand at the start of the sample that begins at a position?"""
        match = self._matches.get(opener.following)
        if match is None:
            match = self._matches[opener.following] = re.compile(opener.followed).match
        return match(text, pos) is not None


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
