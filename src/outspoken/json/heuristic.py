"""The level "heuristic": json-repair reads a span, and its answer must hold all of the span, in order, and no more."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.edits import RepairBudget
from outspoken.results.schemas.schema import Schema

from .decoder import encodable_value, nests
from .tokens import QUOTES, SOUND

#: Limits of a span: json-repair takes quadratic time in the quotes of long spans, and in open brackets.
MAX_CHARS = 16 * 1024
_MAX_QUOTES = 2_000
_MAX_BRACKETS = 64

_QUOTE = lazy_pattern("[" + "".join(map(re.escape, sorted(set("".join(QUOTES) + "".join(QUOTES.values()))))) + "]")
_BRACKET = lazy_pattern(r"[(){}\[\]]")
_PAIRS = {")": "(", "}": "{", "]": "["}
#: a sound string with punctuation on both sides
_TOKEN = lazy_pattern(rf"[{{\[,:]\s*({SOUND.pattern})(?=\s*[,:}}\]])")
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrtbf])")
_EMPTY = lazy_pattern(r"\"\"|''|“”")
_WORDS = str.maketrans("", "", "_")
#: Signs that are no part of JSON's notation, and may not be lost.
_SIGNS = frozenset("!#$%&*<=>?@^|~")
_KEY = lazy_pattern(rf"({SOUND.pattern})\s*:")


def read_heuristically(
    span: str, schema: Schema | None, max_depth: int, budget: RepairBudget
) -> tuple[Any, str] | None:
    """The value of a span and its JSON by json-repair; None if that may be wrong or the budget is spent."""
    quotes = len(_QUOTE.findall(span)) if len(span) <= MAX_CHARS else _MAX_QUOTES + 1
    work = len(span) * (quotes + 50)
    if quotes > _MAX_QUOTES or _most_open(span) > _MAX_BRACKETS or budget.spans < 1 or budget.chars < len(span):
        return None
    if budget.work < work:
        return None
    budget.spans, budget.chars, budget.work = budget.spans - 1, budget.chars - len(span), budget.work - work
    import json_repair

    try:
        value: Any = cast(Any, json_repair).loads(span, skip_json_loads=True, stream_stable=True)
    except (ValueError, RecursionError, IndexError):
        return None
    return _checked(span, value, schema, max_depth)


def _most_open(span: str) -> int:
    """How many brackets are open at once at most, if a bracket closes only its own kind."""
    stack: list[str] = []
    most = 0
    for match in _BRACKET.finditer(span):
        if match[0] not in _PAIRS:
            stack.append(match[0])
            most = max(most, len(stack))
        elif stack and stack[-1] == _PAIRS[match[0]]:
            stack.pop()
    return most


def _checked(span: str, value: Any, schema: Schema | None, max_depth: int) -> tuple[Any, str] | None:
    """The value and its JSON, if it holds all of the span, in order, and nothing else."""
    if not isinstance(value, (dict, list)) or not value:
        return None
    if span.lstrip()[:1] != "{["[isinstance(value, list)]:
        return None  # words in braces are no list
    try:
        value = encodable_value(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    if nests(value, max_depth) or _letters(span) != _letters(text) or not _has_keys(span, text):
        return None
    strings = [json.loads(match[0]) for match in SOUND.finditer(text)]
    if strings.count("") > len(_EMPTY.findall(span)):
        return None
    rest = iter(strings)
    if not all(json.loads(match[1]) in rest for match in _TOKEN.finditer(span)):
        return None
    if schema is not None and schema.misfits(value):
        return None
    return value, text


def _has_keys(span: str, text: str) -> bool:
    """Do all keys of the JSON that was made of a span stand before a colon there, in the same order?"""
    pos = 0
    for match in _KEY.finditer(text):
        key = re.escape(json.loads(match[1]).strip())
        found = re.compile(rf"{key}\s*{_QUOTE.pattern}?\s*[:：=]").search(span, pos)
        if found is None:
            return False
        pos = found.end()
    return True


def _letters(text: str) -> list[str]:
    """The letters, digits and signs of a text, with escapes undone and words of Python as in JSON."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)) if match[1] or match[2] else " ", text)
    text = re.sub(r"\b(?:True|False)\b", lambda match: match[0].lower(), text)
    text = re.sub(r"\b(?:None|undefined)\b", "null", text)
    return [char for char in text.translate(_WORDS) if char.isalnum() or char in _SIGNS]
