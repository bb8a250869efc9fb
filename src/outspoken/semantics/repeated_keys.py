"""Arguments that are given twice in the JSON object of a call: JSON decoders keep the last one without a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def may_repeat(text: str, arguments: Iterable[str]) -> bool:
    """May an argument stand twice in the JSON text of the arguments? This is fast."""
    return any(text.count(f'"{name}"') > 1 for name in arguments)


def repeats(text: str, arguments: Iterable[str]) -> bool:
    """Does an argument stand twice in the JSON text of the arguments?"""
    return may_repeat(text, arguments) and _repeated_name(text) is not None


def contradicted(text: str, arguments: Iterable[str]) -> str | None:
    """An argument that stands twice in the JSON text of the arguments, with two values; None if none does."""
    return _repeated_name(text, differs=True) if may_repeat(text, arguments) else None


def _repeated_name(text: str, *, differs: bool = False) -> str | None:
    import json

    objects: list[list[tuple[str, Any]]] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        objects.append(pairs)
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=collect)
    except ValueError:
        return None
    seen: dict[str, Any] = {}
    for name, value in objects[-1] if objects else ():
        if name in seen and not (differs and seen[name] == value):
            return name
        seen[name] = value
    return None
