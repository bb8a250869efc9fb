"""A compiled grammar: LALR tables and terminals as plain data. Does not need Lark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from outspoken.patterns.spellings import spellings

from .header import Header

#: Increase it when the meaning of the data below changes, so that no old compiled grammar is read.
VERSION = 5

END = "$END"

#: The start rule of a grammar, and the one that is tried only for damaged responses.
START, BROKEN = "start", "broken_start"

#: The fields of tables that are found ahead of time.
_AHEAD = "survey", "prompt", "tolerant"


class Terminal(NamedTuple):
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


class Rule(NamedTuple):
    """One alternative of a rule: its name, its symbols, its name in the vocabulary, and which alternative it is.

    The symbols are names of terminals and rules, as Lark has them after it expanded its operators. `short` is the alias
    of the alternative, or the name of the rule without a prefix. Rules of tolerant grammars have a `priority`.
    """

    name: str
    symbols: tuple[str, ...]
    short: str
    order: int
    priority: int = 0

    @property
    def size(self) -> int:
        """The number of symbols."""
        return len(self.symbols)


def rules_to_data(rules: Iterable[Rule]) -> dict[str, Any]:
    """Rules as plain data, in which symbols are numbers."""
    rules = [*rules]
    symbols = sorted({symbol for rule in rules for symbol in (rule.name, *rule.symbols)})
    number = {symbol: i for i, symbol in enumerate(symbols)}
    return {"symbols": symbols, "rules": [[number[r.name], [number[s] for s in r.symbols], *r[2:]] for r in rules]}


def rules_from_data(data: dict[str, Any]) -> tuple[Rule, ...]:
    """The inverse of `rules_to_data`."""
    symbols: list[str] = data["symbols"]
    rows: list[tuple[int, list[int], Any, Any, Any]] = data["rules"]
    return tuple([Rule(symbols[name], tuple([symbols[i] for i in body]), *rest) for name, body, *rest in rows])


class Tables(NamedTuple):
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
            "terminals": [*self.terminals.values()],
            **rules_to_data(self.rules),
            **self._states(),
        }
        data |= {name: getattr(self, name) for name in _AHEAD}
        if self.broken is not None:
            data["broken"] = self.broken._states()
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in data.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def _states(self) -> dict[str, Any]:
        return {"start": self.start, "states": self.states, "nodes": self.nodes}

    @classmethod
    def from_json(cls, text: str) -> Tables | None:
        """The inverse of `to_json`; None if another version wrote the text."""
        data: dict[str, Any] = json.loads(text)
        if data["version"] != VERSION:
            return None
        tables = cls(
            header=Header.from_data(data["header"]),
            terminals={row[0]: Terminal._make([*row[:-1], tuple(row[-1])]) for row in data["terminals"]},
            rules=rules_from_data(data),
            ignore=data["ignore"],
            sources=data["sources"],
            **_read_states(data),
            **{name: data[name] for name in _AHEAD},
        )
        if "broken" not in data:
            return tables
        broken = tables._replace(symbol=BROKEN, **_read_states(data["broken"]), **dict.fromkeys(_AHEAD))
        return tables._replace(broken=broken)


def _read_states(data: dict[str, Any]) -> dict[str, Any]:
    return {"start": data["start"], "states": tuple(data["states"]), "nodes": tuple(data["nodes"])}
