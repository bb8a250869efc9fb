"""The words for the keys of a call's object, and which of them a key means that is written otherwise."""

from __future__ import annotations

from functools import lru_cache

from outspoken.patterns.near_miss import near_misses

#: What models write in place of a format's own keys.
ARGUMENTS_KEYS = ("arguments", "parameters", "params", "args", "input", "action_input", "tool_input")
NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
#: What models write of a call beside its name and its arguments.
CALL_KEYS = frozenset({
    "id", "call_id", "tool_call_id", "type", "index", "status", "thought", "thoughts", "thinking", "reasoning",
    "reason", "explanation", "comment", "description", "title",
})  # fmt: skip


@lru_cache(maxsize=1024)
def meant(key: str, words: tuple[str, ...]) -> str:
    """The word that a key is, or that it is with a mistake; "" if it is none."""
    if key in words:
        return key
    quoted = f'"{key}"'
    for word in words:
        if key.lower() == word or any(end == len(quoted) for end, _ in near_misses(quoted, 0, f'"{word}"')):
            return word
    return ""


def doubt(text: str, at: int) -> int:
    """Whether the key before the value at a place may mean the name or the arguments of a call (2), or not (1)."""
    end = text.rfind('"', 0, at)
    key = text[text.rfind('"', 0, end) + 1 : end]
    return 2 if meant(key, ARGUMENTS_KEYS) or meant(key, NAME_KEYS) else 1
