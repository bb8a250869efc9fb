"""How a grammar writes: the cheapest way through its automaton that says what is wanted.

Markers are supplied as the grammar spells them, names and values are put where the grammar has a place for them. Of
several ways, the one wins that takes the first alternatives of the rules and the fewest markers.
"""

from __future__ import annotations

import heapq
import json
import re
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.tables import END, Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, JSON_FIRST, TOKENS
from outspoken.notations.coerce import to_json
from outspoken.notations.interface import notation_of

#: What a way costs: for each marker, for each alternative of a rule that is not the first, for what is left out
#: (arguments, an id, the marker that closes reasoning).
_MARKER, _ALTERNATIVE, _OMISSION = 1, 10, 1000
#: ... and for a string written as an island, or anything else as bare text: more than the next alternative costs.
_UNNATURAL = 15

#: What writes something that is wanted, be it empty. All else is markers.
_WRITING = FREE_TEXT | EMBEDDED_VALUES | TOKENS


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to be written: `kind` is "text", or the frame that it becomes.

    Of an action that `encloses` others this is the beginning; those are wanted next, then its end, which has no name.
    """

    kind: str
    text: str = ""
    name: str = ""
    id: str | None = None
    index: int = 0
    arguments: tuple[tuple[str, Any], ...] = ()
    arguments_text: str = ""
    data: Any = None
    #: bare text that begins or ends with a line break gets another one round it, for formats that drop one
    padded: bool = False
    #: how bare text is written for what is no string, as the header's `written` says
    spelled: str = "json"
    encloses: bool = False


class Progress(NamedTuple):
    """How far the writing is: which wanted thing, and what of it was written."""

    item: int = 0
    name: bool = False
    id: bool = False
    body: bool = False
    argument: int = 0
    phase: int = 0


class _Way(NamedTuple):
    """A step of a way: the text that it wrote, and the step before it. A value may be empty.

    `pattern` is that of an action's name, which has to be read as that name once something stands behind it.
    """

    text: str
    before: Any
    is_marker: bool = True
    pattern: str = ""


def write(automaton: Automaton, wanted: tuple[Wanted, ...]) -> str | None:
    """The text that says what is wanted; None where the grammar has no way to say it."""
    tie = count()
    queue: list[tuple[int, int, Config, Progress, _Way | None]] = [(0, next(tie), automaton.start, Progress(), None)]
    seen: set[tuple[Any, Progress]] = set()
    while queue:
        cost, _, config, progress, way = heapq.heappop(queue)
        if config is _DONE:
            return _joined(way)
        if (config.stack, progress) in seen:
            continue
        seen.add((config.stack, progress))
        for price, target, reached, text, terminal in _ways_on(config, progress, wanted):
            if (target.stack, reached) not in seen and _reads_name(way, text, ended=target is _DONE):
                heapq.heappush(queue, (cost + price, next(tie), target, reached, _on(way, text, terminal)))
    return None


def _on(way: _Way | None, text: str, terminal: Terminal | None) -> _Way | None:
    """A way with what a terminal writes at its end."""
    if terminal is None or not (text or terminal.short in _WRITING - {"TEXT"}):
        return way
    return _Way(text, way, terminal.short not in _WRITING, terminal.regex * (terminal.short == "ACTION_NAME"))


def _reads_name(way: _Way | None, text: str, *, ended: bool) -> bool:
    """Would the name that a way ends with, if it does, be read as this name with the text behind it?"""
    if way is None or not way.pattern or not (text or ended):
        return True
    import regex

    head = _joined(way)
    match = regex.compile(way.pattern).match(head + text, len(head) - len(way.text), partial=not ended)
    return match is not None and (match.partial or match.end() == len(head))


class _Done:
    stack = ("done",)


_DONE: Any = _Done()


def _joined(way: _Way | None) -> str:
    """The text of a way. Where one marker ends in line breaks and the next one begins with some, they share them."""
    parts: list[str] = []
    after = ""
    while way is not None:
        text = way.text
        if after and way.is_marker:
            shared = min(len(text) - len(text.rstrip("\n")), len(after) - len(after.lstrip("\n")))
            text = text[: len(text) - shared]
        after = way.text if way.is_marker else ""
        parts.append(text)
        way = way.before
    return "".join(reversed(parts))


def _ways_on(
    config: Config, progress: Progress, wanted: tuple[Wanted, ...]
) -> list[tuple[int, Config, Progress, str, Terminal | None]]:
    """What can be written next: the cost, where that leads, the text, and what writes it; None for the end."""
    found: list[tuple[int, Config, Progress, str, Terminal | None]] = []
    for step in [*([config.free] if config.free else []), *config.embedded, *config.markers]:
        if step.inserted:
            continue
        before = _after(progress, step.before, wanted)
        if before is None:
            continue
        for text, written in _spellings(step, _within(step, before[1], wanted), wanted):
            after = _after(written, step.after, wanted)
            if after is not None:
                open_end = _OMISSION if ("end", "think") in step.before else 0
                price = _MARKER + _ALTERNATIVE * step.cost + before[0] + after[0] + open_end
                price += _UNNATURAL * _is_unnatural(step.terminal.short, before[1], wanted)
                found.append((price, step.target, after[1], text, step.terminal))
    ended = config.automaton.advance(config.stack, END)
    if ended is not None:
        after = _after(progress, ended[1], wanted)
        if after is not None and after[1].item == len(wanted):
            found.append((_ALTERNATIVE * ended[3] + after[0], _DONE, after[1], "", None))
    return found


def _within(step: Transition, progress: Progress, wanted: tuple[Wanted, ...]) -> Progress:
    """The progress before a step; where that begins a part of what is being written, the part is due."""
    begins = any(name == "begin" for name, _ in (*step.before, *step.after))
    is_due = begins and progress.name and progress.item < len(wanted) and wanted[progress.item].encloses
    return Progress(progress.item + 1) if is_due else progress


def _is_unnatural(short: str, progress: Progress, wanted: tuple[Wanted, ...]) -> bool:
    """Would this write the value of an argument as what it is not: a string as an island, a number as bare text?"""
    if progress.phase != 1 or progress.item >= len(wanted):
        return False
    is_string = isinstance(wanted[progress.item].arguments[progress.argument][1], str)
    return short in EMBEDDED_VALUES if is_string else short == "ARG_VALUE"


def _after(
    progress: Progress, ops: tuple[tuple[str, str], ...], wanted: tuple[Wanted, ...]
) -> tuple[int, Progress] | None:
    """The progress after operations and what that costs; None where they contradict what is wanted."""
    cost = 0
    for name, arg in ops:
        item = wanted[progress.item] if progress.item < len(wanted) else None
        if name == "field" and arg == "argument":
            if progress.phase != 2:
                return None
            progress = progress._replace(argument=progress.argument + 1, phase=0)
        elif name == "end" and arg not in ("call_id", "answer"):
            if item is None or item.kind != arg or not _is_complete(item, progress):
                return None
            if item.kind == "tool_call" and not progress.body and not progress.argument:
                cost += _OMISSION
            if item.id is not None and not progress.id:
                cost += _OMISSION
            progress = Progress(progress.item + 1)
    return cost, progress


def _is_complete(item: Wanted, progress: Progress) -> bool:
    if item.kind in ("think", "payload", "json"):
        return progress.body
    return not item.encloses and (
        (progress.name or not item.name)
        and (progress.body or progress.argument == len(item.arguments))
        and progress.phase == 0
    )


def _spellings(step: Transition, progress: Progress, wanted: tuple[Wanted, ...]) -> list[tuple[str, Progress]]:
    """The texts that a terminal may be written as here, with the progress after each."""
    item = wanted[progress.item] if progress.item < len(wanted) else None
    short = step.terminal.short
    if short in FREE_TEXT:
        return _free(short, item, progress)
    if short in EMBEDDED_VALUES:
        return _island(step, item, progress)
    if short in TOKENS:
        return _token(step, item, progress)
    return [(step.terminal.canonical, progress)] if step.terminal.canonical else []


def _free(short: str, item: Wanted | None, progress: Progress) -> list[tuple[str, Progress]]:
    if short == "TEXT":
        empty = [("", progress)]
        return [(item.text, Progress(progress.item + 1)), *empty] if item and item.kind == "text" else empty
    if short == "REASONING" and item and item.kind == "think" and not progress.body:
        return [(item.text, progress._replace(body=True))]
    if short == "ARG_VALUE" and item and item.kind == "payload":
        is_due = progress.name and not progress.body and isinstance(item.data, str)
        return [(item.data, progress._replace(body=True))] if is_due else []
    if short == "ARG_VALUE" and item and (progress.phase == 1 or _is_unnamed(item, progress)):
        return [(bare(item.arguments[progress.argument][1], item), progress._replace(phase=2))]
    return []


def _island(step: Transition, item: Wanted | None, progress: Progress) -> list[tuple[str, Progress]]:
    role = next((arg for name, arg in step.after if name == "field"), "")
    if item is None:
        return []
    if role == "tool_name":
        return [(to_json(item.name), progress._replace(name=True))] if item.name and not progress.name else []
    if role == "id":
        return [(to_json(item.id), progress._replace(id=True))] if item.id is not None and not progress.id else []
    if role == "content":
        return (
            [(to_json(item.text), progress._replace(body=True))] if item.kind == "think" and not progress.body else []
        )
    if role == "arguments":
        whole = item.kind in ("tool_call", "action") and not progress.body and not progress.argument
        if not whole:
            return []
        if step.terminal.short in JSON_FIRST:
            return [(item.arguments_text, progress._replace(body=True))]
        text = notation_of(step.terminal).write(dict(item.arguments))
        return [] if text is None else [(text, progress._replace(body=True))]
    if role in ("", "argument") and (progress.phase == 1 or _is_unnamed(item, progress)):
        value = item.arguments[progress.argument][1]
        if step.terminal.short in JSON_FIRST and to_json(value)[0] not in JSON_FIRST[step.terminal.short]:
            return []
        text = notation_of(step.terminal).write(value)
        return [] if text is None else [(text, progress._replace(phase=2))]
    if role == "" and item.kind == "payload" and progress.name and not progress.body:
        return [(json.dumps(item.data, ensure_ascii=False), progress._replace(body=True))]
    return []


def _token(step: Transition, item: Wanted | None, progress: Progress) -> list[tuple[str, Progress]]:
    if item is None:
        return []
    short = step.terminal.short
    if short == "PAYLOAD_NAME" and step.target.automaton.tables.header.payloads:
        return [(item.name, progress._replace(name=True))] if item.name == step.terminal.canonical else []
    if short in ("TOOL_NAME", "ACTION_NAME", "PAYLOAD_NAME"):
        return [(item.name, progress._replace(name=True))] if item.name else []
    if short == "ARG_NAME" and _may_begin_argument(item, progress) and not _is_unnamed(item, progress):
        return [(item.arguments[progress.argument][0], progress._replace(phase=1))]
    if short == "CALL_INDEX":
        first = 0 if re.fullmatch(step.terminal.regex, "0") else 1  # where calls are counted from
        number = str(item.index + first)
        return [(number, progress._replace(id=item.id is None or item.id.endswith(number)))]
    if short == "CALL_ID" and item.id is not None and re.fullmatch(step.terminal.regex, item.id):
        return [(item.id, progress._replace(id=True))]
    return []


def _may_begin_argument(item: Wanted, progress: Progress) -> bool:
    return progress.phase == 0 and not progress.body and progress.argument < len(item.arguments)


def _is_unnamed(item: Wanted, progress: Progress) -> bool:
    """Is the next argument one without a name, `$1` by its place, of which only the value is written?"""
    place = progress.argument
    return _may_begin_argument(item, progress) and item.arguments[place][0] == f"${place + 1}"


def bare(value: Any, item: Wanted) -> str:
    """A value as bare text: a string as it is, anything else as the format spells it."""
    if isinstance(value, str):
        return f"\n{value}\n" if item.padded and value.strip("\n") != value else value
    is_python = item.spelled == "python" or (item.spelled == "words" and (value is None or isinstance(value, bool)))
    return repr(value) if is_python else to_json(value)


def renumbered(item: Wanted, index: int) -> Wanted:
    """The wanted call with its number among the calls, unless its id ends in one."""
    digits = len(item.id or "") - len((item.id or "").rstrip("0123456789"))
    return replace(item, index=int((item.id or "")[-digits:]) if digits else index)
