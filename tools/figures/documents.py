"""The places of figures in documents: between `<!-- figures: NAME -->` and `<!-- end -->`.

NAME is a section of the registry, or the path of a single value, such as `servers.vllm.all.texts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from outspoken.authoring.shared.checkout import TOP
from outspoken.results.errors import OutspokenError

from .records import Record
from .registry import SECTIONS

_PLACE = re.compile(
    r"(<!-- figures: (?P<name>[\w.-]+) -->)(?P<shown>.*?)(?P<end><!-- end -->|(?=<!-- figures:)|\Z)", re.S
)


class UnknownFigureError(OutspokenError):
    """A document asks for a figure that there is not."""


def documents(root: Path = TOP) -> list[Path]:
    """The documents that may quote figures."""
    folders = ("src", "tools", "tests", "grammars")
    return [*sorted(root.glob("*.md")), *[path for name in folders for path in sorted((root / name).rglob("*.md"))]]


def updated(text: str, records: dict[str, Record], shown: str) -> str:
    """A document with the figures as they are now. Raises UnknownFigureError for a place that cannot be filled."""

    def place(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.start()) + 1
        if not match["end"]:
            raise UnknownFigureError(f"{shown}:{line}: the figure `{match['name']}` has no `<!-- end -->`")
        try:
            new = content(match["name"], records)
        except LookupError as error:
            raise UnknownFigureError(f"{shown}:{line}: {error.args[0]}") from error
        new = f"\n\n{new}\n\n" if "\n" in new else new
        return f"{match[1]}{new}{match['end']}"

    return _PLACE.sub(place, text)


def content(name: str, records: dict[str, Record]) -> str:
    """What stands in a place. Raises LookupError, with a sentence, if there is no such section or value."""
    if name in SECTIONS:
        module, _, function = SECTIONS[name].partition(":")
        write: Callable[[dict[str, Record]], str] = getattr(import_module(module), function)
        try:
            return write(records)
        except KeyError as error:
            told = f"`{name}` needs {error}, which is not among the figures: run `python -m tools.figures --all`"
            raise LookupError(told) from error
    first, *keys = name.split(".")
    if first not in records:
        raise LookupError(f"there is no figure `{name}`; there are {', '.join(dict.fromkeys([*SECTIONS, *records]))}")
    value: Any = records[first].values
    for key in keys:
        known = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if key not in known:
            raise LookupError(f"`{name}`: there is no `{key}`; expected {', '.join(known) or 'nothing more'}")
        value = known[key]
    if isinstance(value, (dict, list)):
        raise LookupError(f"`{name}` is no single value; add one of {', '.join(map(str, cast('list[Any]', value)))}")
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def wanted(records: dict[str, Record], paths: Iterable[Path], root: Path = TOP) -> dict[Path, str]:
    """What each document with figures should hold. Raises UnknownFigureError."""
    texts = {path: path.read_text("utf-8") for path in paths}
    return {
        path: updated(text, records, path.relative_to(root).as_posix())
        for path, text in texts.items()
        if _PLACE.search(text)
    }
