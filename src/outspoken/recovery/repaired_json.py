"""Repaired JSON, read by the strict grammar as if the model had written it so."""

from __future__ import annotations

import re
import sys
from typing import Any

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.value_markup import survey
from outspoken.grammar.vocabulary import JSON_FIRST
from outspoken.json.decoder import read_at
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.spellings import without_conditions
from outspoken.results.call_keys import ARGUMENTS_KEYS, NAME_KEYS
from outspoken.results.edits import Edit, RepairedValue
from outspoken.semantics.keys import meant

from .marker_lexer import marker_forms
from .one_mistake import CallKeys
from .path import BLANK, RecoveryStep

_KEY = lazy_pattern(r'"(?:[^"\\\n]|\\.){0,200}"\s{0,99}:')

#: A repaired name that holds this has taken in what follows the name.
_IN_NO_NAME = lazy_pattern(r'["{}\[\]\n]')


def read_repaired(
    config: Config, repaired: RepairedValue, max_depth: int
) -> tuple[tuple[RecoveryStep, ...], Config] | None:
    """Read a repaired value, as far as it is complete. Returns the steps and the configuration behind it.

    If the format may not have this value here, keys that it does not know are read as those that they may mean. None if
    it may not have that, either.
    """
    return _read(config, repaired, max_depth) or _read(config, repaired, max_depth, other_keys=True)


def call_keys(automaton: Automaton) -> CallKeys:
    """The keys of the name and of the arguments of a format's calls."""
    found = survey(automaton)
    return CallKeys(found.name_keys, tuple([key for key, has_arguments in found.keys.items() if has_arguments]))


def _read(
    config: Config, repaired: RepairedValue, max_depth: int, *, other_keys: bool = False
) -> tuple[tuple[RecoveryStep, ...], Config] | None:
    text, pos, steps = repaired.text, 0, list[RecoveryStep]()
    offsets = _OffsetMap(repaired)
    stop = len(text) if repaired.complete else offsets.cut()
    key_edits: list[Edit] = []
    while pos < len(text):
        if text[pos] in BLANK:
            pos += 1
            continue
        transition, end, value, written = _read_token(config, text, pos, max_depth)
        if other_keys and (transition is None or transition.terminal.short == "_OTHER_KEY"):
            key = _KEY.match(text, pos)
            read = _read_other_key(config, text, pos, key.end()) if key is not None else None
            if read is not None:
                transition, end, key_end, word = read
                key_edits.append(Edit(offsets.raw(pos), offsets.raw(key_end), f'"{word}"', "other-key", "markup"))
            elif transition is None:
                transition, end = _read_bracket(config, text, pos)
        if transition is None:
            return None
        if end > stop:
            break
        steps.append(RecoveryStep(transition, offsets.raw(pos), offsets.raw(end), text[pos:end], value, written))
        config, pos = transition.target, end
    if not steps or (other_keys and not key_edits):
        return None
    edits = (*[e for e in repaired.edits if not e.code.startswith("cut-")], *key_edits)
    steps[0] = steps[0]._replace(edits=edits, ambiguous=repaired.runner_up or "")
    return tuple(steps), config


def _read_token(config: Config, text: str, pos: int, max_depth: int) -> tuple[Transition | None, int, Any, str]:
    """The transition that the strict grammar takes at a place, its end, and the value and text of an embedded value."""
    for marker in config.markers:
        match = marker_forms(marker).regex.match(text, pos)
        if match is not None and match.end() > pos and not marker.inserted:
            return marker, match.end(), None, ""
    for marker in config.markers:  # an opening bracket may ask for a key that has a mistake
        if (
            marker.replaces
            and marker.inserted.strip() == text[pos]
            and not any(op == "replace" for op, _ in marker.after)
        ):
            return marker, pos + 1, None, ""
    for transition in config.embedded:
        if text[pos] in JSON_FIRST.get(transition.terminal.short, ()):
            value_read = read_at(text, pos, max_depth)
            if value_read is not None and not (
                transition.role == "tool_name" and _IN_NO_NAME.search(str(value_read[0]))
            ):
                return transition, value_read[1], value_read[0], value_read[2]
    return None, pos, None, ""


def _read_bracket(config: Config, text: str, pos: int) -> tuple[Transition | None, int]:
    """The transition over a bracket before something else than the grammar asks for, and its end."""
    for marker in config.markers:
        if not marker.inserted and marker.terminal.canonical.strip() == text[pos]:
            bare = re.match(without_conditions(marker.terminal.regex), text[pos : pos + 1])
            if bare is not None and bare.end():
                return marker, pos + 1
    return None, pos


def _read_other_key(config: Config, text: str, pos: int, end: int) -> tuple[Transition, int, int, str] | None:
    """The transition over the key that an unknown key may mean, where it and its colon end, where its quotes end, and
    the key that is meant.

    The key stands in text[pos:end], with its colon.
    """
    key_end = text.rindex('"', pos, end) + 1
    for marker in config.markers:
        written = marker.terminal.canonical.strip()
        if not written.startswith('"') or not written.endswith('":'):
            continue
        roles = {step.role for step in marker.target.embedded}
        words = NAME_KEYS if "tool_name" in roles else ARGUMENTS_KEYS if "arguments" in roles else ()
        if meant(text[pos + 1 : key_end - 1], (written[1:-2], *words)):
            colon = written[:-1] + text[key_end:]  # the marker may ask for what follows it
            match = marker_forms(marker).regex.match(colon)
            if match is not None:
                return marker, key_end + match.end() - len(written) + 1, key_end, written[1:-2]
    return None


class _OffsetMap:
    """Maps offsets in repaired text to offsets in the raw text. The offsets that are asked for mostly grow."""

    def __init__(self, repaired: RepairedValue) -> None:
        self._repaired = repaired
        self._marks = [(0, repaired.start)]
        at, raw = 0, repaired.start
        for edit in repaired.edits:
            at += edit.start - raw
            self._marks.append((at, edit.start))
            at += len(edit.after)
            raw = edit.end
            self._marks.append((at, raw))
        self._end = at
        self._marks.append((sys.maxsize, sys.maxsize))
        self._at = 0

    def cut(self) -> int:
        """The offset up to which the repaired text is complete: what follows was inserted for what the text cut off."""
        for mark, edit in enumerate(self._repaired.edits):
            if edit.code.startswith("cut-"):
                return self._marks[2 * mark + 1][0]
        return self._end

    def raw(self, offset: int) -> int:
        """The raw offset of an offset in the repaired text; within an insertion, the offset where that was made."""
        marks, mark = self._marks, self._at
        while marks[mark + 1][0] <= offset:
            mark += 1
        while mark and marks[mark][0] > offset:
            mark -= 1
        self._at = mark
        at, raw = marks[mark]
        return min(raw + offset - at, marks[mark + 1][1])
