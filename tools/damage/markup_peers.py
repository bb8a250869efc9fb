"""What the peer's parsers make of damaged markup, for the formats that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tools.bench.peers import PEERS, SLOW_PEERS, Calls, Peer

from . import markup_calls
from .evaluation import equal
from .markup_cases import Base, MarkupCase

#: What may become of a text, with the head of the column; a peer flags nothing.
CLASSES = {"meant": "meant", "lost": "lost", "wrong": "WRONG", "raised": "raised"}


def _calls(base: Base) -> Calls:
    return [(name, arguments) for kind, name, arguments in base.items if kind == "call"]


def _outcome(peer: Peer, text: str, meant: Calls) -> str:
    try:
        found = peer.calls(text)
    except Exception:  # whatever it raises, its caller gets no calls
        return "raised"
    if equal([list(call) for call in found], [list(call) for call in meant]):
        return "meant"
    left = [*meant]
    for call in found:
        at = next((i for i, other in enumerate(left) if equal(list(call), list(other))), -1)
        if at < 0:
            return "wrong"
        del left[at]
    return "lost"


def outcomes(peers: Any, name: str, cases: Iterable[MarkupCase]) -> Counter[str]:
    """What becomes of the damaged texts of a format, without those whose sound text the peer does not read."""
    counts: Counter[str] = Counter()
    if name not in PEERS or name in SLOW_PEERS:
        return counts
    peer = Peer(peers, name, markup_calls.tools())
    is_read: dict[str, bool] = {}
    for case in cases:
        base = case.base
        if base.text not in is_read:
            is_read[base.text] = _outcome(peer, base.text, _calls(base)) == "meant"
        if is_read[base.text]:
            counts[_outcome(peer, case.text, _calls(base))] += 1
    return counts


def columns(counts: Counter[str]) -> str:
    """The counts as columns of a table; "" if there are none."""
    return " ".join(f"{counts[name]:6}" for name in CLASSES) if counts else ""


HEADS = " ".join(f"{head:>6}" for head in CLASSES.values())
