"""What a finished call must show before it may run: its arguments against the tools that the model was given.

A sound call that violates its tool's schema is the model's own mistake: it stays in the list, with a diagnostic, unless
the caller wants it refused (`Settings.schema_check`). A repaired call that does so is never proven, so it is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from outspoken.notations.coerce import fits
from outspoken.notations.tools import Tools, may_have

#: A path that JSON escapes have damaged: `"C:\temp"`, whose `\t` is a tab.
_LOST_PATH = re.compile(r'"[A-Za-z]:\\[bfnrt]\w')


class Objection(NamedTuple):
    """What a call lacks, or has and should not have: the code of the diagnostic, and its message."""

    code: str
    message: str


def objections(tools: Tools, name: str, arguments: Mapping[str, Any], *, repaired: bool) -> Iterator[Objection]:
    """What speaks against a call of a tool. Only a `repaired` one may have no argument that the schema does not know."""
    if name not in tools:
        yield Objection("unknown-tool", f"there is no tool `{name}`")
        return
    facts = tools.facts(name)
    for key in facts.required:
        if key not in arguments:
            yield Objection("missing-argument", f"the argument `{key}` of `{name}` is missing")
    for key, value in arguments.items():
        if not fits(value, tools.types(name, key)):
            kinds = " or ".join(sorted(tools.types(name, key) or ()))
            yield Objection("mistyped-argument", f"the argument `{key}` of `{name}` should be {kinds}")
        elif key in facts.listed and not _is_listed(value, facts.listed[key]):
            yield Objection("unlisted-value", f"the argument `{key}` of `{name}` has a value that its schema does not list")
        elif repaired and not may_have(tools, name, key):
            yield Objection("unknown-argument", f"`{name}` has no argument `{key}`")


def may_violate(tools: Tools, name: str, arguments: Mapping[str, Any]) -> bool:
    """May something speak against a sound call? This is fast."""
    if name not in tools:
        return True
    facts = tools.facts(name)
    for key in facts.required:
        if key not in arguments:
            return True
    types, listed = tools.types, facts.listed
    for key, value in arguments.items():
        if not fits(value, types(name, key)) or (key in listed and not _is_listed(value, listed[key])):
            return True
    return False


def loses_path(arguments_text: str) -> bool:
    """Do escapes in the JSON text of arguments damage a path, as in `"C:\\temp"`?"""
    return ":\\" in arguments_text and _LOST_PATH.search(arguments_text) is not None


def _is_listed(value: Any, listed: list[Any]) -> bool:
    """Is a value one of those that a schema lists? True and 1 are different."""
    return any(value == one and value.__class__ is one.__class__ for one in listed)
