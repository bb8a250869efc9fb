"""Between which characters a marker is recognised: `[` behind a word is no list of calls.

What may stand there is found by reading: a response is made for each character, and counts if it is read as meant.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from outspoken.actions.encoding import effect_of
from outspoken.notations.tools import Tools
from outspoken.parsing.functions import parse
from outspoken.results.actions.base import BaseAction
from outspoken.results.replies import Reasoning, Segment, Text, ToolCall

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


@lru_cache(maxsize=4096)
def border_behind(skeleton: Skeleton, text: Hole, target: Hole, literal: str, *, trimmed: bool) -> Border | None:
    """How a literal behind text has to stand so that it is recognised; None if it never is."""
    lead, rest = skeleton.sample(START, text), skeleton.sample(target, END)
    if lead is None or rest is None:
        return None
    lead = lead.removesuffix(skeleton.samples[text])
    bare = literal.lstrip("\n") if trimmed else literal
    for tried in dict.fromkeys([bare, literal]):
        tried_chars = _tried(lambda char, tried=tried: _is_read(skeleton, lead, f"{_WORDS}{char}", tried + rest))
        if any(is_read for _, is_read in tried_chars):
            return Border(tried, _class(tried_chars), _is_read(skeleton, lead, "", tried + rest))
    return None


@lru_cache(maxsize=4096)
def border_before(skeleton: Skeleton, hole: Hole, text: Hole, literal: str) -> str:
    """The class of the characters with which text may begin behind a call so that it is read as text; "" for any."""
    lead, rest = skeleton.sample(START, hole), skeleton.sample(text, END)
    if lead is None or rest is None:
        return ""
    rest = rest.removeprefix(skeleton.samples[text])
    return _class(_tried(lambda char: _is_read(skeleton, lead + literal, f"{char}{_WORDS}", rest)))


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
    alone, found = _read(skeleton, lead + rest), _read(skeleton, lead + text + rest)
    texts = [said for kind, said in found if kind is Text]
    beside = [[one for one in some if one[0] not in (Text, None)] for some in (alone, found)]
    return (None, None) not in found and beside[0] == beside[1] and (not text or text.strip() in texts)


def _read(skeleton: Skeleton, text: str) -> list[tuple[type[Segment] | None, object]]:
    """What a text says, in order; None behind it if it is not `ok`, or more than a note is said of it."""
    reply = parse(text, format=skeleton.format, tools=_TOOLS, finish_reason="stop")
    said_parts: list[tuple[type[Segment] | None, object]] = []
    for segment in reply.segments:
        if isinstance(segment, (Text, Reasoning)):
            is_text = isinstance(segment, Text)
            said_parts.append((type(segment), segment.text.strip() if is_text else segment.text))
        elif isinstance(segment, (ToolCall, BaseAction)):
            said = segment.arguments if isinstance(segment, ToolCall) else effect_of(segment)
            said_parts.append((type(segment), (segment.name, said)))
    is_sound = reply.status == "ok" and all(diagnostic.severity == "note" for diagnostic in reply.diagnostics)
    return said_parts if is_sound else [*said_parts, (None, None)]


@lru_cache(maxsize=4096)
def unread_within(skeleton: Skeleton, hole: Hole) -> str:
    """The class of the characters that reasoning may not hold, since a marker beside it looks for them; "" for none."""
    unread_chars: dict[str, None] = {}
    lead = skeleton.sample(START, hole)
    if lead is None:
        return ""
    lead = lead.removesuffix(skeleton.samples[hole])
    for target, literal in skeleton.outer.get(hole, {}).items():
        rest = skeleton.sample(target, END)
        if rest is None or target.role == "reasoning" or not _is_thought(skeleton, lead, "", literal + rest):
            continue
        if not _is_thought(skeleton, lead, _SINGLE, literal + rest):
            unread_chars |= dict.fromkeys(
                [char for char in _SINGLE if not _is_thought(skeleton, lead, char, literal + rest)]
            )
    return f"[{''.join(map(in_class, unread_chars))}]" if unread_chars else ""


def _is_thought(skeleton: Skeleton, lead: str, chars: str, rest: str) -> bool:
    """Is reasoning read as it stands with some characters in it?"""
    thought = "".join([_WORDS + char for char in chars]) + _WORDS
    found = _read(skeleton, lead + thought + rest)
    return (Reasoning, thought) in found and (None, None) not in found
