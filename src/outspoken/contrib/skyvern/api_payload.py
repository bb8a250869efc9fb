"""From the JSON values of a response to the one object that was asked for, without what the text broke off in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

from outspoken.json.read import JsonReading
from outspoken.processing.finish_reasons import CONTENT_FILTER, MESSAGES, TOKEN_LIMIT
from outspoken.results.diagnostics import Repair, Severity
from outspoken.results.edits import shown
from outspoken.results.pending_diagnostics import PendingDiagnostic

Outcome = Literal["ok", "repaired", "truncated", "empty", "filtered", "failed"]

#: the prompts that ask for actions, and for nothing that could be an action itself
_ACTION_PROMPTS = frozenset({"extract-actions", "decisive-criterion-validate"})

#: What is said of a response besides what the JSON ladder says.
NOTES = {
    **MESSAGES,
    "reasoning": "the reasoning before the answer is no part of the value",
    "truncated": "the text breaks off inside the JSON value",
    "cut-early": "the text breaks off before there is a JSON value",
    "wrong-type": "the JSON is of type {type}; expected an object",
    "missing-actions": "the object has no list `actions`",
    "joined-actions": "the list of actions was read as the `actions` of the object beside it",
    "wrapped-actions": "the list was read as the list `actions` of an object",
    "repeated-action": "an action stands twice in a row, and counts once ({count} left out)",
    "unwrapped-object": "the object was taken out of the list in which it stands",
    "other-values": "the first object counts; other values were left out ({count})",
}

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)

Span = tuple[int, int]
Path = tuple[str | int, ...]


class End(NamedTuple):
    """How the last value of a text ends that breaks off.

    `value` is the value without the action or item that is unfinished; None where nothing is left. `in_actions` says
    that the text breaks off in the object's own list `actions`.
    """

    value: Any
    unfinished: Any
    in_actions: bool
    span: tuple[int, int]
    message: str
    notes: tuple[str, ...]


class Made(NamedTuple):
    """An object that was made of a list, and what is to be said of that, as code and message."""

    value: dict[str, Any]
    notes: list[tuple[str, str]]


def asks_for_actions(prompt_name: str | None) -> bool:
    """Does a prompt of this name ask for a list of actions?"""
    return prompt_name in _ACTION_PROMPTS


class Result:
    """What becomes of the values of a text: the outcome, the value, and what is to be said of it."""

    def __init__(
        self, reading: JsonReading, finish_reason: str | None, prompt_name: str | None, force_dict: bool
    ) -> None:
        self.value: Any = None
        self.unfinished: tuple[Any, ...] = ()
        self.outcome: Outcome = "failed"
        self.notes: list[PendingDiagnostic] = []
        #: what the ladder said; `truncated` says it better than `cut-json`
        self.kept = [note for note in reading.diagnostics if note.code != "cut-json"]
        self._end = len(reading.raw.rstrip())
        limited, filtered = finish_reason in TOKEN_LIMIT, finish_reason in CONTENT_FILTER
        if reading.values:
            usable = self._take(reading, prompt_name, force_dict)
        else:
            usable = False
            self._nothing(limited, filtered)
        if limited:
            self.report("token-limit", "warning")
        if filtered:
            self.report("content-filter", "warning" if usable else "error")
        #: a filter is likely to stop the same answer again
        self.needs_manual = filtered and not usable
        self.needs_retry = not usable and not filtered
        if self.needs_manual:
            self.outcome = "filtered"

    def report(self, code: str, severity: Severity, span: Span | None = None, message: str = "", *more: str) -> None:
        """Add a diagnostic, at the end of the text unless there is a span."""
        place = span or (self._end, self._end)
        self.notes.append(PendingDiagnostic(code, message or NOTES[code], place, severity, None, notes=more))

    def _nothing(self, limited: bool, filtered: bool) -> None:
        """There is no value. Why the model was stopped says more than that."""
        if limited:
            self.outcome = "truncated"
            self.report("truncated", "error", message=NOTES["cut-early"])
        elif not self._end and not filtered:
            self.outcome = "empty"
            self.report("empty-response", "error")
        if not self._end:
            self.kept = []

    def _take(self, reading: JsonReading, prompt_name: str | None, force_dict: bool) -> bool:
        """Leave out what is unfinished, and make an object of the rest. Returns whether there is something to use."""
        values, hollow = list(reading.values), False
        cut = reading.status == "truncated"
        if cut:
            end = finished(reading)
            hollow = end.in_actions
            values[-1:] = [] if end.value is None else [end.value]
            self.unfinished = () if end.unfinished is None else (end.unfinished,)
            self.report("truncated", "error", end.span, end.message, *end.notes)
        whole = reading.spans[0][0], reading.spans[-1][1]
        self.value = cast("Any", values[0] if len(values) == 1 else values or None)
        made = None
        if force_dict and not is_object(self.value):
            made = to_object(self.value, prompt_name)
            self.value = made.value if made else None
            for code, message in made.notes if made else ():
                self.report(code, "warning", whole, message)
        missing = force_dict and asks_for_actions(prompt_name) and actions_of(self.value) is None
        if cut:
            self.outcome = "truncated"
            return not (missing or self.value in (None, {}, []) or (hollow and actions_of(self.value) == []))
        if force_dict and self.value is None:
            self.report("wrong-type", "error", whole, NOTES["wrong-type"].format(type=type_name(reading.values)))
            return False
        if missing:
            self.report("missing-actions", "error", whole)
            return False
        self.outcome = "repaired" if made else cast("Outcome", reading.status)
        return True


def actions_of(value: Any) -> list[Any] | None:
    """The list `actions` of a value, if it has one."""
    actions = cast("dict[str, Any]", value).get("actions") if isinstance(value, Mapping) else None
    return cast("list[Any]", actions) if isinstance(actions, list) else None


def is_object(value: Any) -> bool:
    """Is a value a JSON object?"""
    return isinstance(value, dict)


def type_name(values: tuple[Any, ...]) -> str:
    """What the values of a text are, in Python: several are a list."""
    return type(values[0]).__name__ if len(values) == 1 else "list"


# -- what the text breaks off in


def finished(reading: JsonReading) -> End:
    """The last value of a text that breaks off, in what is complete and what is not."""
    start = reading.spans[-1][0]
    repairs = [made for made in reading.repairs if made.span[0] >= start]
    ends = [made.path for made in repairs if made.code in ("cut-container", "cut-string")]
    path: Path = max(ends, key=len, default=())
    value, unfinished, depth = _split(reading.values[-1], path, 0)
    last = len(reading.raw.rstrip())
    if unfinished is None:
        return End(value, None, path[:1] == ("actions",), (last, last), NOTES["truncated"], ())
    begin = _raw_place(_begin(reading.texts[-1], depth), start, repairs)
    what = "an action" if _is_action(unfinished) or path[:1] == ("actions",) else "an item of a list"
    message = f"the text breaks off inside {what}, which was left out"
    notes = (f"read of it: {shown(json.dumps(unfinished, ensure_ascii=False))}",)
    return End(value, unfinished, path[:1] == ("actions",), (min(begin, last), last), message, notes)


def _split(value: Any, path: Path, depth: int) -> tuple[Any, Any, int]:
    """A value without the unfinished action or item on the path, that one, and how deep it stands in the value."""
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
    """Where the last thing at a depth of brackets begins, in sound JSON."""
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
    """The place in the text that a place of the JSON that the repairs made of it comes from."""
    place += start
    for made in repairs:
        if made.span[0] >= place:
            break
        place -= len(made.after) - (made.span[1] - made.span[0])
    return place


# -- from a list to an object


def to_object(value: Any, prompt_name: str | None) -> Made | None:
    """The object that a list stands for; None where there is none in it, or where the value is no list."""
    items = cast("list[Any]", value if isinstance(value, list) else [])
    objects: list[dict[str, Any]] = [item for item in items if isinstance(item, dict)]
    nested: list[list[Any]] = [item for item in items if isinstance(item, list)]
    actions = [item for item in nested if item and all(map(_is_action, item))]
    if not objects:
        return None
    if len(actions) == 1 and not any("actions" in item or "action_type" in item for item in objects):
        left = _left_out(len(items) - 2)
        return Made({**objects[0], "actions": actions[0]}, [("joined-actions", NOTES["joined-actions"]), *left])
    if asks_for_actions(prompt_name) and not nested and all(map(_is_action, objects)):
        kept = [item for place, item in enumerate(objects) if not place or not _same(item, objects[place - 1])]
        said = [("wrapped-actions", NOTES["wrapped-actions"])]
        if len(kept) < len(objects):
            message = NOTES["repeated-action"].format(count=len(objects) - len(kept))
            said.append(("repeated-action", message))
        return Made({"actions": kept}, [*said, *_left_out(len(items) - len(objects))])
    return Made(objects[0], _left_out(len(items) - 1) or [("unwrapped-object", NOTES["unwrapped-object"])])


def _left_out(count: int) -> list[tuple[str, str]]:
    return [("other-values", NOTES["other-values"].format(count=count))] if count else []


def _is_action(value: Any) -> bool:
    return isinstance(value, dict) and "action_type" in value


def _same(one: Any, other: Any) -> bool:
    """Are two values the same JSON? `1` and `true` are not, though they are equal in Python."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
