"""The arguments that a call lacks, and whether its values speak of them. The fast path needs no more than this."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from outspoken.notations.tools import Tools


def lacking(tools: Tools | None, name: str | None, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that a tool may have and a call lacks."""
    if tools is None or name is None or name not in tools:
        return []
    return [key for key in tools.facts(name).properties if key not in arguments]


def mentions(names: Collection[str], arguments: Mapping[str, Any]) -> bool:
    """Does a value hold one of these names? This is fast."""
    return any(value.__class__ is str and key in value for value in arguments.values() for key in names)


def find_keys(text: str, tools: Tools | None) -> re.Match[str] | None:
    """The first of all required arguments of a tool as keys of JSON, if these are several."""
    for name in tools.names if tools is not None and "{" in text else ():
        keys = lacking(tools, name, {})
        if len(keys) > 1 and all(key in text for key in keys):
            found = [re.search(rf"\"{re.escape(key)}\"\s{{0,9}}:", text) for key in keys]
            if None not in found:
                return found[0]
    return None
