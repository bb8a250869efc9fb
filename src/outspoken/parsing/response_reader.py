"""Reads one response: a parser and a builder for its format, and the reply that they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.engine.parser import AutomatonParser
from outspoken.engine.policy import DEFAULT_POLICY, ParserPolicy
from outspoken.engine.text_buffer import TextBuffer
from outspoken.grammar import registry
from outspoken.grammar.value_markup import has_terminal, loose_ends
from outspoken.notations.tools import Tools
from outspoken.results.diagnostics import PendingDiagnostic, place_diagnostics
from outspoken.results.encoding import replace_surrogates
from outspoken.results.errors import LimitError, ResponseError
from outspoken.results.finish_reasons import proves_end
from outspoken.results.message_text import ForwardText
from outspoken.results.replies import Reasoning, Reply, Text
from outspoken.results.settings import Settings
from outspoken.semantics.builder import Builder
from outspoken.semantics.call_shapes import call_shapes
from outspoken.semantics.call_signs import may_be_other
from outspoken.semantics.embedded_actions import EmbeddedActions, embedded_actions
from outspoken.semantics.escaped_values import escaped_values
from outspoken.semantics.orphan_closers import orphan_closer, orphan_diagnostic
from outspoken.semantics.said import Surroundings
from outspoken.semantics.said_signs import MADE, Bare, ThinkMarkers, may_be_said
from outspoken.semantics.segments import reply_of
from outspoken.semantics.settle import Settled
from outspoken.semantics.state import Context, ReplyState
from outspoken.semantics.think_markers import think_markers
from outspoken.semantics.unread_markup import actions_in_data, bare_openers, markup_search, tag_openers, unread_markup

from .forced_calls import take_forced
from .options import ReadOptions
from .other_format import in_last_part, other_format, written_otherwise
from .prompt_prefix import PromptEnd, PromptState, after_anchor

if TYPE_CHECKING:
    from outspoken.detection.parsed_text import ParserDetector
    from outspoken.engine.parse_steps import ParseStep
    from outspoken.grammar.automaton import Automaton
    from outspoken.results.events import Event, HeldReason
    from outspoken.semantics.output import Output
    from outspoken.semantics.special_text import Spans, SpecialText


class ActiveParser(NamedTuple):
    """A parser that reads a response. If it tries a format, that has a name, and the text from `start` on waits."""

    name: str
    parser: AutomatonParser
    start: int


class ResponseReader:
    """Reads one response. `read` takes all of it at once, `feed` and `close` take it in chunks."""

    builder_type: type[Builder] = Builder
    _detector: ParserDetector | None = None
    #: may text be read again with its markup written plainly?
    reads_escapes = True
    #: the segments before it was decided which calls were made
    _read_segments: list[Any] | None = None
    #: the end of the text from an offset on, and the length of the text then
    _tail: tuple[int, int, str] = (0, -1, "")

    def __init__(
        self,
        options: ReadOptions,
        prefix: str | None = None,
        events: list[Event] | None = None,
        policy: ParserPolicy = DEFAULT_POLICY,
        log: list[ParseStep] | None = None,
    ) -> None:
        """Without a `prefix`, that of the options is read.

        With a `log`, markers are read one by one, and each step of the parsers is appended to it.
        """
        self._options = options
        prefix = options.prefix if prefix is None else prefix
        self.format, tools, repair, self._on_error, self.settings, page, page_values, echoes, exact, *_ = options
        self._max_chars = self.settings.max_chars
        self._length = 0
        self._policy, self._log = policy, log
        lenient = repair not in ("none", "notation")
        self._automaton = automaton = self.load_automaton(self.format or registry.PLAIN, lenient=lenient)
        calls = partial(_calls_in, self.format, tools)
        header = automaton.tables.header
        #: hides what only looks like a special token of the model; None if these are not known
        self.special: SpecialText | None = None
        if options.special_tokens:
            from outspoken.semantics.special_text import SpecialText  # few models have them

            self.special = SpecialText(self.format, options.special_tokens)
        context = Context(
            header, tools, self.settings, repair, read_embedded, page, page_values, echoes, exact, calls,
            self.special, options.calls,
        )  # fmt: skip
        self._builder = self.builder_type(ReplyState(context, events))
        usual = automaton.tables.header.opened if prefix is None and self.format else ""
        #: the end of the prompt, as long as the response may still begin by repeating it
        self._prompt_end: PromptEnd | None = PromptEnd("", usual, False) if usual else None
        if prefix and policy is DEFAULT_POLICY:
            self._prompt_end = PromptEnd.of(prefix)
        self._early_text: str = ""
        if self._prompt_end is None:
            self._start(prefix or "")

    def load_automaton(self, format: str, *, lenient: bool) -> Automaton:
        """The automaton of a format."""
        return registry.automaton(format, lenient=lenient, calls=self._options.calls)

    # the prompt prefix

    def _start(self, prefix: str) -> None:
        """Make the parser, and read the prompt prefix."""
        prefix = prefix and replace_surrogates(prefix)
        prefix = prefix and after_anchor(prefix, self._automaton.tables.header.anchor)
        self._prefix = prefix
        self._text = text = TextBuffer(-len(prefix))
        self._reader: AutomatonParser | ParserDetector
        if self.format is None:
            from outspoken.detection.parsed_text import ParserDetector  # a format that is named does not need it

            self._reader = self._detector = ParserDetector(self._automaton, self._builder, text, self._log)
        else:
            self._reader = parser = AutomatonParser(self._automaton, self._builder, text, self._policy, log=self._log)
            if self._policy is DEFAULT_POLICY:
                take_forced(parser)
            if prefix and prefix == self._automaton.tables.header.opened and self._log is None:
                self._read_usual_prefix(parser, prefix)
                return
        if prefix:
            self._reader.feed(prefix)
            self._builder.discard_prompt()

    def _read_usual_prefix(self, parser: AutomatonParser, prefix: str) -> None:
        """Read what the format's prompts end with; the place behind it is kept with the automaton."""
        automaton, builder = self._automaton, self._builder
        prompt = automaton.tables.prompt
        if automaton.prompt_state is None and prompt is not None:
            automaton.prompt_state = PromptState.from_data(automaton, prompt)
        if automaton.prompt_state:
            automaton.prompt_state.restore(parser, builder)
            return
        parser.feed(prefix)
        builder.discard_prompt()
        if automaton.prompt_state is None:
            automaton.prompt_state = PromptState.of(parser, builder) or False

    def _after_prompt(self, end: PromptEnd, text: str, *, final: bool) -> str:
        """The text that can be read, once it is known whether the response repeats the end of its prompt."""
        text = self._early_text + text
        if not final and end.is_open(text):
            self._early_text = text
            return ""
        self._prompt_end, self._early_text = None, ""
        self._start(end.prefix_of(text))
        return text

    # reading

    def read(
        self, text: str, finish_reason: str | None = None, special: Spans | None = None, known: Output | None = None
    ) -> Reply:
        """Read a whole response, unless its output is `known`. `special` are the characters from special tokens."""
        text = self._with_hidden(replace_surrogates(text), special, final=True)
        if self._prompt_end is not None:
            self._after_prompt(self._prompt_end, text, final=True)
        limit, is_proven = self._max_chars, proves_end(finish_reason)
        if len(text) > limit:
            self._reader.read(text[:limit], end_is_proven=is_proven)
            raise LimitError(limit, self._reply(text[:limit]))
        if known is None:
            self._reader.read(text, end_is_proven=is_proven)
        else:
            self._text.append(text)
            self._builder.output = known
        return self._finish(text)

    def _with_hidden(self, text: str, special: Spans | None, *, final: bool) -> str:
        if self.special is not None:
            return self.special.hide(text, special, final=final)
        if special is not None:
            raise ValueError("`special` needs the `special_tokens` of the model, which the parser was not given")
        return text

    def feed(self, text: str, special: Spans | None = None) -> None:
        """Read a chunk."""
        text = text if text.isascii() else replace_surrogates(text)
        length = self._length + len(text)
        if self._prompt_end is None and self.special is None and special is None and length <= self._max_chars:
            self._length = length
            self._reader.feed(text)
        elif text := self._with_hidden(text, special, final=False):
            self._feed(text)

    def _feed(self, text: str) -> None:
        end = self._prompt_end
        if end is not None and not (text := self._after_prompt(end, text, final=False)):
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
        if self.special is not None and (text := self.special.hide("", None, final=True)):
            self._feed(text)
        if self._prompt_end is not None and (text := self._after_prompt(self._prompt_end, "", final=True)):
            self._feed(text)
        self._reader.close(end_is_proven=proves_end(finish_reason))
        return self._finish(self._raw())

    # the reply

    def parsers(self) -> list[ActiveParser]:
        """The parsers that read now: one, or those of the formats that are being tried.

        There is none as long as it is not known whether the response repeats the end of its prompt.
        """
        if self._prompt_end is not None:
            return []
        reader = self._reader
        if isinstance(reader, AutomatonParser):
            return [ActiveParser("", reader, 0)]
        tried = [ActiveParser(candidate.name, candidate.parser, reader.held_from) for candidate in reader.candidates]
        return tried or [ActiveParser("", reader.parser, 0)]

    def open_text(self) -> ForwardText:
        """The text that has arrived, to be read forwards."""
        return ForwardText(self._text.chunks, self._text.origin)

    def _raw(self) -> str:
        return "".join(self._text.chunks)[len(self._prefix) :]

    def _finish(self, raw: str) -> Reply:
        reply = self._reply(raw)
        if self._on_error == "raise":
            error = next((d for d in reply.diagnostics if d.severity == "error"), None)
            if error is not None:
                raise ResponseError(error, reply)
        return reply

    def _reply(self, raw: str) -> Reply:
        output, recorder = self._builder.output, self._builder.recorder
        format, automaton = self.format, self._automaton
        if self._detector is not None:
            format = self._detector.detected
            automaton = self._automaton if format is None else registry.automaton(format)
        quoted: list[tuple[int, int]] = []
        pending: list[PendingDiagnostic] = []
        if any(segment.kind in MADE for segment in output.segments) and self._may_be_said(raw):
            surroundings = self._thinks(), format, self.exact, self._prefix, self._bare(), self._ends()
            settled = Settled(output.segments, raw, *surroundings)
            self._read_segments, output.segments, quoted = output.segments, settled.segments, settled.quoted
            recorder.diagnostics += settled.diagnostics
            recorder.lower_status(settled.lowest)
            pending += self._orphan_behind_call(raw, automaton, format)
            if settled.withdrawn:
                recorder.withdraw(settled.withdrawn, [getattr(s, "status", "ok") for s in output.segments])
        unread = self._unread_markup(format, automaton, quoted) if self._options.calls else []
        pending += [*recorder.diagnostics, *unread]
        is_prose = any(diagnostic.severity == "note" for diagnostic in unread)  # about the format's own markup
        if not quoted and not is_prose and may_be_other(output.segments, is_named=self._detector is None):
            is_reported = any(diagnostic.code == "unread-markup" for diagnostic in unread)
            pending += self._other_reading(raw, automaton, format, is_reported=is_reported)
        if "&" in raw and has_terminal(automaton, "TAGGED_OBJECT"):
            pending += escaped_values(output.segments, format or "")
        special = self.special
        if special is not None and (place := special.in_text(output.segments)) is not None:
            why = f"`{raw[slice(*place)]}` is text: it was not written as a special token"
            pending.append(PendingDiagnostic("plain-marker", why, place, "note", format or ""))
        diagnostics = place_diagnostics(pending, raw) if pending else []
        reply = reply_of(raw, format, output, recorder.status, diagnostics, recorder.repairs)
        return reply if special is None else special.shown(reply)

    def _may_be_said(self, raw: str) -> bool:
        """May a call or action be quoted, thought about or not exact? A sound text shows at once that none is."""
        recorder, is_usual = self._builder.recorder, self._prefix in ("", self._automaton.tables.header.opened)
        if not is_usual or recorder.diagnostics or recorder.repairs or self._bare() is not None or self.exact:
            return True
        return may_be_said(raw, self._builder.output.segments, self._thinks())

    def _unread_markup(
        self, format: str | None, automaton: Automaton, quoted: list[tuple[int, int]]
    ) -> list[PendingDiagnostic]:
        """Diagnostics for markup that stayed text, but for that of `quoted` calls."""
        output, tools, recorder = self._builder.output, self._builder.context.tools, self._builder.recorder
        refused = [*recorder.refused, *(self._detector.refused if self._detector is not None else ())]
        tables = None if format is None else automaton.tables
        refused += [*bare_openers(output.segments, tables), *tag_openers(output.segments, self.read_raw)]
        search = None if format is None else markup_search(automaton)
        data = actions_in_data(output.segments, format, search) if self._detector is not None else []
        if format is None:
            return [*data, *unread_markup(output.segments, None, None, tools, refused, quoted)]
        reported = [
            *quoted,
            *[diagnostic.span for diagnostic in recorder.diagnostics if diagnostic.code == "unclosed-markup"],
        ]
        shapes = call_shapes(automaton) if tools is not None else None
        return [*data, *unread_markup(output.segments, search, format, tools, refused, reported, shapes)]

    def _other_reading(
        self, raw: str, automaton: Automaton, format: str | None, *, is_reported: bool
    ) -> list[PendingDiagnostic]:
        """Diagnostics for calls of another format than the named one, and for reasoning that never began."""
        segments = self._builder.output.segments
        is_named = self._options.calls and self.format not in (None, registry.PLAIN)
        is_damaged = self._builder.recorder.is_damaged
        diagnostics = other_format(raw, segments, self._options, _read_whole, is_damaged=is_damaged) if is_named else []
        if self._detector is not None and format is None:
            diagnostics = in_last_part(segments[-1], self._options, _read_whole)
        if (
            not diagnostics
            and not is_reported
            and self.reads_escapes
            and self._options.calls
            and self.format != registry.PLAIN
        ):
            diagnostics = written_otherwise(segments, self._options, _read_plain)
        closer = None if diagnostics else orphan_closer(raw, segments, self._thinks(), self._prefix)
        return diagnostics if closer is None else [orphan_diagnostic(closer, automaton, format)]

    def _orphan_behind_call(self, raw: str, automaton: Automaton, format: str | None) -> list[PendingDiagnostic]:
        """A diagnostic for calls, made or quoted, before the end of reasoning that never began: it may hold them."""
        segments = self._builder.output.segments
        closer = orphan_closer(raw, segments, self._thinks(), self._prefix)
        made = next((segment for segment in segments if segment.kind in MADE), None)
        if closer is None or (made is not None and made.span[0] > closer.start()):
            return []
        return [orphan_diagnostic(closer, automaton, format)]

    @property
    def exact(self) -> frozenset[str]:
        """The tools whose calls must be exact."""
        return self._builder.context.exact

    def surroundings(self) -> Surroundings:
        """What tells which calls of a stream may only be said."""
        return Surroundings(self.read_raw, self._thinks, self._prefix, self._bare, self._ends)

    def _thinks(self) -> ThinkMarkers | None:
        """What finds the tags of reasoning of the format, or of plain text and the format that was detected."""
        return think_markers(self._known_automaton, self._automaton)

    def _bare(self) -> Bare | None:
        """What is known of calls without markers, if the format has any. With `auto`, any format may have some."""
        kind = "bracket" if self._detector is not None else self._automaton.tables.header.bare_calls
        return Bare.of(self._builder.context.tools and self._builder.context.tools.names, kind)

    def _ends(self) -> re.Pattern[str] | None:
        """What finds the end of a bare value of the format."""
        return loose_ends(self._known_automaton)

    @property
    def _known_automaton(self) -> Automaton:
        """The automaton of the format, or of the one that was detected."""
        found = None if self._detector is None else self._detector.detected
        return self._automaton if found is None else registry.automaton(found)

    def read_raw(self, start: int, end: int) -> str:
        """The text between two offsets in the response, as far as it has come."""
        start, end, text = max(start, 0), max(end, 0), self._text
        if start >= text.base and end <= text.end:
            return text.slice(start, end)
        first, length, tail = self._tail
        if start < first or length != text.length:  # several parts of the same text are read, one behind the other
            first, tail = start, text.tail(start)
            self._tail = (first, text.length, tail)
        return tail[start - first : end - first]

    @property
    def segments(self) -> list[Any]:
        """The segments that were read so far, with calls that may only be said."""
        return self._read_segments if self._read_segments is not None else self._builder.output.segments

    def open_segment(self, pieces: int | None = None) -> Text | Reasoning | None:
        """The text or reasoning that is still open, with no more than some `pieces` of it; None if there is none."""
        return self._builder.output.open_segment(pieces)

    @property
    def held(self) -> tuple[HeldReason, int] | None:
        """Why the end of the text is held, and from which offset on; None if it is not."""
        if self._prompt_end is not None:
            return ("prompt", 0) if self._early_text else None
        reading = self.parsers()[0]
        if reading.name:
            return "format", max(reading.start, 0)
        state, text = reading.parser.state, reading.parser.text
        if state.damage is not None:
            return "damage", max(state.damage.start, 0)
        at = text.offset if state.missing_closer_at is None else state.missing_closer_at
        has_more = at < text.length or (self.special is not None and self.special.held)
        return ("marker", max(at, 0)) if has_more else None

    @property
    def early_text(self) -> str:
        """The text that may repeat the end of the prompt."""
        return self._early_text

    @property
    def length(self) -> int:
        """The length of the text that has come."""
        return self._text.length


def _read_whole(text: str, options: ReadOptions) -> Reply:
    """The reply to a response without a prompt's end."""
    return ResponseReader(options, "").read(text)


def _read_plain(text: str, options: ReadOptions) -> Reply:
    """The same for a text whose escapes were read: those that are left are not read."""
    reader = ResponseReader(options, "")
    reader.reads_escapes = False
    return reader.read(text)


def _calls_in(format: str | None, tools: Tools | None, text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The calls that a text holds, in a format and in those that are detected, whether they were made or quoted."""
    for name in dict.fromkeys([format, None]):
        reader = ResponseReader(ReadOptions(name, tools, settings=Settings(max_chars=max(len(text), 1))))
        reply = reader.read(text)
        for segment in [*reader.segments, *reply.unfinished_tool_calls]:
            if segment.kind == "tool_call":
                yield segment.name, segment.arguments


def read_embedded(context: Context, text: str, raw: str, start: int) -> EmbeddedActions:
    """Read the value of a JSON string as a response in a format; see `ReadEmbedded`."""
    format = registry.resolve(context.header.format)
    limit, settings, page, given = context.repair_limit, context.settings, context.page, context.given
    options = ReadOptions(format, None, limit, "keep", settings, page, given)
    reply = ResponseReader(options, "").read(text, "stop")
    return embedded_actions(reply, text, raw, start)
