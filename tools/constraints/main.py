"""The command `python -m tools.constraints`."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from outspoken import formats
from outspoken.authoring.fuzz.minimise import minimise
from outspoken.constraints.deriving import Constraint
from tests.constraints.engines import (
    Engine,
    Gbnf,
    Llguidance,
    Vocabulary,
    Xgrammar,
    XgrammarEbnf,
    bpe_vocabulary,
    byte_vocabulary,
    character_vocabulary,
)

from .asked import ASKED, Asked, Kind
from .walks import literals, walk

#: So many walks are made with each set of tools.
_EACH = 5
_ENGINES: dict[str, Callable[[Constraint, Vocabulary], Engine]] = {
    "llguidance": Llguidance,
    "xgrammar": Xgrammar,
    "xgrammar_ebnf": XgrammarEbnf,
    "gbnf": Gbnf,
}


def failures(
    format: str, engine: str, walks: int, seed: int, *, kind: Kind = "tools", minimized: bool = False
) -> Iterator[tuple[str, str]]:
    """What is wrong with each walk ("" if nothing is), and its text, or one as bad as it without what is not needed.

    The constraints are those of some `kind`; there are none of "actions" if the format has none.
    """
    for number in range((walks + _EACH - 1) // _EACH):
        this = ASKED[kind](format, number, seed)
        if this is None:
            return
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
            wrong, text = found.broken_off or this.complaint(found.text), found.text
            if not wrong and not attempt:
                wrong = this.miscounted(text)
            if wrong and minimized and not found.broken_off:
                text = minimise(text, partial(_is_wrong, this), 400)
            yield wrong, text


def _is_wrong(this: Asked, text: str) -> bool:
    return this.constraint.accepts(text) and this.complaint(text) != ""


def main() -> int:
    """Walk, and print what is not read as `ok`. The exit code is 1 if there is any, but for walks without an end."""
    parser = argparse.ArgumentParser(prog="python -m tools.constraints", description=__doc__)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="all without")
    parser.add_argument("--walks", type=int, default=200, metavar="N", help="walks of each format and engine")
    kinds = parser.add_mutually_exclusive_group()
    for kind, what in (("actions", "GUI actions instead of calls"), ("payloads", "pages of payloads, without formats")):
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind, default="tools", help=what)
    parser.add_argument("--engine", choices=_ENGINES, action="append", help="all without; may be repeated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=1, metavar="N", help="examples of each kind of failure")
    parser.add_argument("--minimize", action="store_true", help="leave out of the examples what is not needed")
    options = parser.parse_args()
    total: dict[str, Counter[str]] = {}
    for engine in options.engine or _ENGINES:
        counted = total[engine] = Counter()
        every = ["payloads"] if options.kind == "payloads" else [one.name for one in formats()]
        for name in options.formats or every:
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
    for kind, text in failures(
        format, engine, options.walks, options.seed, kind=options.kind, minimized=options.minimize
    ):
        counted[kind or "ok"] += 1
        if kind:
            examples.setdefault(kind, []).append(text)
    if not counted:
        return counted
    print(f"{engine} {format}: {_listed(counted)} ({time.process_time() - began:.1f} s)", flush=True)
    for kind, texts in examples.items():
        for text in sorted(texts, key=len)[: options.show]:
            print(f"    {kind}: {text!r}", flush=True)
    return counted
