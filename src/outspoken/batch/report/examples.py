"""Rows that are kept as examples: few of each kind, the worst ones, and the same ones each time."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from outspoken.results.diagnostics import Diagnostic
from outspoken.results.snippet import visible

#: The most diagnostics, repairs and segments of an example, and the most lines of a snippet and characters of a line.
MOST_FRAMES, MOST_REPAIRS, MOST_SEGMENTS, _LINES, _LINE = 6, 12, 24, 14, 300
#: So many examples of a kind are made although those that are kept are better, in search of ones that look different.
_MOST_MADE = 300
#: How bad a status is, higher is worse.
RANKS = {"invalid": 3, "truncated": 2, "repaired": 1}

T = TypeVar("T")
#: How bad an example is, higher is worse, and what decides between equals.
Rank = tuple[int, ...]


class Frame(NamedTuple):
    """A diagnostic that is drawn."""

    severity: str
    code: str
    text: str


class Edit(NamedTuple):
    """A repair: what stood there, and what was read instead."""

    code: str
    level: str
    before: str
    after: str
    place: str


class Example(NamedTuple):
    """A row of the results."""

    place: str
    id: str | None
    format: str | None
    status: str
    chars: int
    frames: tuple[Frame, ...]
    more_frames: int
    edits: tuple[Edit, ...]
    more_edits: int
    segments: tuple[tuple[str, str, str], ...]
    more_segments: int


class Best(Generic[T]):
    """The examples with the highest ranks for each kind, and none of those beyond the number of kinds.

    Of examples that look the same, one is kept. So many may be made in search of others that a kind gets no more.
    """

    def __init__(self, each: int, kinds: int, look: Callable[[T], object] | None = None) -> None:
        self._each, self._kinds, self._look = each, kinds, look
        self._found: dict[Hashable, list[tuple[Rank, T]]] = {}
        self._made: Counter[Hashable] = Counter()

    def offer(self, kind: Hashable, rank: Rank, make: Callable[[], T]) -> None:
        """Keep an example if it is better than one of those that are kept. It is only made then."""
        kept = self._found.get(kind)
        if kept is None:
            if len(self._found) >= self._kinds:
                return
            kept = self._found[kind] = []
        is_full = len(kept) >= self._each or self._made[kind] >= _MOST_MADE
        if is_full and kept and rank <= kept[-1][0]:
            return
        self._made[kind] += 1
        example = make()
        same = next(
            (n for n, (_, other) in enumerate(kept) if self._look and self._look(other) == self._look(example)), None
        )
        if same is not None:
            rank, example = max(kept.pop(same), (rank, example), key=itemgetter(0))
        kept.append((rank, example))
        kept.sort(key=itemgetter(0), reverse=True)
        del kept[self._each :]

    def of(self, kind: Hashable) -> list[T]:
        """The examples of a kind, the best one first."""
        return [one for _, one in self._found.get(kind, ())]

    def first(self, count: int) -> list[T]:
        """The best ones of all kinds."""
        found = sorted([one for each in self._found.values() for one in each], key=itemgetter(0), reverse=True)
        return [one for _, one in found[:count]]


def tie(file: int, line: int) -> tuple[int, int, int]:
    """What decides between rows that are as bad: it mixes the lines, and is the same each time."""
    return (zlib.crc32(f"{file}:{line}".encode()), -file, -line)


def make_example(row: dict[str, Any], place: str, first: str | None = None) -> Example:
    """The example of a row. Diagnostics with the code `first` come first."""
    diagnostics: list[dict[str, Any]] = sorted(row["diagnostics"], key=lambda entry: entry["code"] != first)
    repairs: list[dict[str, Any]] = row["repairs"]
    segments: list[dict[str, Any]] = row["segments"]
    return Example(
        place,
        row["id"],
        row["format"],
        row["status"],
        row["chars"],
        tuple([make_frame(entry) for entry in diagnostics[:MOST_FRAMES]]),
        max(0, len(diagnostics) - MOST_FRAMES),
        tuple([make_edit(entry) for entry in repairs[:MOST_REPAIRS]]),
        max(0, len(repairs) - MOST_REPAIRS),
        tuple([(entry["kind"], cut(entry["name"] or "", 80), entry["status"]) for entry in segments[:MOST_SEGMENTS]]),
        max(0, len(segments) - MOST_SEGMENTS),
    )


def make_frame(data: dict[str, Any]) -> Frame:
    """A diagnostic of a row, drawn. Everything in it is visible text, of few characters."""
    named = {key: value for key, value in data.items() if key not in ("start", "end") and value is not None}
    for key in ("notes", "helps"):
        named[key] = tuple([cut(one, _LINE) for one in data[key] or ()][:3])
    drawn = Diagnostic(**named, span=(data["start"], data["end"])).frame()
    lines = [cut(line, _LINE) for line in drawn.split("\n")]
    if len(lines) > _LINES:
        lines = [*lines[:_LINES], "..."]
    return Frame(data["severity"], data["code"], "\n".join(lines))


def make_edit(data: dict[str, Any]) -> Edit:
    """A repair of a row."""
    place = f"{data['line']}:{data['column']}"
    return Edit(data["code"], data["level"], cut(data["before"], 80), cut(data["after"], 80), place)


def cut(text: str, length: int) -> str:
    """The text as visible characters, and not more of them than `length` and an ellipsis."""
    shown = visible(text[: length + 1])
    return shown if len(shown) <= length else f"{shown[:length]}..."


def look_of(example: Example) -> object:
    """What an example looks like: its first snippet but for its place."""
    return [line for line in example.frames[0].text.split("\n") if "-->" not in line] if example.frames else None
