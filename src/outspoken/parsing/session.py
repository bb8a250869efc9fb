"""One response being read: a machine and a builder for its format, and the reply that they make."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, Literal

from outspoken.detection.detector import PLAIN, Detector
from outspoken.engine.parser import Machine
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
from outspoken.semantics.state import Context

from .prompt_prefix import Opened, after_anchor

if TYPE_CHECKING:
    from outspoken.grammar.automaton import Automaton
    from outspoken.results.geometry import Screen, Space

OnError = Literal["keep", "raise"]

#: The stop reasons by which providers say that the model ended its answer itself; in any case, `-` for `_`.
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
    """Does a stop reason say that the model ended its answer itself?"""
    return reason is not None and reason.strip().lower().replace("-", "_") in ENDED


def check_repair_limit(repair: object) -> None:
    """Raises ValueError for what is no limit of repairs."""
    if repair not in REPAIR_LIMITS:
        names = ", ".join([f'"{limit}"' for limit in REPAIR_LIMITS])
        raise ValueError(f"`repair` is {repair!r}; expected one of {names}")


class Reading:
    """Reads one response. `read` takes all of it at once, `feed` and `close` take it in pieces."""

    #: what reads a format that is named, and one that is not
    machine: type[Machine] = Machine
    detector: type[Detector] = Detector
    builder: type[Builder] = Builder
    _length = 0

    def __init__(
        self,
        format: str,
        tools: Any,
        prefix: str | None,
        on_error: OnError,
        repair: RepairLimit | None,
        settings: Settings | None,
        events: list[Event] | None,
    ) -> None:
        if on_error not in ("keep", "raise"):
            raise ValueError(f'`on_error` is {on_error!r}; expected "keep" or "raise"')
        if repair is None:
            repair = "none" if on_error == "raise" else "strings"
        check_repair_limit(repair)
        self.settings = settings or DEFAULT
        self._limit = self.settings.max_chars
        self._on_error = on_error
        self.format = None if format == "auto" else self.resolved(format)
        lenient = repair not in ("none", "notation")
        automaton = self.automaton(self.format or PLAIN, lenient=lenient)
        context = Context(automaton.tables.header, Tools.of(tools), self.settings, repair, read_embedded)
        self._builder = self.builder.new(context, events)
        self._automaton = automaton
        #: what the prompt ends with in every turn, as long as the response may still begin by repeating it
        self._usual: str = automaton.tables.header.opened if prefix is None and self.format else ""
        self._early: str = ""
        if not self._usual:
            self._start(prefix or "")

    def resolved(self, format: str) -> str:
        """The format that is read, by its exact name."""
        return registry.resolve(format)

    def automaton(self, format: str, *, lenient: bool) -> Automaton:
        """The automaton of the format that is read."""
        return registry.automaton(format, lenient=lenient)

    def _start(self, prefix: str) -> None:
        """Make the machine, and read what the prompt had opened."""
        prefix = prefix and replace_surrogates(prefix)
        prefix = prefix and after_anchor(prefix, self._automaton.tables.header.anchor)
        self._prefix = len(prefix)
        reader = self.machine if self.format else self.detector
        self._machine = reader(self._automaton, self._builder, base=-len(prefix))
        if prefix and prefix == self._usual:
            self._start_as_usual(prefix)
        elif prefix:
            self._machine.feed(prefix)
            self._builder.discard_prompt()

    def _start_as_usual(self, prefix: str) -> None:
        """Read what the prompt ends with in every turn."""
        automaton, machine, builder = self._automaton, self._machine, self._builder
        if automaton.prompt_state:
            automaton.prompt_state.put_into(machine, builder)
            return
        machine.feed(prefix)
        builder.discard_prompt()
        if automaton.prompt_state is None:
            automaton.prompt_state = Opened.of(machine, builder) or False

    def _begun(self, text: str, *, final: bool) -> str:
        """The text that can be read, once it is known whether the response repeats what its prompt ends with."""
        text = self._early + text
        found, usual = text.lstrip(), self._usual.strip()
        if usual.startswith(found) and not (final or found == usual):
            self._early = text
            return ""
        self._start(self._usual if found and not found.startswith(usual) else "")
        self._usual = self._early = ""
        return text

    def read(self, text: str, finish_reason: str | None = None) -> Reply:
        """Read a whole response."""
        text = replace_surrogates(text)
        if self._usual:
            self._begun(text, final=True)
        self._machine.proven = proves_end(finish_reason)
        limit = self._limit
        if len(text) > limit:
            self._machine.read(text[:limit])
            raise LimitError(limit, self._reply(text[:limit]))
        self._machine.read(text)
        return self._finish(text)

    def feed(self, text: str) -> None:
        """Read a piece."""
        text = text if text.isascii() else replace_surrogates(text)
        if self._usual and not (text := self._begun(text, final=False)):
            return
        self._length += len(text)
        if self._length > self._limit:
            room = len(text) - self._length + self._limit
            if room > 0:
                self._machine.feed(text[:room])
            self._machine.close()
            raise LimitError(self._limit, self._reply(self._raw()))
        self._machine.feed(text)

    def close(self, finish_reason: str | None = None) -> Reply:
        """End the response."""
        if self._usual and (text := self._begun("", final=True)):
            self.feed(text)
        self._machine.proven = proves_end(finish_reason)
        self._machine.close()
        return self._finish(self._raw())

    def _raw(self) -> str:
        return "".join(self._machine.chunks)[self._prefix :]

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
                "format": self.format or self._machine.detected,
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
    """Read the value of a JSON string as a response of a format; see `ReadEmbedded`."""
    reply = Reading(format, None, "", "keep", repair_limit, settings, None).read(text, "stop")
    return embedded_actions(reply, text, raw, start)


class StreamParser:
    """Reads a response that arrives in pieces.

    `feed` takes text, or bytes of UTF-8 that may be split anywhere, and returns the events that they complete;
    `close` returns the last ones, and the reply is then in `reply`. See `parse` for the arguments.
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
        self._reading = Reading(format, tools, prefix, on_error, repair, settings, self._events)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self.reply: Reply | None = None

    def feed(self, chunk: str | bytes) -> list[Event]:
        """Read a piece. Raises StreamClosedError after `close`, and LimitError over the limit of the settings."""
        if self.reply is not None:
            raise StreamClosedError("the stream was closed; make a new StreamParser for the next response")
        text = chunk if isinstance(chunk, str) else self._decoder.decode(chunk)
        if not text:
            return []
        try:
            self._reading.feed(text)
        except LimitError as error:
            self.reply = error.reply
            raise
        events = self._events
        return [events.pop()] if len(events) == 1 else self._drain()

    def close(self) -> list[Event]:
        """The response has ended, and why is not known. See `finish`."""
        return self.finish(None)

    def finish(self, reason: str | None) -> list[Event]:
        """The response has ended for a reason that the provider gives. Finishing again returns nothing.

        A call whose end never came is truncated, unless the reason says that the model ended where it meant to
        (`stop`, `tool_calls`, `end_turn` and the like): then only its closing markers are missing, which is a repair.

        Raises ResponseError with `on_error="raise"`, where the response has an error.
        """
        if self.reply is not None:
            return []
        rest = self._decoder.decode(b"", final=True)
        try:
            if rest:
                self._reading.feed(rest)
            self.reply = self._reading.close(reason)
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
