"""Times functions in turns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

#: how often a function is run before it is measured
_WARM = 40


def turns(functions: Sequence[Callable[[], Any]], rounds: int, longest: float = 4.0) -> list[float]:
    """The best time of each function, in seconds, measured in turns; none is run for much longer than `longest`.

    Each is run for a while before: what it loads, compiles and keeps on first use is there then for both.
    """
    best, spent, counts = [math.inf] * len(functions), [0.0] * len(functions), [1] * len(functions)

    def measure(i: int) -> None:
        start = time.perf_counter()
        for _ in range(counts[i]):
            functions[i]()
        taken = time.perf_counter() - start
        spent[i] += taken
        best[i] = min(best[i], taken / counts[i])

    for i in range(len(functions)):
        for _ in range(_WARM):
            measure(i)
            if spent[i] > longest / 8:
                break
        counts[i] = max(1, int(0.002 / max(best[i], 1e-7)))
    for _ in range(rounds):
        for i in range(len(functions)):
            if spent[i] <= longest:
                measure(i)
    return best
