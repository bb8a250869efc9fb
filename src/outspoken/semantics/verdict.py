"""What becomes of a finished call: it runs, also with objections that are reported, or is refused.

All come here, whatever the format, and actions and payloads from `action_verdict`; see `proof` for what their arguments
must show.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.value_markup import (
    closing_forms,
    has_terminal,
    openers_at_end,
    opening_forms,
    survey,
    value_ends,
    value_openers,
)
from outspoken.json.decoder import has_more_keys, repeated_keys
from outspoken.notations.tools import odd_name
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import is_distinct_marker
from outspoken.patterns.near_miss import near_misses
from outspoken.results.edits import shown

from .call_shapes import begins_with_opener, call_shapes, holds_shape, open_end, opens_call
from .keys import lacking, required_absent
from .markup_in_values import holds_markup, opens_action
from .proof import (
    ENDS_BY_SUPPLY,
    PADDED,
    RepairedCall,
    as_repaired,
    holds_key,
    holds_line,
    is_cut_json,
    lacks_comma,
    loses_argument,
    loses_character,
    loses_path,
    may_lose_argument,
    pads_number,
)
from .schema_objections import Objection, has_others, is_declaration, is_unlike, may_violate, objections
from .state import CutValue, ReplyState
from .taken_in import BareValues

if TYPE_CHECKING:
    from outspoken.actions.mapping import ActionMapping

    from .open_node import OpenNode
    from .special_text import SpecialText


#: Objections to which there is no second opinion: the text does not show that the model meant this call.
_REFUSED = frozenset({
    "repeated-argument", "lone-surrogate", "lost-path", "unnamed-argument", "unproven", "echoed-call", "needs-exact",
    "plain-marker",
})  # fmt: skip
#: Those with a diagnostic of their own; the others are the message of `invalid-call`.
REFUSED_CODES = frozenset({"echoed-call", "needs-exact", "plain-marker"})
#: A text of which the first bracket closes, and opens another one before it closes again; or the last word of which
#: is in a bracket that never closes.
_CLOSES = lazy_pattern(r"\A[^\[\]]*\][^\]]*\[[^\]]*\[|\s\[[^\[\]]*\Z")
#: What may stand between two calls of a list.
_SEPARATORS = lazy_pattern(r"[\s,;]*")
#: What may stand between an opening marker and a call.
_BRACKETS = " \t\r\n[{(\"'`"
#: No opening marker is longer, with what may stand behind it.
_LONGEST = 200


def verdict_on(
    state: ReplyState, node: OpenNode, name: str, arguments: dict[str, Any], end: int
) -> tuple[list[Objection], bool]:
    """What speaks against a finished call, which ends at an offset, and whether it is refused for the first of it."""
    context, is_repaired = state.context, bool(state.recorder.edits)
    if not is_repaired and _is_clear(state, node, name, arguments, end):
        return [], False
    spoken_against = of_request(state, node, name, arguments, end)
    spoken_against += of_text(state, node, name, arguments, end, is_unlike=is_unlike(context.tools, name, arguments))
    check = context.settings.schema_check
    if context.tools is not None and check != "off":
        spoken_against += objections(context.tools, name, arguments, is_repaired=is_repaired)
    if node.odd_key and any(objection.key == node.odd_key for objection in spoken_against):
        spoken_against.insert(0, _odd(node.odd_key))
    return spoken_against, bool(spoken_against) and (
        is_repaired or spoken_against[0].code in _REFUSED or check == "refuse"
    )


def _odd(key: str) -> Objection:
    return Objection("unproven", f"the value of `{key}` may hold a part of the markup", key)


def _is_clear(state: ReplyState, node: OpenNode, name: str, arguments: dict[str, Any], end: int) -> bool:
    """Does plainly nothing speak against a sound call? This is fast, and most calls are so."""
    context, text = state.context, "".join(node.parts or ())
    if context.echoes is not None or context.exact or state.special or state.cut_value[0] >= 0:
        return False
    if (
        odd_name((name, *arguments)) is not None
        or _begins_marked(state, name)
        or node.looseness
        or node.ends_by_chance
        or has_more_keys(text, len(arguments))
        or "\\" in text
        or "\ufffd" in text
    ):
        return False
    if "properties" in arguments and is_declaration(context.tools, name, arguments):
        return False
    has_numbers = any(value.__class__ is not str for value in arguments.values())
    if has_numbers and PADDED.search(state.source.slice(max(node.start, 0), end)) is not None:
        return False
    if may_lose_argument(state.source.slice(max(node.start, 0), end)):
        return False
    tools = context.tools
    return tools is None or not may_violate(tools, name, arguments, checks=context.settings.schema_check != "off")


def of_request(state: ReplyState, node: OpenNode, name: str, arguments: dict[str, Any], end: int) -> list[Objection]:
    """What the request says against a call: its messages hold it, or its tool wants more evidence."""
    context = state.context
    refusals: list[Objection] = []
    if context.echoes is not None:
        start, edits = max(node.start, 0), state.recorder.edits
        markup = state.source.slice(start, end)
        named = markup.find(name) if arguments else -1
        if named > 0 and all(key in markup[named:] for key in arguments):
            start, markup = start + named, markup[named:]  # its opening marker may be another one, or none
        if state.special is not None:
            markup, arguments = state.special.shown((markup, arguments))
        forms = dict.fromkeys((markup, as_repaired(markup, start, edits)))
        numbers = [context.echoes.message_of(name, arguments, form, context.read_calls) for form in forms]
        number = next((place for place in numbers if place is not None), None)
        if number is not None:
            message = f"the call of `{name}` stands in message {number}, which the model had read"
            refusals.append(Objection("echoed-call", message))
    special = state.special
    if context.exact or special is not None:
        is_marked = _is_marked(state, node)
        state.marked_end = end if is_marked else -1
        if special is not None and (why := _of_tokens(state, node, special, is_marked=is_marked)):
            refusals.append(Objection("plain-marker", f"the call of `{name}` {why}"))
        if name in context.exact and (state.recorder.edits or not is_marked):
            why = "this one was repaired" if state.recorder.edits else "this one has no markers"
            refusals.append(Objection("needs-exact", f"`{name}` runs only if its call is exact, and {why}"))
    return refusals


def _of_tokens(state: ReplyState, node: OpenNode, special: SpecialText, *, is_marked: bool) -> str:
    """What says that a call was not written with the special tokens of the model; "" if nothing does."""
    if not is_marked and _is_opened(state, node) is False:
        return "does not begin with a special token"
    for edit in state.recorder.edits:
        if special.is_in(edit.after) and edit.start < edit.end and not special.is_in(state.source.slice(*edit[:2])):
            return f"has text in the place of the special token `{edit.after.strip()}`"
    return ""


def of_text(
    state: ReplyState,
    node: OpenNode,
    name: str,
    arguments: dict[str, Any],
    end: int,
    *,
    is_unlike: bool,
    is_action: bool = False,
) -> list[Objection]:
    """What the text of a call says against it, which has other arguments than its schema if it `is_unlike` that."""
    doubts: list[Objection] = []
    text = "".join(node.parts or ())
    if has_more_keys(text, len(arguments)) and (repeated := repeated_keys(text, contradict=True)):
        doubts.append(Objection("repeated-argument", f"the argument `{repeated[0]}` is given twice, with two values"))
    tools = state.context.tools
    argument_names = (None, name, *tools.facts(name).properties) if tools is not None and name in tools else ()
    is_call = not (is_action or "payload" in node.kinds)
    if is_call and (odd := odd_name(arguments)) not in (argument_names or (None,)):
        code = "unnamed-argument" if argument_names else "unknown-argument"
        doubts.append(Objection(code, f"{shown(odd or '')} is no name: it is empty, or has a sign at its edge"))
    if is_call and (tools is None or name not in tools):
        doubts += _of_name(state, name)
    if is_declaration(tools, name, arguments):
        doubts.append(Objection("unproven", f"this declares `{name}`: its arguments are a schema"))
    start, read = max(node.start, 0), state.source.slice
    why = "" if "payload" in node.kinds else _of_python(state, name, arguments, read(start, end), is_call=is_call)
    if why and has_terminal(registry.automaton(state.header.format), "PYTHON_VALUE"):
        doubts.append(Objection("unproven", why))
    if absent := required_absent(tools, name, arguments):
        doubts += _of_absent(state, arguments, absent, read(start, end), node.left_out)
    if ("\ufffd" in text or "\\u" in text) and loses_character(arguments, read(start, end)):
        doubts.append(Objection("lone-surrogate", "a string of the arguments holds half a character"))
    if text and not node.keyed and loses_path(text):
        doubts.append(Objection("lost-path", "a path in the arguments is written with single backslashes"))
    if holds_markup(state, node, name, arguments, is_unlike=is_unlike, is_call=is_call, is_action=is_action):
        doubts.append(Objection("unproven", "a value holds markup that may belong to the call"))
    if is_action and node.ends_by_chance and (key := _may_run_over(state, arguments)):
        doubts.append(Objection("unproven", f"the value of `{key}` may end before its last bracket", key))
    doubts += _of_shapes(state, node, name, arguments, is_unlike=is_unlike)
    if not _is_opened(state, node) and begins_in_value(state, node):
        state.cut_value = CutValue(end, is_empty=True, has_begun=True)
        doubts.append(Objection("unproven", "the call begins inside a value of another one, which may hold it"))
    doubts += _of_repairs(state, node, name, arguments, end, is_action=is_action)
    return doubts


def _of_name(state: ReplyState, name: str) -> Iterator[Objection]:
    """What speaks against the name of a call of a tool that is not known."""
    if state.context.tools is None and odd_name((name,)) is not None:
        yield Objection("unknown-tool", f"the name {shown(name)} has no word, or white space or a sign at its edge")
    if _begins_marked(state, name):
        yield Objection("unproven", f"the name {shown(name)} begins with a marker")


def _begins_marked(state: ReplyState, name: str) -> bool:
    """Does a name begin with a marker, which holds a sign?"""
    is_word = name.replace("-", "_").isidentifier()
    return not is_word and begins_with_opener(registry.automaton(state.header.format), name)


def _of_python(state: ReplyState, name: str, arguments: dict[str, Any], written: str, *, is_call: bool) -> str:
    """What the notation of Python says against a call that is `written` so; "" for nothing."""
    if is_call and pads_number(arguments, written):
        return "a number is not written as one"
    if lacks_comma(arguments, written):
        return "a comma may be missing between two strings"
    tools = state.context.tools
    is_open = is_call and (tools is None or name not in tools or bool(lacking(tools, name, arguments)))
    return "an argument may be lost beside a comma or a string" if is_open and may_lose_argument(written) else ""


def _of_absent(
    state: ReplyState, arguments: dict[str, Any], absent: Collection[str], written: str, left_out: str
) -> Iterator[Objection]:
    """What says that the arguments that a call lacks, although they are required, are `written` in it or were lost.

    They may be what was `left_out` of it.
    """
    if key := next((key for key in absent if holds_key(left_out, (key,))), ""):
        yield Objection("unproven", f"the argument `{key}` may be what is left out of the call", key)
    texts = {key: value for key, value in arguments.items() if value.__class__ is str}
    automaton = registry.automaton(state.header.format)
    holds = [holds_key, holds_line] if has_terminal(automaton, "ARG_VALUE") else [holds_key]
    if key := next((key for key, text in texts.items() if any(holds_any(text, absent) for holds_any in holds)), ""):
        yield Objection("unproven", f"the value of `{key}` seems to hold another argument", key)
    if loses_argument(written) and has_terminal(automaton, "PYTHON_VALUE"):
        yield Objection("unproven", f"the argument `{next(iter(absent))}` may be lost beside a comma or a string")


def _of_shapes(
    state: ReplyState, node: OpenNode, name: str, arguments: dict[str, Any], *, is_unlike: bool
) -> Iterator[Objection]:
    """What the bare values of a call say against it that end by chance: they may hold another call or argument.

    A value that was guessed in a call without markers may be code.
    """
    if state.header.bare_calls == "name" and any(edit.level == "heuristic" for edit in state.recorder.edits):
        yield Objection("unproven", "a value is no literal, so this may be code")
    tools = state.context.tools
    is_odd = state.recorder.edits or required_absent(tools, name, arguments) or has_others(tools, name, arguments)
    if node.odd_key and is_odd:
        yield _odd(node.odd_key)
    if node.ends_by_chance and tools is not None and "payload" not in node.kinds:
        words = [*tools.names, *lacking(tools, name, arguments)]
        for key, value in arguments.items():
            if value.__class__ is str and "\n" in value and _ends_as_closer(state, value.rpartition("\n")[2].strip()):
                yield Objection("unproven", f"the value of `{key}` seems to end with a part of the marker behind it")
            if value.__class__ is not str or not any(word in value for word in words):
                continue
            named = is_unlike and any(other in value for other in tools.names)
            shapes = call_shapes(registry.automaton(state.header.format))
            if named or holds_shape(value, name, arguments, tools, shapes):
                yield Objection("unproven", f"the value of `{key}` seems to hold a part of another one")


def _ends_as_closer(state: ReplyState, line: str) -> bool:
    """Is the last line of a value the beginning of a closing marker, of two signs at least?"""
    forms = closing_forms(registry.automaton(state.header.format)) if len(line) > 1 and not line[-1].isalnum() else ()
    return any(form.startswith(line) and form != line for form in map(str.strip, forms))


def _of_repairs(
    state: ReplyState, node: OpenNode, name: str, arguments: dict[str, Any], end: int, *, is_action: bool
) -> Iterator[Objection]:
    """What the repairs of a call say against it."""
    edits, read = state.recorder.edits, state.source.slice
    if not edits:
        return
    # the grammar of payloads belongs to an application; nothing but JSON has an end in it
    automaton = None if "payload" in node.kinds else registry.automaton(state.header.format)
    closers = frozenset[str]() if automaton is None else closing_forms(automaton)
    ends = frozenset[str]() if automaton is None else value_ends(automaton)
    evidence = RepairedCall(edits, read, node, name, arguments, end, closers, ends, is_action)
    if any(edit.code == "ellipsis" for edit in edits):
        yield Objection("unproven", "values were left out, for which `...` stands")
    names = [*arguments, *lacking(state.context.tools, name, arguments)]
    for why in evidence.in_values(names):
        yield Objection("unproven", why)
    within = [edit for edit in edits if edit.start > node.start]
    values = [value for value in arguments.values() if isinstance(value, str)]
    openers = frozenset[str]() if automaton is None else value_openers(automaton)
    if BareValues(within, read, end, openers, ends, values).hold_part_of_marker():
        yield Objection("unproven", "a value seems to hold a part of the marker beside it")
    if node.ends_by_chance and (key := _holds_closer(read(max(node.start, 0), end), arguments)):
        yield Objection("unproven", f"the value of `{key}` may end before its last bracket")
    if any(key[:1] == "$" and is_cut_json(value) for key, value in arguments.items()):
        yield Objection("unproven", "the arguments seem to be JSON that cannot be read")
    if why := evidence.at_end():
        if why == ENDS_BY_SUPPLY:
            state.cut_value = state.cut_value._replace(end=end, is_empty=True)
        yield Objection("unproven", why)


def _holds_closer(raw: str, arguments: dict[str, Any]) -> str:
    """The key of a value whose brackets do not match, of the kind that ends the call; "" if there is none."""
    closer = raw.rstrip()[-1:]
    opener = dict(zip(")]}", "([{", strict=True)).get(closer)
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    return next((k for k, text in texts.items() if opener and text.count(opener) != text.count(closer)), "")


def _may_run_over(state: ReplyState, arguments: dict[str, Any]) -> str:
    """The bare value of an action that may run on behind its end, as its brackets or its lines show; or ""."""
    closers = [form for form in closing_forms(registry.automaton(state.header.format)) if len(form) > 1]
    line = re.compile(rf"\n\s*(?:{'|'.join(map(re.escape, closers)) or '(?!)'})")
    for key, value in arguments.items():
        if not isinstance(value, str):
            continue
        if "\n" in value and line.search(value):
            return key
        opened, closed = value.count("["), value.count("]")
        if closed > opened or (opened > closed and (value[0] == "[" or _CLOSES.search(value))):
            return key
    return ""


def note_cut(state: ReplyState, node: OpenNode, end: int, mapping: ActionMapping | None) -> None:
    """Keep what a call that is refused, and ends at an offset, says of those behind it.

    They may be in a value of it that has no known end: if another one has begun within it, or if it ends in a string.
    The `mapping` knows the names of actions, if the format has any.
    """
    text, automaton = state.source.slice(max(node.start, 0), end), registry.automaton(state.header.format)
    own = len(text) - len(text.lstrip())
    behind_name = text.find(node.name) + len(node.name) if node.name else own + 1
    is_bare = (node.keyed or node.key is not None) and has_terminal(automaton, "ARG_VALUE")
    ending = "" if is_bare else open_end(automaton, text, state.context.settings.max_depth)
    is_unmarked = ending == "cut" and not text[own:].startswith(survey(automaton).call_markers)
    is_broken = (ending == "broken" or is_unmarked) and not _is_closed(automaton, text)
    if (
        is_broken
        or any(text.find(form, behind_name) >= 0 for form in survey(automaton).call_markers)
        or (ending == "broken" and any(text.count(form) > 1 for form in openers_at_end(automaton)[0]))
        or opens_call(automaton, text, state.context.tools, behind_name)
        or (mapping is not None and mapping.expression.search(text, behind_name) is not None)
        or (mapping is not None and opens_action(automaton, text[behind_name:], mapping))
    ):
        state.cut_value = CutValue(end, is_empty=True, has_begun=True)
    elif ending and node.key is None:
        state.cut_value = state.cut_value._replace(end=end, is_empty=False)


def _is_closed(automaton: Automaton, text: str) -> bool:
    """Does a text end with a closing marker that no other text has by chance?"""
    return text.rstrip().endswith(tuple(filter(is_distinct_marker, closing_forms(automaton))))


def begins_in_value(state: ReplyState, node: OpenNode) -> bool:
    """Has a call begun in a bare value of another one that never ended, and not on a line of its own?

    A marker with a mistake before it is the value's own, also on a line. If one call has begun so, all behind it have.
    """
    end, is_empty, has_begun = state.cut_value
    first = max(node.start - _LONGEST, 0)  # a candidate has no text before that
    if has_begun or end < 0 or not first <= end <= node.start:
        return has_begun
    before, between = state.source.slice(first, end), state.source.slice(end, node.start)
    automaton = registry.automaton(state.header.format)
    forms, opener = openers_at_end(automaton)
    core = between.strip()
    is_sound = not core or opener.match(between) is not None
    is_near = not is_sound and any(end == len(core) for form in forms for end, _ in near_misses(core, 0, form))
    if not (is_sound or is_near):
        return False  # text stands between them
    if _is_closed(automaton, before):
        return False  # that one ended, though it could not be read
    return is_empty or is_near or not (before.rstrip(" \t").endswith("\n") or between.startswith("\n"))


def _is_marked(state: ReplyState, node: OpenNode) -> bool:
    """Does a call stand in markers of its format, and not alone as an object, list or expression?"""
    read, start = state.source.slice, node.start
    if 0 <= state.marked_end <= start and _SEPARATORS.fullmatch(read(state.marked_end, start)):
        return True
    if (is_opened := _is_opened(state, node)) is not None:
        return is_opened
    openers = opening_forms(registry.automaton(state.header.format))
    before = read(start - _LONGEST, start).rstrip(_BRACKETS)
    return read(start, start + _LONGEST).startswith(openers) or before.endswith(openers)


def _is_opened(state: ReplyState, node: OpenNode) -> bool | None:
    """Does a special token open a call? None if that is not known, or calls of the format need none."""
    special, start, read = state.special, node.start, state.source.slice
    if special is None:
        return None
    before = read(start - _LONGEST, start)
    return special.begins(state.header.format, before + read(start, start + _LONGEST), len(before))
