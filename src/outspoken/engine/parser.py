"""The parser of one text: it walks the automaton of a grammar, and calls the operations of a builder.

`feed` reads a chunk behind which more may come, `close` ends the text, `read` reads a whole text. All are read marker
by marker; in a chunk, what may still become a marker is held back.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.grammar.automaton import Automaton, Config, Transition
from outspoken.grammar.matchers import named_operation
from outspoken.semantics.builder import Builder
from outspoken.semantics.handlers import FREE, HANDLERS, Place

from .policy import DEFAULT_POLICY, ParserPolicy
from .single_steps import SingleSteps
from .state import ParserState, RecoveryBudget
from .text_buffer import BLANK, BLANKS, TextBuffer

if TYPE_CHECKING:
    from .parse_steps import ParseStep


class Checkpoint(NamedTuple):
    """A place in a text from which parsers can start."""

    text: TextBuffer
    state: ParserState
    holds_blank: bool


class AutomatonParser:
    """Reads one text, whole or in chunks.

    Its parts share the text, the state and the builder. What only some texts need is made when it is first used.
    """

    #: what is held is white space; more of it waits in `_blanks`
    _holds_blank = False
    #: finds in a chunk what may end what is being read; None if any chunk may (see `_search_within`)
    _end_search: Callable[[str], Any] | None = None
    #: what receives a chunk in which `_end_search` finds nothing, and whether white space at its end is held
    _receive: Callable[[str, int, int], None]
    _holds_end = False
    #: chunks were received, so that the text buffer was narrowed to what is held of them
    _is_receiving = False

    def __init__(
        self,
        automaton: Automaton,
        builder: Builder,
        text: TextBuffer,
        policy: ParserPolicy = DEFAULT_POLICY,
        budget: RecoveryBudget | None = None,
        config: Config | None = None,
        log: list[ParseStep] | None = None,
    ) -> None:
        """With a `log`, markers are read one by one, also in complete text, and each step is appended to it."""
        self.automaton, self.builder, self.text, self.policy = automaton, builder, text, policy
        self.state = ParserState(automaton, config or automaton.start, text.base - 1)
        builder.source.slice = text.slice
        self._blanks: list[str] = []
        #: what may be spent on damage
        self.budget = budget or RecoveryBudget()
        self.log = log

    @cached_property
    def steps(self) -> SingleSteps:
        """What reads in single steps."""
        return SingleSteps(self)

    # a place to start from

    def checkpoint(self) -> Checkpoint | None:
        """The place of the parser; None if it is in the middle of something, or has met damage."""
        if self._blanks or not self.state.is_within_text or self.budget.spent:
            return None
        self._stop_receiving()
        return Checkpoint(self.text.copy(), copy(self.state), self._holds_blank)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Start from a checkpoint of a parser with the same automaton."""
        self.text.continue_from(checkpoint.text)
        self.state.continue_from(checkpoint.state)
        self._holds_blank = checkpoint.holds_blank

    # reading

    def read(self, text: str, *, end_is_proven: bool = False) -> None:
        """Read a whole text, or all that is left of it, and end."""
        buffer = self.text
        if buffer.chunks:
            self.take_rest(text)
        else:
            buffer.text = text
            buffer.chunks.append(text)
            buffer.length += len(text)
        self.close(end_is_proven=end_is_proven)

    def take_rest(self, text: str) -> None:
        """Add all that is left of the text; `close` reads it."""
        self._stop_receiving()
        self.text.append("".join([*self._blanks, text]))
        self._blanks.clear()

    def feed(self, chunk: str) -> None:
        """Read a chunk behind which more may come."""
        search = self._end_search
        if search is not None:
            if self._holds_end:
                if self._receive_trimmed(chunk, search):
                    return
            elif not chunk.isspace() and (search(chunk) is None or self._is_within(chunk, search)):
                self._receive_chunk(chunk)
                return
            self._stop_receiving()
        if self._holds_blank:
            # white space behind white space that is held decides nothing
            self._blanks.append(chunk)
            if not chunk.strip(BLANK):
                return
            chunk = "".join(self._blanks)
            self._blanks.clear()
            self._holds_blank = False
        self._feed(chunk, is_new=search is None)
        text = self.text
        if text.pos < len(text.text) and not chunk.strip(BLANK):
            self._holds_blank = BLANKS.match(text.text, text.pos).end() == len(text.text)
        self._end_search = self._search_within()

    def read_on(self) -> None:
        """Read what is in the buffer already, behind which more may come."""
        self._stop_receiving()
        self.run(final=False)
        self._end_search = self._search_within()

    def _search_within(self) -> Callable[[str], Any] | None:
        """What finds in the next chunk a character that may end what is being read; None if any chunk may end it."""
        state, text = self.state, self.text
        embedded, free = state.embedded, state.config.free
        if embedded is not None:
            if text.pos < len(text.text) or self.steps.is_typed(embedded):
                return None
            self._holds_end = False
            return embedded.scanner.search_special
        if free is None or state.before_text or state.skips_blank:
            return None
        if free.target is self.automaton.top_level and self.policy is not DEFAULT_POLICY:
            return None
        held = text.text[text.pos :]
        if self._holds_blank or held.strip(BLANK) or not state.is_within_text:
            return None
        role = free.terminal.short
        self._holds_end = role in state.trims
        quick = self.steps.text_step(free).start_search
        if quick is None or (held and not self._holds_end and quick(held)):
            return None
        take = self.builder.calls.value_receiver() if role == "ARG_VALUE" else FREE[role].__get__(self.builder)
        if take is None:
            return None
        self._receive = take
        return quick

    def _receive_chunk(self, chunk: str) -> None:
        """Receive a chunk that is more of the same free text or embedded value."""
        text = self.text
        if not self._is_receiving:
            self._begin_receiving()
        text.chunks.append(chunk)
        start = text.length
        text.base = text.length = end = start + len(chunk)
        if text.text:
            chunk, start, text.text = text.text + chunk, start - len(text.text), ""
        self._receive(chunk, start, end)

    def _receive_trimmed(self, chunk: str, search: Callable[[str], Any]) -> bool:
        """Receive a chunk that is more of the same free text, but for the white space at its end, which is held.

        Returns whether it is.
        """
        text = self.text
        held = text.text if self._is_receiving else text.text[text.pos :]
        piece = held + chunk if held else chunk
        if piece[-1] in BLANK:
            piece = piece.rstrip(BLANK)
        if chunk.isspace() or (search(piece) is not None and not self._is_within(piece, search, len(held))):
            return False
        if not self._is_receiving:
            self._begin_receiving()
        text.chunks.append(chunk)
        start = text.length - len(held)
        text.length += len(chunk)
        text.base = end = start + len(piece)
        if held or end < text.length:
            text.text = (held + chunk)[len(piece) :]
        self._receive(piece, start, end)
        return True

    def _is_within(self, piece: str, search: Callable[..., Any], held: int = 0) -> bool:
        """Does `search` find nothing in a piece, whose first characters are `held`, if it sees what precedes it?"""
        before = self.text.chunks[-1][: -held or None][-1:]
        return bool(before) and search(before + piece, len(before)) is None

    def _begin_receiving(self) -> None:
        embedded = self.state.embedded
        if embedded is not None:
            self._receive = self.builder.calls.embedded_receiver(embedded)
        self._is_receiving = True
        self.text.narrow()

    def _stop_receiving(self) -> None:
        if self._is_receiving:
            self._is_receiving = False
            self.text.widen()

    def _feed(self, chunk: str, *, is_new: bool) -> None:
        """Read a chunk; `is_new` says that nothing is known of it yet."""
        state, text = self.state, self.text
        free = state.config.free
        is_within = is_new and not state.before_text and text.pos == len(text.text)
        if is_within and free is not None and self._is_plain(free, chunk):
            start = text.append_read(chunk)
            FREE[free.terminal.short](self.builder, chunk, start, text.length)
            return
        text.append(chunk)
        if state.embedded is None or self.steps.continue_embedded(state.embedded, final=False):
            self.run(final=False)

    def _is_plain(self, free: Transition, chunk: str) -> bool:
        """Is a chunk in the middle of free text more of it, and nothing that may begin a marker?"""
        state = self.state
        if state.skips_blank or state.damage is not None or state.embedded is not None:
            return False
        if chunk[-1] in BLANK and free.terminal.short in state.trims:
            return False
        if free.target is self.automaton.top_level:
            decided = self.policy.is_plain_text(self.text, chunk)
            if decided is not None:
                return decided
        quick = self.steps.text_step(free).start_search
        return quick is not None and quick(chunk) is None

    def close(self, *, end_is_proven: bool = False) -> None:
        """End the text. `end_is_proven` says that the model ended it, as a finish reason does."""
        self.state.end_is_proven = end_is_proven
        self.flush_blanks()
        self.run(final=True)
        self.finish()

    def flush_blanks(self) -> None:
        """Add white space that is held to the text."""
        self._stop_receiving()
        if self._blanks:
            self.text.append("".join(self._blanks))
            self._blanks.clear()

    def run(self, *, final: bool) -> None:
        """Read on as far as possible; `final` says that the text is complete."""
        text = self.text
        going = True
        self._end_search = None
        while going:
            if final and text.pos == len(text.text) and self._may_end_here():
                return
            going = self._step(final=final)

    def _may_end_here(self) -> bool:
        """Is nothing open at the end of the text, not even free text?"""
        state = self.state
        is_open = state.embedded is not None or state.damage is not None or state.missing_closer_at is not None
        return not is_open and state.before_text and state.config.end_operations() == ()

    def _step(self, *, final: bool) -> bool:
        """Read one marker, text or value. Returns whether there is more to read."""
        state, steps = self.state, self.steps
        if state.embedded is not None:
            return steps.continue_embedded(state.embedded, final=final)
        if state.damage is not None:
            return steps.recovery.skip(state.damage, final=final)
        if state.config.free is None:
            return steps.read_marker_or_value(state.config, final=final)
        return steps.read_text(state.config, state.config.free, final=final)

    # the end

    def finish(self) -> None:
        """All of the text was read: end what is open."""
        builder, state, text = self.builder, self.state, self.text
        embedded = state.embedded
        if self.log is not None:
            from .parse_steps import ParseStep

            open_ = state.config.free if embedded is None else embedded.step
            self.log.append(ParseStep("end", text.offset, text.end, state.config, open_))
        ops = state.config.end_operations()
        is_read = embedded is None and text.pos >= len(text.text)
        if is_read and ops is not None:
            if ops:
                place = Place(len(text.text), len(text.text))
                for name, arg, group in [named_operation(op, 0, before=True) for op in ops]:
                    HANDLERS[name](builder, arg, place, group, text.base)
        elif not self._recover_end(text.end):
            if embedded is not None and embedded.step.role == "arguments" and (rest := embedded.release()):
                builder.calls.add_arguments_text(rest)
            builder.cut(text.end)
        builder.output.flush()
        builder.recorder.take_repairs()

    def _recover_end(self, at: int) -> bool:
        """Recover what is open at the end, if it is complete but for damage and, with a proven end, closing markers."""
        if self.builder.context.repair_limit == "none" or not self.builder.nodes:
            return False
        state, opener = self.state, self.state.opener
        can_tell = state.embedded is None or state.embedded.scanner.detects_errors
        has_opener = state.opener_at < self.builder.output.consumed or (opener is not None and not opener.inserted)
        if can_tell and not state.end_is_proven and (has_opener or not self.steps.recovery.lacks_opener()):
            return False
        state.embedded, recovery = None, self.steps.recovery
        damage = recovery.damaged_segment(at)
        return damage is not None and recovery.recover(damage, at, end_is_certain=state.end_is_proven)
