"""Calls by their shape, where the markers of a format are too short to show one: a line with the name of a tool.

What shows it is the name of a declared tool where the format would write it, or before an argument of that tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config
from outspoken.grammar.near_openers import written_forms
from outspoken.grammar.value_markup import closing_forms, survey
from outspoken.grammar.vocabulary import EMBEDDED_VALUES
from outspoken.notations.interface import notation_of
from outspoken.notations.tools import Tools
from outspoken.patterns.markup_search import is_distinct_marker
from outspoken.patterns.near_miss import mistakes_allowed, near_misses

from .keys import lacking

#: So many characters that are no letters may stand between the name of a tool and that of an argument, and behind that.
_GAP, _SIGN = r"[^\w]{1,14}", r"(?:[\"'”]?[^\S\n]{0,2}[^\w\s,.;!?)\]}\"'”`-]|\"(?=[\w./]))"
#: What stands before the name of an argument on a line of its own: signs, and a letter that is there by mistake.
_INDENT = r"[^\w\n]{0,14}(?:\w[^\w\n]{1,9})?"
#: So much of the line before the name of a tool is looked at, and so much of the text behind it.
_LEAD, _REST = 40, 200


class CallShapes(NamedTuple):
    """What stands before and behind the names of tools."""

    openers: tuple[str, ...]
    behind: tuple[str, ...]
    #: what closes a call, or a part of it
    closers: frozenset[str]


def call_shapes(automaton: Automaton) -> CallShapes:
    """What a format writes before and behind the names of its calls, white space aside."""
    found = survey(automaton)
    return CallShapes(found.call_openers, found.behind_calls, closing_forms(automaton))


def begins_with_opener(automaton: Automaton, name: str) -> bool:
    """Does a name begin with what opens calls before their names? A word alone is none of these."""
    openers = survey(automaton).call_openers
    return any(not form[-1].isalnum() and len(form) > 1 and name.startswith(form) for form in openers)


def opens_call(automaton: Automaton, text: str, tools: Tools | None, start: int = 0) -> bool:
    """Does a marker that opens calls stand in a text behind a place, in any case, before the name of a tool?

    Without tools, any word is a name, and a word or a sign alone is no marker.
    """
    forms = [form for form in survey(automaton).call_openers if form]
    if tools is None:
        forms = [form for form in forms if not form[-1].isalnum() and len(form) > 1]
    names = "|".join(map(re.escape, tools.names)) if tools is not None else r"\w"
    opener = rf"(?:{'|'.join(map(re.escape, forms))})\s{{0,2}}(?:{names})"
    return bool(forms and names) and re.compile(opener, re.IGNORECASE).search(text, start) is not None


def open_end(automaton: Automaton, text: str, max_depth: int) -> str:
    """How the text of a call ends that is not complete, in the notation of its values; see `Notation.open_end`."""
    embedded = [step for step in automaton.tables.terminals.values() if step.short in EMBEDDED_VALUES]
    notations = dict.fromkeys(map(notation_of, embedded))
    return next((found for notation in notations if (found := notation.open_end(text, max_depth))), "")


@lru_cache(maxsize=2048)
def is_ended_by_chance(value_end: Config) -> bool:
    """May what ends a bare value also stand in it by chance, such as a line break, so that only shapes tell?"""
    ends = [step.terminal for step in value_end.strict_transitions()[2]]
    if any(end.canonical.isspace() for end in ends):
        return True
    return not any(is_distinct_marker(written) for end in ends for written in written_forms(end))


@lru_cache(maxsize=2048)
def is_ended_by_argument(value_end: Config) -> bool:
    """Does what opens the next argument end a bare value, which has no closing marker of its own?"""
    return any(
        following.terminal.short == "ARG_NAME"
        for opener in value_end.strict_transitions()[2]
        for following in opener.target.strict_transitions()[2]
    )


@lru_cache(maxsize=2048)
def closing_signs(value_end: Config) -> frozenset[str]:
    """The single signs that end a bare value; brackets, which it may hold in pairs, are none of them."""
    ends = {form.strip() for step in value_end.strict_transitions()[2] for form in written_forms(step.terminal)}
    return frozenset([form for form in ends if len(form) == 1 and not form.isalnum() and form not in "()[]{}<>"])


def find_shape(text: str, tools: Tools | None, shapes: CallShapes) -> re.Match[str] | None:
    """The name of a tool in a text where a call of it seems to stand."""
    for name in tools.names if tools is not None else ():
        if name in text:
            for match in re.finditer(rf"(?<![\w.]){re.escape(name)}", text):
                is_whole = not re.match(r"\w", text[match.end() :][:1])
                if _is_begun(text, match, shapes) or (
                    is_whole and (_is_opened(text, match, shapes) or _has_argument(text, match, tools, shapes))
                ):
                    return match
    return _find_arguments(text, tools, shapes)


def _find_arguments(text: str, tools: Tools | None, shapes: CallShapes) -> re.Match[str] | None:
    """The first of all required arguments of a tool, each on a line of its own, before a line that closes a call."""
    if tools is None or "\n" not in text:
        return None
    closers = "|".join([re.escape(form) for form in shapes.closers])
    if not re.search(rf"\n[ \t]{{0,9}}(?:{closers or '(?!)'})[ \t]*(?:\n|\Z)", text):
        return None
    for name in tools.names:
        places = [re.search(rf"(?:\n|^){_INDENT}{re.escape(key)}{_SIGN}", text) for key in lacking(tools, name, {})]
        if places and None not in places:
            return places[0]
    return None


def _is_begun(text: str, name: re.Match[str], shapes: CallShapes) -> bool:
    """Does what opens a call stand right before the name? A word begins its line; one ASCII sign is not enough."""
    line = text.rfind("\n", 0, name.start()) + 1
    lead = text[max(line, name.start() - _LEAD) : name.start()].strip()
    return any(
        (len(opener) > 1 or not opener.isascii()) and lead.endswith(opener) and (lead == opener or not opener.isalnum())
        for opener in shapes.openers
    )


def _is_opened(text: str, name: re.Match[str], shapes: CallShapes) -> bool:
    """Does the line hold what opens a call, the name, and what may stand behind it? One mistake is allowed."""
    line = text.rfind("\n", 0, name.start()) + 1
    lead, rest = text[max(line, name.start() - _LEAD) : name.start()].strip(), text[name.end() : name.end() + _REST]
    end = rest.partition("\n")[0].strip()
    end = end[:-1] if end[:-1] in shapes.behind else end
    for opener in shapes.openers:
        if len(opener) > 1 and end in ("", *shapes.behind) and _is_near(lead, opener):
            return True
        if end and end in shapes.behind and not opener.isalnum() and not any(map(str.isalnum, lead)):
            return True
    return False


def _is_near(lead: str, opener: str) -> bool:
    if mistakes_allowed(opener):
        return any(end == len(lead) for end, _ in near_misses(lead, 0, opener)) or lead[1:] == opener
    return lead == opener or (len(lead) < len(opener) + 2 and opener in lead)


def _has_argument(text: str, name: re.Match[str], tools: Tools | None, shapes: CallShapes) -> bool:
    """Does an argument of the tool stand behind its name, with a sign that gives it a value?

    A word that the format writes behind names may stand between them.
    """
    rest = text[name.end() : name.end() + _REST]
    words = "|".join([re.escape(form.strip()) for form in shapes.behind if form.strip().isalpha()])
    gap = rf"(?:{_GAP}|\s{{0,9}}(?:{words})\s{{1,9}})" if words else _GAP
    return any(re.match(rf"{gap}{re.escape(key)}{_SIGN}", rest) for key in lacking(tools, name[0], {}))


def holds_shape(text: str, name: str, arguments: Mapping[str, Any], tools: Tools | None, shapes: CallShapes) -> bool:
    """Does a value of a call hold another call, or an argument that the call lacks, on a line of its own?"""
    if find_shape(text, tools, shapes) is not None:
        return True
    missing = [key for key in lacking(tools, name, arguments) if key in text]
    return any(re.search(rf"(?:\n|^){_INDENT}{re.escape(key)}{_SIGN}", text) for key in missing)
