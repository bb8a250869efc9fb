"""Random choices for Hypothesis that depend on a seed alone.

Hypothesis's own choices also take constants from the modules that are loaded, which differ between machines and from
test to test. A text that is read wrongly must be found again with its seed.
"""

from __future__ import annotations

from math import nextafter
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider

#: The name of these choices, as `settings(backend=…)` takes it.
_BACKEND = "outspoken-seed"
#: What has no bounds is drawn within these, and so much longer than it must be.
_MOST, _LONGER = 1 << 16, 8


class SeededChoices(PrimitiveProvider):
    """Draws every choice of a run with one random generator."""

    lifetime = "test_function"
    seed = 0

    def __init__(self, conjecturedata: Any, /) -> None:
        super().__init__(conjecturedata)
        self._random = Random(self.seed)

    def draw_boolean(self, p: float = 0.5) -> bool:
        """True with a probability."""
        return self._random.random() < p

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """Any integer within the bounds; `weights` would prefer some of them."""
        low = min(-_MOST, max_value if max_value is not None else 0) if min_value is None else min_value
        return self._random.randint(low, max(_MOST, low) if max_value is None else max_value)

    def draw_float(
        self,
        *,
        min_value: float = -float(_MOST),
        max_value: float = float(_MOST),
        allow_nan: bool = True,
        smallest_nonzero_magnitude: float = nextafter(0.0, 1.0),
    ) -> float:
        """Any float within the bounds."""
        low, high = max(min_value, -float(_MOST)), min(max_value, float(_MOST))
        return min(max(self._random.uniform(low, high), low), high)

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = _MOST) -> str:
        """Any characters of the intervals."""
        size = self._random.randint(min_size, min(max_size, min_size + _LONGER)) if len(intervals) else 0
        return "".join([chr(intervals[self._random.randrange(len(intervals))]) for _ in range(size)])

    def draw_bytes(self, min_size: int = 0, max_size: int = _MOST) -> bytes:
        """Any bytes."""
        return self._random.randbytes(self._random.randint(min_size, min(max_size, min_size + _LONGER)))


def with_seed(common: settings, seed: int, number: int) -> settings:
    """The settings with which so many texts are made with a seed."""
    AVAILABLE_PROVIDERS[_BACKEND] = type(f"{SeededChoices.__name__}{seed}", (SeededChoices,), {"seed": seed})
    return settings(common, backend=_BACKEND, max_examples=number)
