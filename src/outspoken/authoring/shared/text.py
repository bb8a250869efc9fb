"""Small pieces of the messages that tools print."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str], last: str = "and", most: int = 6) -> str:
    """Names in backticks as a list in a sentence; of many, the first ones and the number of the others."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[: most - 1])} {last} {len(quoted) - most + 1} more"
    return joined(quoted, last)


def joined(words: list[str], last: str = "and") -> str:
    """Words as a list in a sentence: `a, b and c`."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(number: int, thing: str) -> str:
    """A number of things: `1 call`, `2 calls`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"
