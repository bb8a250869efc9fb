"""What a page saved, as JSON or as a page: read back as what it was made of."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from .given import Given, given_of

#: What a saved JSON file says it is.
KIND = "outspoken-playground"
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def shared(text: str) -> Given | None:
    """What a saved file holds; None for any other text. Raises ProblemError if a saved file is damaged."""
    start = text.lstrip("\ufeff \t\r\n")[:15].lower()
    if start.startswith("{"):
        held = _json(text)
        return given_of(held.get("given")) if held.get("kind") == KIND else None
    if start != "<!doctype html>" or not (match := _DATA.search(text)):
        return None
    held = _json(match[1])
    if "raw" not in held:
        return None
    given = held.get("given")
    format_ = held.get("format")
    plain = {"name": held.get("source"), "text": held["raw"], "format": "auto" if format_ == "none" else format_}
    return given_of(given if given is not None else plain)


def _json(text: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
