"""The kinds of mistakes that are counted, and which diagnostic is which of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from outspoken.results.diagnostics import Diagnostic
from outspoken.results.edits import CODES
from outspoken.results.pending_diagnostics import MARKUP


class ErrorCategory(str, Enum):
    """What kind of mistake a response has.

    `json_syntax`: what is written breaks the rules of its notation (JSON in most formats, markers in all).
    `incomplete`: it breaks off. `type_mismatch`: a value, action or tool of the wrong kind. `missing_parameters`:
    something that is required was not given. `other`: none of these.
    """

    JSON_SYNTAX = "json_syntax"
    INCOMPLETE = "incomplete"
    TYPE_MISMATCH = "type_mismatch"
    MISSING_PARAMETERS = "missing_parameters"
    OTHER = "other"


_SYNTAX = frozenset(
    {*CODES, *MARKUP, "invalid-call", "not-json", "too-damaged", "too-deep", "torn-json", "ambiguous-strings"}
    | {"repeated-key", "repeated-argument"}
)
_MISMATCH = frozenset({"invalid-action", "mistyped-argument", "unknown-tool", "unread-entry", "wrong-type"})
_MISSING = frozenset({"missing-argument", "missing-actions"})
_BREAKS_OFF = re.compile("cut-|unclosed-|truncated$|token-limit$")

#: What the message says more than the code: what is required and not there, and what is there and of the wrong kind.
_NOT_GIVEN = re.compile(r"`[^`]*` needs `|a tool call has no name")
_NOT_OF_KIND = re.compile(r"the arguments of `[^`]*` are not a JSON object")


def category_of(diagnostic: Diagnostic) -> ErrorCategory:
    """The kind of mistake that a diagnostic speaks of."""
    code, message = diagnostic.code, diagnostic.message
    if _BREAKS_OFF.match(code):
        return ErrorCategory.INCOMPLETE
    if code in _MISSING or (code.startswith("invalid-") and _NOT_GIVEN.match(message)):
        return ErrorCategory.MISSING_PARAMETERS
    if code in _MISMATCH or (code == "invalid-call" and _NOT_OF_KIND.match(message)):
        return ErrorCategory.TYPE_MISMATCH
    return ErrorCategory.JSON_SYNTAX if code in _SYNTAX else ErrorCategory.OTHER


def categories_of(diagnostics: Iterable[Diagnostic]) -> tuple[ErrorCategory, ...]:
    """The kinds of mistakes of a response, each once, in the order of `ErrorCategory`; notes are no mistakes."""
    found = {category_of(d) for d in diagnostics if d.severity != "note"}
    return tuple([category for category in ErrorCategory if category in found])
