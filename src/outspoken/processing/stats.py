"""`ParseStats`: how many responses of each format have which status, and their mistakes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

from outspoken.results.arguments import check_count
from outspoken.results.codes import ErrorCategory
from outspoken.results.replies import STATUSES, Status
from outspoken.viewer.lines import aligned

_COLUMNS = ("responses", *STATUSES)


class ParseStats:
    """Counts responses by format and status, and their mistakes by category.

    The status is that of `Processed`. A response counts once for each of its categories of mistakes. All methods are
    thread-safe. Add statistics with `+` or with `sum(many, ParseStats())`.
    """

    def __init__(self) -> None:
        #: by format, by what is counted ("status" or "errors"), and by its word; no count is 0
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = Lock()

    def record(self, format: str, status: Status, categories: Iterable[ErrorCategory] = (), *, count: int = 1) -> None:
        """Count a response, or `count` equal ones. Raises ValueError for an unknown status or a negative count."""
        if status not in STATUSES:
            raise ValueError(f"`status` is {status!r}; expected one of {', '.join(STATUSES)}")
        check_count(count, "count")
        counts = {(format, "errors", ErrorCategory(category).value): count for category in categories}
        self._add({(format, "status", status): count, **counts})

    def reset(self) -> None:
        """Set all counts to 0."""
        with self._lock:
            self._counts.clear()

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the counted responses, in alphabetical order."""
        return tuple(sorted({name for name, what, _ in self._copy() if what == "status"}))

    def counts(self, format: str | None = None) -> dict[Status, int]:
        """The number of responses by status, of one format or of all."""
        sums = self._sums("status", format)
        return {status: sums[status] for status in STATUSES}

    def errors(self, format: str | None = None) -> dict[ErrorCategory, int]:
        """The number of responses by category of mistakes, of one format or of all."""
        sums = self._sums("errors", format)
        return {category: sums[category.value] for category in ErrorCategory}

    def rates(self, format: str | None = None, digits: int = 1) -> dict[Status, float]:
        """The statuses in percent, rounded so that they sum to 100; all 0 without responses."""
        return shares(self.counts(format), digits)

    def error_rates(self, format: str | None = None, digits: int = 1) -> dict[ErrorCategory, float]:
        """The categories in percent of all mistakes, rounded so that they sum to 100; all 0 without mistakes."""
        return shares(self.errors(format), digits)

    def __add__(self, other: object) -> ParseStats:
        if not isinstance(other, ParseStats):
            return NotImplemented
        made = ParseStats()
        made._counts = self._copy() + other._copy()
        return made

    def __eq__(self, other: object) -> bool:
        return self._copy() == other._copy() if isinstance(other, ParseStats) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        counts = ", ".join([f"{count} {status}" for status, count in self.counts().items()])
        return f"ParseStats({counts}; formats: {', '.join(self.formats) or 'none'})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ParseStats.from_json, (self.to_json(),)

    def to_json(self) -> str:
        """All counts as JSON: `{"formats": {name: {"ok": 1, "repaired": 0, ..., "errors": {...}}}}`."""
        data: dict[str, Any] = {}
        kept = self + ParseStats()  # other threads may go on counting
        for name in kept.formats:
            errors = {category.value: count for category, count in kept.errors(name).items() if count}
            data[name] = {**kept.counts(name), "errors": errors}
        return json.dumps({"formats": data}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ParseStats:
        """The inverse of `to_json`. Raises ValueError for any other text."""
        made = cls()
        try:
            for name, counts in json.loads(text)["formats"].items():
                made._add({(name, "status", status): _counted(counts[status]) for status in STATUSES})
                errors = counts["errors"].items()
                made._add({(name, "errors", ErrorCategory(key).value): _counted(count) for key, count in errors})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the text does not contain statistics: {error!r}") from error
        return made

    def to_table(self) -> str:
        """The statistics as a text table: a row for each format and one for all, then the categories of mistakes."""
        rows = [("format", *_COLUMNS)]
        names = self.formats
        rows += [(name, *self._row(name)) for name in names]
        if len(names) != 1:
            rows.append(("all", *self._row(None)))
        error_counts, rates = self.errors(), self.error_rates()
        mistakes = [(c.value, f"{n:,}", f"{rates[c]:.1f}%") for c, n in error_counts.items() if n]
        lines = aligned(rows)
        if mistakes:
            lines += ["", *aligned([("mistakes", "responses", "share"), *mistakes])]
        return "\n".join(lines)

    def _row(self, name: str | None) -> tuple[str, ...]:
        rates = self.rates(name)
        return f"{sum(self.counts(name).values()):,}", *[f"{rates[status]:.1f}%" for status in STATUSES]

    def _add(self, counts: Mapping[tuple[str, str, str], int]) -> None:
        with self._lock:
            self._counts.update({key: count for key, count in counts.items() if count})

    def _copy(self) -> Counter[tuple[str, str, str]]:
        with self._lock:
            return self._counts.copy()

    def _sums(self, what: str, format: str | None) -> Counter[str]:
        """The counts of statuses or errors by their words, of one format or of all."""
        sums: Counter[str] = Counter()
        for (name, counted, word), count in self._copy().items():
            if counted == what and format in (None, name):
                sums[word] += count
        return sums


def shares(counts: Mapping[Any, int], digits: int = 1) -> dict[Any, float]:
    """Counts in percent of their sum, rounded to `digits` decimals so that they sum to 100.

    This is the largest remainder method (Hamilton 1792): all are rounded down, and the rest goes to those with the
    largest remainders; the first wins a tie.
    """
    whole = sum(counts.values())
    if not whole:
        return dict.fromkeys(counts, 0.0)
    unit = 10**digits
    parts = {key: divmod(count * 100 * unit, whole) for key, count in counts.items()}
    missing = 100 * unit - sum([part for part, _ in parts.values()])
    first = set(sorted(parts, key=lambda key: -parts[key][1])[:missing])
    return {key: (part + (key in first)) / unit for key, (part, _) in parts.items()}


def _counted(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value
