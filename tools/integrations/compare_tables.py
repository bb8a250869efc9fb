"""The tables of `tools.integrations.compare`: counts of what became of texts, and how a document shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

KINDS = ("corpus", "render", "damaged", "cut")
OUTCOMES = ("meant", "lost", "wrong", "broken", "raised")


class Compared(Protocol):
    """A text that both read: its format, its kind, and what became of it, whole and streamed."""

    @property
    def format(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def theirs(self) -> tuple[str, str]: ...
    @property
    def ours(self) -> tuple[str, str]: ...


def counts(results: Sequence[Compared], left_out: list[str], slow: list[str]) -> dict[str, Any]:
    """What became of the texts of a server, by kind and in all.

    `left_out` are the formats of which its parsers read nothing, `slow` those for which they take minutes.
    """
    found: dict[str, Any] = {}
    for kind in (*KINDS, "all"):
        rows = [result for result in results if kind in (result.kind, "all")]
        theirs, ours = Counter(row.theirs[0] for row in rows), Counter(row.ours[0] for row in rows)
        found[kind] = {
            "texts": len(rows),
            "ours": sum(row.ours[0] == "meant" for row in rows),
            "ours_streamed": sum(row.ours[1] == "meant" for row in rows),
            "theirs": sum(row.theirs[0] == "meant" for row in rows),
            "theirs_streamed": sum(row.theirs[1] == "meant" for row in rows),
            "their_others": {name: theirs[name] for name in OUTCOMES[1:] if theirs[name]},
            "our_others": {name: ours[name] for name in OUTCOMES[1:] if ours[name]},
        }
    worse = Counter(row.format for row in results if row.theirs[0] == "meant" != row.ours[0])
    return {
        "formats": len({row.format for row in results}),
        **found,
        "read_only_by_theirs": dict(sorted(worse.items())),
        "not_meant": {
            "ours": [_not_meant([row.ours[way] for row in results]) for way in (0, 1)],
            "theirs": [_not_meant([row.theirs[way] for row in results]) for way in (0, 1)],
        },
        "left_out": left_out,
        "slow": slow,
    }


def _not_meant(outcomes: list[str]) -> int:
    return sum(outcome in ("wrong", "broken") for outcome in outcomes)


def table(title: str, found: Mapping[str, Any]) -> str:
    """The rows of a server: by kind of text, how many are read as meant, and what became of the others."""
    lines = [
        f"| {title}, {found['formats']} formats | texts | ours, whole | ours, streamed | theirs, whole "
        "| theirs, streamed | their others |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in (*KINDS, "all"):
        row = found[kind]
        told = ", ".join([f"{count} {name}" for name, count in row["their_others"].items()]) or "none"
        columns = [row[name] for name in ("ours", "ours_streamed", "theirs", "theirs_streamed")]
        shares = " | ".join([f"{count} ({percent(count, row['texts'])})" for count in columns])
        lines.append(f"| {kind} | {row['texts']} | {shares} | {told} |")
    named = ", ".join([f"`{name}` {count}" for name, count in found["read_only_by_theirs"].items()]) or "none"
    ours, theirs = found["not_meant"]["ours"], found["not_meant"]["theirs"]
    lines += [
        "",
        f"Read as meant by theirs and not by ours: {named}. Texts with a call that was not meant: ours {ours[0]} whole "
        f"and {ours[1]} streamed, theirs {theirs[0]} and {theirs[1]}.",
    ]
    if found["left_out"]:
        lines += [
            "",
            f"Left out, since theirs reads no sound text with this tokenizer, or needs another package: "
            f"{_names(found['left_out'])}.",
        ]
    if found["slow"]:
        lines += ["", f"Left out, since theirs takes minutes for several calls: {_names(found['slow'])}."]
    return "\n".join(lines)


def percent(count: int, of: int) -> str:
    """A share; only all of them are 100."""
    return f"{min(100 * count / max(of, 1), 99.4 if count < of else 100):.0f} %"


def _names(names: list[str]) -> str:
    return ", ".join([f"`{name}`" for name in names])


def section(records: Mapping[str, Any]) -> str:
    """The tables of both servers, for a document."""
    record = records["servers"]
    return "\n\n".join([table(f"{title} {record.peers[title]}", found) for title, found in record.values.items()])
