"""The codes of diagnostics and repairs, each once: its category, its level as a repair, its message if it has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from .diagnostics import Diagnostic, Repair
from .edits import shown


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


_SYNTAX, _TRUNCATED, _MISMATCH, _MISSING, _OTHER = ErrorCategory


class Code(NamedTuple):
    """A code. `message` has the fields `{before}` and `{after}`; it is "" where each place has a message of its own.

    `level` is the repair level ("markup" for markers), "" for what is no repair.
    """

    category: ErrorCategory
    message: str = ""
    level: str = ""


def _codes(category: ErrorCategory, level: str, messages: Mapping[str, str] | str) -> dict[str, Code]:
    """The codes of a category and a level: with their messages, or a list of words."""
    rows = dict.fromkeys(messages.split(), "") if isinstance(messages, str) else messages
    return {code: Code(category, message, level) for code, message in rows.items()}


#: Every code. Codes are added, never renamed.
CODES: dict[str, Code] = {
    **_codes(_SYNTAX, "notation", {
        "odd-space": "a space or mark that JSON does not allow was dropped",
        "comment": "a comment was dropped",
        "trailing-comma": "a comma with nothing after it was dropped",
        "quote-style": "{before} was read as the quote {after}",
        "wide-punctuation": "{before} was read as {after}",
        "bare-key": "the key {before} has no quotes",
        "python-literal": "{before} was read as {after}",
        "not-finite": "{before} is not a number in JSON and was read as text, {after}",
        "loose-number": "the number {before} was read as {after}",
        "loose-escape": "the escape {before} was read as {after}",
        "invalid-escape": "{before} is not an escape sequence; the backslash was kept",
        "raw-control": "{before} is not escaped inside a string",
        "lone-surrogate": "{before} is half a character, and was read as U+FFFD",
        "tuple": "{before} was read as {after}: a list in round brackets",
        "ellipsis": "{before} stands for omitted values and was dropped",
    }),
    **_codes(_TRUNCATED, "notation", {
        "cut-string": "the text ends inside a string",
        "cut-text": "the text ends inside {before}, which was dropped",
        "cut-container": "the text ends before {after}",
    }),
    **_codes(_OTHER, "notation", {
        "other-arguments": "the arguments are not an object; `null` was read as no arguments, and a string as JSON",
    }),
    **_codes(_SYNTAX, "structure", {
        "missing-comma": "a comma is missing",
        "extra-comma": "a comma with nothing before it was dropped",
        "missing-colon": "a colon is missing after a key",
        "extra-colon": "a second colon was dropped",
        "other-separator": "{before} was read as {after}",
        "wrong-closer": "{before} was read as {after}",
        "extra-closer": "{before} closes nothing and was dropped",
        "missing-closer": "{after} is missing",
        "missing-opener": "{after} is missing",
        "doubled-brace": "the brace {before} is doubled",
        "stray-quote": "a quote that belongs to no string was dropped",
        "bare-value": "{before} was read as a string without quotes",
        "thousands-separator": "{before} is no number in JSON and was read as text, {after}",
        "missing-value": "a key without a value was dropped: {before}",
        "dropped-text": "text that is not JSON was dropped: {before}",
    }),
    **_codes(_SYNTAX, "strings", {
        "bare-quote": "a quote inside a string is not escaped",
        "lost-quote": "a quote is missing at the edge of a string",
    }),
    "heuristic": Code(_SYNTAX, "the value was guessed from damaged text and may be wrong", "heuristic"),
    **_codes(_SYNTAX, "markup", {
        "missing-marker": "the marker {after} is missing",
        "damaged-marker": "{before} was read as the marker {after}",
        "other-key": "the key {before} was read as {after}",
        "stray-marker": "the marker {before} is not allowed here and was dropped",
        "foreign-notation": "the call that starts with {before} is in another notation than the format's",
        "stray-text": "{before} is between markers and was dropped",
    }),
    **_codes(_SYNTAX, "", {
        "repeated-key": "the key {before} is repeated in one object; the last value counts",
        "left-out": "text around the JSON is not part of the value",
        "ambiguous-strings": "the strings of this value can be read in more than one way",
        "in-reasoning": "the value stands in reasoning, and the text has no other",
        "in-sentence": "the value stands in a sentence that goes on behind it, and may deny it",
        "torn-json": "this looks like part of a JSON value that was not read",
        "not-json": "expected {expected}, found {found}",
        "no-json": "the text holds no JSON",
        "too-deep": "the value nests deeper than {limit} levels, the limit that `Settings.max_depth` sets",
        "too-damaged": "the text is too damaged to be repaired within the limits",
    }),
    **_codes(_TRUNCATED, "", {
        "cut-json": "the text ends inside the JSON value",
        "token-limit": "the model reached its token limit",
    }),
    "empty-response": Code(_MISSING, "the response has no content"),
    "content-filter": Code(_OTHER, "a content filter stopped the model"),
    **_codes(_SYNTAX, "", (
        "broken-payload call-in-reasoning fenced-call invalid-answer invalid-call invalid-list invalid-payload "
        "joined-actions moved-actions odd-marker refused-text repeated-action repeated-argument unknown-key "
        "unread-markup unsound-response unwrapped-object wrapped-actions"
    )),
    **_codes(_TRUNCATED, "", (
        "cut-chunk truncated truncated-escape unclosed-action unclosed-answer unclosed-call unclosed-markup "
        "unclosed-payload unclosed-reasoning unclosed-section"
    )),
    **_codes(_MISMATCH, "", (
        "clamped-point coerced-value ignored-key invalid-action invalid-item marker-not-registered mistyped-argument "
        "odd-payload outside-point type-mismatch unknown-argument unknown-element unknown-tool unlisted-key "
        "unlisted-value unread-entry unwrapped-array wrapped-object wrong-element wrong-kind wrong-type"
    )),
    **_codes(_MISSING, "", (
        "default-value missing-actions missing-argument missing-call missing-payload nothing-usable"
    )),
    **_codes(_OTHER, "", (
        "ambiguous-space chosen-value echoed-call escaped-value extra-payload invented-result needs-exact "
        "opens-nothing orphan-closer other-choices other-format other-values plain-marker provider-error quoted-call "
        "refusal repeated-id repeated-message suggestions-with-proposal thought-call unwanted-call"
    )),
}  # fmt: skip

#: The codes for markup of calls that could not be read.
FAILED_CALLS = frozenset({
    "invalid-list", "missing-call", "orphan-closer", "other-format", "unclosed-markup", "unclosed-section",
    "unread-entry", "unread-markup",
})  # fmt: skip

#: Messages of the codes `invalid-...` that say more than the code.
NAMELESS = "a tool call has no name"
NO_OBJECT = "the arguments of `{name}` are not a JSON object"
NEEDS = "needs `{key}`"
_CATEGORIES = [
    (re.sub(r"\\\{\w+\\\}", "[^`]*", re.escape(begin)), category)
    for begin, category in ((NAMELESS, _MISSING), ("`{name}` " + NEEDS, _MISSING), (NO_OBJECT, _MISMATCH))
]


def category_of(diagnostic: Diagnostic) -> ErrorCategory:
    """The category of a diagnostic."""
    code, message = diagnostic.code, diagnostic.message
    if code.startswith("invalid-"):
        for begin, category in _CATEGORIES:
            if re.match(begin, message):
                return category
    return CODES[code].category if code in CODES else ErrorCategory.OTHER


def categories_of(diagnostics: Iterable[Diagnostic]) -> tuple[ErrorCategory, ...]:
    """The categories of a response's errors and warnings, each once, in the order of `ErrorCategory`."""
    found = {category_of(d) for d in diagnostics if d.severity != "note"}
    return tuple([category for category in ErrorCategory if category in found])


def describe_repair(repair: Repair) -> str:
    """The message of the diagnostic for a repair."""
    before, after = repair.before, repair.after
    if repair.level == "markup":
        before, after = before.strip(), after.strip()
    code = CODES.get(repair.code)  # conversions to a type have codes of their own
    message = code.message if code is not None else "{before} was read as {after}"
    return message.format(before=shown(before), after=shown(after))
