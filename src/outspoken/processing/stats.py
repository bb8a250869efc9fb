"""`ParseStats`: how many responses of each format succeeded, were recovered or failed, and their mistakes."""

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

    A response is a "success" if nothing is wrong with it, "recovered" if it is usable anyway, otherwise "failed". It
    counts once for each of its categories of mistakes. All methods are thread-safe. Add statistics with `+` or with
    `sum(many, ParseStats())`.
    """

    def __init__(self) -> None:
        self._outcomes: dict[str, dict[str, int]] = {}
        self._errors: dict[str, dict[str, int]] = {}
        self._lock = Lock()

    def record(
        self, format: str, outcome: Outcome, categories: Iterable[ErrorCategory] = (), *, count: int = 1
    ) -> None:
        """Count a response, or `count` equal ones. Raises ValueError for an unknown outcome or a negative count."""
        if outcome not in OUTCOMES:
            raise ValueError(f"`outcome` is {outcome!r}; expected one of {', '.join(OUTCOMES)}")
        if type(count) is not int or count < 0:
            raise ValueError(f"`count` is {count!r}; expected an integer of at least 0")
        errors = {ErrorCategory(category).value: count for category in categories}
        if count:
            self._add({format: {outcome: count}}, {format: errors} if errors else {})

    def reset(self) -> None:
        """Set all counts to 0."""
        with self._lock:
            self._outcomes, self._errors = {}, {}

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the counted responses, in alphabetical order."""
        with self._lock:
            return tuple(sorted(self._outcomes))

    def counts(self, format: str | None = None) -> dict[Outcome, int]:
        """The number of responses by outcome, of one format or of all."""
        outcomes = self._copy()[0]
        some = list(outcomes.values()) if format is None else [outcomes.get(format, {})]
        return {outcome: sum([one.get(outcome, 0) for one in some]) for outcome in OUTCOMES}

    def errors(self, format: str | None = None) -> dict[ErrorCategory, int]:
        """The number of responses by category of mistakes, of one format or of all."""
        errors = self._copy()[1]
        some = list(errors.values()) if format is None else [errors.get(format, {})]
        return {category: sum([one.get(category.value, 0) for one in some]) for category in ErrorCategory}

    def rates(self, format: str | None = None, digits: int = 1) -> dict[Outcome, float]:
        """The outcomes in percent, rounded so that they sum to 100; all 0 without responses."""
        return shares(self.counts(format), digits)

    def error_rates(self, format: str | None = None, digits: int = 1) -> dict[ErrorCategory, float]:
        """The categories in percent of all mistakes, rounded so that they sum to 100; all 0 without mistakes."""
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
        counts = ", ".join([f"{count} {outcome}" for outcome, count in self.counts().items()])
        return f"ParseStats({counts}; formats: {', '.join(self.formats) or 'none'})"

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
        """The inverse of `to_json`. Raises ValueError for any other text."""
        made = cls()
        try:
            for name, counts in json.loads(text)["formats"].items():
                errors = {ErrorCategory(key).value: _counted(n) for key, n in counts["errors"].items()}
                outcomes = {outcome: _counted(counts[outcome]) for outcome in OUTCOMES}
                made._add({name: outcomes}, {name: errors})
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


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines, with the first column aligned to the left and all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[f"{cell:>{w}}" if n else f"{cell:<{w}}" for n, (cell, w) in enumerate(zip(r, widths))] for r in rows]  # noqa: B905
    return ["  ".join(line) for line in lines]
