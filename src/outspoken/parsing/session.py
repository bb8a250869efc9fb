"""A session reads one response: a parser and a builder for its format, and the reply that they make."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Literal

from outspoken.engine.parser import Parser
from outspoken.engine.policy import DEFAULT_POLICY, ParserPolicy
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.results.construct import construct
from outspoken.results.edits import REPAIR_LIMITS, RepairLimit
from outspoken.results.encoding import replace_surrogates
from outspoken.results.errors import LimitError, ResponseError, StreamClosedError
from outspoken.results.events import Done, Event
from outspoken.results.pending_diagnostics import place_diagnostics
from outspoken.results.replies import Reply
from outspoken.results.settings import DEFAULT, Settings, with_screen
from outspoken.semantics.builder import Builder
from outspoken.semantics.embedded_actions import EmbeddedActions, embedded_actions
from outspoken.semantics.state import Context, ReplyState

from .prompt_prefix import PromptState, after_anchor

if TYPE_CHECKING:
    from outspoken.detection.detector import Detector
    from outspoken.grammar.automaton import Automaton
    from outspoken.results.geometry import Screen, Space

OnError = Literal["keep", "raise"]

#: Finish reasons that say that the model ended its answer itself, in lower case and with `_` for `-`.
ENDED = frozenset(
    {
        "stop",
        "tool_calls",
        "tool_use",
        "function_call",
        "end_turn",
        "stop_sequence",
        "eos",
        "eos_token",
        "complete",
        "completed",
    }
)


def proves_end(reason: str | None) -> bool:
    """Does a finish reason prove that the model ended its answer itself?"""
    return reason is not None and reason.strip().lower().replace("-", "_") in ENDED


def check_repair_limit(repair: object) -> None:
    """Raise ValueError if an argument is not a repair limit."""
    if repair not in REPAIR_LIMITS:
        names = ", ".join([f'"{limit}"' for limit in REPAIR_LIMITS])
        raise ValueError(f"`repair` is {repair!r}; expected one of {names}")


class Session:
    """Reads one response. `read` takes all of it at once, `feed` and `close` take it in chunks."""

    parser_type: type[Parser] = Parser
    builder_type: type[Builder] = Builder
    _detector: Detector | None = None

    def __init__(
        self,
        format: str,
        tools: Any,
        prefix: str | None,
        on_error: OnError,
        repair: RepairLimit | None,
        settings: Settings | None,
        events: list[Event] | None,
        policy: ParserPolicy = DEFAULT_POLICY,
    ) -> None:
        if on_error not in ("keep", "raise"):
            raise ValueError(f'`on_error` is {on_error!r}; expected "keep" or "raise"')
        if repair is None:
            repair = "none" if on_error == "raise" else "strings"
        check_repair_limit(repair)
        self.settings = settings or DEFAULT
        self._max_chars = self.settings.max_chars
        self._length = 0
        self._on_error, self._policy = on_error, policy
        self.format = None if format == "auto" else self.resolve_format(format)
        lenient = repair not in ("none", "notation")
        self._automaton = automaton = self.load_automaton(self.format or registry.PLAIN, lenient=lenient)
        context = Context(automaton.tables.header, Tools.of(tools), self.settings, repair, read_embedded)
        self._builder = self.builder_type(ReplyState(context, events))
        #: what the format's prompts end with, as long as the response may still begin by repeating it
        self._usual_prefix: str = automaton.tables.header.opened if prefix is None and self.format else ""
        self._early_text: str = ""
        if not self._usual_prefix:
            self._start(prefix or "")

    def resolve_format(self, format: str) -> str:
        """The exact name of a format."""
        return registry.resolve(format)

    def load_automaton(self, format: str, *, lenient: bool) -> Automaton:
        """The automaton of a format."""
        return registry.automaton(format, lenient=lenient)

    def make_detector(self, text: TextBuffer) -> Detector:
        """What reads a format that is not named."""
        from outspoken.detection.detector import Detector  # a format that is named does not need it

        return Detector(self._automaton, self._builder, text)

    # the prompt prefix

    def _start(self, prefix: str) -> None:
        """Make the parser, and read the prompt prefix."""
        prefix = prefix and replace_surrogates(prefix)
        prefix = prefix and after_anchor(prefix, self._automaton.tables.header.anchor)
        self._prefix_length = len(prefix)
        self._text = text = TextBuffer(-len(prefix))
        self._reader: Parser | Detector
        if self.format is None:
            self._reader = self._detector = self.make_detector(text)
        else:
            self._reader = self.parser_type(self._automaton, self._builder, text, self._policy)
            if prefix and prefix == self._usual_prefix and type(self._reader) is Parser:
                self._read_usual_prefix(self._reader, prefix)
                return
        if prefix:
            self._reader.feed(prefix)
            self._builder.discard_prompt()

    def _read_usual_prefix(self, parser: Parser, prefix: str) -> None:
        """Read what the format's prompts end with; the place behind it is kept with the automaton."""
        automaton, builder = self._automaton, self._builder
        if automaton.prompt_state:
            automaton.prompt_state.restore(parser, builder)
            return
        parser.feed(prefix)
        builder.discard_prompt()
        if automaton.prompt_state is None:
            automaton.prompt_state = PromptState.of(parser, builder) or False

    def _without_repeated_prefix(self, text: str, *, final: bool) -> str:
        """The text that can be read, once it is known whether the response repeats the end of its prompt."""
        text = self._early_text + text
        found, usual = text.lstrip(), self._usual_prefix.strip()
        if usual.startswith(found) and not (final or found == usual):
            self._early_text = text
            return ""
        self._start(self._usual_prefix if found and not found.startswith(usual) else "")
        self._usual_prefix = self._early_text = ""
        return text

    # reading

    def read(self, text: str, finish_reason: str | None = None) -> Reply:
        """Read a whole response."""
        text = replace_surrogates(text)
        if self._usual_prefix:
            self._without_repeated_prefix(text, final=True)
        limit, is_proven = self._max_chars, proves_end(finish_reason)
        if len(text) > limit:
            self._reader.read(text[:limit], end_is_proven=is_proven)
            raise LimitError(limit, self._reply(text[:limit]))
        self._reader.read(text, end_is_proven=is_proven)
        return self._finish(text)

    def feed(self, text: str) -> None:
        """Read a chunk."""
        text = text if text.isascii() else replace_surrogates(text)
        if self._usual_prefix and not (text := self._without_repeated_prefix(text, final=False)):
            return
        self._length += len(text)
        if self._length > self._max_chars:
            room = len(text) - self._length + self._max_chars
            if room > 0:
                self._reader.feed(text[:room])
            self._reader.close()
            raise LimitError(self._max_chars, self._reply(self._raw()))
        self._reader.feed(text)

    def close(self, finish_reason: str | None = None) -> Reply:
        """End the response."""
        if self._usual_prefix and (text := self._without_repeated_prefix("", final=True)):
            self.feed(text)
        self._reader.close(end_is_proven=proves_end(finish_reason))
        return self._finish(self._raw())

    # the reply

    def _raw(self) -> str:
        return "".join(self._text.chunks)[self._prefix_length :]

    def _finish(self, raw: str) -> Reply:
        reply = self._reply(raw)
        if self._on_error == "raise":
            error = next((d for d in reply.diagnostics if d.severity == "error"), None)
            if error is not None:
                raise ResponseError(error, reply)
        return reply

    def _reply(self, raw: str) -> Reply:
        builder = self._builder
        outcome, diagnostics = builder.output.outcome, builder.recorder.diagnostics
        return construct(
            Reply,
            {
                "raw": raw,
                "format": self._detector.detected if self._detector is not None else self.format,
                "segments": builder.output.segments,
                "status": builder.recorder.status,
                "diagnostics": place_diagnostics(diagnostics, raw) if diagnostics else [],
                "repairs": builder.recorder.repairs,
                "envelope": outcome.envelope,
                "envelope_content": outcome.envelope_content,
                "needs_more_work": outcome.needs_more_work,
                "final_answer_streamed": outcome.answered,
            },
        )


def read_embedded(
    format: str, text: str, raw: str, start: int, settings: Settings, repair_limit: RepairLimit
) -> EmbeddedActions:
    """Read the value of a JSON string as a response in a format; see `ReadEmbedded`."""
    reply = Session(format, None, "", "keep", repair_limit, settings, None).read(text, "stop")
    return embedded_actions(reply, text, raw, start)


class StreamParser:
    """Parses a response that arrives in chunks.

    `feed` takes text, or UTF-8 bytes that may be split anywhere, and returns the events that have become certain.
    `close` returns the last events; the reply is then in `reply`. For the arguments, see `parse`.
    """

    def __init__(
        self,
        format: str = "auto",
        *,
        tools: Any = None,
        prefix: str | None = None,
        on_error: OnError = "keep",
        repair: RepairLimit | None = None,
        coordinates: Space | None = None,
        screen: Screen | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._events: list[Event] = []
        settings = with_screen(settings, coordinates, screen)
        self._session = Session(format, tools, prefix, on_error, repair, settings, self._events)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.reply: Reply | None = None

    def feed(self, chunk: str | bytes) -> list[Event]:
        """Read a chunk. Raises StreamClosedError after `close`, and LimitError for a text over the limit."""
        if self.reply is not None:
            raise StreamClosedError("the stream was closed; make a new StreamParser for the next response")
        text = chunk if isinstance(chunk, str) else self._decoder.decode(chunk)
        if not text:
            return []
        try:
            self._session.feed(text)
        except LimitError as error:
            self.reply = error.reply
            raise
        events = self._events
        return [events.pop()] if len(events) == 1 else self._drain()

    def close(self) -> list[Event]:
        """End the response without a finish reason. See `finish`."""
        return self.finish(None)

    def finish(self, reason: str | None) -> list[Event]:
        """End the response with the provider's finish reason, and return the last events; a second call returns none.

        An incomplete call is truncated, unless the reason says that the model ended its answer (`stop`, `tool_calls`,
        `end_turn` and the like). Then its closing markers are inserted, which is recorded as a repair.

        Raises ResponseError if the response has an error and `on_error` is "raise".
        """
        if self.reply is not None:
            return []
        rest = self._decoder.decode(b"", final=True)
        try:
            if rest:
                self._session.feed(rest)
            self.reply = self._session.close(reason)
        except (LimitError, ResponseError) as error:
            self.reply = error.reply
            raise
        self._events.append(Done(self.reply))
        return self._drain()

    def _drain(self) -> list[Event]:
        events = self._events
        if not events:
            return []
        drained = events.copy()
        events.clear()
        return drained
