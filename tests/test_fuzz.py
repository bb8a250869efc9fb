"""A fuzz with fixed seeds: the corpus, cut, doubled, swapped and mixed, is read without a contradiction."""

from __future__ import annotations

from random import Random

import pytest

from outspoken import StreamParser, parse
from outspoken.json_codes import CAPS
from tests.cases import CASES
from tests.test_invariants import check_reply, pieces

_TEXTS = 60


def mutated(text: str, random: Random) -> str:
    """A text with one to three changes."""
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.randint(1, 12))
        other = random.choice(CASES).text
        at = random.randrange(len(other) + 1)
        text = random.choice(
            [
                text[:start] + text[end:],
                text[:start] + text[end:],
                text[:end] + text[start:],
                text[:start] + other[at : at + random.randint(1, 30)] + text[start:],
                text[:start],
            ]
        )
    return text


@pytest.mark.parametrize("seed", range(16))
def test_mutated_responses(seed: int) -> None:
    random = Random(seed)
    for _ in range(_TEXTS):
        case = random.choice(CASES)
        text, size = mutated(case.text, random), random.choice([1, 3, 7])
        reason = random.choice([None, "stop", "length"])
        repair = random.choice(CAPS)
        for format_ in (case.format, "auto"):
            reply = parse(text, format_, repair=repair, finish_reason=reason)
            check_reply(reply)
            parser = StreamParser(format_, repair=repair)
            for piece in pieces(text, size):
                parser.feed(piece)
            parser.finish(reason)
            assert parser.reply == reply, (format_, text)
