"""Damage in lists of calls and actions: wrong punctuation between entries, and entries that cannot be read.

Neither costs another entry of the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.recovery.lists import GAP, entry_end, list_place, read_gap
from outspoken.recovery.path import RecoveryPath
from outspoken.recovery.sync_points import sync_points
from outspoken.results.edits import shown
from outspoken.semantics.open_node import OpenNode

from .damaged_segment import DamagedSegment

if TYPE_CHECKING:
    from .recovery_driver import RecoveryDriver

#: So many characters behind the punctuation decide how it is read.
_FOLLOWING = 40
#: More white space and punctuation than this does not stand between two entries by mistake.
_LONGEST_GAP = 1_000
#: The end of an entry is searched for in so many characters once the budget is spent.
_WINDOW = 400
_NO_ENTRY = "this does not belong between the entries of a list"


def damaged_gap(recovery: RecoveryDriver, at: int) -> DamagedSegment | None:
    """The punctuation between two entries of a list, if the grammar refuses a part of it at an offset."""
    automaton, config = recovery.automaton, recovery.state.config
    place = list_place(automaton, config)
    if place is None:
        return None
    start, config = at, place.before
    if place.has_entry:
        start, config = recovery.builder.output.consumed, place.behind
        if start > at or GAP.match(between := recovery.text.slice(start, at)).end() < len(between):
            return None
    return DamagedSegment(start, config, None, at, True, sync_points(config), is_gap=True)


def read_between(recovery: RecoveryDriver, damage: DamagedSegment, *, final: bool) -> bool | None:
    """Read the punctuation between two entries. False if more of it may come, None if it cannot be read."""
    text, builder = recovery.text, recovery.builder
    rest = text.slice(damage.start, min(damage.start + _LONGEST_GAP + _FOLLOWING, text.end))
    end = GAP.match(rest).end()
    if len(rest) <= end + _FOLLOWING and end <= _LONGEST_GAP and not final:
        return False
    damage.is_gap = False
    text.rewind(damage.refused_at)  # the end of the segment may be in what was waited behind
    if end > _LONGEST_GAP:
        return None
    path = read_gap(damage.outer, rest[: end + _FOLLOWING], end, damage.start)
    if path is None and rest[end : end + 1] == "[":  # the list is opened again
        end += 1
        path = read_gap(damage.outer, rest[: end + _FOLLOWING], end, damage.start)
    if path is None:
        return None
    recovery.state.damage = None
    if builder.context.repair_limit in ("none", "notation"):
        path = _reported(recovery, path)
    return recovery.apply(path, damage, damage.start + end, end_is_certain=True) or None


def _reported(recovery: RecoveryDriver, path: RecoveryPath) -> RecoveryPath:
    """A path without its repairs, which are reported as errors."""
    recorder = recovery.builder.recorder
    for edit in [edit for step in path.steps for edit in step.edits]:
        what = f"{shown(edit.after)} is missing" if edit.after else "this does not belong here"
        recorder.report("invalid-list", f"{what}, between the entries of a list", (edit.start, edit.end))
    recorder.lower_status("invalid")
    steps = tuple([step._replace(edits=()) for step in path.steps])
    return RecoveryPath(steps, path.config, path.cost, path.cut)


def is_later_entry(recovery: RecoveryDriver, damage: DamagedSegment) -> bool:
    """Is a damaged segment an entry of a list that has others before it?"""
    is_later = recovery.state.opener_at < recovery.builder.output.consumed
    return is_later and list_place(recovery.automaton, damage.outer) is not None


def lose_entry(recovery: RecoveryDriver, damage: DamagedSegment, end: int, *, cut: bool) -> bool:
    """Report an entry of a list that cannot be read, and go on behind it. Returns whether there is one."""
    automaton, builder, config = recovery.automaton, recovery.builder, recovery.state.config
    is_open = list_place(automaton, config) is None
    outer = automaton.outside_of_call(config) if is_open else config
    place = list_place(automaton, outer)
    if place is None:
        return False
    depth = automaton.open_nodes(outer)
    node = builder.nodes[depth] if is_open and len(builder.nodes) > depth else None
    if (is_open and node is None) or not (
        recovery.state.opener_at < builder.output.consumed or _says_call(recovery, node)
    ):
        return False
    start = damage.refused_at if node is None else node.start
    text = recovery.text.slice(start, end)
    refused = damage.refused_at - start
    if not recovery.budget.allows(damage.refused_at):
        text, cut = text[: refused + _WINDOW], True
    recovery.budget.spent += len(text)
    stop = start + entry_end(text, refused)
    if (cut and stop == start + len(text)) or stop <= start or (node is not None and text[:1] not in ("{", "[")):
        return False
    builder.recorder.edits.clear()
    del builder.nodes[depth:]
    if node is not None:
        builder.calls.unfinished(node, stop, "invalid")
    else:
        builder.recorder.lower_status("invalid")
        builder.recorder.report("invalid-list", _NO_ENTRY, (start, stop))
        if builder.nodes and "action" in builder.nodes[-1].kinds:  # it lacks one of its parts
            builder.nodes[-1].problem = builder.nodes[-1].problem or _NO_ENTRY
        builder.output.end_node(start, stop)
    recovery.resume(stop, place.behind)
    return True


def _says_call(recovery: RecoveryDriver, node: OpenNode | None) -> bool:
    """Is the first entry of a list certainly a call or an action?"""
    if node is None:
        return False
    return node.index >= 0 or bool(node.name or node.arguments) or recovery.builder.actions.is_started(node)
