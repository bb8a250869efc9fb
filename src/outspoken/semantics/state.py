"""What the parts of a builder share: what is given for a response, and what is known of its reply so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from outspoken.grammar.header import Header
from outspoken.notations.tools import Tools
from outspoken.results.diagnostics import Repair
from outspoken.results.edits import RepairLimit
from outspoken.results.settings import Settings

from .embedded_actions import EmbeddedActions
from .open_node import OpenNode
from .output import Output
from .recorder import Recorder, Source

if TYPE_CHECKING:
    from outspoken.actions.page import PageContext
    from outspoken.results.events import Event

    from .echoes import Echoes, ReadCalls
    from .special_text import SpecialText


def no_calls(text: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The calls of a text where none are looked for."""
    return ()


class Context(NamedTuple):
    """What is given for a response. `repair_limit` is the highest level of repairs that is allowed.

    Actions are checked against the `page`; `given` are arguments of actions that the model need not write. `echoes`
    tell what the model had read, of which `read_calls` reads the calls, and the tools in `exact` need an exact call.
    `special` knows which characters come from special tokens. Without `calls`, none runs.
    """

    header: Header
    tools: Tools | None
    settings: Settings
    repair_limit: RepairLimit
    read_embedded: ReadEmbedded
    page: PageContext | None = None
    given: Mapping[str, Any] | None = None
    echoes: Echoes | None = None
    exact: frozenset[str] = frozenset()
    read_calls: ReadCalls = no_calls
    special: SpecialText | None = None
    calls: bool = True


class ReadEmbedded(Protocol):
    """Reads the value of a JSON string, `text`, as a response of the format of a context.

    `raw` is the string as it is written, with its quotes, at the offset `start`.
    """

    def __call__(self, context: Context, text: str, raw: str, start: int) -> EmbeddedActions: ...


class CutValue(NamedTuple):
    """Where the last call ends that was cut within a bare value; -1 for none.

    Nothing stands in the value if it `is_empty`. If a call that `has_begun` in it ends there, others may, too.
    """

    end: int = -1
    is_empty: bool = False
    has_begun: bool = False


class ReplyState:
    """What is known of a reply while its text is read.

    `events` receives the events, unless it is None. `nodes` are the open nodes, from the outermost to the innermost.
    `last_value` and `last_text` are the embedded value that was read last, and its JSON text.
    """

    last_value: Any = None
    last_text = ""
    #: where the last call in markers of its format ends
    marked_end = -1
    cut_value = CutValue()

    def __init__(self, context: Context, events: list[Event] | None) -> None:
        self.context, self.header = context, (header := context.header)
        self.source = source = Source()
        self.recorder = Recorder(header.format, source)
        self.output = Output(source, events, trims="text" in header.trim, separates=header.separate == "text")
        if context.tools is not None:
            self.output.types = context.tools.types_by_name
        self.nodes: list[OpenNode] = []

    @property
    def special(self) -> SpecialText | None:
        """What knows the special tokens of the response; None if they are not known."""
        found = self.context.special
        return found if found is not None and found.is_given else None

    def fork(self, start: int, header: Header) -> ReplyState:
        """The state for reading the text from an offset on tentatively, in the format of a header."""
        context = self.context
        if header is not self.header:
            context = Context(header, *context[1:])  # not `_replace`, which takes five times as long
        made = ReplyState(context, None if self.output.events is None else [])
        made.recorder.continue_from(self.recorder, start)
        made.output.continue_from(self.output, start)
        made.cut_value, made.marked_end = self.cut_value, self.marked_end
        return made

    def absorb(self, other: ReplyState) -> tuple[Repair, ...]:
        """Take over what a fork read, apart from its open nodes and its events.

        Returns the repairs that no finished node has: they are of the open ones.
        """
        other.output.flush()
        repairs = other.recorder.take_repairs()
        self.output.absorb(other.output)
        self.cut_value, self.marked_end = other.cut_value, other.marked_end
        self.recorder.absorb(other.recorder)
        return repairs
