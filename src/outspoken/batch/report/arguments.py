"""Calls with invalid arguments: what the schemas of the tools say of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from outspoken.json.schema import fits
from outspoken.notations.tools import Tools, may_have
from outspoken.results.diagnostics import Diagnostic

#: The diagnostics that tell of calls with invalid arguments.
CODES = {
    "unknown-tool": "unknown tool",
    "missing-argument": "missing",
    "mistyped-argument": "wrong type",
    "repeated-argument": "given twice",
}
_NAMED = re.compile(r"the argument `(.+?)` ")
_SHOULD = re.compile(r" should be ([a-z ]+)")
#: So many arguments are kept with what is known of them.
_MOST = 10_000


class Problem(NamedTuple):
    """What is wrong with an argument of a call; the argument is empty where the tool is unknown."""

    argument: str
    kind: str
    detail: str = ""


class CallChecker:
    """Compares the arguments of calls with the schemas of their tools. Without tools, it finds nothing."""

    def __init__(self, tools: Tools | None) -> None:
        self._tools = tools
        self._required: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str], tuple[bool, frozenset[str] | None, list[Any] | None]] = {}

    def problems(self, name: str, arguments_text: str) -> list[Problem]:
        """What is wrong with a complete call."""
        tools = self._tools
        if tools is None:
            return []
        if name not in tools:
            return [Problem("", CODES["unknown-tool"])]
        try:
            arguments = json.loads(arguments_text)
        except (ValueError, RecursionError):
            return []
        if not isinstance(arguments, dict):
            return []
        required = self._required.get(name)
        if required is None:
            required = self._required[name] = list(tools.arguments(name).required)
        found = [Problem(key, CODES["missing-argument"]) for key in required if key not in arguments]
        for key, value in arguments.items():  # pyright: ignore[reportUnknownVariableType]
            found += self._value_problems(tools, name, str(key), value)  # pyright: ignore[reportUnknownArgumentType]
        return found

    def _value_problems(self, tools: Tools, name: str, key: str, value: Any) -> list[Problem]:
        known = self._known.get((name, key))
        if known is None:
            known = may_have(tools, name, key), tools.types(name, key), tools.arguments(name).member(key).values
            if len(self._known) < _MOST:
                self._known[name, key] = known
        is_known, types, values = known
        if not is_known:
            return [Problem(key, "unknown argument")]
        if types is not None and not fits(value, types):
            return [Problem(key, CODES["mistyped-argument"], f"should be {' or '.join(sorted(types))}")]
        if values is not None and not any(_equal(value, one) for one in values):
            return [Problem(key, "not an allowed value", f"expected one of {_list(values)}")]
        return []


def _equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _list(values: list[Any]) -> str:
    shown = ", ".join([json.dumps(value, ensure_ascii=False, default=str)[:40] for value in values[:8]])
    return f"{shown}, ..." if len(values) > 8 else shown


def problem_of(diagnostic: Mapping[str, Any] | Diagnostic) -> Problem:
    """The problem that a diagnostic with one of `CODES` tells of."""
    data = diagnostic if isinstance(diagnostic, Mapping) else vars(diagnostic)
    code, message = data["code"], data["message"]
    if code == "unknown-tool":
        return Problem("", CODES[code])
    named, should = _NAMED.match(message), _SHOULD.search(message)
    detail = f"should be {should[1].strip()}" if should else ""
    return Problem(named[1] if named else "", CODES[code], detail)
