"""What a prompt opened, read once: what that leaves of a machine and its builder is kept for the next response."""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from outspoken.engine.parser import Machine
from outspoken.semantics.block_builder import Builder

#: what belongs to a response, and not to what was read of it
_OWN = frozenset(
    [
        "automaton",
        "builder",
        "_depth",
        "_hand_on",
        "header",
        "tools",
        "known",
        "settings",
        "events",
        "slice",
        "repair_limit",
        "read_embedded",
        "frames",
    ]
)
#: what is copied; any other list is empty
_LISTS = frozenset({"chunks", "frames"})
_PLAIN = (str, int, frozenset, type(None))


def after_anchor(prefix: str, anchor: str) -> str:
    """What stands in a prompt behind the last match of an anchor; all of it where there is no anchor, or no match."""
    return prefix[max([match.end() for match in re.finditer(anchor, prefix)], default=0) :] if anchor else prefix


class Opened:
    """What a machine and its builder have become by reading what the prompt opened: markup, and frames at most."""

    __slots__ = ("_machine", "_builder", "_chunks", "_frames")

    def __init__(self, machine: Machine, builder: Builder) -> None:
        self._machine, self._builder = _state(machine), _state(builder)
        self._chunks = machine.chunks[:]
        self._frames = [copy(frame) for frame in builder.frames]

    @classmethod
    def of(cls, machine: Machine, builder: Builder) -> Opened | None:
        """What they have become; None where there is more to it, or where they do more than read."""
        announced = any(frame.index >= 0 for frame in builder.frames)
        kept: dict[str, Any] = vars(machine) | vars(builder)
        more = any(type(part) is list and part and name not in _LISTS for name, part in kept.items())
        if type(machine) is not Machine or announced or more:
            return None
        values = [v for k, v in _state(machine).items() if k != "config"] + [*_state(builder).values()]
        values += [value for frame in builder.frames for value in vars(frame).values()]
        return cls(machine, builder) if all(isinstance(value, _PLAIN) for value in values) else None

    def put_into(self, machine: Machine, builder: Builder) -> None:
        """Make them of a machine and a builder that are new."""
        vars(machine).update(self._machine)
        vars(builder).update(self._builder)
        machine.chunks += self._chunks
        builder.frames += [copy(frame) for frame in self._frames]


def _state(part: Machine | Builder) -> dict[str, Any]:
    return {name: value for name, value in vars(part).items() if name not in _OWN and type(value) is not list}
