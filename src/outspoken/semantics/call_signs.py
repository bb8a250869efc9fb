"""Signs of calls: a cheap search for text that may hold a call of any format, or the end of reasoning.

A format that finds nothing in a text asks it whether another format may. The signs are long markers that stand at the
beginning of a call, in brackets; most text holds no bracket, and needs no search.
"""

from __future__ import annotations

import re
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.format_index import BRACKETS
from outspoken.patterns.escaped_text import other_writings
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.shown import ShownPlaces
from outspoken.results.replies import Reasoning, Text

#: The kinds of segments in a reply that show that its format is the right one.
_FOUND = ("tool_call", "action", "payload")

#: How data begins, or the arguments of a call in brackets.
_BARE_CALL = lazy_pattern(r"[{\[]\s{0,9}[\"{]|\w\((?:\w{1,40}=)?[\"'<\[]")

#: The beginning of a block of code in no language.
_PLAIN_BLOCK = lazy_pattern(r"\s{0,9}(?:```|~~~)[ \t]{0,9}\n")


def signs_in(text: str) -> list[re.Match[str]]:
    """All signs in a text, in order."""
    patterns = _patterns(registry.edition())
    found = [sign for pattern in patterns for sign in pattern.finditer(text)]
    return sorted(found, key=lambda sign: sign.start())


def may_be_other(segments: list[Any], *, is_named: bool) -> bool:
    """May a reply without calls, actions and payloads be in another format, or lack the start of reasoning?

    If no format `is_named`, a response that is one block of code in no language may be in any, also behind
    reasoning.
    """
    for segment in segments:
        if segment.__class__ is not Text and segment.kind in _FOUND:
            return False
    texts = [segment.text for segment in segments if segment.__class__ is Text]
    is_alone = len(texts) == 1 and all(segment.__class__ in (Text, Reasoning) for segment in segments)
    if not is_named and is_alone and _PLAIN_BLOCK.match(texts[0]) is not None:
        return True
    if segments and segments[-1].__class__ is Reasoning:
        texts.append(segments[-1].text)  # nothing comes behind it, so it may be none
    return any(_has_sign(text) for text in texts)


def _has_sign(text: str) -> bool:
    """Does a sign stand in a text, and not only in code or between quotation marks?

    A block of code with nothing behind it may hold a call that is meant. A text may be written in another way.
    """
    return _is_sign_in(text) or any(
        _is_sign_in(plain) or _BARE_CALL.search(plain) is not None for plain, _ in other_writings(text)
    )


def _is_sign_in(text: str) -> bool:
    shown: ShownPlaces | None = None
    for at, bracket in enumerate(BRACKETS):
        for sign in _patterns(registry.edition())[at].finditer(text) if bracket in text else ():
            shown = shown or ShownPlaces(text)
            if not shown.is_example(*sign.span()):
                return True
    return False


@registry.cached
def _patterns(edition: int) -> list[re.Pattern[str]]:
    """The patterns of signs, by the bracket that each begins with."""
    compiled_signs = registry.call_signs()
    if compiled_signs is None:
        return [re.compile("(?!)")] * len(BRACKETS)  # nothing is compiled
    patterns = compiled_signs.patterns
    if added := [name for name in registry.names(edition) if name not in compiled_signs.formats]:
        from .sign_patterns import sign_patterns

        more = sign_patterns([(name, registry.automaton(name, lenient=True)) for name in added])
        patterns = [f"{compiled}|{new}" for compiled, new in zip(patterns, more, strict=True)]
    return [re.compile(pattern) for pattern in patterns]
