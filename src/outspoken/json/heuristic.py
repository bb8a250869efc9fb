"""The last rung: json-repair on one isolated span, believed only where nothing was lost, moved or made up."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from outspoken.results.edits import RepairBudget

from .scanner import depth_of, encodable_value
from .schema import misfits
from .strings import QUOTES, SOUND

#: What is not handed on: json-repair is quadratic in long spans with many quotes, and in many open brackets.
MAX_CHARS = 16 * 1024
_MAX_QUOTES = 2_000
_MAX_OPEN = 64

_QUOTE = re.compile("[" + "".join(map(re.escape, sorted(set("".join(QUOTES) + "".join(QUOTES.values()))))) + "]")
_BRACKET = re.compile(r"[(){}\[\]]")
_PAIRS = {")": "(", "}": "{", "]": "["}
#: a sound string with structure on both sides of it
_TOKEN = re.compile(rf"[{{\[,:]\s*({SOUND.pattern})(?=\s*[,:}}\]])")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrtbf])")
_EMPTY = re.compile(r"\"\"|''|“”")
_WORDS = str.maketrans("", "", "_")


def guess(span: str, schema: dict[str, Any] | None, max_depth: int, budget: RepairBudget) -> tuple[Any, str] | None:
    """What json-repair makes of a span that holds one value: the value and its JSON. None where it is not believed."""
    quotes = len(_QUOTE.findall(span)) if len(span) <= MAX_CHARS else _MAX_QUOTES + 1
    work = len(span) * (quotes + 50)
    if quotes > _MAX_QUOTES or _open(span) > _MAX_OPEN or budget.spans < 1 or budget.chars < len(span):
        return None
    if budget.work < work:
        return None
    budget.spans, budget.chars, budget.work = budget.spans - 1, budget.chars - len(span), budget.work - work
    import json_repair

    try:
        value: Any = cast(Any, json_repair).loads(span, skip_json_loads=True, stream_stable=True)
    except (ValueError, RecursionError, IndexError):
        return None
    return _believed(span, value, schema, max_depth)


def _open(span: str) -> int:
    """How many brackets are open at most, where only the one that fits closes."""
    stack: list[str] = []
    most = 0
    for match in _BRACKET.finditer(span):
        if match[0] not in _PAIRS:
            stack.append(match[0])
            most = max(most, len(stack))
        elif stack and stack[-1] == _PAIRS[match[0]]:
            stack.pop()
    return most


def _believed(span: str, value: Any, schema: dict[str, Any] | None, max_depth: int) -> tuple[Any, str] | None:
    """The value and its JSON, if all of the span is in it, in order, and nothing else."""
    if not isinstance(value, (dict, list)) or not value:
        return None
    try:
        value = encodable_value(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    if depth_of(text) > max_depth or _letters(span) != _letters(text):
        return None
    strings = [json.loads(match[0]) for match in SOUND.finditer(text)]
    if strings.count("") > len(_EMPTY.findall(span)):
        return None
    rest = iter(strings)
    if not all(json.loads(match[1]) in rest for match in _TOKEN.finditer(span)):
        return None
    if schema and misfits(value, schema):
        return None
    return value, text


def _letters(text: str) -> list[str]:
    """The letters and digits of a text, escapes undone, words of Python as those of JSON."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)) if match[1] or match[2] else " ", text)
    text = re.sub(r"\b(?:True|False)\b", lambda match: match[0].lower(), text)
    text = re.sub(r"\b(?:None|undefined)\b", "null", text)
    return [char for char in text.translate(_WORDS) if char.isalnum()]
