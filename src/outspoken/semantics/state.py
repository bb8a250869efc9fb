"""What the parts of a builder share: what is given for a response, and what is known of its reply so far."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from outspoken.grammar.header import Header
from outspoken.notations.tools import Tools
from outspoken.results.edits import RepairLimit
from outspoken.results.events import Event
from outspoken.results.settings import Settings

from .embedded_actions import ReadEmbedded
from .open_node import OpenNode
from .output import Output
from .recorder import Recorder
from .source import Source

if TYPE_CHECKING:
    from outspoken.actions.mapping import ActionMapping


class TokenMatch(Protocol):
    """The match of a step of the automaton: a `re.Match`, or a `Place`."""

    def __getitem__(self, group: int, /) -> str: ...

    def start(self, group: int = ..., /) -> int: ...

    def end(self, group: int = ..., /) -> int: ...


@lru_cache(maxsize=1)
def _mapping_of() -> Callable[[Header], ActionMapping | None]:
    """The function that makes mappings. Its import costs time, and few formats need it."""
    from outspoken.actions.mapping import mapping_of

    return mapping_of


class Context(NamedTuple):
    """What is given for a response. `repair_limit` is the highest level of repairs that is allowed."""

    header: Header
    tools: Tools | None
    settings: Settings
    repair_limit: RepairLimit
    read_embedded: ReadEmbedded

    def with_header(self, header: Header) -> Context:
        """The same for another format."""
        return self if header is self.header else self._replace(header=header)


class ReplyState:
    """What is known of a reply while its text is read.

    `nodes` are the open nodes, from the outermost to the innermost. `last_value` and `last_text` are the embedded value
    that was read last, and its JSON text.
    """

    last_value: Any = None
    last_text = ""
    mapping: ActionMapping | None = None

    def __init__(self, context: Context, source: Source, recorder: Recorder, output: Output) -> None:
        self.context, self.header = context, context.header
        self.tool_names = context.tools.names if context.tools is not None else None
        if context.header.actions:
            self.mapping = _mapping_of()(context.header)
        self.source, self.recorder, self.output = source, recorder, output
        self.nodes: list[OpenNode] = []

    @classmethod
    def new(cls, context: Context, events: list[Event] | None) -> ReplyState:
        """The state at the beginning of a response. `events` receives the events, unless it is None."""
        source = Source()
        output = Output(source, trims="text" in context.header.trim, events=events)
        return cls(context, source, Recorder(context.header.format, source), output)

    def fork(self, start: int, header: Header) -> ReplyState:
        """The state for reading the text from an offset on tentatively, in the format of a header."""
        source = Source()
        recorder = self.recorder.fork(start, header.format, source)
        output = self.output.fork(start, source, trims="text" in header.trim)
        return ReplyState(self.context.with_header(header), source, recorder, output)

    def absorb(self, other: ReplyState) -> None:
        """Take over what a fork read, apart from its open nodes and its events."""
        other.output.flush()
        other.recorder.take_repairs()
        self.output.absorb(other.output)
        self.recorder.absorb(other.recorder)

    def copy_nodes(self) -> list[OpenNode]:
        """Copies of the open nodes."""
        return [copy(node) for node in self.nodes]

    def close_node(self, node: OpenNode, end: int) -> None:
        """A node was read up to an offset."""
        self.output.end_node(node.start, end)
