"""A compiled grammar: LALR tables and terminals as plain data. Nothing here needs Lark."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .header import Header

#: Raised whenever the meaning of the data below changes, so that an old compiled grammar is never read.
VERSION = 1

END = "$END"


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal: what is read (`regex`) and what is written (`canonical`, "" where that is a value).

    `grows` says that a match which touches the end of what has arrived may still become longer, `wide` that a match may
    be open while another terminal has matched within it. `first` are the characters with which a match may begin, ""
    where that is open.
    """

    name: str
    short: str
    regex: str
    canonical: str
    grows: bool
    wide: bool
    priority: int
    first: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One alternative of a rule: its name, how many symbols it has, and which alternative it is."""

    name: str
    short: str
    size: int
    order: int


@dataclass(frozen=True, slots=True)
class Tables:
    """`states[s]` maps a symbol to the state after it (>= 0), or to the rule to reduce by (-1 - rule).

    `frames[s]` names the frames that the symbol which led to state `s` may be the first of, separated by spaces.
    `sources` are the files that the grammar was made from, each with its checksum.
    `ignore` is the regular expression of what may stand between tokens, which matches nothing, too; or "".
    """

    header: Header
    terminals: dict[str, Terminal]
    rules: tuple[Rule, ...]
    states: tuple[dict[str, int], ...]
    frames: tuple[str, ...]
    start: int
    ignore: str
    sources: dict[str, int]

    def to_json(self) -> str:
        """The tables as JSON text, the same for the same grammar on every machine."""
        data = {
            "version": VERSION,
            "sources": self.sources,
            "header": self.header.to_data(),
            "ignore": self.ignore,
            "start": self.start,
            "terminals": [
                [t.name, t.short, t.regex, t.canonical, int(t.grows), int(t.wide), t.priority, t.first]
                for t in self.terminals.values()
            ],
            "rules": [[r.name, r.short, r.size, r.order] for r in self.rules],
            "states": self.states,
            "frames": {str(i): frame for i, frame in enumerate(self.frames) if frame},
        }
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in data.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> Tables | None:
        """The inverse of `to_json`; None where the text was written by another version."""
        data: dict[str, Any] = json.loads(text)
        if data["version"] != VERSION:
            return None
        frames: dict[str, str] = data["frames"]
        return cls(
            header=Header.from_data(data["header"]),
            terminals={
                t[0]: Terminal(t[0], t[1], t[2], t[3], bool(t[4]), bool(t[5]), t[6], t[7]) for t in data["terminals"]
            },
            rules=tuple(Rule(*r) for r in data["rules"]),
            states=tuple(data["states"]),
            frames=tuple(frames.get(str(i), "") for i in range(len(data["states"]))),
            start=data["start"],
            ignore=data["ignore"],
            sources=data["sources"],
        )
