"""Edits that are skipped without decoding never make a sound value."""

import json
from random import Random
from typing import Any

from outspoken.json.decoder import read_at
from outspoken.recovery import one_mistake

# pyright: reportPrivateUsage=false

_STRINGS = ("Paris", "a, b", "x: y", "{z}", "", 'he said "x"', "back\\slash", "line\nbreak")
_SCALARS = (1, -2.5, 1e9, 0, True, None)


def _value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(4 if depth < 3 else 2)
    if kind < 2:
        return random.choice(_SCALARS if kind else _STRINGS)
    values = [_value(random, depth + 1) for _ in range(random.randrange(4))]
    return values if kind == 2 else {random.choice(("name", "arguments", "a b", "k")): value for value in values}


def _damaged(random: Random) -> str:
    text = json.dumps({"name": "f", "arguments": _value(random), "z": _value(random)}, indent=random.choice((None, 2)))
    at = random.randrange(len(text))
    return text[:at] + random.choice(("", *'{}[]",:x\n\\ 1.')) + text[at + random.randrange(2) :]


def test_a_skipped_edit_makes_no_sound_value() -> None:
    random, skipped, decoded = Random(77), 0, 0
    for _ in range(600):
        text = _damaged(random)
        mistake, is_decided = one_mistake._mistake(text)
        if mistake is None:
            continue
        tokens = one_mistake._tokens(text, mistake)
        strings = one_mistake._strings(text, tokens, mistake)
        for start, end, after in one_mistake._edits(text, tokens, mistake, only_there=False, quotes=True):
            if one_mistake._may_help(text, (start, end, after), mistake, strings, is_decided=is_decided):
                decoded += 1
                continue
            skipped += 1
            read = read_at(text[:start] + after + text[end:], 0, 100)
            assert read is None or read[1] < min(mistake, start) or read[1] <= start, (text, start, end, after)
    assert skipped > decoded
