"""What becomes of damaged texts, and the table of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from outspoken import Reply

from .sound import Item, items_of

#: What may become of a damaged text, from best to worst, each with the head of its column.
CLASSES = {"meant": "meant", "flagged": "flag", "lost": "LOST", "wrong, flagged": "wr-fl", "wrong, ok": "WR-OK"}


def same_items(one: Iterable[Item], other: Iterable[Item]) -> bool:
    """Whether two replies ask for the same, in the same order; types, and the order of members, count."""
    return json.dumps(list(one), default=repr) == json.dumps(list(other), default=repr)


def outcome(reply: Reply, meant: Iterable[Item], allowed: Iterable[Item] = (), begun: int | None = None) -> str:
    """The class of a reply; for the other arguments, see `Case`.

    `wrong` is a usable call, action or payload that was not meant, or was meant once and is there twice. It is flagged
    if it was repaired, or if a diagnostic lies on it.
    """
    found, left = items_of(reply), [*meant]
    if begun is None and same_items(found, left):
        return "meant"
    least = len(left) + 1 if begun is None else begun - len(reply.unfinished_tool_calls)  # one that is allowed runs
    left += allowed
    wrong: list[bool] = []
    for item, segment in zip(found, [*reply.tool_calls, *reply.actions, *reply.payloads], strict=True):
        at = next((i for i, other in enumerate(left) if same_items([item], [other])), None)
        if at is not None:
            del left[at]
            continue
        start, end = segment.span
        said = any(d.span[0] <= end and start <= d.span[1] for d in reply.diagnostics)
        wrong.append(said or segment.status != "ok")
    if wrong:
        return "wrong, flagged" if all(wrong) else "wrong, ok"
    if len(found) >= least:
        return "meant"
    return "flagged" if reply.diagnostics or reply.status != "ok" else "lost"


def table(counts: Mapping[tuple[str, str], int]) -> str:
    """The numbers of texts by row and class as lines, with those of all, and the share that is read as meant."""
    lines = [f"  {'':24} {'texts':>6} {' '.join([f'{head:>6}' for head in CLASSES.values()])} meant%"]
    for label in (*dict.fromkeys([row for row, _ in counts]), "ALL"):
        of = Counter[str]()
        for (row, name), number in counts.items():
            of[name] += number * (label in (row, "ALL"))
        columns = " ".join([f"{of[name]:6}" for name in CLASSES])
        lines.append(f"  {label:24} {of.total():6} {columns} {100 * of['meant'] / max(of.total(), 1):6.1f}")
    return "\n".join(lines)
