"""The builder: it makes typed segments and events of what the parser reads.

What a rule or terminal of the grammars' vocabulary means is in the parts of the builder, `calls`, `answers` and
`actions`, which share a `ReplyState`, and in `blocks` (reasoning, code, JSON values, envelopes, payloads).
The parser passes on free text in pieces with their offsets (`handlers.FREE`), and carries out
the operations of the automaton (`handlers.HANDLERS`). All spans and places are offsets in the raw text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from outspoken.grammar import registry
from outspoken.grammar.header import Header
from outspoken.grammar.value_markup import openers_at_end
from outspoken.results.diagnostics import Repair
from outspoken.results.edits import shown
from outspoken.results.replies import Reasoning, ToolCall

from .action_builder import ActionBuilder
from .answer_builder import AnswerBuilder
from .call_builder import CallBuilder
from .open_node import OpenNode
from .state import ReplyState

if TYPE_CHECKING:
    from outspoken.results.events import Event

#: What the end of a text may hold besides open markup without being lost text.
_CLOSERS = " \t\r\n]},"


class Builder:
    """Makes the segments of one response, or of a part of it that is read tentatively (see `fork`)."""

    def __init__(self, state: ReplyState) -> None:
        self.state = state
        self.context, self.header = state.context, state.header
        self.source, self.recorder, self.output, self.nodes = state.source, state.recorder, state.output, state.nodes
        self.answers = AnswerBuilder(state)
        self.actions = ActionBuilder(state)
        self.calls = CallBuilder(state, self.answers, self.actions)

    # free text

    def reasoning(self, piece: str, start: int, end: int) -> None:
        """More reasoning. Tags of reasoning within it that stand before the first piece belong to it."""
        node = self.nodes[-1] if self.nodes else None
        if node is not None and node.text_start is not None:
            begun, node.text_start = node.text_start, end
            if begun < start and self.output.run_model is not Reasoning:
                tags = self.source.slice(begun, start).lstrip()
                piece, start = tags + piece, start - len(tags)
        self.output.reasoning(piece, start, end)

    def reasoning_at(self, at: int) -> None:
        """A stretch of reasoning begins or ends at an offset."""
        node = self.nodes[-1] if self.nodes else None
        if node is not None and node.kinds == "think":
            if node.text_start is None:
                node.text_start = max(at, 0)
            node.text_end = at

    # nodes

    def begin(self, kinds: str, start: int) -> None:
        """A node begins that may become one of several kinds."""
        self.nodes.append(OpenNode(kinds, start))
        if kinds == "answer":
            self.output.after_markup()

    # the end of the text

    def cut(self, end: int) -> None:
        """The text ends inside a node: report it, and keep what was read of it."""
        self.answers.announce_all()
        nodes = self.nodes.copy()
        self.nodes.clear()
        output, recorder = self.output, self.recorder
        if output.thoughts:
            output.flush()
        call = next((n for n in reversed(nodes) if n.index >= 0 or (n.name and n.kinds == "tool_call")), None)
        call = call or next((n for n in nodes if self.actions.is_started(n)), None)
        if call is not None:
            self.calls.unfinished(call, end, "truncated")
            return
        sample = self._sample_of(nodes)
        edits = recorder.edits.copy()
        # the others belong to what was not read
        recorder.edits[:] = [
            e for e in edits if any(s.span[0] <= e.start and e.end <= s.span[1] for s in output.segments)
        ]
        first, start = nodes[0] if nodes else None, max(output.consumed, 0)
        if first is not None and first.kinds == "think":
            output.flush("truncated")
            recorder.lower_status("truncated")
            message, label = "the reasoning is never closed", "opened here, and the text ends inside it"
            recorder.report("unclosed-reasoning", message, (first.start, end), "warning", label=label)
            output.consumed = end
        elif sample is not None:
            output.show(end)
        elif self.source.slice(start, end).strip(_CLOSERS):
            recorder.lower_status("truncated")
            if first is not None and start > first.start:
                message = "the text ends inside markup of which a part was read"
            elif self._opens_only(start, end):
                self.end_behind_opener(start, end)
                return
            else:
                output.show(end)
                message = "the text ends inside markup, which is kept as text"
            recorder.report("unclosed-markup", message, (start, end))
        else:
            message = "the text ends before the section of calls does"
            recorder.report("unclosed-section", message, (end, end), "warning")
            recorder.edits[:] = edits if first is None else []  # nothing is lost of what they belong to
            if "," in self.source.slice(start, end):
                recorder.lower_status("truncated")  # another call was to follow

    def _opens_only(self, start: int, end: int) -> bool:
        return bool(openers_at_end(registry.automaton(self.header.format))[1].match(self.source.slice(start, end)))

    def end_behind_opener(self, start: int, end: int) -> None:
        """The text ends behind a marker that opens something, which is no text."""
        self.recorder.lower_status("truncated")
        message = f"the text ends behind {shown(self.source.slice(start, end).strip())}, which opens something"
        self.recorder.report("unclosed-markup", message, (start, end))
        self.output.consumed = end

    @property
    def open_sample(self) -> OpenNode | None:
        """The code sample that is open, if all of it is text."""
        return self._sample_of(self.nodes)

    def _sample_of(self, nodes: list[OpenNode]) -> OpenNode | None:
        first, output = nodes[0] if nodes else None, self.output
        if first is None or first.kinds != "code":
            return None
        return first if output.after_text or output.consumed <= first.start else None

    @property
    def first_start(self) -> int | None:
        """Where the first segment starts, or an answer that is still arriving; None if there is neither yet."""
        found = self.output.first_start
        return found if found is not None else self.answers.first_start

    # what the prompt ended with

    @property
    def is_empty(self) -> bool:
        """Was nothing read but markup and the beginning of nodes?"""
        recorder = self.recorder
        return self.output.is_empty and not (recorder.diagnostics or recorder.edits or recorder.repairs)

    def discard_prompt(self) -> None:
        """Remove what ended within the prompt: it is no part of the response. What is open stays open."""
        output, recorder = self.output, self.recorder
        ended = sum([type(s) is ToolCall for s in output.segments])
        output.segments.clear()
        recorder.diagnostics.clear()
        recorder.status = "ok"
        output.outcome = type(output.outcome)()
        output.call_count -= ended
        for node in self.nodes:
            node.index -= ended if node.index >= 0 else 0
        if output.events is not None:
            output.events[:] = _events_of_open_calls(output.events, ended)

    # forks

    def fork(self, start: int, header: Header | None = None) -> Builder:
        """A builder for reading the text from an offset on tentatively, in this format or that of a header."""
        return Builder(self.state.fork(start, header or self.header))

    def absorb(self, other: Builder) -> tuple[Repair, ...]:
        """Take over what a fork read, apart from its open nodes and its events; returns the repairs of open nodes."""
        return self.state.absorb(other.state)


def _events_of_open_calls(events: list[Event], ended: int) -> list[Event]:
    """The last events, which belong to calls that are still open, counted without those that have ended."""
    from outspoken.results.events import ToolCallDelta, ToolCallStart

    found: list[Event] = []
    for event in reversed(events):
        if not isinstance(event, (ToolCallStart, ToolCallDelta)):
            break
        found.insert(0, replace(event, index=event.index - ended))
    return found
