"""What a parser does, step by step. A parser that is given a list appends its steps to it (`AutomatonParser.log`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from outspoken.grammar.automaton import Config, Transition
    from outspoken.recovery.path import RecoveryPath

#: `token`: a marker, free text or an embedded value was read. Free text is logged where it ends; it begins where the
#: step before it ends.
#: `refused`: the grammar has no place for what stands here; `broken`: an embedded value cannot be read on here.
#: `recovered`, `rejected`: a recovery path was found, and was accepted or not.
#: `text`: what was refused is text; `left`: the segment of a candidate ends before it; `unread`: it was given up.
#: `end`: the text has ended in `config`, inside of `transition` if that is not None.
#: `tried`: no format reads a segment; `chosen`: the first of the formats that were tried reads it.
Kind = Literal[
    "token", "refused", "broken", "recovered", "rejected", "text", "left", "unread", "end", "tried", "chosen"
]


class ParseStep(NamedTuple):
    """One step: its kind, its span in the raw text, and the configuration in which it is taken.

    `transition` is what a token takes, `path` a recovery path, `trials` are the formats that were tried.
    """

    kind: Kind
    start: int
    end: int
    config: Config
    transition: Transition | None = None
    path: RecoveryPath | None = None
    trials: tuple[Trial, ...] = ()


class Trial(NamedTuple):
    """A format that was tried during detection, with the steps of its parser."""

    name: str
    steps: list[ParseStep]
