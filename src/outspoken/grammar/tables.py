"""A compiled grammar: LALR tables and terminals as plain data. Does not need Lark."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from outspoken.patterns.spellings import spellings

from .header import Header

#: Increase it when the meaning of the data below changes, so that no old compiled grammar is read.
VERSION = 4

END = "$END"

#: The start rule of a grammar, and the one that is tried only for damaged responses.
START, BROKEN = "start", "broken_start"


@dataclass(frozen=True, slots=True)
class Terminal:
    """A terminal: what it reads (`regex`) and how it is written (`canonical`, "" if it is a value).

    `grows` says that a match at the end of the input so far may become longer with more input, `may_stay_open` that a
    match may still be incomplete when another terminal has matched within it. `first` holds the characters with which
    a match may begin, or "" if it may begin with any. `spelled` are the texts that it stands for, None if nobody has
    looked yet.
    """

    name: str
    short: str
    regex: str
    canonical: str
    grows: bool
    may_stay_open: bool
    priority: int
    first: str
    spelled: tuple[str, ...] | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        """The texts that the terminal stands for; see `patterns.spellings`."""
        return spellings(self.regex) if self.spelled is None else self.spelled


def order(terminal: Terminal) -> tuple[int, int, str]:
    """The order in which terminals are tried: by priority, then the longer pattern first."""
    return -terminal.priority, -len(terminal.regex), terminal.name


@dataclass(frozen=True, slots=True)
class Rule:
    """One alternative of a rule: its name, how many symbols it has, and which alternative it is."""

    name: str
    short: str
    size: int
    order: int


@dataclass(frozen=True, slots=True)
class Tables:
    """The LALR tables of a grammar.

    `states[s]` maps a symbol to the next state (>= 0), or to the rule to reduce by (-1 - rule). `nodes[s]` names the
    rules that begin with the symbol that leads to state `s`, separated by spaces. `ignore` is the regular expression of
    what may stand between tokens, which also matches the empty text, or "". `sources` maps the files that the grammar
    was made from to their checksums. `symbol` is the start rule. `broken` holds the tables of the start rule for
    damaged responses, or None. Made ahead of time are `survey`, what `survey.make_survey` finds, `prompt`, the place
    behind what the format's prompts end with, and `tolerant`, the rules of the tolerant grammar: plain data, or None.
    """

    header: Header
    terminals: dict[str, Terminal]
    rules: tuple[Rule, ...]
    states: tuple[dict[str, int], ...]
    nodes: tuple[str, ...]
    start: int
    ignore: str
    sources: dict[str, int]
    symbol: str = START
    broken: Tables | None = None
    survey: dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    tolerant: dict[str, Any] | None = None

    def to_json(self) -> str:
        """The tables as JSON text, the same for the same grammar on every machine."""
        data: dict[str, Any] = {
            "version": VERSION,
            "sources": self.sources,
            "header": self.header.to_data(),
            "ignore": self.ignore,
            "start": self.start,
            "terminals": [
                [t.name, t.short, t.regex, t.canonical, int(t.grows), int(t.may_stay_open), t.priority, t.first]
                for t in self.terminals.values()
            ],
            "spelled": [t.spellings for t in self.terminals.values()],
            "rules": [[r.name, r.short, r.size, r.order] for r in self.rules],
            **self._states(),
        }
        data |= {"survey": self.survey, "prompt": self.prompt, "tolerant": self.tolerant}
        if self.broken is not None:
            data["broken"] = {"start": self.broken.start, **self.broken._states()}
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in data.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def _states(self) -> dict[str, Any]:
        return {"states": self.states, "nodes": {str(i): node for i, node in enumerate(self.nodes) if node}}

    @classmethod
    def from_json(cls, text: str) -> Tables | None:
        """The inverse of `to_json`; None if another version wrote the text."""
        data: dict[str, Any] = json.loads(text)
        if data["version"] != VERSION:
            return None
        found = cls(
            header=Header.from_data(data["header"]),
            terminals={
                t[0]: Terminal(t[0], t[1], t[2], t[3], bool(t[4]), bool(t[5]), t[6], t[7], tuple(spelled))
                for t, spelled in zip(data["terminals"], data["spelled"], strict=True)
            },
            rules=tuple(Rule(*r) for r in data["rules"]),
            ignore=data["ignore"],
            sources=data["sources"],
            **_read_states(data),
        )
        broken = replace(found, symbol=BROKEN, **_read_states(data["broken"])) if "broken" in data else None
        ahead = {name: data[name] for name in ("survey", "prompt", "tolerant")}
        return replace(found, broken=broken, **ahead)


def _read_states(data: dict[str, Any]) -> dict[str, Any]:
    nodes: dict[str, str] = data["nodes"]
    states: list[dict[str, int]] = data["states"]
    named = tuple([nodes.get(str(i), "") for i in range(len(states))])
    return {"states": tuple(states), "nodes": named, "start": data["start"]}
