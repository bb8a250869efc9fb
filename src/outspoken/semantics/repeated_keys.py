"""Arguments that are given twice in the JSON object of a call: JSON decoders keep the last one without a word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from outspoken.results.replies import ToolCall

from .recorder import Recorder


def may_repeat(text: str, arguments: Iterable[str]) -> bool:
    """May an argument stand twice in the JSON text of the arguments? This is fast."""
    return any(text.count(f'"{name}"') > 1 for name in arguments)


def repeats(text: str, arguments: Iterable[str]) -> bool:
    """Does an argument stand twice in the JSON text of the arguments?"""
    return may_repeat(text, arguments) and _repeated_name(text) is not None


def report(recorder: Recorder, text: str, call: ToolCall) -> None:
    """Report an argument that stands twice in the JSON text of the arguments of a call."""
    if may_repeat(text, call.arguments) and (repeated := _repeated_name(text)) is not None:
        message = f"the argument `{repeated}` is given twice; the last one is taken"
        recorder.report("repeated-argument", message, call.span, "warning", label="in this call")


def _repeated_name(text: str) -> str | None:
    import json

    objects: list[list[tuple[str, Any]]] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        objects.append(pairs)
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=collect)
    except ValueError:
        return None
    names = [name for name, _ in objects[-1]] if objects else []
    return next((name for i, name in enumerate(names) if name in names[:i]), None)
