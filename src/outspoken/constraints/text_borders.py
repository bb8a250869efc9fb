"""Between which characters a marker is recognised: `[` behind a word is no list of calls.

What may stand there is found by reading: a response is made for each character, and counts if it is read as meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from outspoken.actions.encoding import effect_of
from outspoken.notations.tools import Tools
from outspoken.parsing.functions import parse
from outspoken.results.actions.base import BaseAction
from outspoken.results.replies import Reasoning, Reply, Text, ToolCall

from .plain_patterns import in_class
from .skeleton import END, START, Hole, Skeleton

_WORDS = "Hello there"
#: Characters that are tried. What holds for some of them holds for all of their kind.
_KINDS = {"a-z": "a", "A-Z": "Z", "0-9": "0", "\x80-\ud7ff\ue000-\U0010ffff": "é中。”"}
_SINGLE = "\t\n !\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~"
_TOOLS = Tools.of([{"name": "tool_a", "parameters": {"type": "object"}}])


class Border(NamedTuple):
    """A literal beside text, a class of the characters that may stand there ("" for any), and whether none may."""

    literal: str
    chars: str
    may_be_empty: bool


def border_behind(skeleton: Skeleton, text: Hole, target: Hole, literal: str, *, trimmed: bool) -> Border | None:
    """How a literal behind text has to stand so that it is recognised; None if it never is."""
    lead, rest = skeleton.sample(START, text), skeleton.sample(target, END)
    if lead is None or rest is None:
        return None
    lead = lead.removesuffix(skeleton.samples[text])
    bare = literal.lstrip("\n") if trimmed else literal
    for tried in dict.fromkeys([bare, literal]):
        found = _tried(lambda char, tried=tried: _is_read(skeleton, lead, f"{_WORDS}{char}", tried + rest))
        if any(is_read for _, is_read in found):
            return Border(tried, _class(found), _is_read(skeleton, lead, "", tried + rest))
    return None


def border_before(skeleton: Skeleton, hole: Hole, text: Hole, literal: str) -> Border:
    """How text has to begin behind a call so that it is read as text."""
    lead, rest = skeleton.sample(START, hole), skeleton.sample(text, END)
    if lead is None or rest is None:
        return Border(literal, "", True)
    rest = rest.removeprefix(skeleton.samples[text])
    found = _tried(lambda char: _is_read(skeleton, lead + literal, f"{char}{_WORDS}", rest))
    return Border(literal, _class(found), True)


def _tried(is_read: Callable[[str], bool]) -> list[tuple[str, bool]]:
    """Kinds of characters as parts of a class, and whether all that are tried of each count."""
    kinds = [*_KINDS.items(), *[(in_class(char), char) for char in _SINGLE]]
    return [(kind, all(map(is_read, chars))) for kind, chars in kinds]


def _class(found: list[tuple[str, bool]]) -> str:
    """The class of the characters that count; "" if all do."""
    if all(is_read for _, is_read in found):
        return ""
    listed = "".join([kind for kind, is_read in found if is_read])
    return f"[{listed}]" if listed else "[^\\s\\S]"


def _is_read(skeleton: Skeleton, lead: str, text: str, rest: str) -> bool:
    """Is a text read as it stands, and what is beside it, too?"""
    alone = parse(lead + rest, format=skeleton.format, tools=_TOOLS, finish_reason="stop")
    reply = parse(lead + text + rest, format=skeleton.format, tools=_TOOLS, finish_reason="stop")
    if reply.status != "ok" or any(d.severity != "note" for d in reply.diagnostics):
        return False
    return _kinds(reply) == _kinds(alone) and (not text or text.strip() in [t.text.strip() for t in _texts(reply)])


def _kinds(reply: Reply) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for segment in reply.segments:
        if isinstance(segment, ToolCall):
            found.append((segment.name, segment.arguments))
        elif isinstance(segment, Reasoning):
            found.append(("think", segment.text))
        elif isinstance(segment, BaseAction):
            found.append((segment.name, effect_of(segment)))
    return found


def _texts(reply: Reply) -> list[Text]:
    return [segment for segment in reply.segments if isinstance(segment, Text)]


def unread_within(skeleton: Skeleton, hole: Hole) -> str:
    """The class of the characters that reasoning may not hold, since a marker beside it looks for them; "" for none."""
    found: dict[str, None] = {}
    lead = skeleton.sample(START, hole)
    if lead is None:
        return ""
    lead = lead.removesuffix(skeleton.samples[hole])
    for target, literal in skeleton.outer.get(hole, {}).items():
        rest = skeleton.sample(target, END)
        if rest is None or target.role == "reasoning" or not _is_thought(skeleton, lead, "", literal + rest):
            continue
        if not _is_thought(skeleton, lead, _SINGLE, literal + rest):
            found |= dict.fromkeys([char for char in _SINGLE if not _is_thought(skeleton, lead, char, literal + rest)])
    return f"[{''.join(map(in_class, found))}]" if found else ""


def _is_thought(skeleton: Skeleton, lead: str, chars: str, rest: str) -> bool:
    """Is reasoning read as it stands with some characters in it?"""
    thought = "".join([_WORDS + char for char in chars]) + _WORDS
    reply = parse(lead + thought + rest, format=skeleton.format, tools=_TOOLS, finish_reason="stop")
    if reply.status != "ok" or any(d.severity != "note" for d in reply.diagnostics):
        return False
    return ("think", thought) in _kinds(reply)
