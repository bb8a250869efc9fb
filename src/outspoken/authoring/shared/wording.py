"""Small pieces of the messages that the tools print, and names."""

from __future__ import annotations

from collections.abc import Container, Iterable

#: Of more names, only the first ones are listed.
_MOST = 6


def listed(names: Iterable[str]) -> str:
    """Names in backticks as a list in a sentence; of many, the first ones and the number of the others."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > _MOST:
        quoted[_MOST - 1 :] = [f"{len(quoted) - _MOST + 1} more"]
    return joined(quoted)


def joined(words: list[str]) -> str:
    """Words as a list in a sentence: `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(number: int, thing: str) -> str:
    """A number of things: `1 call`, `2 calls`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def unique(name: str, taken: Container[str]) -> str:
    """A name, with a number if it is taken."""
    number, found = 2, name
    while found in taken:
        number, found = number + 1, f"{name}_{number}"
    return found
