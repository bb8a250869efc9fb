"""Evaluates the JSON values of a response: the object that the prompt asks for, without its incomplete parts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from outspoken.json.read import JsonReading
from outspoken.results.codes import CODES
from outspoken.results.diagnostics import PendingDiagnostic, Repair, Severity
from outspoken.results.edits import shown
from outspoken.results.finish_reasons import is_cut, is_filtered
from outspoken.results.replies import Status

#: The prompts that ask for a list of actions, and for no other lists.
_ACTION_PROMPTS = frozenset({"extract-actions", "decisive-criterion-validate"})

#: The messages of the diagnostics beyond those of `read_json`.
MESSAGES = {
    **{code: CODES[code].message for code in ("empty-response", "token-limit", "content-filter")},
    "reasoning": "the reasoning before the answer is not part of the value",
    "truncated": "the text ends inside the JSON value",
    "cut-early": "the text ends before a JSON value",
    "wrong-type": "the JSON is of type {type}; expected an object",
    "missing-actions": "the object has no list `actions`",
    "joined-actions": "the list of actions was read as `actions` of the object next to it",
    "wrapped-actions": "the list was read as `actions` of an object",
    "repeated-action": "consecutive equal actions count once ({count} left out)",
    "unwrapped-object": "the object was taken out of a list",
    "other-values": "{what}; other values were left out ({count})",
}

_FIRST = "the first object counts"
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)

Span = tuple[int, int]
Path = tuple[str | int, ...]


def asks_for_actions(prompt_name: str | None) -> bool:
    """True if the prompt with this name asks for a list of actions."""
    return prompt_name in _ACTION_PROMPTS


class Evaluation:
    """The status, value and diagnostics for the JSON values of a text."""

    def __init__(
        self, reading: JsonReading, finish_reason: str | None, prompt_name: str | None, force_dict: bool
    ) -> None:
        self.value: Any = None
        self.unfinished_items: tuple[Any, ...] = ()
        self.status: Status = "invalid"
        self.pending: list[PendingDiagnostic] = []
        #: the diagnostics of `read_json`, without `cut-json`, which `truncated` replaces
        self.kept = [note for note in reading.diagnostics if note.code != "cut-json"]
        self._end = len(reading.raw.rstrip())
        limited, filtered = is_cut(finish_reason), is_filtered(finish_reason)
        if reading.values:
            usable = self._evaluate(reading, prompt_name, force_dict)
        else:
            usable = False
            self._without_values(limited, filtered)
        if limited:
            self.report("token-limit", "warning")
        if filtered:
            self.report("content-filter", "warning" if usable else "error")
        #: the filter would probably stop a second answer as well
        self.needs_manual = filtered and not usable
        self.needs_retry = not usable and not filtered
        if self.needs_manual:
            self.status = "invalid"

    def report(self, code: str, severity: Severity, span: Span | None = None, message: str = "", *more: str) -> None:
        """Add a diagnostic, at the end of the text unless there is a span."""
        place = span or (self._end, self._end)
        self.pending.append(PendingDiagnostic(code, message or MESSAGES[code], place, severity, None, notes=more))

    def _without_values(self, limited: bool, filtered: bool) -> None:
        """Report why a text has no JSON values. It is truncated if the model reached its token limit."""
        if limited:
            self.status = "truncated"
            self.report("truncated", "error", message=MESSAGES["cut-early"])
        elif not self._end and not filtered:
            self.report("empty-response", "error")
        if not self._end:
            self.kept = []

    def _evaluate(self, reading: JsonReading, prompt_name: str | None, force_dict: bool) -> bool:
        """Remove unfinished parts and make an object of the rest. Returns whether the result is usable."""
        values, in_actions = list(reading.values), False
        cut = reading.status == "truncated"
        if cut:
            value, in_actions = self._split_truncated(reading)
            values[-1:] = [] if value is None else [value]
        whole = reading.spans[0][0], reading.spans[-1][1]
        self.value = cast("Any", values[0] if len(values) == 1 else values or None)
        is_made = force_dict and not is_object(self.value)
        if is_made:
            self.value = self._object_of(self.value, prompt_name, whole)
        missing = force_dict and asks_for_actions(prompt_name) and actions_of(self.value) is None
        if cut:
            self.status = "truncated"
            return not (missing or self.value in (None, {}, []) or (in_actions and actions_of(self.value) == []))
        if force_dict and self.value is None:
            self.report("wrong-type", "error", whole, MESSAGES["wrong-type"].format(type=type_name(reading.values)))
            return False
        if missing:
            self.report("missing-actions", "error", whole)
            return False
        self.status = "repaired" if is_made else reading.status
        return True

    def _split_truncated(self, reading: JsonReading) -> tuple[Any, bool]:
        """The last value of a truncated text without the unfinished action or list item; None if nothing remains.

        Also returns whether the text ends inside the object's own list `actions`.
        """
        start = reading.spans[-1][0]
        repairs = [repair for repair in reading.repairs if repair.span[0] >= start]
        ends = [repair.path for repair in repairs if repair.code in ("cut-container", "cut-string")]
        path: Path = max(ends, key=len, default=())
        value, unfinished, depth = _split(reading.values[-1], path, 0)
        in_actions, last = path[:1] == ("actions",), self._end
        if unfinished is None:
            self.report("truncated", "error", (last, last))
            return value, in_actions
        self.unfinished_items = (unfinished,)
        begin = _raw_place(_begin(reading.texts[-1], depth), start, repairs)
        what = "an action" if _is_action(unfinished) or in_actions else "an item of a list"
        message = f"the text ends inside {what}, which was left out"
        note = f"read of it: {shown(json.dumps(unfinished, ensure_ascii=False))}"
        self.report("truncated", "error", (min(begin, last), last), message, note)
        return value, in_actions

    def _object_of(self, value: Any, prompt_name: str | None, whole: Span) -> dict[str, Any] | None:
        """The object that a list stands for; None for any other value and for a list without objects."""
        items = cast("list[Any]", value if isinstance(value, list) else [])
        objects: list[dict[str, Any]] = [item for item in items if isinstance(item, dict)]
        nested: list[list[Any]] = [item for item in items if isinstance(item, list)]
        actions = [item for item in nested if item and all(map(_is_action, item))]
        if not objects:
            return None
        if len(actions) == 1 and not any("actions" in item or "action_type" in item for item in objects):
            self.report("joined-actions", "warning", whole)
            self._report_others(len(items) - 2, whole)
            return {**objects[0], "actions": actions[0]}
        if asks_for_actions(prompt_name) and not nested and all(map(_is_action, objects)):
            kept = [item for place, item in enumerate(objects) if not place or not _same(item, objects[place - 1])]
            self.report("wrapped-actions", "warning", whole)
            if len(kept) < len(objects):
                message = MESSAGES["repeated-action"].format(count=len(objects) - len(kept))
                self.report("repeated-action", "warning", whole, message)
            self._report_others(len(items) - len(objects), whole)
            return {"actions": kept}
        asked = [item for item in objects if asks_for_actions(prompt_name) and actions_of(item) is not None]
        if len(items) == 1:
            self.report("unwrapped-object", "warning", whole)
        self._report_others(len(items) - 1, whole, "the object with actions counts" if asked else _FIRST)
        return (asked or objects)[0]

    def _report_others(self, count: int, whole: Span, what: str = _FIRST) -> None:
        """Report the values of a list that were left out, if there are any."""
        if count:
            self.report("other-values", "warning", whole, MESSAGES["other-values"].format(what=what, count=count))


def actions_of(value: Any) -> list[Any] | None:
    """The list `actions` of a value, if it has one."""
    actions = cast("dict[str, Any]", value).get("actions") if isinstance(value, Mapping) else None
    return cast("list[Any]", actions) if isinstance(actions, list) else None


def is_object(value: Any) -> bool:
    """True for a JSON object."""
    return isinstance(value, dict)


def type_name(values: tuple[Any, ...]) -> str:
    """The Python type of the values of a text; several values count as a list."""
    return type(values[0]).__name__ if len(values) == 1 else "list"


def _split(value: Any, path: Path, depth: int) -> tuple[Any, Any, int]:
    """A value without the unfinished action or item on the path; that item; and its depth in the value."""
    if _is_action(value):
        return None, value, depth
    if not path or not isinstance(value, (dict, list)):
        return value, None, depth
    inner: Any = cast("Any", value)[path[0]]
    if isinstance(value, list) and not isinstance(inner, list):
        rest, unfinished, depth = None, inner, depth + 1
    else:
        rest, unfinished, depth = _split(inner, path[1:], depth + 1)
    kept: Any = cast("Any", value).copy()
    if rest is None:
        del kept[path[0]]
    else:
        kept[path[0]] = rest
    return kept, unfinished, depth


def _begin(text: str, depth: int) -> int:
    """The offset of the last string or bracket at a depth, in sound JSON."""
    begin, level = 0, 0
    for match in _TOKEN.finditer(text):
        if match[0] in "}]":
            level -= 1
            continue
        if level == depth:
            begin = match.start()
        level += match[0] in "{["
    return begin


def _raw_place(place: int, start: int, repairs: list[Repair]) -> int:
    """The offset in the text for an offset in its repaired JSON."""
    place += start
    for made in repairs:
        if made.span[0] >= place:
            break
        place -= len(made.after) - (made.span[1] - made.span[0])
    return place


def _is_action(value: Any) -> bool:
    return isinstance(value, dict) and "action_type" in value


def _same(one: Any, other: Any) -> bool:
    """True for equal JSON values; `1` and `true` differ, although they are equal in Python."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
