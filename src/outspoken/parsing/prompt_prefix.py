"""What a prompt ends with, read once: the place behind it is kept for the next response."""

from __future__ import annotations

import re
from copy import copy
from typing import NamedTuple

from outspoken.engine.parser import AutomatonParser, Checkpoint
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import OpenNode

#: What may be copied with a node.
_PLAIN = (str, int, frozenset, type(None))


def after_anchor(prefix: str, anchor: str) -> str:
    """The part of a prompt behind the last match of an anchor; all of it if there is no anchor, or no match."""
    return prefix[max([match.end() for match in re.finditer(anchor, prefix)], default=0) :] if anchor else prefix


def prompt_before(text: str, usual: str) -> str:
    """What stood before a response, of which `text` is the beginning or all, if prompts end with `usual`.

    It is "" if the response repeats that, or says nothing.
    """
    found = text.lstrip()
    return usual if found and not found.startswith(usual.strip()) else ""


class PromptState(NamedTuple):
    """What a parser and its builder have become by reading the end of a prompt: open nodes at most."""

    checkpoint: Checkpoint
    nodes: list[OpenNode]
    position: tuple[int, bool, int, int, int]

    @classmethod
    def of(cls, parser: AutomatonParser, builder: Builder) -> PromptState | None:
        """What they have become; None if there is more to it than open nodes."""
        announced = any(node.index >= 0 for node in builder.nodes)
        values = [value for node in builder.nodes for value in vars(node).values()]
        checkpoint = parser.checkpoint()
        if checkpoint is None or announced or not builder.is_empty:
            return None
        if not all(isinstance(value, _PLAIN) for value in values):
            return None
        return cls(checkpoint, [copy(node) for node in builder.nodes], builder.output.position)

    def restore(self, parser: AutomatonParser, builder: Builder) -> None:
        """Bring a new parser and a new builder to the place behind the prompt."""
        parser.restore(self.checkpoint)
        builder.nodes += [copy(node) for node in self.nodes]
        builder.output.position = self.position
