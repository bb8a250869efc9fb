"""Damage one character of the markup of sound responses, and count what is made of them.

Run as `python -m tools.damage markup`. Names, values and the characters beside them are never touched.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from outspoken import Parser, Reply, parse
from outspoken.grammar import registry
from tools.bench.peers import load_peers

from . import markup_peers
from .markup_cases import (
    KINDS,
    PER_FORMAT,
    SEED,
    Base,
    Item,
    MarkupCase,
    bases,
    damaged_texts,
    is_writable,
    items_of,
    same_items,
)

#: What may become of a damaged text, from best to worst, each with the head of its column.
CLASSES = {
    "meant": "meant",
    "flagged": "flag",
    "lost": "LOST",
    "wrong, flagged": "wr-fl",
    "wrong, ok": "WR-OK",
}


@dataclass(frozen=True)
class MarkupReading:
    """How a damaged text was read: its class, what was run, and the reply."""

    case: MarkupCase
    outcome: str
    items: list[Item]
    reply: Reply
    #: the reply to the text in pieces; None where none were fed
    streamed: Reply | None = None

    @property
    def differs(self) -> bool:
        """Whether pieces gave another reply."""
        return self.streamed not in (None, self.reply)

    @property
    def miss(self) -> str:
        """The class under which it is shown."""
        return "differs" if self.differs else self.outcome


def outcome(reply: Reply, meant: Iterable[Item]) -> str:
    """The class of a reply, by what was meant.

    `wrong` is a usable call, action or payload that was not meant, or was meant once and is there twice. It is flagged
    if it was repaired, or if a diagnostic lies on it.
    """
    read, left = items_of(reply), list(meant)
    if same_items(read, left):
        return "meant"
    usable = [*reply.tool_calls, *reply.actions, *reply.payloads]
    wrong: list[bool] = []
    for item, segment in zip(read, usable, strict=True):
        at = next((i for i, other in enumerate(left) if same_items([item], [other])), -1)
        if at >= 0:
            del left[at]
            continue
        start, end = segment.span
        said = [d for d in reply.diagnostics if d.span[0] <= end and start <= d.span[1]]
        wrong.append(segment.status != "ok" or bool(said))
    if wrong:
        return "wrong, flagged" if all(wrong) else "wrong, ok"
    return "flagged" if reply.diagnostics or reply.status != "ok" else "lost"


def read(case: MarkupCase, format_: str, *, pieces: bool = False) -> MarkupReading:
    """Read a damaged text; if asked for, in pieces, too."""
    tools = case.base.tools
    reply = parse(case.text, format_, tools=tools, finish_reason="stop")
    in_pieces = streamed(case, format_) if pieces else None
    return MarkupReading(case, outcome(reply, case.base.items), items_of(reply), reply, in_pieces)


def streamed(case: MarkupCase, format_: str) -> Reply | None:
    """The reply to a damaged text that comes in pieces of 1 to 6 characters."""
    session, random, at = Parser(format_, tools=case.base.tools).session(), Random(case.text), 0
    while at < len(case.text):
        size = random.randint(1, 6)
        session.feed(case.text[at : at + size])
        at += size
    session.close("stop")
    return session.reply


def cases_of(
    name: str, seed: int = SEED, per_format: int = PER_FORMAT, count: int = 1, auto: bool = False
) -> list[MarkupCase]:
    """The damaged texts of a format, the same ones for the same seed."""
    made = bases(name, seed, auto=auto)
    return damaged_texts(made, Random(f"{seed} {name} {count}"), per_format, count)


# --- The table


def row(label: str, readings: list[MarkupReading], peer: str = "") -> str:
    """A row: the number of texts, and what became of them, in counts and, as meant, in percent."""
    counts = Counter(reading.outcome for reading in readings)
    share = 100 * counts["meant"] / len(readings) if readings else 0.0
    columns = " ".join(f"{counts[name]:6}" for name in CLASSES)
    differing = sum(reading.differs for reading in readings)
    note = f"{differing} differ" if differing else ""
    return f"  {label:24} {len(readings):6} {columns} {share:6.1f} {peer} {note}".rstrip()


def table(readings: list[MarkupReading], others: dict[str, Counter[str]] | None = None) -> None:
    """Print a row for each format, for each kind of mistake, and for all; `others` are a peer's counts by format."""
    heads = " ".join(f"{head:>6}" for head in CLASSES.values())
    print(f"  {'':24} {'texts':>6} {heads} meant% {f'{markup_peers.HEADS} (SGLang)' if others else ''}".rstrip())
    for name in dict.fromkeys(reading.case.base.format for reading in readings):
        of = [reading for reading in readings if reading.case.base.format == name]
        print(row(name, of, markup_peers.columns((others or {}).get(name, Counter[str]()))))
    print()
    for kind in dict.fromkeys(reading.case.kind for reading in readings):
        print(row(kind, [reading for reading in readings if reading.case.kind == kind]))
    total = Counter[str]()
    for counts in (others or {}).values():
        total.update(counts)
    print(row("ALL", readings, markup_peers.columns(total)))


def peer_counts(chosen: list[MarkupCase]) -> dict[str, Counter[str]]:
    """What the peer's parsers make of the texts, by format; empty if `OUTSPOKEN_PEERS` does not say where they are."""
    peers = load_peers() if "OUTSPOKEN_PEERS" in os.environ else None
    if peers is None:
        return {}
    logging.disable(logging.CRITICAL)  # the peer logs every text that it cannot read
    names = dict.fromkeys(case.base.format for case in chosen)
    return {name: markup_peers.outcomes(peers, name, [c for c in chosen if c.base.format == name]) for name in names}


def show(readings: list[MarkupReading], number: int) -> None:
    """Print the first misses of each class in each format."""
    shown: Counter[tuple[str, str]] = Counter()
    for reading in readings:
        base: Base = reading.case.base
        key = reading.miss, base.format
        if reading.miss == "meant" or shown[key] == number:
            continue
        shown[key] += 1
        print(f"\n--- {reading.miss}: {base.format}, {reading.case.kind}, status {reading.reply.status}")
        print(f"sound: {base.text!r}\ntext:  {reading.case.text!r}\nmeant: {list(base.items)!r}")
        print(f"read:  {reading.items!r}\nsegments: {reading.reply.segments!r}")
        print("\n".join([f"  {diagnostic}" for diagnostic in reading.reply.diagnostics[:4]]))
        if reading.streamed is not None and reading.differs:
            print(f"in pieces: {reading.streamed.segments!r}")
            print("\n".join([f"  {diagnostic}" for diagnostic in reading.streamed.diagnostics[:4]]))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.damage markup", description="Count what becomes of mistakes in the markup."
    )
    parser.add_argument("--only", metavar="FORMAT", nargs="+", help="only these formats")
    parser.add_argument("--per-format", metavar="N", type=int, default=PER_FORMAT)
    parser.add_argument("--mistakes", metavar="N", type=int, default=1, help="mistakes in each text (1)")
    parser.add_argument("--auto", action="store_true", help='read with format="auto"')
    parser.add_argument("--stream", action="store_true", help="also read in pieces, and compare")
    parser.add_argument("--show", metavar="N", type=int, default=0, help="print N misses of each class and format")
    parser.add_argument("--kind", choices=KINDS, help="only one kind of mistake")
    parser.add_argument("--outcome", choices=[*CLASSES, "differs"], help="show only this class")
    parser.add_argument("--seed", type=int, default=SEED)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and misses if they are asked for."""
    options = _options(arguments)
    names = [registry.resolve(name) for name in options.only or registry.names()]
    start = time.perf_counter()
    chosen = [
        case
        for name in names
        if is_writable(name)
        for case in cases_of(name, options.seed, options.per_format, options.mistakes, auto=options.auto)
        if options.kind in (None, case.kind)
    ]
    made = time.perf_counter()
    readings = [read(case, "auto" if options.auto else case.base.format, pieces=options.stream) for case in chosen]
    done = time.perf_counter()
    table(readings, peer_counts(chosen))
    counted = Counter(case.base.format for case in chosen)
    print(f"\ntime: {made - start:.1f} s to make {len(chosen)} texts, {done - made:.1f} s to read them")
    print(f"nothing to damage: {', '.join([n for n in names if not counted[n]]) or 'none'}")
    show([r for r in readings if options.outcome in (None, r.miss)], options.show)
    return 0
