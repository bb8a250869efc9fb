"""The command `python -m tools.constraints`."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from outspoken import formats
from outspoken.constraints.deriving import Constraint, constraint
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.errors import ConstraintError
from tests.constraint_cases import TOOL_SETS, mutated
from tests.engines import (
    Engine,
    Gbnf,
    Llguidance,
    Vocabulary,
    Xgrammar,
    bpe_vocabulary,
    byte_vocabulary,
    character_vocabulary,
)

from .walks import complaint, literals, smaller, walk

#: So many walks are made with each set of tools.
_EACH = 5
_ENGINES: dict[str, Callable[[Constraint, Vocabulary], Engine]] = {
    "llguidance": Llguidance,
    "xgrammar": Xgrammar,
    "gbnf": Gbnf,
}


class Asked(NamedTuple):
    """A constraint, its tools, and how many calls it admits."""

    constraint: Constraint
    tools: Sequence[ToolLike]
    least: int
    most: int | None


def asked(format: str, number: int, seed: int) -> Asked:
    """The constraint of a number: sets of tools in turn, every second one changed, with different options."""
    sets = list(TOOL_SETS.values())
    tools: Sequence[ToolLike] = sets[number % len(sets)]
    if number % 2 != number // len(sets) % 2:
        tools = mutated(tools, f"{seed}/{number}")
    known = Tools.of(tools)
    assert known is not None
    options: list[tuple[dict[str, Any], int, int | None]] = [
        ({}, 0, None),
        ({"tool_choice": "required"}, 1, None),
        ({"parallel": False, "reasoning": "none"}, 0, 1),
        ({"tool_choice": next(iter(known.names)), "max_calls": 2}, 1, 2),
        ({"reasoning": "required"}, 0, None),
        ({"tool_choice": "none"}, 0, 0),
    ]
    # mostly the first: it admits most
    chosen, least, most = options[number // 3 % len(options)] if number % 3 == 2 else options[0]
    try:
        return Asked(constraint(format, tools=tools, **chosen), tools, least, most)
    except ConstraintError:
        return Asked(constraint(format, tools=tools), tools, 0, None)


def failures(format: str, engine: str, walks: int, seed: int, *, minimized: bool = False) -> Iterator[tuple[str, str]]:
    """What is wrong with each walk ("" if nothing is), and its text, or one as bad as it without what is not needed."""
    for number in range((walks + _EACH - 1) // _EACH):
        this = asked(format, number, seed)
        known = literals(this.constraint.grammar)
        vocabulary = byte_vocabulary() if number % 4 == 3 else bpe_vocabulary()
        vocabulary = character_vocabulary(known) if engine == "gbnf" else vocabulary
        try:
            compiled = _ENGINES[engine](this.constraint, vocabulary)
        except ValueError as error:
            for _ in range(min(_EACH, walks - number * _EACH)):
                yield "does not compile", str(error)[:300]
            continue
        for attempt in range(min(_EACH, walks - number * _EACH)):
            found = walk(compiled.start, vocabulary.tokens, known, f"{seed}/{format}/{number}/{attempt}")
            wrong = partial(complaint, constraint=this.constraint, tools=this.tools, least=this.least, most=this.most)
            kind = found.broken_off or wrong(found.text)
            text = found.text
            if kind and minimized and not found.broken_off:
                accepts = this.constraint.accepts
                text = smaller(text, lambda one, wrong=wrong, accepts=accepts: accepts(one) and wrong(one) != "")
            yield kind, text


def main() -> int:
    """Walk, and print what is not read as `ok`. The exit code is 1 if there is any, but for walks without an end."""
    parser = argparse.ArgumentParser(prog="python -m tools.constraints", description=__doc__)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="all without")
    parser.add_argument("--walks", type=int, default=200, metavar="N", help="walks of each format and engine")
    parser.add_argument("--engine", choices=_ENGINES, action="append", help="all without; may be repeated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=1, metavar="N", help="examples of each kind of failure")
    parser.add_argument("--minimize", action="store_true", help="leave out of the examples what is not needed")
    options = parser.parse_args()
    total: dict[str, Counter[str]] = {}
    for engine in options.engine or _ENGINES:
        counted = total[engine] = Counter()
        for name in options.formats or [one.name for one in formats()]:
            counted.update(_report(name, engine, options))
    for engine, counted in total.items():
        print(f"{engine}: {counted.total()} walks, {_listed(counted)}")
    return int(any(kind not in ("ok", "too long") for counted in total.values() for kind in counted))


def _listed(counted: Counter[str]) -> str:
    return ", ".join([f"{number} {kind}" for kind, number in counted.most_common()])


def _report(format: str, engine: str, options: argparse.Namespace) -> Counter[str]:
    """Walk in one format, and print the result."""
    counted: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    began = time.process_time()
    for kind, text in failures(format, engine, options.walks, options.seed, minimized=options.minimize):
        counted[kind or "ok"] += 1
        if kind:
            examples.setdefault(kind, []).append(text)
    print(f"{engine} {format}: {_listed(counted)} ({time.process_time() - began:.1f} s)", flush=True)
    for kind, texts in examples.items():
        for text in sorted(texts, key=len)[: options.show]:
            print(f"    {kind}: {text!r}", flush=True)
    return counted
