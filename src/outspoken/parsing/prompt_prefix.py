"""What a prompt ends with, read once: the place behind it is kept for the next response."""

from __future__ import annotations

import re
from copy import copy
from typing import Any, NamedTuple

from outspoken.engine.parser import AutomatonParser, Checkpoint
from outspoken.engine.state import ParserState
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar.automaton import Automaton
from outspoken.patterns.lazy import lazy_pattern
from outspoken.semantics.builder import Builder
from outspoken.semantics.open_node import OpenNode

#: A tag at the end of a prompt, and how much of the prompt is searched for it.
_LAST_TAG = lazy_pattern(r"<[^<>\s]{1,80}>\s*\Z")
_LONGEST_TAG = 120
#: The fields of a text and of a parser's state that a checkpoint continues from.
_TEXT = ("text", "chunks", "base", "pos", "scan", "length", "origin")
_TRIMS = ("trims", "leading_trims")
_STATE = ("before_text", "after_marker", "skips_blank", *_TRIMS)
#: What may be copied with a node.
_PLAIN = (str, int, frozenset, type(None))


def after_anchor(prefix: str, anchor: str) -> str:
    """The part of a prompt behind the last match of an anchor; all of it if there is no anchor, or no match."""
    return prefix[max([match.end() for match in re.finditer(anchor, prefix)], default=0) :] if anchor else prefix


class PromptEnd(NamedTuple):
    """The end of a prompt, which a response may repeat: `before` what it may repeat, `markup`."""

    before: str
    markup: str
    #: the prompt was given, and is not only what the format's prompts end with
    is_given: bool

    @classmethod
    def of(cls, prefix: str) -> PromptEnd | None:
        """The end of a prompt that was given; None if it does not end with a tag."""
        match = _LAST_TAG.search(prefix[-_LONGEST_TAG:])
        return None if match is None else cls(prefix[: -len(match[0])], match[0], True)

    def is_open(self, text: str) -> bool:
        """May a response that begins with this text still repeat the markup?"""
        found, markup = text.lstrip(), self.markup.strip()
        return markup.startswith(found) and found != markup

    def prefix_of(self, text: str) -> str:
        """What counts of the prompt for a response that begins with this text: what the response does not repeat.

        A response without text has none of the format's own prompt.
        """
        found = text.lstrip()
        if found.startswith(self.markup.strip()):
            return self.before
        return self.before + self.markup if found or self.is_given else ""


def prompt_before(text: str, prefix: str | None, usual: str) -> str:
    """What counts of the prompt before a whole response: of `prefix` if it is given, else of the format's `usual`."""
    end = PromptEnd.of(prefix) if prefix is not None else PromptEnd("", usual, False)
    return prefix or "" if end is None else end.prefix_of(text)


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

    @classmethod
    def from_data(cls, automaton: Automaton, data: dict[str, Any]) -> PromptState:
        """The inverse of `to_data`, for one of the automata of the same grammar."""
        text, state = TextBuffer(), ParserState(automaton, automaton.config(tuple(data["stack"])), data["opener_at"])
        for name, value in data["text"].items():
            setattr(text, name, value)
        for name, value in data["state"].items():
            setattr(state, name, frozenset(value) if name in _TRIMS else value)
        nodes = [OpenNode() for _ in data["nodes"]]
        for node, values in zip(nodes, data["nodes"], strict=True):
            vars(node).update(values)
        return cls(Checkpoint(text, state, data["holds_blank"]), nodes, tuple(data["position"]))

    def to_data(self) -> dict[str, Any] | None:
        """The state as plain data; None if a node holds what is none."""
        text, state, holds_blank = self.checkpoint
        nodes = [vars(node) for node in self.nodes]
        if any(isinstance(value, frozenset) for node in nodes for value in node.values()):
            return None
        state_values = {name: getattr(state, name) for name in _STATE}
        return {
            "stack": [*state.config.stack],
            "opener_at": state.opener_at,
            "text": {name: getattr(text, name) for name in _TEXT},
            "state": {name: sorted(value) if name in _TRIMS else value for name, value in state_values.items()},
            "holds_blank": holds_blank,
            "nodes": nodes,
            "position": [*self.position],
        }

    def restore(self, parser: AutomatonParser, builder: Builder) -> None:
        """Bring a new parser and a new builder to the place behind the prompt."""
        parser.restore(self.checkpoint)
        builder.nodes += [copy(node) for node in self.nodes]
        builder.output.position = self.position
