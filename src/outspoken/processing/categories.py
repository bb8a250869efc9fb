"""The categories of mistakes that are counted, the category of each diagnostic, and finish reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from outspoken.results.diagnostics import Diagnostic
from outspoken.results.edits import CODES
from outspoken.results.edits import NOTES as JSON_NOTES
from outspoken.results.pending_diagnostics import MARKUP


class ErrorCategory(str, Enum):
    """The category of a mistake in a response.

    `json_syntax`: a violation of the notation (JSON in most formats, markers in all). `truncated`: the response is
    truncated. `type_mismatch`: a value, action or tool of the wrong kind. `missing_parameters`: something required is
    absent. `other`: none of these, such as a refusal or a content filter.
    """

    JSON_SYNTAX = "json_syntax"
    TRUNCATED = "truncated"
    TYPE_MISMATCH = "type_mismatch"
    MISSING_PARAMETERS = "missing_parameters"
    OTHER = "other"


_SYNTAX = frozenset({*CODES, *MARKUP, *JSON_NOTES}) | frozenset({
    "broken-payload", "call-in-reasoning", "invalid-answer", "invalid-call", "invalid-list", "invalid-payload",
    "fenced-call", "joined-actions",
    "left-out", "moved-actions", "odd-marker", "refused-text", "repeated-action", "repeated-argument",
    "unknown-key", "unread-markup", "unsound-response", "unwrapped-object", "wrapped-actions",
})  # fmt: skip
_MISMATCH = frozenset({
    "clamped-point", "coerced-value", "ignored-key", "invalid-action", "invalid-item", "marker-not-registered",
    "mistyped-argument", "odd-payload", "type-mismatch", "unknown-element", "unknown-tool", "unread-entry",
    "unwrapped-array", "unlisted-value",
    "wrapped-object", "wrong-element", "wrong-kind", "wrong-type",
})  # fmt: skip
_MISSING = frozenset(
    {"default-value", "empty-response", "missing-actions", "missing-argument", "missing-payload", "nothing-usable"}
)
_TRUNCATED = re.compile("cut-|unclosed-|truncated|token-limit$")
#: The codes that are no mistake in the response itself.
OTHER_CODES = frozenset({
    "ambiguous-space", "content-filter", "echoed-call", "extra-payload", "invented-result", "needs-exact",
    "opens-nothing", "orphan-closer", "other-choices", "other-format", "other-values", "plain-marker", "provider-error",
    "quoted-call",
    "chosen-value", "refusal",
    "repeated-id", "repeated-message",
    "suggestions-with-proposal", "thought-call",
})  # fmt: skip

#: The messages that distinguish what is absent from what is of the wrong kind, where the code does not.
_ABSENT = re.compile(r"`[^`]*` needs `|a tool call has no name")
_WRONG_KIND = re.compile(r"the arguments of `[^`]*` are not a JSON object")


def category_of(diagnostic: Diagnostic) -> ErrorCategory:
    """The category of a diagnostic."""
    code, message = diagnostic.code, diagnostic.message
    if _TRUNCATED.match(code):
        return ErrorCategory.TRUNCATED
    if code in _MISSING or (code.startswith("invalid-") and _ABSENT.match(message)):
        return ErrorCategory.MISSING_PARAMETERS
    if code in _MISMATCH or (code == "invalid-call" and _WRONG_KIND.match(message)):
        return ErrorCategory.TYPE_MISMATCH
    return ErrorCategory.JSON_SYNTAX if code in _SYNTAX else ErrorCategory.OTHER


def categories_of(diagnostics: Iterable[Diagnostic]) -> tuple[ErrorCategory, ...]:
    """The categories of a response's errors and warnings, each once, in the order of `ErrorCategory`."""
    found = {category_of(d) for d in diagnostics if d.severity != "note"}
    return tuple([category for category in ErrorCategory if category in found])


#: The messages of diagnostics for a response that has no usable content.
FINISH_MESSAGES = {
    "empty-response": "the response has no content",
    "token-limit": "the model reached its token limit",
    "content-filter": "a content filter stopped the model",
}
