"""Statistics of what was read: by format, how much was sound, recovered or lost, and what was wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, Literal

from .categories import ErrorCategory

Outcome = Literal["success", "recovered", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("success", "recovered", "failed")

_COLUMNS = ("responses", *OUTCOMES)


class ParseStats:
    """Counts responses by format and outcome, and their mistakes by category.

    A response is a "success" where nothing is wrong with it, "recovered" where it is of use all the same, and "failed"
    where it is not. It counts once for each category of mistakes that it has. All methods may be called from several
    threads at once. Two that were counted apart are added with `+`; `sum(many, ParseStats())` adds many.
    """

    def __init__(self) -> None:
        self._outcomes: dict[str, dict[str, int]] = {}
        self._errors: dict[str, dict[str, int]] = {}
        self._lock = Lock()

    def record(
        self, format: str, outcome: Outcome, categories: Iterable[ErrorCategory] = (), *, count: int = 1
    ) -> None:
        """Count a response, or `count` of them that are alike. Raises ValueError for what cannot be counted."""
        if outcome not in OUTCOMES:
            raise ValueError(f"`outcome` is {outcome!r}; expected one of {', '.join(OUTCOMES)}")
        if type(count) is not int or count < 0:
            raise ValueError(f"`count` is {count!r}; expected an integer of at least 0")
        errors = {ErrorCategory(category).value: count for category in categories}
        if count:
            self._add({format: {outcome: count}}, {format: errors} if errors else {})

    def reset(self) -> None:
        """Count from 0 again."""
        with self._lock:
            self._outcomes, self._errors = {}, {}

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of which there was a response, in alphabetical order."""
        with self._lock:
            return tuple(sorted(self._outcomes))

    def counts(self, format: str | None = None) -> dict[Outcome, int]:
        """How many responses of a format, or of all, ended how."""
        outcomes = self._copy()[0]
        some = list(outcomes.values()) if format is None else [outcomes.get(format, {})]
        return {outcome: sum([one.get(outcome, 0) for one in some]) for outcome in OUTCOMES}

    def errors(self, format: str | None = None) -> dict[ErrorCategory, int]:
        """How many responses of a format, or of all, have mistakes of which category."""
        errors = self._copy()[1]
        some = list(errors.values()) if format is None else [errors.get(format, {})]
        return {category: sum([one.get(category.value, 0) for one in some]) for category in ErrorCategory}

    def rates(self, format: str | None = None, digits: int = 1) -> dict[Outcome, float]:
        """The outcomes in percent, rounded so that they sum to 100; all 0 where there were no responses."""
        return shares(self.counts(format), digits)

    def error_rates(self, format: str | None = None, digits: int = 1) -> dict[ErrorCategory, float]:
        """The categories in percent of all mistakes, rounded so that they sum to 100; all 0 where there were none."""
        return shares(self.errors(format), digits)

    def __add__(self, other: object) -> ParseStats:
        if not isinstance(other, ParseStats):
            return NotImplemented
        made = ParseStats()
        for one in (self, other):
            made._add(*one._copy())
        return made

    def __eq__(self, other: object) -> bool:
        return self._copy() == other._copy() if isinstance(other, ParseStats) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        said = ", ".join([f"{count} {outcome}" for outcome, count in self.counts().items()])
        return f"ParseStats({said}; formats: {', '.join(self.formats) or 'none'})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ParseStats.from_json, (self.to_json(),)

    def to_json(self) -> str:
        """All counts as JSON: `{"formats": {name: {"success": 1, "recovered": 0, "failed": 0, "errors": {...}}}}`."""
        outcomes, errors = self._copy()
        data: dict[str, Any] = {}
        for name in sorted(outcomes):
            counts: dict[str, Any] = {outcome: outcomes[name].get(outcome, 0) for outcome in OUTCOMES}
            found = errors.get(name, {})
            data[name] = {**counts, "errors": {c.value: found[c.value] for c in ErrorCategory if c.value in found}}
        return json.dumps({"formats": data}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> ParseStats:
        """The inverse of `to_json`. Raises ValueError for other text."""
        made = cls()
        try:
            for name, counts in json.loads(text)["formats"].items():
                errors = {ErrorCategory(key).value: _counted(n) for key, n in counts["errors"].items()}
                outcomes = {outcome: _counted(counts[outcome]) for outcome in OUTCOMES}
                made._add({name: outcomes}, {name: errors})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"these are no statistics: {error!r}") from error
        return made

    def to_table(self) -> str:
        """The statistics as lines of text: a row for each format and one for all, then the categories of mistakes."""
        rows = [("format", *_COLUMNS)]
        names = self.formats
        rows += [(name, *self._row(name)) for name in names]
        if len(names) != 1:
            rows.append(("all", *self._row(None)))
        found, rates = self.errors(), self.error_rates()
        mistakes = [(c.value, f"{n:,}", f"{rates[c]:.1f}%") for c, n in found.items() if n]
        lines = _aligned(rows)
        if mistakes:
            lines += ["", *_aligned([("mistakes", "responses", "share"), *mistakes])]
        return "\n".join(lines)

    def _row(self, name: str | None) -> tuple[str, ...]:
        rates = self.rates(name)
        return f"{sum(self.counts(name).values()):,}", *[f"{rates[outcome]:.1f}%" for outcome in OUTCOMES]

    def _add(self, outcomes: Mapping[str, Mapping[str, int]], errors: Mapping[str, Mapping[str, int]]) -> None:
        with self._lock:
            for mine, theirs in ((self._outcomes, outcomes), (self._errors, errors)):
                for name, counts in theirs.items():
                    for key, count in counts.items():
                        if count:
                            row = mine.setdefault(name, {})
                            row[key] = row.get(key, 0) + count

    def _copy(self) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
        with self._lock:
            return {k: dict(v) for k, v in self._outcomes.items()}, {k: dict(v) for k, v in self._errors.items()}


def shares(counts: Mapping[Any, int], digits: int = 1) -> dict[Any, float]:
    """Counts in percent of their sum, rounded to so many digits and yet summing to 100.

    Each is rounded down, and what is then missing goes to those that lost most (the largest remainder method, Hamilton
    1792); of those that lost as much, to the first.
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
        raise ValueError(f"{value!r} is no count")
    return value


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines: the first column to the left, all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[f"{cell:>{w}}" if n else f"{cell:<{w}}" for n, (cell, w) in enumerate(zip(r, widths))] for r in rows]  # noqa: B905
    return ["  ".join(line) for line in lines]
