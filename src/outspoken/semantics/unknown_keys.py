"""Keys of a call's object that the grammar does not know: the misspelt ones are read, all others are reported.

What a call means is known when its object ends: `input` is the arguments of a call that has no other, and an unknown
key of a call that has some.
"""

from __future__ import annotations

from typing import Any

from outspoken.json.edits import paths_of_edits
from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.call_keys import ARGUMENTS_KEYS, CALL_KEYS, NAME_KEYS
from outspoken.results.diagnostics import Severity
from outspoken.results.edits import Edit, shown

from .keys import meant
from .open_node import OpenNode, UnknownEntry
from .recorder import Source
from .segments import object_of
from .state import ReplyState

#: A key and its colon at the end of a text.
_KEY = lazy_pattern(r"""(?P<key>["'“](?:[^"'\\\n]|\\.){0,200}["'”]|[\w.\-]{1,200})\s*[:：=]?\s*\Z""")
#: A key is searched in so many characters before its value.
_MAX_KEY = 320
#: The levels of repair that may take a part of a value for a key.
_GUESSED = frozenset({"strings", "heuristic"})
#: What stands between a key and its value.
_BEFORE_VALUE = ": \t\r\n"
#: A value is shown with at most so many characters.
_SHOWN = 40


def add_unknown(state: ReplyState, start: int, end: int) -> None:
    """An entry of the object that is being read ends. Its value stands between two offsets."""
    node = state.nodes[-1]
    before = state.source.slice(max(node.start, start - _MAX_KEY, 0), max(start, 0))
    match = _KEY.search(before)
    key_start, key_end = (start, start) if match is None else (start - len(before) + at for at in match.span("key"))
    key = "" if match is None else match["key"].strip("\"'“”")
    node.unknown = (*node.unknown, UnknownEntry(key, key_start, key_end, end, state.last_value, state.last_text))


def complete(state: ReplyState, node: OpenNode) -> None:
    """Take the name and the arguments of a call from misspelt keys, if it lacks them, and report all other keys.

    The call has a `problem` if an unknown key may hold its arguments, or if it is the declaration of a tool.
    """
    if node.arguments is None:
        entry = _only(node, ARGUMENTS_KEYS, _holds_object(state))
        if entry is not None and _may_read(state):
            value, text = object_of(entry.value, entry.text, state.context.settings.max_depth)
            raw = state.source.slice(entry.key_end, entry.end)
            set_paths(state.recorder.edits, entry.text, entry.end - len(raw.lstrip(_BEFORE_VALUE)), entry.end)
            _take(state, node, entry, ARGUMENTS_KEYS)
            node.arguments, node.parts = value, [text]
    if not node.name:
        entry = _only(node, NAME_KEYS, _is_name)
        if entry is not None and _may_read(state):
            node.name = entry.value
            _take(state, node, entry, NAME_KEYS)
    doubtful = next((entry for entry in node.unknown if _may_be_arguments(state, node, entry)), None)
    if doubtful is not None and not node.problem:
        node.problem = f"the key {shown(doubtful.key)} may hold arguments of `{node.name or ''}`"
    if not node.arguments and not node.problem and any(entry.key == "description" for entry in node.unknown):
        node.problem = f"this declares `{node.name or ''}`: it is described, and takes no arguments"
    report(state, node, "note" if node.arguments is not None or node.problem else "warning")


def report(state: ReplyState, node: OpenNode, severity: Severity = "note") -> None:
    """Report the unknown keys of an object."""
    for entry in node.unknown:
        said = entry.text if len(entry.text) <= _SHOWN else f"{entry.text[: _SHOWN - 3]}..."
        kept = "it is kept in `unread`" if "envelope" in node.kinds else f"its value is left out: {said}"
        message = f"the key {shown(entry.key)} has no meaning here; {kept}"
        state.recorder.report("unknown-key", message, entry.span, severity)
    node.unknown = ()


def is_call(state: ReplyState, node: OpenNode) -> bool:
    """Is an object a call of which one key is misspelt: that of the name, or that of the arguments?

    Outside of a list of calls, a key that is another word counts only if the name is that of a tool.
    """
    if not _may_read(state) or ("tool_call" not in node.kinds and "unread" not in node.kinds):
        return False
    if node.name:
        entry = _only(node, ARGUMENTS_KEYS, _holds_object(state)) if node.arguments is None else None
        name = node.name
    else:
        entry = _only(node, NAME_KEYS, _is_name) if isinstance(node.arguments, dict) else None
        name = entry.value if entry is not None else ""
    tools = state.context.tools
    if entry is None or (tools is not None and name not in tools):
        return False
    return "unread" in node.kinds or tools is not None or entry.key not in (*ARGUMENTS_KEYS, *NAME_KEYS)


def _only(node: OpenNode, words: tuple[str, ...], fits: Any) -> UnknownEntry | None:
    """The only unknown entry whose key is one of some words, with a mistake or without, and whose value fits."""
    found = [entry for entry in node.unknown if meant(entry.key, words) and fits(entry.value)]
    return found[0] if len(found) == 1 else None


def _take(state: ReplyState, node: OpenNode, entry: UnknownEntry, words: tuple[str, ...]) -> None:
    """Record that a key was read as the first of some words, which mean the same."""
    edit = Edit(entry.start, entry.key_end, f'"{words[0]}"', "other-key", "markup")
    state.recorder.edits.append(edit)
    node.unknown = tuple([other for other in node.unknown if other is not entry])


def _may_read(state: ReplyState) -> bool:
    return state.context.repair_limit not in ("none", "notation")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _holds_object(state: ReplyState) -> Any:
    depth = state.context.settings.max_depth

    def holds(value: Any) -> bool:
        return isinstance(value, dict) or (isinstance(value, str) and bool(object_of(value, "", depth)[0]))

    return holds


def _may_be_arguments(state: ReplyState, node: OpenNode, entry: UnknownEntry) -> bool:
    """May an entry hold the arguments of a call, or be one of them, which a repair may have torn off?"""
    tools = state.context.tools
    schema = tools.schema(node.name) if tools is not None and node.name and node.name in tools else None
    is_other = schema is None and entry.key.lower() not in CALL_KEYS and not meant(entry.key, NAME_KEYS)
    if not node.arguments and (is_other or meant(entry.key, ARGUMENTS_KEYS)):
        return True
    if node.arguments is None and isinstance(entry.value, (dict, list)):
        return True
    levels = {edit.level for edit in state.recorder.edits}
    if is_other and any(edit.level == "structure" and edit.end <= entry.span[0] for edit in state.recorder.edits):
        return True
    if not levels.isdisjoint(_GUESSED) or ("structure" in levels and not node.arguments):
        return True
    return schema is not None and entry.key in (schema.get("properties") or ())


def set_paths(edits: list[Edit], text: str, start: int, end: int, key: str | None = None) -> None:
    """Give the edits their paths in the arguments of a call, of which the value from `start` to `end` is complete.

    `text` is the JSON of the value, with the edits in it. The value is that of the argument `key`, or holds all
    arguments; then edits outside of it, as those of the call's other keys, have no path.
    """
    order = sorted(range(len(edits)), key=lambda number: edits[number][:2])
    inside = [number for number in order if start <= edits[number].start and edits[number].end <= end]
    prefix = () if key is None else (key,)
    paths = dict(zip(inside, paths_of_edits([edits[number] for number in inside], start, text), strict=True))
    for number, edit in enumerate(edits):
        if edit.level == "markup":
            continue
        if number in paths:
            edits[number] = Edit(*edit[:5], (*prefix, *paths[number]))
        elif key is None and edit.path:
            edits[number] = edit._replace(path=())


def set_paths_before(edits: list[Edit], text: str, key: str, begun: int, end: int, source: Source) -> None:
    """The same for the argument `key`, whose value ends at `end` or before white space there.

    Its value stands somewhere behind `begun`: its edits tell how long it is.
    """
    inside = [edit for edit in edits if begun <= edit.start and edit.end <= end]
    if not inside:
        return
    last = begun + len(source.slice(begun, end).rstrip())
    length = len(text) + sum([edit.end - edit.start - len(edit.after) for edit in inside])
    set_paths(edits, text, last - length, max(last, *[edit.end for edit in inside]), key)
