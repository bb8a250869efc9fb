"""Random walks: texts that an engine lets a random model write under a constraint, and what is wrong with them."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from outspoken.constraints.forms import Choice, Form, Grammar, Literal, Repeat, Seq
from tests.constraints import engines
from tests.constraints.engines import State
from tests.constraints.walk_constraints import ASKED, Kind

#: What ends strings, lists and objects.
_CLOSERS = ('"', "'", "}", "]", "}}", "\n", "`", "0", "```", " ", "</")
#: A walk of more tokens is given up, in multiples of the length from which on it is led to its end.
_LONGEST = 6


class Walk(NamedTuple):
    """A text that was written, and why it has no end ("" if it has one)."""

    text: str
    broken_off: str = ""


def literals(grammar: Grammar) -> list[str]:
    """The literals of a constraint."""
    return sorted({text for form in [grammar.root, *grammar.rules.values()] for text in _literals(form)})


def _literals(form: Form) -> Iterator[str]:
    if isinstance(form, Literal) and form.text:
        yield form.text
    elif isinstance(form, (Seq, Choice)):
        for part in form.parts if isinstance(form, Seq) else form.options:
            yield from _literals(part)
    elif isinstance(form, Repeat):
        yield from _literals(form.part)


def walk(
    start: Callable[[], State], tokens: Sequence[bytes], known: Sequence[str], seed: str, length: int = 60
) -> Walk:
    """Write what the engine admits. Behind `length` tokens, the walk looks for its end."""
    draw = random.Random(seed)
    state, written = start(), list[bytes]()
    calm = draw.choice([0.05, 0.15, 0.4])  # how often a literal is tried before the walk is led to its end
    for count in range(length * _LONGEST):
        is_long = count > length
        if state.may_end() and draw.random() < (0.8 if is_long else 0.03):
            return Walk(_text(written))
        if draw.random() < (0.8 if is_long else calm):
            tried = [*draw.sample(known, min(len(known), 40 if is_long else 6)), *(_CLOSERS if is_long else ())]
            if is_long:
                draw.shuffle(tried)
            found = next((text for text in tried if state.take_text(text)), None)
            if found is not None:
                written.append(found.encode())
                continue
        choices = state.choices()
        if not choices:
            return Walk(_text(written), "" if state.may_end() else "no token fits")
        token = draw.choice(choices)
        if not state.take(token):
            return Walk(_text(written), "the mask admits a token that is refused")
        written.append(tokens[token])
    return Walk(_text(written), "" if state.may_end() else "too long")


def _text(written: list[bytes]) -> str:
    return b"".join(written).decode("utf-8", "replace")


def failures(format: str, engine: str, walks: int, seed: int, *, kind: Kind = "tools") -> Iterator[tuple[str, str]]:
    """What is wrong with each walk ("" if nothing is), and its text.

    The constraint is one of a `kind`, drawn for the seed; there is none of "actions" if the format has none.
    """
    asked = ASKED[kind](format, random.Random(f"{seed}/{format}"))
    if asked is None:
        return
    known, vocabulary = literals(asked.constraint.grammar), engines.bpe_vocabulary()
    try:
        compiled = engines.ENGINES[engine](asked.constraint, vocabulary)
    except ValueError as error:
        yield "does not compile", str(error)[:300]
        return
    for attempt in range(walks):
        found = walk(compiled, vocabulary.tokens, known, f"{seed}/{format}/{attempt}")
        wrong = found.broken_off or asked.complaint(found.text)
        if not wrong and not attempt:
            wrong = asked.miscounted(found.text)
        yield wrong, found.text
