"""A segment that the grammar refuses: where it begins, whether it may be a call, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from outspoken.grammar.automaton import Automaton, Config
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.near_miss import near_misses
from outspoken.recovery.marker_lexer import marker_lexer
from outspoken.recovery.near_markers import find_near
from outspoken.recovery.sync_points import SyncPoints
from outspoken.semantics.open_node import OpenNode
from outspoken.semantics.proof import is_undecided

from .text_buffer import TextBuffer

#: How far behind the refused place a marker must stand for the text to be more than prose.
_NEAR = 120
#: How many characters may stand before JSON by mistake, and one more.
_STRAY = 3
#: What JSON begins with, or its first key, also as wide punctuation.
_OPENERS = frozenset("{[\"'｛［")
#: A key without quotes, and the beginning of one.
_BARE_KEY = lazy_pattern(r"[A-Za-z_]\w{0,40}['\"]?\s{0,9}:")
_OPEN_KEY = lazy_pattern(r"[A-Za-z_]\w{0,40}['\"]?\s{0,9}\Z")


@dataclass(eq=False, repr=False)
class DamagedSegment:
    """A segment that is held until its end because the grammar refuses a part of it.

    It begins at the offset `start` in the configuration `outer`, and was refused at the offset `refused_at`. `call` is
    the call in it that was announced, if one was. `may_be_call` is None as long as that is not known. A segment is
    `from_bracket` if a bracket is all that opened it. `sync` finds its end. `is_gap` says that it begins with
    punctuation between two entries of a list. `expected` are the markers that might stand where it was refused.
    """

    start: int
    outer: Config
    call: OpenNode | None
    refused_at: int
    may_be_call: bool | None
    sync: SyncPoints
    from_bracket: bool = False
    is_gap: bool = False
    expected: tuple[str, ...] = ()


def looks_like_call(damage: DamagedSegment, automaton: Automaton, text: TextBuffer, *, final: bool) -> bool | None:
    """Does a marker of the format stand near the refused place, or a near miss? None if that is not known yet."""
    start = damage.refused_at - text.base
    end = start + _NEAR
    markers = marker_lexer(automaton)
    if damage.from_bracket:
        there = markers.call_key.search(text.slice(damage.start, text.base + end)) is not None
        return True if there else False if final or len(text.text) > end else None
    if markers.has_json:
        if not _OPENERS.isdisjoint(text.text[start : start + _STRAY]):
            return True
        if _BARE_KEY.match(text.text, start):
            return True
        if not final and _OPEN_KEY.match(text.text, start):
            return None
        if "{" in text.slice(damage.start, text.base + start + 1) and markers.call_key.search(text.text, start, end):
            return True
    match = markers.marker.search(text.text, start)
    if match is not None and match.start() <= end:
        return True if final or match.end() < len(text.text) else None
    if not final and len(text.text) <= end + _NEAR:
        return None
    return any(at < _NEAR for at in find_near(text.text[start : end + _NEAR], markers.spellings))


def find_end(
    damage: DamagedSegment,
    automaton: Automaton,
    text: TextBuffer,
    searched: dict[SyncPoints, tuple[int, int]],
    *,
    final: bool,
) -> Any:
    """The marker at which a damaged segment ends. None if it has not come yet; `text.pos` is then moved on.

    `searched` are the offsets between which no point was found: a segment that is read again as text may hold many
    refused places that end at the same point. No text is searched twice for it, so time stays linear.
    """
    begun, ended = searched.get(damage.sync, (0, 0))
    # What is no end because it stands at the refused place may be the end of another segment.
    start = max(text.offset, damage.refused_at + 1)
    text.pos = (ended if begun <= text.offset < ended else text.offset) - text.base
    match = _find_end(damage, automaton, text, final=final)
    end = text.base + (match.start() if match is not None else len(text.text) if final else text.pos)
    if start < end:
        searched[damage.sync] = (begun, max(end, ended)) if begun <= start <= ended else (start, end)
    return match


def _find_end(damage: DamagedSegment, automaton: Automaton, text: TextBuffer, *, final: bool) -> Any:
    buffer, pos, sync = text.text, text.pos, damage.sync
    if final:
        match = sync.find(buffer, pos)
        while match is not None and (
            _is_quoted(match, sync, automaton, buffer) or _is_part(match, damage, text, final=True)
        ):
            match = sync.find(buffer, match.end())
        return match
    match = sync.find_partial(buffer, pos, partial=True)
    held = None if match is None else match.start()
    if match is not None and not match.partial:
        held = sync.open_markers.find_open(buffer, pos, match.start(), match.lastindex)
        part = _is_part(match, damage, text, final=False)
        if held is None and (match.end() == len(buffer) or part is None):
            held = match.start()  # it may grow, or be in a string, or be a part of another
        elif held is None and (part or _is_quoted(match, sync, automaton, buffer)):
            text.pos = match.end()
            return _find_end(damage, automaton, text, final=final)
        elif held is None:
            end = match.end() if sync.points[match.lastindex].belongs_to_segment else match.start()
            held = match.start() if is_undecided(buffer, end) else None
    if match is None or held is not None:
        text.pos = len(buffer) if held is None else held
        return None
    return match


def _is_part(match: Any, damage: DamagedSegment, text: TextBuffer, *, final: bool) -> bool | None:
    """Is a marker at the refused place a part of one that was expected there, and has a mistake? None if not known."""
    at = match.start()
    longer = [written for written in damage.expected if len(written) > match.end() - at + 1]
    if at + text.base != damage.refused_at or not longer:
        return False
    if not final and len(text.text) < at + max(map(len, longer)) + _STRAY:
        return None
    return any(end > match.end() for written in longer for end, _ in near_misses(text.text, at, written))


def _is_quoted(match: Any, sync: SyncPoints, automaton: Automaton, buffer: str) -> bool:
    """Does a quote follow a closing marker? Then the marker is part of a string with unescaped quotes.

    Behind a comma or an opening bracket, JSON goes on.
    """
    point = sync.points[match.lastindex]
    if point.terminal.canonical.strip() in ("{", "[") and not point.belongs_to_segment:
        return buffer[: match.start()].rstrip()[-1:] in (",", "[", ":")
    return (
        point.belongs_to_segment
        and marker_lexer(automaton).has_json
        and buffer[match.end() : match.end() + 1] in ('"', "'")
    )
