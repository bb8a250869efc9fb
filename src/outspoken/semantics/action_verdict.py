"""What becomes of a finished action or payload: it runs, or is refused. `verdict` has what calls share with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from outspoken.grammar import registry
from outspoken.grammar.value_markup import survey
from outspoken.notations.tools import odd_name
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import is_distinct_marker
from outspoken.results.edits import shown

from .markup_in_values import begins_action, holds_action, holds_field
from .proof import holds_attribute, keys_within, texts_within
from .schema_objections import Objection
from .state import ReplyState
from .taken_in import argument_marks, takes_in_argument
from .verdict import of_request, of_text

if TYPE_CHECKING:
    from outspoken.actions.mapping import ActionMapping
    from outspoken.results.edits import Edit

    from .open_node import OpenNode

#: Repairs that make a text of what should be a number.
_NO_NUMBERS = frozenset({"loose-number", "thousands-separator", "not-finite"})
#: How a value of an object begins that holds the end of its key and its own opening quotation mark.
_BEHIND_KEY = lazy_pattern(r"[\"']?\s{0,3}[:=]\s{0,3}[\"']")
#: The end of a string and the next member of its object.
_MEMBER = lazy_pattern(r"\"\s{0,9},\s{0,99}\"[^\"\n]{1,60}\"\s{0,9}:")


def refusal_of_action(
    state: ReplyState,
    node: OpenNode,
    arguments: dict[str, Any],
    unread: Collection[str],
    mapping: ActionMapping,
    end: int,
) -> Objection | None:
    """Why a finished action may not run; None if it may.

    `unread` are the arguments that the action did not take. The arguments that actions of its name may have, by the
    mapping, are its schema.
    """
    name = node.name or ""
    argument_names = mapping.arguments_of(name)
    others = [key for key in unread if key not in argument_names]
    refusals = [
        *of_request(state, node, name, arguments, end),
        *of_text(state, node, name, arguments, end, is_unlike=bool(others), is_action=True),
    ]
    if (odd := odd_name(others)) is not None:
        refusals.append(Objection("unproven", f"{shown(odd)} is no name: it has a sign at its edge", odd))
    if "" in keys_within(arguments):
        refusals.append(Objection("unproven", "a value has no name"))
    if others and (odd := begins_action(state, {key: arguments.get(key) for key in others}, mapping)):
        refusals.append(Objection("unproven", f"{shown(odd)} seems to hold the beginning of another action", odd))
    if key := _holds_beginning(state, arguments):
        refusals.append(Objection("unproven", f"the value of `{key}` holds the beginning of another action", key))
    if others and state.recorder.edits:
        refusals.append(
            Objection("unknown-argument", f"an action of this kind has no argument `{others[0]}`", others[0])
        )
    absent = argument_names - arguments.keys()
    is_open = node.ends_by_chance or node.ends_at_argument or bool(node.looseness)
    refusals += _of_bare_values(state, arguments, absent, mapping, is_open=is_open, on_lines=node.ends_at_argument)
    if state.recorder.edits:
        refusals += _of_values(state.recorder.edits, arguments, absent, mapping.expression)
    elif key := holds_field(state, arguments, absent):
        refusals.append(Objection("unproven", f"the value of `{key}` seems to hold another argument", key))
    return refusals[0] if refusals else None


def _holds_beginning(state: ReplyState, arguments: dict[str, Any]) -> str:
    """The key of a value that holds what opens a call, and what opens an argument; "" if there is none."""
    known = survey(registry.automaton(state.header.format))
    openers = list(filter(is_distinct_marker, known.argument_openers))
    for key, value in arguments.items() if openers else ():
        text = value if isinstance(value, str) and any(one in value for one in openers) else ""
        if any(one in text for one in known.call_markers):
            return key
    return ""


def _of_bare_values(
    state: ReplyState,
    arguments: dict[str, Any],
    absent: Collection[str],
    mapping: ActionMapping,
    *,
    is_open: bool,
    on_lines: bool,
) -> Iterator[Objection]:
    """What the bare values of an action say against it.

    They are open if they have no closing marker of their own, or hold that, too. Others may hold all but tags of
    arguments that the action lacks.
    """
    if is_open and (key := holds_action(state, arguments, mapping)):
        yield Objection("unproven", f"the value of `{key}` seems to hold the beginning of another action", key)
    marks = argument_marks(registry.automaton(state.header.format))
    if not is_open:
        marks = marks._replace(openers=tuple([opener for opener in marks.openers if opener[:1] == "<"]))
    names = sorted(absent) if marks.openers else ()
    if key := takes_in_argument(marks, names, arguments, on_lines=on_lines):
        yield Objection("unproven", f"the value of `{key}` seems to hold another argument", key)
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    if key := next((key for key, text in texts.items() if holds_attribute(text, absent)), ""):
        yield Objection("unproven", f"the value of `{key}` seems to hold another argument", key)


def _of_values(
    edits: Iterable[Edit], arguments: dict[str, Any], absent: Iterable[str], expression: re.Pattern[str]
) -> Iterator[Objection]:
    """What the values of a repaired action say against it, which lacks the `absent` arguments.

    They may hold another argument, or another action, which `expression` finds.
    """
    if any(edit.code in _NO_NUMBERS and edit.after[:1] == '"' for edit in edits):
        yield Objection("unproven", "a number is not written as one")
    words = "|".join(map(re.escape, sorted(absent)))
    for key, value in arguments.items():
        if not isinstance(value, str):
            continue
        edge = "" if any(edit.code == "lost-quote" for edit in edits) else r"(?<![\w$])"
        argument = rf"{edge}(?:{words})[\"']?\s{{0,9}}[=:]|[\"'],\s{{0,9}}[\"'](?:{words})(?!\w)"
        if words and re.search(argument, value):
            yield Objection("unproven", f"the value of `{key}` seems to hold another argument", key)
        if _BEHIND_KEY.match(value):
            yield Objection("unproven", f"the value of `{key}` begins with what stands behind its name", key)
        if expression.search(value):
            yield Objection("unproven", f"the value of `{key}` seems to hold another action", key)


def refusal_of_payload(state: ReplyState, node: OpenNode) -> Objection | None:
    """Why a finished payload may not be used; None if it may."""
    found = of_text(state, node, node.name or "", {"": None}, node.text_end, is_unlike=False)
    edits, read = state.recorder.edits, state.source.slice
    if any(edit.code == "dropped-text" and read(edit.start - 9, edit.start).rstrip()[-1:].isdigit() for edit in edits):
        found.append(Objection("unproven", "a number is not written as one"))
    if edits and any(map(_MEMBER.search, texts_within([state.last_value]))):
        found.append(Objection("unproven", "a value seems to hold the next one"))
    return found[0] if found else None
