"""Compares the accepted snapshot of a case with the present result, and ranks the change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from .snapshot_reader import Model, read

Tree = dict[str, Any]
Span = tuple[int, int]

#: The kinds of changes, the most alarming ones first. What is called "only" comes with nothing that is above it.
KINDS = (
    "cannot be accepted",
    *[f"{what}s {how}" for how in ("lost", "gained", "renamed") for what in ("call", "action", "payload")],
    *[f"{what} changed" for what in ("arguments of calls", "fields of actions", "data of payloads", "ids of calls")],
    "unfinished calls changed",
    *[f"status {old} → {new}" for new in ("invalid", "truncated", "repaired", "ok") for old in
      ("ok", "repaired", "truncated", "invalid") if old != new],
    "status of segments changed",
    "reasoning became text",
    "text became reasoning",
    "text changed",
    "reasoning changed",
    "kinds of segments changed",
    "repairs changed",
    "diagnostics removed",
    "diagnostics added",
    "diagnostics replaced",
    "only spans changed",
    "only markup changed",
    "only the wording of diagnostics changed",
    "something else changed",
    "the text of the case changed",
    "new cases without a snapshot",
    "snapshots without a case",
)  # fmt: skip

#: What may be run, by kind of segment: what it is called, its name, and the change of what it says.
_DEEDS = {
    "tool_call": ("call", "name", "arguments of calls changed"),
    "action": ("action", "name", "fields of actions changed"),
    "payload": ("payload", "type", "data of payloads changed"),
}
_FINISHED = ("ok", "repaired")
#: The fields of an action that say where it stands, not what it does.
_PLACE = ("kind", "name", "raw", "span", "status", "repairs")
_OFFSET = re.compile(r"^ *--> \S+ \(offset (\d+)\)", re.MULTILINE)

ABSENT = object()


class Difference(NamedTuple):
    """One thing that changed: where in the reply, what it was and is (`ABSENT` where it was or is not), its span."""

    where: str
    before: Any
    after: Any
    span: Span | None = None


@dataclass(frozen=True)
class Change:
    """What changed of one case. `kind` is its most alarming change, one of `KINDS`."""

    case: str
    format: str
    kind: str
    differences: tuple[Difference, ...] = ()
    note: str = ""
    input: str = ""


def compare(before: str, after: str) -> tuple[str, tuple[Difference, ...]]:
    """The kind of the most alarming change between two snapshots, and all that changed."""
    try:
        old, new = _completed(read(before)), _completed(read(after))
        return _kind(old, new), tuple(_differences(old, new))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "something else changed", (Difference("snapshot", before, after),)


def _completed(tree: Tree) -> Tree:
    """A snapshot with what an action does not show, which are the fields that have their usual values."""
    for segment in tree["segments"]:
        if "kind" not in segment.fields:
            segment.fields.update({"kind": "action", "name": "", "status": "ok", **segment.fields})
    return tree


# How alarming it is


def _kind(old: Tree, new: Tree) -> str:
    if old["input"] != new["input"]:
        return "the text of the case changed"
    found = [kind for kind in [*_of_deeds(old, new), *_of_the_rest(old, new)] if kind in KINDS]
    return min(found, key=KINDS.index, default="something else changed")


def _of_deeds(old: Tree, new: Tree) -> Iterator[str]:
    """What changed of calls, actions and payloads."""
    for kind, (noun, name, said) in _DEEDS.items():
        a, b = _finished(old, kind), _finished(new, kind)
        names = [[(segment.name, segment.fields[name]) for segment in found] for found in (a, b)]
        if names[0] != names[1]:
            yield f"{noun}s {'lost' if len(b) < len(a) else 'gained' if len(b) > len(a) else 'renamed'}"
        elif [_said(segment) for segment in a] != [_said(segment) for segment in b]:
            yield said
        elif [segment.fields.get("id") for segment in a] != [segment.fields.get("id") for segment in b]:
            yield "ids of calls changed"
    unfinished = [
        [(segment.fields["name"], _said(segment), segment.fields["status"]) for segment in found]
        for found in [[s for s in _segments(tree, "tool_call") if not _is_finished(s)] for tree in (old, new)]
    ]
    if unfinished[0] != unfinished[1]:
        yield "unfinished calls changed"


def _of_the_rest(old: Tree, new: Tree) -> Iterator[str]:
    yield f"status {old['status']} → {new['status']}"
    text, reasoning = old["text"] != new["text"], old["reasoning"] != new["reasoning"]
    if text and reasoning:
        more = len(new["reasoning"] or "") > len(old["reasoning"] or "")
        yield "text became reasoning" if more else "reasoning became text"
    elif text or reasoning:
        yield "text changed" if text else "reasoning changed"
    tests: dict[str, Callable[[Tree], Any]] = {
        "status of segments changed": lambda tree: [segment.fields.get("status") for segment in tree["segments"]],
        "kinds of segments changed": lambda tree: [segment.fields["kind"] for segment in tree["segments"]],
        "repairs changed": lambda tree: [_placeless(segment.fields.get("repairs")) for segment in tree["segments"]],
        "only spans changed": lambda tree: [segment.fields["span"] for segment in tree["segments"]],
        "only markup changed": lambda tree: tree["markup"],
    }
    kinds = [kind for kind, test in tests.items() if test(old) != test(new)]
    yield from [
        kind for kind in kinds if kind != "status of segments changed" or "kinds of segments changed" not in kinds
    ]
    if old["diagnostics"] != new["diagnostics"]:
        yield _of_diagnostics(_codes(old), _codes(new))


def _of_diagnostics(old: Counter[str], new: Counter[str]) -> str:
    if old == new:
        return "only the wording of diagnostics changed"
    return f"diagnostics {'added' if old <= new else 'removed' if new <= old else 'replaced'}"


def _codes(tree: Tree) -> Counter[str]:
    """How often there is a diagnostic of each code."""
    return Counter([frame.partition("]")[0] for frame in tree["diagnostics"]])


def _segments(tree: Tree, kind: str) -> list[Model]:
    return [segment for segment in tree["segments"] if segment.fields["kind"] == kind]


def _is_finished(segment: Model) -> bool:
    return segment.fields["status"] in _FINISHED


def _finished(tree: Tree, kind: str) -> list[Model]:
    return [segment for segment in _segments(tree, kind) if _is_finished(segment)]


def _said(segment: Model) -> Any:
    """What a call, an action or a payload says; a dict is compared with its order and with the types in it."""
    fields = segment.fields
    if fields["kind"] == "action":
        return repr({name: value for name, value in fields.items() if name not in _PLACE})
    return repr((fields["arguments"], fields["arguments_text"]) if fields["kind"] == "tool_call" else fields["data"])


def _placeless(repairs: Any) -> Any:
    """Repairs without where they were made."""
    where = ("span", "line", "column")
    return [{name: value for name, value in repair.fields.items() if name not in where} for repair in repairs or ()]


# What it is


def _differences(old: Tree, new: Tree) -> Iterator[Difference]:
    yield from _of_values("status", old["status"], new["status"], None)
    segments = list(_of_segments(old["segments"], new["segments"]))
    yield from segments
    told = any(difference.where.endswith((".text", "]")) for difference in segments)
    known = {"status", "segments", "diagnostics", "markup", "input", *(("text", "reasoning") if told else ())}
    for name in dict.fromkeys([*old, *new]):
        if name not in known:
            yield from _of_values(name, old.get(name, ABSENT), new.get(name, ABSENT), None)
    yield from _of_frames(old["diagnostics"], new["diagnostics"])
    for name in ("markup", "input"):
        if old[name] != new[name]:
            yield Difference(name, old[name], new[name])


def _of_segments(old: list[Model], new: list[Model]) -> Iterator[Difference]:
    """What changed in the segments that stayed what they are, and which ones came or went."""
    said = [[_content(segment) for segment in found] for found in (old, new)]
    for _, a, b, c, d in SequenceMatcher(None, *said, autojunk=False).get_opcodes():
        for at in range(max(b - a, d - c)):
            before = old[a + at] if a + at < b else None
            after = new[c + at] if c + at < d else None
            place = f"segments[{(c if after else a) + at}]"
            span: Span | None = (after or before or Model("")).fields.get("span")
            if before and after and before.fields["kind"] == after.fields["kind"]:
                yield from _of_models(place, before, after, span)
            else:
                yield Difference(place, before or ABSENT, after or ABSENT, span)


def _content(segment: Model) -> str:
    """What a segment says, wherever it stands and however sound it is."""
    where = ("span", "status", "repairs")
    return repr((segment.name, {name: value for name, value in segment.fields.items() if name not in where}))


def _of_models(place: str, old: Model, new: Model, span: Span | None) -> Iterator[Difference]:
    yield from _of_values(f"{place}: class", old.name, new.name, span)
    for name in dict.fromkeys([*old.fields, *new.fields]):
        if name == "arguments_text" and old.fields.get("arguments") != new.fields.get("arguments"):
            continue
        yield from _of_values(f"{place}.{name}", old.fields.get(name, ABSENT), new.fields.get(name, ABSENT), span)


def _of_values(where: str, old: Any, new: Any, span: Span | None) -> Iterator[Difference]:
    """What changed in a value; in a dict, which of its entries."""
    if repr(old) == repr(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        a: dict[Any, Any] = {**old}
        b: dict[Any, Any] = {**new}
        inner = [
            difference
            for key in dict.fromkeys([*a, *b])
            for difference in _of_values(f"{where}.{key}", a.get(key, ABSENT), b.get(key, ABSENT), span)
        ]
        yield from inner or [Difference(where, a, b, span)]
        return
    yield Difference(where, old, new, span)


def _of_frames(old: list[str], new: list[str]) -> Iterator[Difference]:
    """The diagnostics that came, went, or are said otherwise, each with the one of its code, as far as there is one."""
    gone = [frame for frame in old if frame not in new]
    come = [frame for frame in new if frame not in old]
    for frame in gone:
        code = frame.partition("]")[0]
        same = next((other for other in come if other.partition("]")[0] == code), None)
        if same is not None:
            come.remove(same)
        yield Difference("diagnostics", frame, ABSENT if same is None else same, _place(same or frame))
    for frame in come:
        yield Difference("diagnostics", ABSENT, frame, _place(frame))


def _place(frame: str) -> Span | None:
    """Where a drawn diagnostic begins."""
    match = _OFFSET.search(frame)
    return (int(match[1]), int(match[1]) + 1) if match else None
