"""The keys of a call's object: which of them another word means, and the arguments that a call lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from outspoken.notations.tools import Tools
from outspoken.patterns.lazy import lazy_pattern
from outspoken.patterns.near_miss import near_misses
from outspoken.results.call_keys import ACTION_KEYS, ARGUMENTS_KEYS, NAME_KEYS

#: The last line of a text, if it is a word.
_LEAD = lazy_pattern(r"(?:\A|\n)([^\W\d_]{5,9}):?\s{0,9}\Z")
#: A single argument is a word of prose, perhaps.
_SEVERAL = 2
#: An argument with its value, and the end of the call, or of a list of calls, on the same line.
_KEYWORD = r"(?<![\w.]){0}\s?=\s?(?=[\"'\d\[{{TFN-][^\n]*\)\s*\]?\s*(?:\n|\Z))"


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


def lacking(tools: Tools | None, name: str | None, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that a tool may have and a call lacks."""
    if tools is None or name is None or name not in tools:
        return []
    return [key for key in tools.facts(name).properties if key not in arguments]


def required_absent(tools: Tools | None, name: str, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that the schema of a tool requires and a call lacks."""
    if tools is None or name not in tools:
        return []
    return [key for key in tools.facts(name).required if key not in arguments]


def mentions(names: Collection[str], arguments: Mapping[str, Any]) -> bool:
    """Does a value hold one of these names? This is fast."""
    return any(value.__class__ is str and key in value for value in arguments.values() for key in names)


#: What may stand between the names of a tool and an argument: signs and a tag, or more tags, but no words.
_BETWEEN_NAMES = lazy_pattern(
    r"(?:\n|[^\w\s/,.;`']{1,9}\n?)?(?:\[\w{1,20}\])?|(?!(?:.*>)?[^<]*\s[^\W\d_]{2,}\s)[^<]*<.*", re.DOTALL
)
#: No more characters than this stand there, and no more places than this are looked at.
_FAR, _MOST_NAMES = 120, 100


def find_listed(text: str, tools: Tools | None) -> re.Match[str] | None:
    """The name of a tool before all the arguments that it requires, if no words stand between it and one of them.

    Their markers were left out (`copy_file\\norigin\\na.md\\ngoal\\nb.md`), or belong to another format.
    """
    for name in tools.names if tools is not None else ():
        if name not in text or tools is None:
            continue
        required, keys = tools.facts(name).required, tools.facts(name).properties
        last = min(map(text.rfind, required), default=-1)
        if last < 0:
            continue
        for match in islice(re.finditer(rf"(?<!\w){re.escape(name)}", text), _MOST_NAMES):
            ahead = text[match.end() : match.end() + _FAR]
            first = min([at for key in keys if (at := ahead.find(key)) >= 0], default=-1)
            if first >= 0 and match.end() <= last and _BETWEEN_NAMES.fullmatch(ahead, 0, first):
                return match
    return None


def find_keys(text: str, tools: Tools | None) -> re.Match[str] | None:
    """The first of all required arguments of a tool as keys of JSON, if these are several.

    Or the first of two arguments of a tool, with their values, before the end of a call of Python.
    """
    if tools is None or not ("{" in text or ")" in text):
        return None
    for name in tools.names:
        required, keys = tools.facts(name).required, lacking(tools, name, {})
        wanted = required if len(required) >= _SEVERAL else keys
        present = [key for key in keys if key in text]
        if len(present) < _SEVERAL:
            continue
        matches = [re.search(_KEYWORD.format(re.escape(key)), text) for key in present] if ")" in text else []
        named = [match for match in matches if match is not None]
        if len(named) >= _SEVERAL:
            return named[0]
        if "{" in text and set(wanted).issubset(present):
            matches = [re.search(rf"\"{re.escape(key)}\"\s{{0,9}}:", text) for key in wanted]
            if None not in matches:
                return matches[0]
    return None


def action_key_in(value: Any, lead: str = "") -> str:
    """The key of an object that is nearly one whose value is actions, before an object or a list of them; or "".

    If the `lead`, the text before the object, ends in nearly `Action:`, it is also a key that names an action. It may
    also be nearly the key of a name or of arguments, beside one of these.
    """
    word = _LEAD.search(lead) if lead else None
    is_led = word is not None and bool(meant(word[1].lower(), ACTION_KEYS))
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    for key, word in members.items():
        values = cast("list[Any]", word) if isinstance(word, list) else [word]
        first = values[0] if values else None
        if isinstance(first, dict) and key not in ACTION_KEYS and (written := meant(key, ACTION_KEYS)):
            return written
        if is_led and isinstance(word, str) and key.partition("_")[0] in ACTION_KEYS:
            return key
    names = [key for key, word in members.items() if isinstance(word, str) and meant(key, NAME_KEYS)]
    holders = [key for key, word in members.items() if isinstance(word, dict) and meant(key, ARGUMENTS_KEYS)]
    is_exact = {*names, *holders} <= {*NAME_KEYS, *ARGUMENTS_KEYS}
    return meant(names[0], NAME_KEYS) if names and holders and not is_exact else ""


def tool_named_in(value: Any, names: Collection[str]) -> str:
    """The tool that data names as a call would: as the value of nearly a key for names, or as the only key; or ""."""
    for item in cast("list[Any]", value) if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            members = cast("dict[str, Any]", item)
            words = [word for key, word in members.items() if meant(key, NAME_KEYS)]
            words += [*members] if len(members) == 1 else []
            if found := next((word for word in words if isinstance(word, str) and word in names), ""):
                return found
    return ""
