"""Calls that answer the user: the final answer of an agent, written as a call, is text and streams as text."""

from __future__ import annotations

from outspoken.json.partial_string import PartialAnswer, PartialString
from outspoken.json.scanner import JsonScanner
from outspoken.results.construct import construct
from outspoken.results.replies import Reasoning, Status, Text

from .open_node import EmbeddedValue, OpenNode
from .segments import add_answer, answer_names, answer_of, end_answer, find_lone_surrogate, is_answer
from .state import ReplyState

_CLOSERS = '"}]`~ \t\r\n'
#: What may stand behind the closing quote of a string; "" stands for the end of the text.
_BEHIND = ("", ",", "}", "]")


class AnswerBuilder:
    """Makes text of the calls that a format's header names as `answer`.

    The input of such a call is the answer: a string is text, anything else is a JSON value. Once the first character of
    a string was sent, the answer is announced: it is completed, or a diagnostic says that it is cut.
    """

    #: whether the format has calls that answer the user
    enabled = False
    _names: frozenset[str] = frozenset()

    def __init__(self, state: ReplyState) -> None:
        self._state, self._output, self._recorder = state, state.output, state.recorder
        if state.header.answer:
            self.enabled, self._names = True, answer_names(state.header.answer)

    def is_answer(self, node: OpenNode) -> bool:
        """Is a node the call that answers the user?"""
        return self.enabled and is_answer(node.name, self._names)

    # the input

    def begin_value(self, value: EmbeddedValue) -> None:
        """The value of an argument begins, and a part of it arrived. An answer may hold bare line breaks."""
        node = self._state.nodes[-1] if self.enabled and self._state.nodes else None
        if node is not None and self.is_answer(node) and node.partial_text is None:
            self._begin(node, value.begun)
            if isinstance(value.scanner, JsonScanner):
                value.scanner.allow_controls = True

    def _begin(self, node: OpenNode, start: int, *, is_bare: bool = False) -> PartialAnswer:
        node.partial_text = made = PartialAnswer(start, is_bare=is_bare)
        node.index = self._output.call_count
        return made

    def add_bare(self, node: OpenNode, start: int, end: int) -> None:
        """More bare text of the input arrived."""
        if node.partial_text is None:
            self._begin(node, start, is_bare=True)
            node.content_span = (start, end)
        node.content_span = (node.content_span[0], end)

    def send_rest(self, node: OpenNode) -> None:
        """Send the text of a complete input, as far as it was not sent yet."""
        value = answer_of(node.arguments)
        if not isinstance(value, str):
            return
        text = node.partial_text or self._begin(node, node.content_span[0])
        rest = value[len(text.sent) :]
        if rest:
            text.complete(value)
            self._send(text, rest)

    def _send(self, text: PartialString, rest: str) -> None:
        output = self._output
        if output.events is not None:
            output.flush()
            output.events.append(text.event(output.action_count, rest))

    @property
    def first_start(self) -> int | None:
        """Where an answer begins that is still arriving; None if nothing of it was sent."""
        texts = (node.partial_text for node in self._state.nodes)
        return next((t.begun for t in texts if isinstance(t, PartialAnswer) and t.has_sent), None)

    # the end

    def end_call(self, node: OpenNode, end: int) -> None:
        """The call is complete: its input becomes text, or a JSON value."""
        value, span = answer_of(node.arguments), node.content_span
        raw = self._state.source.slice(*span)
        add_answer(self._output, value, raw, span)
        is_bare = isinstance(node.partial_text, PartialAnswer) and node.partial_text.is_bare
        lone = find_lone_surrogate(raw) if isinstance(value, str) and not is_bare else None
        if lone is not None:
            place = (span[0] + lone.start(), span[0] + lone.end())
            message = f"`{lone[0]}` is half a character, and is read as U+FFFD"
            self._recorder.report("lone-surrogate", message, place, "warning")
        self._recorder.take_repairs()
        self._output.end_node(node.start, end)

    def unfinished(self, node: OpenNode, end: int, status: Status) -> None:
        """An answer never ended (`truncated`) or cannot be read (`invalid`). The text that arrived is kept."""
        output, recorder = self._output, self._recorder
        text = node.partial_text if isinstance(node.partial_text, PartialAnswer) else PartialAnswer(node.start)
        output.flush()
        recorder.lower_status(status)
        recorder.take_repairs()
        held = text.held
        rest = self._unread(text, end, status) if text is node.partial_text else ""
        if rest:
            self._send(text, rest)
            text.complete(text.sent + rest)
        if text.has_sent:
            output.outcome.answered = True
            span = node.content_span if node.content_span[1] else (text.begun, end - len(held))
            if rest:  # the raw text behind the opening quote
                begun = self._state.source.slice(text.begun, end).lstrip()
                span = end - len(begun) + begun.startswith('"'), end
            output.segments.append(construct(Text, {"kind": "text", "text": text.sent, "span": span}))
            output.send_text("", span)
        if held and status == "truncated":
            message = f"the text ends inside the escape `{held}`, which is left out"
            recorder.report("truncated-escape", message, (end - len(held), end))
        span = (max(node.start, 0), end)
        if status == "truncated":
            label = "opened here, and the text ends inside it"
            recorder.report("unclosed-answer", "the answer never ends", span, label=label)
        else:
            recorder.report("invalid-answer", "the rest of the answer cannot be read, and is kept as it stands", span)
        self._output.end_node(node.start, end)

    def _unread(self, text: PartialAnswer, end: int, status: Status) -> str:
        """The raw text of an answer behind what could be read of it; a stream has sent the rest."""
        rest = text.rest_of(self._state.source.slice(text.begun, end))
        behind_quote = rest[1:].lstrip()[:1]
        if not rest.strip(_CLOSERS) or (status == "truncated" and rest[:1] == '"' and behind_quote in _BEHIND):
            return ""
        return rest

    def announce_all(self) -> None:
        """Announce the answers that are open, so that the end of the text finds them."""
        for node in self._state.nodes if self.enabled else ():
            if node.index < 0 and self.is_answer(node):
                node.index = self._output.call_count

    def end_answer(self, end: int) -> None:
        """A block of text is complete that is the answer to the user."""
        end_answer(self._output, self._state.nodes.pop().start, end)

    def end_invented(self, end: int) -> None:
        """The model wrote the result of a tool itself. It is reasoning, and nothing that happened."""
        node = self._state.nodes.pop()
        has_reasoning = self._output.run_model is Reasoning
        self._output.flush()
        if has_reasoning:
            message = "the model wrote this tool result itself; it is kept as reasoning"
            self._recorder.report("invented-result", message, (node.start, end), "warning")
        self._output.end_node(node.start, end)
