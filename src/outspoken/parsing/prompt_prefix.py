"""What a prompt opened, read once: what that leaves of a machine and its builder is kept for the next response."""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from outspoken.engine.parser import Machine
from outspoken.semantics.builder import Builder

#: what belongs to a response, and not to what was read of it
_OWN = frozenset(["automaton", "builder", "_depth", "_hand_on"])
_PLAIN = (str, int, frozenset, type(None))


def after_anchor(prefix: str, anchor: str) -> str:
    """What stands in a prompt behind the last match of an anchor; all of it where there is no anchor, or no match."""
    return prefix[max([match.end() for match in re.finditer(anchor, prefix)], default=0) :] if anchor else prefix


class Opened:
    """What a machine and its builder have become by reading what the prompt opened: markup, and open nodes at most."""

    __slots__ = ("_machine", "_chunks", "_nodes", "_position")

    def __init__(self, machine: Machine, builder: Builder) -> None:
        self._machine = _state(machine)
        self._chunks = machine.chunks[:]
        self._nodes = builder.state.copy_nodes()
        self._position = builder.output.position

    @classmethod
    def of(cls, machine: Machine, builder: Builder) -> Opened | None:
        """What they have become; None where there is more to it, or where they do more than read."""
        announced = any(node.index >= 0 for node in builder.nodes)
        more = any(type(part) is list and part and name != "chunks" for name, part in vars(machine).items())
        if type(machine) is not Machine or announced or more or not builder.is_empty:
            return None
        values = [v for k, v in _state(machine).items() if k != "config"]
        values += [value for node in builder.nodes for value in vars(node).values()]
        return cls(machine, builder) if all(isinstance(value, _PLAIN) for value in values) else None

    def put_into(self, machine: Machine, builder: Builder) -> None:
        """Make them of a machine and a builder that are new."""
        vars(machine).update(self._machine)
        machine.chunks += self._chunks
        builder.nodes += [copy(node) for node in self._nodes]
        builder.output.position = self._position


def _state(machine: Machine) -> dict[str, Any]:
    return {name: value for name, value in vars(machine).items() if name not in _OWN and type(value) is not list}
