"""What recovery speaks of: a damaged region, the steps through it, and what each kind of damage costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.lenient_rules import begins_with_newline
from outspoken.notations.tools import Tools
from outspoken.results.edits import Edit, RepairBudget, RepairLimit
from outspoken.results.settings import Settings

from .marker_lexer import Token

BLANK = " \t\r\n\f"
#: What is not dropped: it may hold what was to be said.
TELLING = frozenset("{}[]()=<>\"'")

#: What damage costs. A marker that is missing, of which a character is missing, or that has no place:
MISSING, DAMAGED, STRAY = 3, 2, 3
#: A marker that is part of a string, or of a value without quotes; an opening marker that is plain text, another one
#: that is:
QUOTED, SWALLOWED, PLAIN, UNMARKED = 1, 4, 9, 5
#: Something else where only markers may stand, the same where it is open whether there is a call at all, and each word
#: of it after the first:
JUNK, UNSURE, WORD = 5, 11, 4
#: A marker that is not the one that the grammar would take first:
OTHER = 2
#: What it costs that a call is written as only the rules for damage allow it.
WIDENED = 2
#: What it costs to take JSON for cut, where nothing proves that it ended.
CUT = 5
#: What a repaired JSON value costs, by the rung that read it, and what it costs more where it could be read two ways.
LEVEL_COSTS = {"exact": 0, "notation": 1, "structure": 2, "strings": 4, "heuristic": 8}
AMBIGUOUS = 3
#: A way that costs more than this is no reading.
LIMIT = 36


class Taken(NamedTuple):
    """One step of a way: what was read from `start` to `end`, and what had to be changed for it.

    `step` is None where something was dropped. `value` and `value_text` are set for an island.
    """

    step: Transition | None
    start: int
    end: int
    text: str = ""
    value: Any = None
    value_text: str = ""
    edits: tuple[Edit, ...] = ()
    free: bool = False
    ambiguous: str = ""


@dataclass(frozen=True)
class Way:
    """The cheapest way through a segment; `cut` says that the text ends inside it."""

    steps: tuple[Taken, ...]
    config: Config
    cost: int
    cut: bool = False


@dataclass
class Region:
    """A damaged segment: the text from `base` on, read from a configuration.

    `closed` says that something behind it proves that it ended; `announced` that a call in it was announced already,
    so that it cannot be text.
    """

    automaton: Automaton
    outer: Config
    text: str
    base: int
    closed: bool
    announced: bool
    repair_limit: RepairLimit
    tools: Tools | None
    settings: Settings
    budget: RepairBudget
    #: how many places and configurations may be looked at; counted down
    nodes: int
    #: of ways that cost the same, the one that was found first is taken (1), or the one found last (-1)
    ties: int = 1
    tokens: list[Token] = field(default_factory=list[Token])


class Edge(NamedTuple):
    """Something that can be read at a place: its cost, where it ends, the configuration there, and its steps."""

    cost: int
    end: int
    target: Config
    taken: tuple[Taken, ...]


class Node(NamedTuple):
    """How a place was reached: the last step and the node before it.

    `name` is the tool that is being called, or the payload, `bare` says that a marker that opens calls was missing.
    """

    taken: tuple[Taken, ...]
    before: Node | None
    name: str
    bare: bool

    @property
    def is_dropped(self) -> bool:
        """Was something dropped just before?"""
        return bool(self.taken) and self.taken[-1].step is None

    @property
    def is_mended(self) -> bool:
        """Was something dropped just before, or a marker supplied?"""
        return self.is_dropped or (bool(self.taken) and is_missing(self.taken[-1]))


def name_after(steps: tuple[Taken, ...], known: str) -> str:
    """The name of the tool that is being called, or of the payload that is being read, after some steps."""
    for taken in steps:
        if taken.step is not None and taken.step.terminal.short in ("TOOL_NAME", "PAYLOAD_NAME"):
            return taken.text
        if taken.step is not None and taken.step.role == "tool_name" and isinstance(taken.value, str):
            return taken.value
    return known


def steps_to(node: Node | None, text: str, base: int) -> tuple[Taken, ...]:
    """The steps that led to a node, with offsets into the raw text.

    Where a marker is missing behind free text, a line break before it belongs to it, or to the marker behind it.
    """
    found: list[Taken] = []
    while node is not None:
        found += reversed(node.taken)
        node = node.before
    found.reverse()
    for i in range(len(found) - 1):
        free, after = found[i], found[i + 1]
        if not free.free or free.end == free.start or text[free.end - 1] != "\n" or not is_missing(after):
            continue
        behind = [t for t in found[i + 1 :] if t.step is not None]
        markers = behind[: next((n for n, t in enumerate(behind) if not is_missing(t)), len(behind)) + 1]
        if any(begins_with_newline(t.step.terminal) for t in markers if t.step is not None):
            found[i] = free._replace(end=free.end - 1)
            edits = tuple([e._replace(start=e.start - 1, end=e.end - 1) for e in after.edits])
            found[i + 1] = after._replace(start=after.start - 1, end=after.end - 1, edits=edits)
    return tuple([_moved(taken, base) for taken in found])


def is_missing(taken: Taken) -> bool:
    """Was the marker of a step missing?"""
    return bool(taken.edits) and not taken.text and taken.edits[0].code == "missing-marker"


def _moved(taken: Taken, base: int) -> Taken:
    edits = tuple([e._replace(start=e.start + base, end=e.end + base) for e in taken.edits])
    return taken._replace(start=taken.start + base, end=taken.end + base, edits=edits)
