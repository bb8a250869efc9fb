"""Ranges of numbers as regular expressions."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, NamedTuple

#: Whole numbers without a bound have at most so many digits, and fractions.
_DIGITS, _FRACTION = 15, 17
#: A fraction that ends in no zero.
_REST = rf"[0-9]{{0,{_FRACTION - 1}}}[1-9]"
#: So many numbers of a range are listed at most, where only some of them count.
_MAX_LISTED = 500


def integer_pattern(schema: dict[str, Any]) -> str | None:
    """The whole numbers that a schema admits; "" if there are none, None if the range cannot be said."""
    low, high = _bounds(schema)
    least = low and (math.floor(low.value) + 1 if low.is_excluded else math.ceil(low.value))
    most = high and (math.ceil(high.value) - 1 if high.is_excluded else math.floor(high.value))
    step = schema.get("multipleOf")
    if step not in (None, 1):
        return _listed(least, most, step)
    return _integers(least, most)


def _listed(low: int | None, high: int | None, step: Any) -> str | None:
    if low is None or high is None or high - low > _MAX_LISTED * max(step, 1):
        return None
    return "|".join([str(n) for n in range(low, high + 1) if n % step == 0])


def number_pattern(schema: dict[str, Any]) -> str | None:
    """Numbers that a schema admits, without exponents if it has bounds. None if the range cannot be said."""
    if "multipleOf" in schema:
        return integer_pattern(schema) if isinstance(schema["multipleOf"], int) else None
    least, most = _bounds(schema)
    if least is None and most is None:
        fraction = rf"\.[0-9]{{1,{_FRACTION}}}"
        return rf"(?:-0{fraction}|{_integers(None, None)}(?:{fraction})?)(?:[eE][+-]?[0-9]{{1,2}})?"
    options: list[str] = []
    if most is None or not most.value.is_signed() or most.value == 0:
        options += _decimals(_Limit(Decimal(0)) if least is None or least.value < 0 else least, most)
    if least is None or least.value < 0:
        # below zero, the bounds change places
        first = _Limit(Decimal(0), True) if most is None or most.value >= 0 else _Limit(-most.value, most.is_excluded)
        last = None if least is None else _Limit(-least.value, least.is_excluded)
        options += [f"-(?:{option})" for option in _decimals(first, last)]
    return "|".join(options) or None


class _Limit(NamedTuple):
    """A bound of a range, and whether the range ends before it."""

    value: Decimal
    is_excluded: bool = False

    def split(self) -> tuple[int, str]:
        """The whole part, and the digits behind the point without zeros at the end."""
        whole, _, digits = f"{self.value:f}".partition(".")
        return int(whole), digits.rstrip("0")


def _decimals(low: _Limit, high: _Limit | None) -> list[str]:
    """Expressions of the numbers of a range that begins at zero or above. Fractions end in no zero."""
    first, above = low.split()
    if high is None:
        return [*_with_fraction(first, _between(above, None, low.is_excluded)), *_all_between(first + 1, None)]
    if low.value > high.value:
        return []
    last, below = high.split()
    if first == last:
        return _with_fraction(first, _between(above, below, low.is_excluded, high.is_excluded))
    options = _with_fraction(first, _between(above, None, low.is_excluded))
    options += _all_between(first + 1, last - 1)
    return [*options, *_with_fraction(last, _between("", below, False, high.is_excluded))]


def _with_fraction(whole: int, fractions: list[str]) -> list[str]:
    """A whole number with each of some fractions, of which "" is none."""
    some = [fraction for fraction in fractions if fraction]
    found = [str(whole)] if "" in fractions else []
    return [*found, rf"{whole}\.(?:{'|'.join(some)})"] if some else found


def _all_between(low: int, high: int | None) -> list[str]:
    """Whole numbers of a range with any fraction or none."""
    if high is not None and low > high:
        return []
    return [rf"(?:{_integers(low, high)})(?:\.{_REST})?"]


def _tail(digit: str) -> str:
    """What may follow a digit of a fraction, which ends in no zero."""
    return f"{digit}{_REST}" if digit == "0" else f"{digit}(?:{_REST})?"


def _tails(low: str, high: str) -> list[str]:
    """Fractions that begin with one of the digits."""
    zero = [_tail("0")] if low == "0" <= high else []
    first = max(low, "1")
    return [*zero, _tail(_digits(first, high))] if first <= high else zero


def _between(low: str, high: str | None, low_excluded: bool, high_excluded: bool = False) -> list[str]:
    """The fractions from one on, up to another one that is not below it, or to the end."""
    if low == high:
        return [] if low_excluded or high_excluded else [low]
    if not low and high is None:
        return [_REST] if low_excluded else ["", _REST]
    if low and high and low[0] == high[0]:
        return [low[0] + rest for rest in _between(low[1:], high[1:], low_excluded, high_excluded)]
    fractions = [low[0] + rest for rest in _between(low[1:], None, low_excluded)] if low else [""] * (not low_excluded)
    fractions += _tails(chr(ord(low[0]) + 1) if low else "0", chr(ord(high[0]) - 1) if high else "9")
    ends = _between("", high[1:], False, high_excluded) if high else []
    return [*fractions, *[f"{high[0]}{rest}" for rest in ends if high and (rest or high[0] != "0")]]


def _bounds(schema: dict[str, Any]) -> tuple[_Limit | None, _Limit | None]:
    """The lower and the upper bound."""
    lows, highs = list[_Limit](), list[_Limit]()
    for found, key, exclusive in ((lows, "minimum", "exclusiveMinimum"), (highs, "maximum", "exclusiveMaximum")):
        if _is_number(schema.get(key)):
            found.append(_Limit(Decimal(str(schema[key])), schema.get(exclusive) is True))
        if _is_number(schema.get(exclusive)):
            found.append(_Limit(Decimal(str(schema[exclusive])), True))
    return max(lows, default=None), min(highs, key=lambda limit: (limit.value, not limit.is_excluded), default=None)


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
    return _joined(options)


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
    for digits in range(len(str(low)), len(str(high)) + 1):
        first, last = max(low, 10 ** (digits - 1)), min(high, 10**digits - 1)
        if first <= last:
            options += _same_length(str(first), str(last))
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
