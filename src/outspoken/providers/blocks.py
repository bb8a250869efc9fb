"""The parts of a response while they are read: text, reasoning, what a provider sends besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outspoken.parsing.session import StreamParser
from outspoken.results.encoding import replace_surrogates
from outspoken.results.events import (
    ActionParsed,
    ActionText,
    ActionUnfinished,
    Done,
    Event,
    PayloadParsed,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
)
from outspoken.results.replies import Payload, Reasoning, Reply, Status, Text

from .events import ReasoningSigned

if TYPE_CHECKING:
    from .assembly import Assembly
    from .shift import Shift

#: the first half of a character that UTF-16 writes in two
_FIRST, _LAST = "\ud800", "\udbff"


class Halves:
    """Joins characters that were split into the halves of a surrogate pair; what stays a half is U+FFFD."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that is certain."""
        if piece.isascii() and not self._held:
            return piece
        piece = self._held + piece
        self._held = piece[-1:] if _FIRST <= piece[-1:] <= _LAST else ""
        piece = piece[:-1] if self._held else piece
        try:
            piece.encode()
        except UnicodeEncodeError:
            return replace_surrogates(piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        return piece

    def close(self) -> str:
        """What was held."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""


class Block:
    """One part.

    `at` and `here` are where it stands in the content, `place` counts the parts, `segments` is what was read of it,
    once it is `done`.
    """

    kind = ""
    at = place = 0
    live = False
    #: the provider says that it has ended, or that more follows behind it
    ended = False
    done = False
    #: it is complete, and waits for its turn
    over = False
    #: it goes on by a key of its provider's, whatever comes between; or it stands beside what goes on
    keyed = aside = False
    here: Shift

    def __init__(self, owner: Assembly) -> None:
        self.owner = owner
        self.segments: list[Any] = []
        self.waiting: list[str] = []
        self.halves = Halves()
        #: how much was sent of it, in characters
        self.length = 0

    def feed(self, piece: str) -> None:
        """More of it. What comes before its turn waits: of a kind, one part is read at a time."""
        self.length += len(piece)
        if self.live:
            piece = self.halves.feed(piece)
            if piece:
                self.read(piece)
        else:
            self.waiting.append(piece)

    def begin(self) -> None:
        """It is its turn."""
        self.here = self.owner.here()
        self.live, self.at = True, self.here.offset
        waiting, self.waiting = "".join(self.waiting), []
        self.open()
        waiting = self.halves.feed(waiting) if waiting else ""
        if waiting:
            self.read(waiting)

    def finish(self, reason: str | None) -> None:
        """It has ended; `reason` is why the response did, where that is known and it ends here."""
        rest = self.halves.close()
        if rest:
            self.read(rest)
        self.done, self.live = True, False
        self.end(reason)

    def open(self) -> None:
        """Begin to read."""

    def read(self, piece: str) -> None:
        """More of it, in its turn."""
        raise NotImplementedError

    def end(self, reason: str | None) -> None:
        """Read to the end."""
        raise NotImplementedError


class Verbatim(Block):
    """Text that is text, whatever stands in it."""

    kind = "text"

    def open(self) -> None:
        self._pieces: list[str] = []

    def read(self, piece: str) -> None:
        self._pieces.append(piece)
        self.owner.grow(piece)
        self.owner.send(TextDelta(piece))

    def end(self, reason: str | None) -> None:
        text = "".join(self._pieces)
        if text:
            self.segments.append(Text(text=text, span=(self.at, self.at + len(text))))


class Written(Block):
    """Text that the grammar of a format reads."""

    kind = "text"
    reply: Reply | None = None
    #: made for the first piece, so that what stays empty takes nobody's place
    _parser: StreamParser | None = None

    def open(self) -> None:
        self._calls: dict[int, int] = {}
        self._acted = self.owner.acted
        self._shift = self.here if self.at else None

    def read(self, piece: str) -> None:
        self.owner.grow(piece)
        if self._parser is None:
            self._parser = self.owner.parser()
        self._take(self._parser.feed(piece))

    def end(self, reason: str | None) -> None:
        if self._parser is None:
            return
        self._take(self._parser.finish(reason))
        reply = self.reply = self._parser.reply
        if reply is not None:
            self.segments += [self._moved(segment) for segment in reply.segments]
            self.owner.acted += len(reply.actions) + len(reply.unfinished_actions)
            self.owner.add(reply, self._shift)

    def _moved(self, segment: Any) -> Any:
        """A segment with its places in the raw text of the response."""
        moved = self._shift.segment(segment) if self._shift is not None else segment
        if moved.kind == "action" and self._acted:
            moved = moved.model_copy(update={"order": moved.order + self._acted})
        return moved

    def _number(self, index: int) -> int:
        """The number of a call in the response."""
        if index not in self._calls:
            self._calls[index] = self.owner.number()
        return self._calls[index]

    def _take(self, events: list[Event]) -> None:
        for event in events:
            self._pass_on(event)

    def _pass_on(self, event: Event) -> None:
        send = self.owner.send
        match event:
            case ToolCallStart(index, id, name):
                send(ToolCallStart(self._number(index), id, name))
            case ToolCallDelta(index, arguments):
                send(ToolCallDelta(self._number(index), arguments))
            case ToolCallEnd(index, call):
                self.owner.called = True
                send(ToolCallEnd(self._number(index), self._moved(call)))
            case ToolCallUnfinished(index, call):
                send(ToolCallUnfinished(self._number(index), self._moved(call)))
            case ActionText(index, text):
                send(ActionText(index + self._acted, text))
            case ActionParsed(action):
                send(ActionParsed(self._moved(action)))
            case ActionUnfinished(action):
                send(ActionUnfinished(self._moved(action)))
            case PayloadParsed(payload):
                send(PayloadParsed(self._moved(payload)))
            case Done():
                pass
            case _:
                send(event)


class Thoughts(Block):
    """Reasoning that came in a field of its own."""

    kind = "reasoning"

    def __init__(self, owner: Assembly) -> None:
        super().__init__(owner)
        #: those that came before its turn
        self.signatures: list[str] = []

    def open(self) -> None:
        self._pieces: list[str] = []

    def read(self, piece: str) -> None:
        self._pieces.append(piece)
        self.owner.send(ReasoningDelta(piece))

    def end(self, reason: str | None) -> None:
        text = "".join(self._pieces)
        for signature in self.signatures:
            self.owner.send(ReasoningSigned(signature))
        if text:
            self.segments.append(Reasoning(text=text, span=(self.at, self.at)))
            self.owner.send(ReasoningEnd())


class Other(Block):
    """Something whole that is neither text, reasoning nor a call of the caller's tools."""

    kind = "other"

    def __init__(self, owner: Assembly, type: str, data: Any, *, aside: bool = False, status: Status = "ok") -> None:
        super().__init__(owner)
        self.aside = aside
        self._payload = (type, data, status)

    def open(self) -> None:
        type, data, status = self._payload
        payload = Payload(type=type, data=data, status=status, span=(self.at, self.at))
        self.segments.append(payload)
        self.owner.send(PayloadParsed(payload))

    def end(self, reason: str | None) -> None:
        """It was whole when it came."""
