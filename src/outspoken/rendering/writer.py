"""Writes text by a grammar: the shortest path through the automaton that expresses a list of items.

Markers are written as the grammar spells them; names and values are written where the grammar has a place for them. The
cheapest path takes the first alternatives of the rules and the fewest markers.
"""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.tables import END, Terminal
from outspoken.grammar.vocabulary import EMBEDDED_VALUES, FREE_TEXT, JSON_FIRST, TOKENS
from outspoken.notations.coerce import to_json
from outspoken.notations.interface import notation_of
from outspoken.patterns.alike import compile_alike

#: The costs of a marker, of each alternative of a rule before the one that is taken, and of leaving out arguments, an
#: id or the marker that closes reasoning.
_MARKER_COST, _ALTERNATIVE_COST, _OMISSION_COST = 1, 10, 1000
#: The cost of a string written as an embedded value, or of any other value as bare text: more than an alternative
#: costs.
_MISMATCH_COST = 15

#: Terminals that write content, even if it is empty. All others are markers.
_CONTENT = FREE_TEXT | EMBEDDED_VALUES | TOKENS


@dataclass(frozen=True, slots=True)
class Item:
    """Something to write: `kind` is "text", or the rule that it becomes.

    An action with `encloses` is only the beginning of one that contains others. These follow, then its end, which has
    no name.
    """

    kind: str
    text: str = ""
    name: str = ""
    id: str | None = None
    index: int = 0
    arguments: tuple[tuple[str, Any], ...] = ()
    arguments_text: str = ""
    data: Any = None
    #: put line breaks round bare text that begins or ends with one, for formats that drop one
    padded: bool = False
    #: how values other than strings are written as bare text: the header's `written`
    spelled: str = "json"
    encloses: bool = False


class Progress(NamedTuple):
    """What was written so far: the index of the current item, and what was written of it.

    `phase` is 0 before an argument, 1 behind its name and 2 behind its value.
    """

    item: int = 0
    name: bool = False
    id: bool = False
    body: bool = False
    argument: int = 0
    phase: int = 0


class Written(NamedTuple):
    """The end of a path: the text that was written last, and the path before it.

    `terminal` is what was written, `config` the configuration behind it, `progress` how far the items were written
    before it. `name` is the last name of an action while the text behind it decides whether its pattern reads it.
    """

    text: str
    before: Written | None
    terminal: Terminal
    config: Config
    progress: Progress
    name: _Name | None = None

    @property
    def is_marker(self) -> bool:
        """Is this a marker, and not content?"""
        return self.terminal.short not in _CONTENT


class _Name(NamedTuple):
    """The name of an action: its pattern, and where it stands in the text of its path."""

    pattern: str
    start: int
    end: int


def write_all(automaton: Automaton, items: tuple[Item, ...], most: int) -> Iterator[Written | None]:
    """The paths that express the items, the cheapest first, with at most so many ways through each state."""
    tie = count()
    queue: list[tuple[int, int, Config | None, Progress, Written | None]] = []
    queue.append((0, next(tie), automaton.start, Progress(), None))
    visits: Counter[tuple[Config, Progress]] = Counter()  # a stack has one configuration
    while queue:
        cost, _, config, progress, path = heapq.heappop(queue)
        if config is None:
            yield path
            continue
        visits[config, progress] += 1
        if visits[config, progress] > most:
            continue
        for price, target, begun, reached, text, terminal in _next_nodes(config, progress, items):
            if target is not None and visits[target, reached] >= most:
                continue
            is_read, name = _name_behind(path, text, ended=target is None)
            if is_read:
                after = _append(path, text, terminal, target, begun, name)
                heapq.heappush(queue, (cost + price, next(tie), target, reached, after))


def _append(
    path: Written | None,
    text: str,
    terminal: Terminal | None,
    target: Config | None,
    progress: Progress,
    name: _Name | None,
) -> Written | None:
    """A path extended by the text that a terminal writes. `name` is the last name that is still to be decided."""
    if terminal is None or target is None or not (text or terminal.short in _CONTENT - {"TEXT"}):
        return path
    if terminal.short == "ACTION_NAME":
        start = len(text_of(path))
        name = _Name(terminal.regex, start, start + len(text))
    return Written(text, path, terminal, target, progress, name)


def _name_behind(path: Written | None, text: str, *, ended: bool) -> tuple[bool, _Name | None]:
    """Whether the last name of a path is still read with more text behind it, and the name if that is undecided."""
    name = path.name if path is not None else None
    if name is None or not (text or ended):
        return True, name
    match = compile_alike(name.pattern).match(text_of(path) + text, name.start, partial=not ended)
    if match is None:
        return False, None
    return match.partial or match.end() == name.end, name if match.partial else None


def text_of(path: Written | None) -> str:
    """The text of a path."""
    return "".join([text for text, _ in pieces_of(path)])


def pieces_of(path: Written | None) -> list[tuple[str, Written]]:
    """The texts along a path. Two markers share the line breaks at the end of one and the beginning of the next."""
    parts: list[tuple[str, Written]] = []
    after = ""
    while path is not None:
        text = path.text
        if after and path.is_marker:
            shared = min(len(text) - len(text.rstrip("\n")), len(after) - len(after.lstrip("\n")))
            text = text[: len(text) - shared]
        after = path.text if path.is_marker else ""
        parts.append((text, path))
        path = path.before
    return parts[::-1]


def _next_nodes(
    config: Config, progress: Progress, items: tuple[Item, ...]
) -> list[tuple[int, Config | None, Progress, Progress, str, Terminal | None]]:
    """What can be written next: cost, target, progress before and after it, text and terminal.

    There are no target and terminal at the end.
    """
    nodes: list[tuple[int, Config | None, Progress, Progress, str, Terminal | None]] = []
    for step in [*([config.free] if config.free else []), *config.embedded, *config.markers]:
        if step.inserted:
            continue
        before = _advance(progress, step.before, items)
        if before is None:
            continue
        begun = _enter_part(step, before[1], items)
        for text, written in _spellings(step, begun, items):
            after = _advance(written, step.after, items)
            if after is not None:
                open_end = _OMISSION_COST if ("end", "think") in step.before else 0
                price = _MARKER_COST + _ALTERNATIVE_COST * step.cost + before[0] + after[0] + open_end
                price += _MISMATCH_COST * _is_mismatched(step.terminal.short, before[1], items)
                nodes.append((price, step.target, begun, after[1], text, step.terminal))
    ended = config.automaton.advance(config.stack, END) if config.end_operations() is not None else None
    if ended is not None:
        after = _advance(progress, ended[1], items)
        if after is not None and after[1].item == len(items):
            nodes.append((_ALTERNATIVE_COST * ended[3] + after[0], None, progress, after[1], "", None))
    return nodes


def _enter_part(step: Transition, progress: Progress, items: tuple[Item, ...]) -> Progress:
    """The progress before a step; if the step begins a part of the current item, that part is the next item."""
    if not (progress.name and progress.item < len(items) and items[progress.item].encloses):
        return progress
    begins = any(name == "begin" for name, _ in (*step.before, *step.after))
    return Progress(progress.item + 1) if begins else progress


def _is_mismatched(short: str, progress: Progress, items: tuple[Item, ...]) -> bool:
    """Does this write a string as an embedded value, or another value as bare text?"""
    if progress.phase != 1 or progress.item >= len(items):
        return False
    is_string = isinstance(items[progress.item].arguments[progress.argument][1], str)
    return short in EMBEDDED_VALUES if is_string else short == "ARG_VALUE"


def _advance(
    progress: Progress, ops: tuple[tuple[str, str], ...], items: tuple[Item, ...]
) -> tuple[int, Progress] | None:
    """The cost and the progress after operations; None if they contradict the items."""
    cost = 0
    for name, arg in ops:
        item = items[progress.item] if progress.item < len(items) else None
        if name == "field" and arg == "is_true":
            if item is None or progress.phase != 1 or item.arguments[progress.argument][1] is not True:
                return None
            progress = progress._replace(phase=2)
        elif name == "field" and arg == "argument":
            if progress.phase != 2:
                return None
            progress = progress._replace(argument=progress.argument + 1, phase=0)
        elif name == "end" and arg not in ("call_id", "answer"):
            if item is None or item.kind != arg or not _is_complete(item, progress):
                return None
            if item.kind == "tool_call" and not progress.body and not progress.argument:
                cost += _OMISSION_COST
            if item.id is not None and not progress.id:
                cost += _OMISSION_COST
            progress = Progress(progress.item + 1)
    return cost, progress


def _is_complete(item: Item, progress: Progress) -> bool:
    if item.kind in ("think", "payload", "json"):
        return progress.body
    return not item.encloses and (
        (progress.name or not item.name)
        and (progress.body or progress.argument == len(item.arguments))
        and progress.phase == 0
    )


def _spellings(step: Transition, progress: Progress, items: tuple[Item, ...]) -> list[tuple[str, Progress]]:
    """The texts that a terminal may write here, with the progress after each."""
    item = items[progress.item] if progress.item < len(items) else None
    short = step.terminal.short
    if short == "TEXT":
        text = [(item.text, Progress(progress.item + 1))] if item and item.kind == "text" else []
        return [*text, ("", progress)]
    if short not in _CONTENT:
        return [(step.terminal.canonical, progress)] if step.terminal.canonical else []
    if item is None:
        return []
    spell = _spell_free_text if short in FREE_TEXT else _spell_token if short in TOKENS else _spell_embedded
    spelled = spell(step, item, progress)
    return [spelled] if spelled else []


def _spell_free_text(step: Transition, item: Item, progress: Progress) -> tuple[str, Progress] | None:
    if step.terminal.short == "REASONING" and item.kind == "think" and not progress.body:
        return item.text, progress._replace(body=True)
    if step.terminal.short != "ARG_VALUE":
        return None
    if item.kind == "payload":
        is_due = progress.name and not progress.body and isinstance(item.data, str)
        return (item.data, progress._replace(body=True)) if is_due else None
    if progress.phase == 1 or _is_positional(item, progress):
        return bare_text(item.arguments[progress.argument][1], item), progress._replace(phase=2)
    return None


def _spell_embedded(step: Transition, item: Item, progress: Progress) -> tuple[str, Progress] | None:
    role = next((arg for name, arg in step.after if name == "field"), "")
    first = JSON_FIRST.get(step.terminal.short)
    if role == "tool_name" and item.name and not progress.name:
        return to_json(item.name), progress._replace(name=True)
    if role == "id" and item.id is not None and not progress.id:
        return to_json(item.id), progress._replace(id=True)
    if role == "content" and item.kind == "think" and not progress.body:
        return to_json(item.text), progress._replace(body=True)
    if role == "arguments" and item.kind in ("tool_call", "action") and not progress.body and not progress.argument:
        text = item.arguments_text if first else notation_of(step.terminal).write(dict(item.arguments))
        return None if text is None else (text, progress._replace(body=True))
    if role in ("", "argument") and (progress.phase == 1 or _is_positional(item, progress)):
        value = item.arguments[progress.argument][1]
        text = None if first and to_json(value)[0] not in first else notation_of(step.terminal).write(value)
        return None if text is None else (text, progress._replace(phase=2))
    if role == "" and item.kind == "payload" and progress.name and not progress.body:
        return json.dumps(item.data, ensure_ascii=False), progress._replace(body=True)
    return None


def _spell_token(step: Transition, item: Item, progress: Progress) -> tuple[str, Progress] | None:
    short, header = step.terminal.short, step.target.automaton.tables.header
    if short in ("TOOL_NAME", "ACTION_NAME", "PAYLOAD_NAME"):
        is_fixed = short == "PAYLOAD_NAME" and header.payloads
        is_due = item.name == step.terminal.canonical if is_fixed else item.name
        return (header.write_name(item.name), progress._replace(name=True)) if is_due else None
    if short == "ARG_NAME" and _may_begin_argument(item, progress) and not _is_positional(item, progress):
        return header.write_name(item.arguments[progress.argument][0]), progress._replace(phase=1)
    if short == "CALL_INDEX":
        first = 0 if re.fullmatch(step.terminal.regex, "0") else 1  # where calls are counted from
        number = str(item.index + first)
        return number, progress._replace(id=item.id is None or item.id.endswith(number))
    if short == "CALL_ID" and item.id is not None and re.fullmatch(step.terminal.regex, item.id):
        return item.id, progress._replace(id=True)
    return None


def _may_begin_argument(item: Item, progress: Progress) -> bool:
    return progress.phase == 0 and not progress.body and progress.argument < len(item.arguments)


def _is_positional(item: Item, progress: Progress) -> bool:
    """Is the next argument positional (named `$1` by its place), so that only its value is written?"""
    place = progress.argument
    return _may_begin_argument(item, progress) and item.arguments[place][0] == f"${place + 1}"


def bare_text(value: Any, item: Item) -> str:
    """A value as bare text: a string as it is, anything else as the format spells it."""
    if isinstance(value, str):
        return f"\n{value}\n" if item.padded and value.strip("\n") != value else value
    is_python = item.spelled == "python" or (item.spelled == "words" and (value is None or isinstance(value, bool)))
    return repr(value) if is_python else to_json(value)


def with_index(item: Item, index: int) -> Item:
    """A call with its index among the calls, unless its id ends in a number."""
    digits = len(item.id or "") - len((item.id or "").rstrip("0123456789"))
    return replace(item, index=int((item.id or "")[-digits:]) if digits else index)
