"""Ranges of numbers as regular expressions."""

from __future__ import annotations

import math
from typing import Any

#: Whole numbers without a bound have at most so many digits, and fractions.
_DIGITS, _FRACTION = 15, 17
#: So many numbers of a range are listed at most, where only some of them count.
_MAX_LISTED = 500


def integer_pattern(schema: dict[str, Any]) -> str | None:
    """The whole numbers that a schema admits; "" if there are none, None if the range cannot be said."""
    low, high = _bounds(schema)
    least = None if low is None else math.ceil(low[0]) + (low[1] and math.ceil(low[0]) == low[0])
    most = None if high is None else math.floor(high[0]) - (high[1] and math.floor(high[0]) == high[0])
    step = schema.get("multipleOf")
    if step not in (None, 1):
        return _listed(least, most, step)
    return _integers(least, most)


def _listed(low: int | None, high: int | None, step: Any) -> str | None:
    if low is None or high is None or high - low > _MAX_LISTED * max(step, 1):
        return None
    return "|".join([str(n) for n in range(low, high + 1) if n % step == 0])


def number_pattern(schema: dict[str, Any]) -> str | None:
    """Numbers that a schema admits, without exponents if it has bounds. The range may be a little narrower."""
    if "multipleOf" in schema:
        return integer_pattern(schema) if isinstance(schema["multipleOf"], int) else None
    low, high = _bounds(schema)
    if low is None and high is None:
        return rf"{_integers(None, None)}(?:\.[0-9]{{1,{_FRACTION}}})?(?:[eE][+-]?[0-9]{{1,2}})?"
    options: list[str] = []
    fraction = rf"\.[0-9]{{0,{_FRACTION - 1}}}[1-9]"
    if low is not None and low == (0, False) and high is not None and high[0] >= 1 and high[0] == int(high[0]):
        beyond = [] if high[1] else [str(int(high[0]))]
        return "|".join([*beyond, f"{_integers(0, int(high[0]) - 1)}(?:{fraction})?"])
    whole = integer_pattern({key: bound for key, bound in schema.items() if key != "multipleOf"})
    options += [whole] if whole else []
    # a fraction lies between its whole part and the next whole number, away from zero
    first = 0 if low is None else max(math.ceil(low[0]), 0)
    last = None if high is None else math.floor(high[0]) - 1
    if last is None or last >= first:
        options.append(f"(?:{_integers(first, last)}){fraction}")
    first = 0 if high is None else max(math.ceil(-high[0]), 0)
    last = None if low is None else math.floor(-low[0]) - 1
    if last is None or last >= first:
        options.append(f"-(?:{_integers(first, last)}){fraction}")
    return "|".join(options) or None


def _bounds(schema: dict[str, Any]) -> tuple[tuple[float, bool] | None, tuple[float, bool] | None]:
    """The lower and the upper bound, each with whether it is excluded."""
    lows: list[tuple[float, bool]] = []
    highs: list[tuple[float, bool]] = []
    for found, key, exclusive in ((lows, "minimum", "exclusiveMinimum"), (highs, "maximum", "exclusiveMaximum")):
        if _is_number(schema.get(key)):
            found.append((schema[key], schema.get(exclusive) is True))
        if _is_number(schema.get(exclusive)):
            found.append((schema[exclusive], True))
    low = max(lows, key=lambda bound: (bound[0], bound[1]), default=None)
    high = min(highs, key=lambda bound: (bound[0], not bound[1]), default=None)
    return low, high


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _integers(low: int | None, high: int | None) -> str:
    """The whole numbers of a range, as JSON writes them."""
    if low is not None and high is not None and low > high:
        return ""
    options: list[str] = []
    if low is None or low < 0:
        first = 1 if high is None or high >= 0 else -high
        negative = _positive(first, None if low is None else -low)
        options.append(f"-(?:{negative})")
    if high is None or high >= 0:
        options.append(_positive(max(low or 0, 0), high))
    return "|".join(options) if len(options) == 1 else f"(?:{'|'.join(options)})"


def _positive(low: int, high: int | None) -> str:
    """The whole numbers from `low` on, which is not negative."""
    options = ["0"] if low == 0 else []
    low = max(low, 1)
    if high is None:
        digits = len(str(low))
        options += _same_length(str(low), "9" * digits)
        if digits < _DIGITS:
            options.append(f"[1-9][0-9]{{{digits},{_DIGITS - 1}}}")
        return _joined(options)
    full: list[int] = []
    for digits in range(len(str(low)), len(str(high)) + 1):
        first, last = max(low, 10 ** (digits - 1)), min(high, 10**digits - 1)
        if (first, last) == (10 ** (digits - 1), 10**digits - 1):
            full.append(digits)
        elif first <= last:
            options += _same_length(str(first), str(last))
    if full:
        options.append("[1-9]" + (f"[0-9]{{{full[0] - 1},{full[-1] - 1}}}" if full[-1] > 1 else ""))
    return _joined(options)


def _joined(options: list[str]) -> str:
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"


def _same_length(low: str, high: str) -> list[str]:
    """The numbers between two of the same length."""
    if low == high:
        return [low]
    if low[1:].strip("0") == "" and high[1:].strip("9") == "":
        rest = len(low) - 1
        return [_digits(low[0], high[0]) + (f"[0-9]{{{rest}}}" if rest else "")]
    if low[0] == high[0]:
        return [f"{low[0]}(?:{'|'.join(_same_length(low[1:], high[1:]))})"]
    rest = len(low) - 1
    options = [f"{low[0]}(?:{'|'.join(_same_length(low[1:], '9' * rest))})"]
    if int(high[0]) - int(low[0]) > 1:
        options.append(f"{_digits(str(int(low[0]) + 1), str(int(high[0]) - 1))}[0-9]{{{rest}}}")
    return [*options, f"{high[0]}(?:{'|'.join(_same_length('0' * rest, high[1:]))})"]


def _digits(low: str, high: str) -> str:
    return low if low == high else f"[{low}-{high}]"
