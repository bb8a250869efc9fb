"""Texts that a constraint lets a random model write."""

import random

from outspoken.constraints import Constraint
from outspoken.constraints.char_sets import CharSet
from outspoken.constraints.matcher import Matcher

_CHARS = "abcxyzAZ019 .,:-_()[]{}<>/'\"\n"
_LONGEST = 600


def _one_of(random_: random.Random, chars: CharSet) -> str:
    for char in "])}\"'":
        if random_.random() < 0.1 and any(low <= ord(char) <= high for low, high in chars):
            return char
    known = [char for char in _CHARS if any(low <= ord(char) <= high for low, high in chars)]
    if known:
        return random_.choice(known)
    low, high = random_.choice(chars)
    return chr(random_.randint(low, min(high, low + 90)))


def random_text(made: Constraint, random_: random.Random) -> str | None:
    """A text that the constraint lets a random model write; None if it does not end soon."""
    state, text = Matcher(made.grammar), ""
    while len(text) < _LONGEST:
        if state.may_end and random_.random() < 0.3:
            return text
        chars = state.allowed()
        if not chars:
            assert state.may_end, text[-80:]
            return text
        after = state.advance(char := _one_of(random_, chars))
        assert after is not None, (text[-80:], char)
        state, text = after, text + char
    return text if state.may_end else None
