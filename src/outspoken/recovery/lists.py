"""Lists of calls and actions: what stands between two entries, and where an entry that cannot be read ends."""

from __future__ import annotations

import heapq
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.vocabulary import CALLS, JSON_FIRST
from outspoken.json.decoder import total_pattern
from outspoken.json.scanner import BracketCounter
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.edits import Edit

from . import costs
from .marker_lexer import marker_forms
from .path import BLANK, RecoveryPath, RecoveryStep

#: What may stand between entries: separators, and brackets that close something.
GAP = total_pattern(r"[\s,;\]})]*")
#: Punctuation that is inserted between entries.
_INSERTED = frozenset(",]}")
#: No more punctuation than this is read between two entries.
_MAX_GAP = 40
#: No more configurations than this are searched for the end of an entry.
_MAX_CONFIGS = 300
#: Where the next entry begins, if the brackets of the one before it are damaged.
_NEXT_ENTRY = lazy_pattern(r"\}(?=\s*,\s*\{|\s*\]\s*(?:[}\]<`]|\Z))")
_NEXT_COMMA = lazy_pattern(r"\s*[,\]]")


class ListPlace(NamedTuple):
    """A place in a list: the configurations before an entry and behind it; `has_entry` if one stands before it."""

    before: Config
    behind: Config
    has_entry: bool


@lru_cache(maxsize=4096)
def list_place(automaton: Automaton, config: Config) -> ListPlace | None:
    """The place in a list of calls or actions that a configuration is; None if it is none."""
    if config is automaton.top_level or config is automaton.start:
        return None
    comma = _comma(config)
    if comma is not None:
        return ListPlace(comma.target, config, True) if _begins_entry(comma.target) else None
    if not _begins_entry(config):
        return None
    if len(config.stack) > 1:
        behind = automaton.config(config.stack[:-1])
        comma = _comma(behind)
        if comma is not None and comma.target is config:
            return ListPlace(config, behind, True)
    end = _end_of_entry(config)
    return ListPlace(config, end, False) if end is not None and _comma(end) is not None else None


def _comma(config: Config) -> Transition | None:
    return next((t for t in config.markers if t.terminal.canonical.strip() == "," and not t.inserted), None)


def _begins_entry(config: Config) -> bool:
    """Does a call or an action begin here?"""
    return config.free is None and any(entry_kinds(step) for step in config.steps)


def entry_kinds(step: Transition) -> str:
    """The kinds of the call or action that a transition begins; "" if it begins none."""
    for name, kinds in step.after:
        if name == "begin" and not CALLS.isdisjoint(kinds.split()):
            return kinds
    return ""


def _end_of_entry(config: Config) -> Config | None:
    """The configuration behind an entry that begins in a configuration."""
    queue, seen = [config], {config.stack}
    for at in queue:
        for step in at.steps:
            ends = any(name == "end" and kind in CALLS for name, kind in step.after)
            if ends and len(step.target.stack) <= len(config.stack) + 1:
                return step.target
            if step.target.stack not in seen and len(seen) < _MAX_CONFIGS and step.target.free is None:
                seen.add(step.target.stack)
                queue.append(step.target)
    return None


# between two entries


def read_gap(config: Config, text: str, end: int, base: int) -> RecoveryPath | None:
    """Read the punctuation text[:end] from a configuration on, so that what follows it can be read.

    Characters may be dropped and inserted. None if that is no use. `base` is added to the offsets of the steps.
    """
    if len(text[:end].strip(BLANK)) > _MAX_GAP:
        return None
    tie = count()
    queue: list[tuple[int, int, int, Config, tuple[RecoveryStep, ...], int]] = [(0, next(tie), 0, config, (), 0)]
    seen: set[tuple[int, Config]] = set()
    while queue:
        cost, _, at, here, steps, inserted = heapq.heappop(queue)
        while at < end and text[at] in BLANK:
            at += 1
        if (at, here) in seen:
            continue
        seen.add((at, here))
        if at == end and _may_follow(here, steps, text, end):
            moved = tuple([step.moved(base) for step in steps])
            return RecoveryPath(moved, here, cost) if cost else None
        if cost > costs.MAX_COST or len(seen) > _MAX_CONFIGS:
            break
        for marker in [t for t in here.markers if not t.inserted]:
            written = marker.terminal.canonical.strip()
            match = marker_forms(marker).regex.match(text, at, end) if len(written) == 1 else None
            if match is not None and match.end() > at:
                step = RecoveryStep(marker, at, match.end(), match[0])
                heapq.heappush(queue, (cost, next(tie), match.end(), marker.target, (*steps, step), inserted))
            elif written in _INSERTED and inserted < 2:
                edits = (Edit(at, at, written, "missing-marker", "markup"),)
                step = RecoveryStep(marker, at, at, edits=edits)
                total = cost + costs.MISSING_MARKER
                heapq.heappush(queue, (total, next(tie), at, marker.target, (*steps, step), inserted + 1))
        if at < end:
            edits = (Edit(at, at + 1, "", "stray-text", "markup"),)
            step = RecoveryStep(None, at, at + 1, edits=edits)
            heapq.heappush(queue, (cost + costs.STRAY_MARKER, next(tie), at + 1, here, (*steps, step), inserted))
    return None


def _may_follow(config: Config, steps: tuple[RecoveryStep, ...], text: str, at: int) -> bool:
    """May the text at a place follow in a configuration? Behind a closing bracket that was inserted, only a marker."""
    last = next((step for step in reversed(steps) if step.transition is not None), None)
    closes = last is not None and last.is_missing and last.edits[0].after != ","
    if at == len(text):
        return not closes and config.end_operations() is not None
    if config.free is not None:
        return not closes
    if any(marker_forms(marker).regex.match(text, at) for marker in config.markers if not marker.inserted):
        return True
    return any(text[at] in JSON_FIRST.get(step.terminal.short, ()) for step in config.embedded)


# an entry that cannot be read


def entry_end(text: str, refused: int) -> int:
    """Where an entry ends that a text begins with, and that is refused at a place: before the next comma outside of its
    brackets, or before a bracket that closes the list."""
    if text[:1] not in ("{", "["):
        match = _NEXT_COMMA.search(text, refused)
        return match.start() if match is not None else len(text)
    counter = BracketCounter(0, tolerant=True)
    counter.feed(text)
    end = counter.end
    if end is not None and end >= refused and GAP.match(text, end).end() > end:
        return end
    match = _NEXT_ENTRY.search(text, refused)
    return match.end() if match is not None else len(text)
