"""Damage to the markup of actions, by unit: what runs without a word was meant, and what is lost has a diagnostic."""

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, cast

from outspoken import Reply, formats, parse
from outspoken.grammar import registry
from outspoken.results.actions.base import BaseAction
from tests.cases import CASES, Case
from tests.loops import SEED

ACTING = sorted(info.name for info in formats() if registry.tables(info.name).header.actions)
#: So many texts are damaged for each format.
_TEXTS = 24
_PUNCTUATION = "(){}[]<>=,:'\"|"
#: What is a value as it is written: the inside of a string that is no key, a number, or of square brackets.
_VALUES = re.compile(
    r"(?<=\")(?:[^\"\\\n]|\\.)*(?=\"(?!\s*:))|(?<=')(?:[^'\\\n]|\\.)*(?='(?!\s*:))"
    r"|\d[\d., ]*(?:\d|(?<=\d))|(?<=\[)[^\]\[\n]+(?=\])"
)
_WORD = re.compile(r"</?[\w|]+>|\w+")
#: Of all texts, so many may run something else in silence, or lose an action: each is listed when there are more.
_MOST_WRONG, _MOST_LOST = 0.01, 0.005
#: what does not say what an action does
_PLACES = frozenset({"raw", "span", "status", "repairs", "order", "id", "extra", "metadata", "name"})


def leaves(value: Any) -> Iterator[str]:
    """The texts and numbers of a value."""
    if isinstance(value, (dict, list, tuple)):
        for inner in parts(value):
            yield from leaves(inner)
    elif isinstance(value, str) and value:
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield f"{value:g}"


def parts(value: Any) -> list[Any]:
    """What an object or a list holds."""
    return [*value.values()] if isinstance(value, dict) else [*value]


def said(value: Any) -> Any:
    """What an action says, without where it stands."""
    if isinstance(value, BaseAction):
        return said(value.model_dump(exclude_none=True))
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {key: said(inner) for key, inner in found.items() if key not in _PLACES}
    return [said(inner) for inner in parts(value)] if isinstance(value, (list, tuple)) else value


def runs(reply: Reply) -> Counter[str]:
    """What runs."""
    acts = [said(one) for one in reply.actions if one.status in ("ok", "repaired") and one.type != "unknown"]
    return Counter([repr(one) for one in acts] + [repr((call.name, call.arguments)) for call in reply.tool_calls])


def markup(case: Case, reply: Reply) -> list[int]:
    """The places of a text that belong to no value, and neither to reasoning nor to text."""
    kept = bytearray(len(case.text))
    for segment in reply.segments:
        if segment.kind in ("text", "reasoning"):
            kept[slice(*segment.span)] = b"\x01" * (segment.span[1] - segment.span[0])
    values = {one for action in reply.actions for one in leaves(said(action))}
    values |= {one for call in reply.tool_calls for one in leaves((call.name, [*call.arguments], call.arguments))}
    found = [match for value in values for match in re.finditer(re.escape(value), case.text)]
    for match in [*found, *_VALUES.finditer(case.text)]:
        kept[slice(*match.span())] = b"\x01" * len(match[0])
    return [at for at in range(len(kept)) if not kept[at]]


def damaged(text: str, places: list[int], random: Random) -> str:
    """A text with one mistake of its markup: of a character, or of a word."""
    at, kind = random.choice(places), random.randrange(7)
    marks = [place for place in places if text[place] in _PUNCTUATION]
    if kind < 4 and marks:
        at = random.choice(marks)
        instead = ("", text[at] * 2, text[at + 1 : at + 2] + text[at], random.choice(_PUNCTUATION))[kind]
        return text[:at] + instead + text[at + 1 + (kind == 2) :]
    words = [word for word in _WORD.finditer(text) if {*range(*word.span())} <= {*places}]
    if kind < 6 and words:
        word = random.choice(words)
        return text[: word.start()] + ("", word[0] * 2)[kind % 2] + text[word.end() :]
    return text[:at] + random.choice((" ", "\n")) + text[at:]


def test_damaged_actions() -> None:
    wrong, lost, tried = list[Any](), list[Any](), 0
    for format in ACTING:
        random = Random(f"{SEED} {format}")
        sound = [(case, parse(case.text, format, finish_reason="stop")) for case in CASES if is_usable(case, format)]
        usable = [(case, reply, places) for case, reply in sound if runs(reply) and (places := markup(case, reply))]
        for _ in range(_TEXTS if usable else 0):
            case, meant, places = random.choice(usable)
            text = damaged(case.text, places, random)
            reply = parse(text, format, finish_reason="stop")
            tried += 1
            if reply.diagnostics or text == case.text:
                continue
            if runs(reply) - runs(meant):
                wrong.append((format, text))
            elif runs(meant) - runs(reply):
                lost.append((format, text))
    assert tried > 600
    assert len(wrong) <= _MOST_WRONG * tried, wrong
    assert len(lost) <= _MOST_LOST * tried, lost


def is_usable(case: Case, format: str) -> bool:
    """Is a case a sound response of a format that is short enough?"""
    return case.format == format and case.kind == "ok" and len(case.text) < 2000
