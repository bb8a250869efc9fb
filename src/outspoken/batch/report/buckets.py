"""What rows are counted by beside their kind: portions of the files, or periods of time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import accumulate
from typing import Any, TypeAlias

#: At most so many buckets are shown.
MOST = 31
#: Periods in seconds; each is a multiple of the one before: from a second to 48 weeks.
_PERIODS: tuple[int, ...] = tuple(accumulate([1, 10, 6, 10, 6, 6, 4, 7, 4, 12], lambda one, other: one * other))
#: Periods begin at multiples of their lengths from the first Monday of 1970.
_MONDAY = 4 * 86_400
#: With more periods than this, they are made longer while rows are counted.
_MOST_COUNTED = 4_000
#: Numbers below each are seconds, milliseconds, microseconds and nanoseconds since 1970.
_UNITS = ((10**11, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: The last second that has a date.
_LAST = 253_402_300_799

#: What a row is counted under: the start of a period, a file with a portion of it, or None for no time.
Key = Any
Counts = Counter[tuple[Key, str]]


class FileBuckets:
    """Each file, or some portions of it if there are few. `lasts` are the numbers of their last lines."""

    def __init__(self, names: Sequence[str], lasts: Sequence[int]) -> None:
        self.title = "by file"
        self._names, self._lasts = short_names(names), lasts
        self._portions = max(1, min(12, 24 // max(1, len(names))))

    def of(self, file: int, lines: Sequence[int], times: Sequence[Any] | None) -> list[Key]:
        """The buckets of rows of a file, by their lines."""
        if self._portions == 1:
            return [(file, 0)] * len(lines)
        last, portions = max(self._lasts[file], 1), self._portions
        return [(file, min((line - 1) * portions // last, portions - 1)) for line in lines]

    def merge(self, *counts: Counts, final: bool = False) -> None:
        """Join the files that have the fewest rows that are not ok, if there are too many to show."""
        if not final:
            return
        rows, bad = Counter[Key](), Counter[Key]()
        for (key, status), count in counts[0].items():
            rows[key] += count
            bad[key] += count * (status != "ok")
        if len(rows) <= MOST:
            return
        kept = set(sorted(rows, key=lambda key: (-bad[key] / rows[key], key))[: MOST - 1])
        for counter in counts:
            _rekey(counter, lambda key: key if key in kept else (len(self._names), 0))

    def labels(self, counts: Counts) -> dict[Key, str]:
        """The files, with the lines of their portions."""
        return {key: self._label(*key) for key in sorted({key for key, _ in counts})}

    def _label(self, file: int, portion: int) -> str:
        if file >= len(self._names):
            return "other files"
        name, last, portions = self._names[file], self._lasts[file], self._portions
        first, end = -(-portion * last // portions) + 1, -(-(portion + 1) * last // portions)
        return name if first <= 1 and end >= last else f"{name}:{first}-{end}"


class TimeBuckets:
    """Periods of time in UTC, as long as it takes to have few of them."""

    def __init__(self, column: str) -> None:
        self.title, self.column = "over time", column
        self._level = 0

    def of(self, file: int, lines: Sequence[int], times: Sequence[Any] | None) -> list[Key]:
        """The buckets of rows by their times; None for those without one."""
        period = _PERIODS[self._level]
        return [_start(seconds_of(time), period) for time in times or [None] * len(lines)]

    def merge(self, *counts: Counts, final: bool = False) -> None:
        """Make the periods longer while there are too many of them."""
        most = MOST - 1 if final else _MOST_COUNTED
        while self._level < len(_PERIODS) - 1 and len({key for key, _ in counts[0]}) > most:
            self._level += 1
            period = _PERIODS[self._level]
            for counter in counts:
                _rekey(counter, partial(_start, period=period))
        if final and len({key for key, _ in counts[0]}) > most:  # the earliest ones together, as there is none longer
            first = sorted({key for key, _ in counts[0] if key is not None})[-most]
            for counter in counts:
                _rekey(counter, lambda key: None if key is None else max(key, first))

    def labels(self, counts: Counts) -> dict[Key, str]:
        """When the periods begin."""
        keys = {key for key, _ in counts}
        pattern = "%Y-%m-%d" if self._level >= 6 else "%Y-%m-%d %H:%M:%S" if self._level < 2 else "%Y-%m-%d %H:%M"
        made = {key: _date(key).strftime(pattern) for key in sorted(keys - {None})}
        return {**made, None: "no time"} if None in keys else made

    @property
    def period(self) -> str:
        """The length of a period in words."""
        seconds = _PERIODS[self._level]
        for size, word in ((604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
            if seconds % size == 0:
                return f"one {word}" if seconds == size else f"{seconds // size} {word}s"
        raise AssertionError(seconds)


#: How rows are divided: `of` gives the buckets of rows of a file, `merge` joins buckets where there are too many, and
#: `labels` names those that have counts, in their order.
Buckets: TypeAlias = FileBuckets | TimeBuckets


def seconds_of(value: Any) -> int | None:
    """A time in seconds since 1970: of a number, or of a date in ISO 8601, which is UTC without a zone; else None."""
    if isinstance(value, str):
        value = _parsed(value.strip())
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    unit = next((unit for limit, unit in _UNITS if abs(value) < limit), None)
    found = None if unit is None else int(value // unit)
    return found if found is not None and 0 <= found <= _LAST else None


def _parsed(text: str) -> int | float | None:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(f"{text[:-1]}+00:00" if text[-1:] in "Zz" else text)
        return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError):
        return None


def _date(seconds: int) -> datetime:
    return _EPOCH + timedelta(seconds=max(seconds, 0))


def _start(seconds: int | None, period: int) -> int | None:
    """When the period begins that a time is in; None for no time."""
    return seconds if period == 1 or seconds is None else (seconds - _MONDAY) // period * period + _MONDAY


def _rekey(counts: Counts, new: Callable[[Key], Key]) -> None:
    before = list(counts.items())
    counts.clear()
    for (key, what), count in before:
        counts[new(key), what] += count


def short_names(names: Iterable[str]) -> list[str]:
    """The names of files without the folder that all are in."""
    known = list(names)
    folders = {os.path.dirname(name) for name in known}
    if len(folders) == 1:
        return [os.path.basename(name) for name in known]
    try:
        shared = os.path.commonpath(folders)
    except ValueError:
        return known
    return [os.path.relpath(name, shared) for name in known] if shared else known
