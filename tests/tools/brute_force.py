"""What a text with one mistake means, by brute force: every single edit of it, read by the strict grammar.

It takes 0.1 to 1 s a text, and shares nothing with the recovery of the library. So it can judge it.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, cast

from outspoken import Reasoning, Text, ToolCall
from outspoken.authoring.fuzz.sound import Item, items_of, same_items
from outspoken.engine.policy import ParserPolicy
from outspoken.engine.recovery_driver import RecoveryDriver
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.parsing.options import read_options
from outspoken.parsing.response_reader import ResponseReader

#: characters that any notation of values may lack
PUNCTUATION = "\"'{}[]():,=<>"
#: Shorter markers may stand in any text.
_LEAST = 5

Reading = tuple[Item, ...]


class _RefusedError(Exception):
    """The strict grammar refuses a text."""


class _Strict(ParserPolicy):
    """Gives up at the first damage."""

    def on_refused(self, recovery: RecoveryDriver, pos: int, end: int | None, *, inside: bool) -> bool | None:
        raise _RefusedError


def readings(text: str, format_: str, tools: Tools | None) -> list[Reading]:
    """The sound readings of a text, of those that differ from it in at most one character.

    If the text itself is sound, that is its only reading. Of the others, those with most calls and arguments are
    returned. All calls are of the tools, and no value or text holds a marker, sound or with one mistake.
    """
    if (as_it_is := _sound(text, format_, tools)) is not None:
        return [as_it_is]
    best: list[Reading] = []
    most = (0, 0)
    for edited in dict.fromkeys(edits(text, format_)):
        found = _sound(edited, format_, tools)
        if found is None or (size := _size(found)) < most:
            continue
        best = best if size == most else []
        most = size
        if not any(same_items(found, other) for other in best):
            best.append(found)
    return best


def edits(text: str, format_: str) -> Iterator[str]:
    """The text with one character deleted, swapped with the next, in the other case, or one more.

    Within words, an edit counts only if it makes a marker: no other can make sound text of damaged text.
    """
    markers = _exact(format_)
    for at in range(len(text) + 1):
        before, here, rest = text[:at], text[at : at + 1], text[at + 1 :]
        made = [before + rest, before + rest[:1] + here + rest[1:], before + here.swapcase() + rest]
        within = (before[-1:] + here).replace(" ", "a").isalnum()
        for edited in made:
            if not within or any(found.end() >= at for found in markers.finditer(edited, max(at - 60, 0), at + 60)):
                yield edited
        if not within:
            yield from (before + new + here + rest for new in PUNCTUATION)
    for marker in _markers(format_):
        for i, new in enumerate(marker):
            lacking = marker[:i] + marker[i + 1 :]
            at = text.find(lacking) if lacking else -1
            while at >= 0:
                yield text[: at + i] + new + text[at + i :]
                at = text.find(lacking, at + 1)


@cache
def _markers(format_: str) -> tuple[str, ...]:
    """The markers of a format as it writes them."""
    terminals = registry.automaton(format_).tables.terminals.values()
    return tuple(dict.fromkeys([t.canonical for t in terminals if t.canonical]))


@cache
def _exact(format_: str) -> re.Pattern[str]:
    """A pattern of all markers."""
    return re.compile("|".join(map(re.escape, sorted(_markers(format_), key=len, reverse=True))) or "(?!)")


@cache
def _traces(format_: str) -> Any:
    """A pattern of all markers with at most one mistake, in any case, without the white space round them."""
    regex: Any = import_module("regex")
    long = sorted({marker.strip() for marker in _markers(format_) if len(marker.strip()) >= _LEAST})
    swapped = [one[:i] + one[i : i + 2][::-1] + one[i + 2 :] for one in long for i in range(len(one) - 1)]
    ways = [*(f"(?:{regex.escape(one)}){{e<=1}}" for one in long), *map(regex.escape, swapped)]
    return regex.compile("|".join(ways) or "(?!)", regex.I)


def _sound(text: str, format_: str, tools: Tools | None) -> Reading | None:
    """What a text asks for, if it is sound and no markup is left over."""
    try:
        reply = ResponseReader(read_options(format_, tools, "none"), policy=_Strict()).read(text, "stop")
    except _RefusedError:
        return None
    if reply.status != "ok" or reply.diagnostics:
        return None
    items, calls = items_of(reply), reply.tool_calls
    if not items or (tools is not None and any(not _fits(call, tools) for call in calls)):
        return None
    left = [segment.text for segment in reply.segments if isinstance(segment, (Text, Reasoning))]
    if tools is not None and any(name in text for name in tools.names for text in left):
        return None
    held = [*left, *_strings([value for _, _, value in items])]
    return None if any(_traces(format_).search(one) for one in held) else tuple(items)


def _fits(call: ToolCall, tools: Tools) -> bool:
    """Whether the call is of one of the tools, with the arguments that it needs."""
    return call.name in tools and set(tools.arguments(call.name).required) <= set(call.arguments)


def _strings(value: Any) -> Iterator[str]:
    """All strings in a value, and its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        inner = cast("dict[str, Any] | list[Any] | tuple[Any, ...]", value)
        for part in (*inner, *inner.values()) if isinstance(inner, dict) else inner:
            yield from _strings(part)


def _size(found: Reading) -> tuple[int, int]:
    return len(found), sum(len(data) for _, _, data in found)
