"""Markup in the values and the names of a finished call: what may belong to the call, or to another one."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.grammar.value_markup import (
    closing_forms,
    has_fields,
    openers_of_actions,
    opening_forms,
    survey,
)
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.markup_search import LAST_WORD
from outspoken.patterns.near_miss import mistakes_allowed

from .call_shapes import opens_call
from .schema_objections import has_others, has_those_of_named
from .state import ReplyState
from .taken_in import argument_marks

if TYPE_CHECKING:
    from outspoken.actions.mapping import ActionMapping

    from .open_node import OpenNode

#: A field behind a tab, of which the name or the colon may have a mistake.
_FIELD = lazy_pattern(r"\t[ ]?([^\W\d]{1,20}(?:[ \W][^\W\d]{1,20}?)?)\W{0,2}(?:\d|:)")
#: The last word of a text.
_WORD_AT_END = lazy_pattern(r"\w+\Z")


def holds_markup(
    state: ReplyState,
    node: OpenNode,
    name: str,
    arguments: dict[str, Any],
    *,
    is_unlike: bool,
    is_call: bool,
    is_action: bool,
) -> bool:
    """Does a value hold markup that may belong to the call?"""
    tools = state.context.tools
    is_certain = node.looseness == "doubled" or (
        node.looseness == "certain" and (not is_action or bool(state.recorder.edits) or _holds_opener(state, arguments))
    )
    is_open = node.looseness == "unbalanced" and (
        _holds_end(state, arguments) if is_action else tools is None or name not in tools
    )
    is_likely = bool(node.looseness) and (is_unlike or _names_tool(state, arguments))
    if is_call and node.ends_at_argument and not is_likely and has_others(tools, name, arguments):
        is_likely = has_those_of_named(tools, name, arguments) or _holds_call(state, arguments)
    return is_certain or is_open or is_likely


def _names_tool(state: ReplyState, arguments: dict[str, Any]) -> bool:
    """Is the name of a given tool in a value, where markup has it?"""
    tools = state.context.tools
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return tools is not None and any(
        name in text and re.search(rf"[=\"'>|]{re.escape(name)}[\"'<>|]", text)
        for name in tools.names
        for text in texts
    )


def _holds_opener(state: ReplyState, arguments: dict[str, Any]) -> bool:
    """Does a marker that opens something, or half of one, and a word, stand behind a line break or a tab of a value?

    One word, such as the name of an action, may stand between them.
    """
    opening = opening_forms(registry.automaton(state.header.format))
    forms = "|".join([re.escape(form[: (len(form) + 1) // 2 if mistakes_allowed(form) else None]) for form in opening])
    return bool(forms) and _is_in_value(rf"[\n\r\t]\s*(?:(?:\w+\s*)?(?:{forms})\s*\w|</?\w*\Z)", arguments)


def _holds_call(state: ReplyState, arguments: dict[str, Any]) -> bool:
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return any(opens_call(registry.automaton(state.header.format), text, None) for text in texts)


def _holds_end(state: ReplyState, arguments: dict[str, Any]) -> bool:
    """Does a closing tag of the format stand in a value, and a tag that names something as `<…=` behind it?"""
    closing = [re.escape(form) for form in closing_forms(registry.automaton(state.header.format)) if form[:2] == "</"]
    return bool(closing) and _is_in_value(rf"(?:{'|'.join(closing)})\s*<\w[\w:.-]*=", arguments)


def _is_in_value(pattern: str, arguments: dict[str, Any]) -> bool:
    return any(isinstance(value, str) and re.search(pattern, value) for value in arguments.values())


def begins_action(state: ReplyState, fields: Mapping[str, Any], mapping: ActionMapping) -> str:
    """The first field without a meaning that seems to begin another action; "" if none does.

    Its name ends with what opens a field or an action, as `poaction:` does with `action:`, or its value ends with
    the name of an action, as in `sum:CLICK`.
    """
    automaton = registry.automaton(state.header.format)
    if not has_fields(automaton):
        return ""
    forms = (*opening_forms(automaton), *openers_of_actions(automaton))
    words = {name: _WORD_AT_END.search(value) for name, value in fields.items() if isinstance(value, str)}
    named = {name for name, word in words.items() if word is not None and mapping.is_name(word[0])}
    return next((n for n in fields if n in named or any(f"{n}{form[-1]}".endswith(form) for form in forms)), "")


def holds_action(state: ReplyState, arguments: dict[str, Any], mapping: ActionMapping) -> str:
    """The key of a value that holds what opens an action, and the name of one behind it; "" if there is none.

    A name that ends a value of several lines, behind a sign, stands behind a damaged opener.
    """
    for key, value in arguments.items():
        last = LAST_WORD.search(value) if isinstance(value, str) and "\n" in value else None
        if last is not None and mapping.is_name(last[1]):
            return key
        if isinstance(value, str) and opens_action(registry.automaton(state.header.format), value, mapping):
            return key
    return ""


def opens_action(automaton: Automaton, text: str, mapping: ActionMapping) -> bool:
    """Does a text hold what opens an action, in any case, and a name of one?

    A word that opens actions stands on a line of its own or right behind another word. An argument of the action
    follows where its opener is a sign, or is missing at the beginning of a line.
    """
    for found in (found.groupdict() for opener in _action_openers(automaton) for found in opener.finditer(text)):
        name, argument = found["name"], found.get("argument")
        if mapping.is_name(name) and (argument is None or argument in mapping.arguments_of(name)):
            return True
    return False


@lru_cache(maxsize=256)
def _action_openers(automaton: Automaton) -> list[re.Pattern[str]]:
    """The patterns of what opens actions with bare values, with the name, and the first argument behind a lone sign."""
    marks = argument_marks(automaton)
    signs = re.escape("".join(sorted(marks.behind)))
    longer = openers_of_actions(automaton)
    lone = [form for form in survey(automaton).action_openers if signs and len(form) == 1 and not form.isalnum()]
    start = {form: r"(?:(?<=[\w\n])|\A(?=[^\n]*\s\w+\Z))" for form in longer if form[0].isalnum()}
    named = [rf"{start.get(form, '')}{re.escape(form)}\s?(?P<name>\w+)" for form in longer]
    named += [rf"(?:{re.escape(form)}|(?<=\n))\s?(?P<name>\w+)\s{{1,3}}(?P<argument>\w+)\s?[{signs}]" for form in lone]
    return [re.compile(pattern, re.IGNORECASE) for pattern in named]


def holds_field(state: ReplyState, arguments: dict[str, Any], absent: Collection[str]) -> str:
    """The key of a value that holds an absent argument behind a tab, of which the name or the colon has a mistake."""
    for key, value in arguments.items():
        for field in _FIELD.finditer(value) if isinstance(value, str) and "\t" in value else ():
            if re.sub(r"\W", "", field[1]) in absent and has_fields(registry.automaton(state.header.format)):
                return key
    return ""
