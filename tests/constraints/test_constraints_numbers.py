"""Ranges of numbers as regular expressions, compared with the bounds themselves."""

import re
from decimal import Decimal
from itertools import product

import pytest

from outspoken.constraints.number_ranges import number_pattern

_BOUNDS = (None, -12, -1.5, -0.25, 0, 0.5, 0.95, 1, 1.05, 3.5, 20)
_NUMBERS = tuple(
    [Decimal(number) / 100 for number in (*range(-205, 406, 5), -1250, -1201, -1200, 49, 51, 94, 96, 1999)]
)


@pytest.mark.parametrize("names", list(product(("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))))
def test_numbers_within_bounds(names: tuple[str, str]) -> None:
    for low, high in product(_BOUNDS, _BOUNDS):
        schema = {name: bound for name, bound in zip(names, (low, high), strict=True) if bound is not None}
        pattern = number_pattern(schema)
        for number in _NUMBERS:
            is_meant = _is_within(number, low, high, names)
            text = f"{number.normalize():f}"
            assert (pattern is not None and re.fullmatch(pattern, text) is not None) == is_meant, (schema, text)


def _is_within(number: Decimal, low: float | None, high: float | None, names: tuple[str, str]) -> bool:
    above = low is None or number > Decimal(str(low)) or ("exclusive" not in names[0] and number == Decimal(str(low)))
    below = (
        high is None or number < Decimal(str(high)) or ("exclusive" not in names[1] and number == Decimal(str(high)))
    )
    return above and below
