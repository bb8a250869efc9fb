"""The tables of the comparisons, as documents show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .json_texts import GROUPS


def percent(count: int, of: int) -> str:
    """A share; only all of them are 100, and only none 0."""
    share = round(100 * count / of) if of else 0
    return f"{min(max(share, 1 if count else 0), 99 if count < of else 100)} %"


def documents(records: Mapping[str, Any]) -> str:
    """What readers make of JSON documents: by group of texts, and the time of one."""
    record = records["documents"]
    values, peers = record.values, record.peers
    sizes, microseconds = values["texts"], values["microseconds"]
    heads = [f"{group}, {sizes[group]} texts" for group in GROUPS]
    lines = [
        f"| read as meant / wrong and silent | {' | '.join(heads)} | sound, µs | damaged, µs |",
        f"|---|{'---|' * len(heads)}---|---|",
    ]
    for name, groups in values["groups"].items():
        base = name.partition(",")[0]
        shown = f"{base} {peers[base]}{name[len(base) :]}" if base in peers else name
        cells = [_cell(groups[group], sizes[group]) for group in GROUPS]
        spent = [f"{microseconds[of][name]:,.0f}" for of in ("sound", "damaged")]
        lines.append(f"| {shown} | {' | '.join([*cells, *spent])} |")
    return "\n".join(lines)


def _cell(found: dict[str, int], of: int) -> str:
    return f"{percent(found.get('meant', 0), of)} / {percent(found.get('wrong', 0), of)}"
