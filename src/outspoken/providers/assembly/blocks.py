"""The blocks of a response while they arrive: text of content is in `text_blocks`, tool calls are in `tool_calls`."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Any

from outspoken.providers.events import ReasoningSigned
from outspoken.results import events as results
from outspoken.results.replies import Payload, Reasoning, Segment, Status

from .recorder import Recorder

#: What tells the blocks of one kind apart: indexes and names of the provider's.
Key = tuple[int | str, ...]

_new_decoder = getincrementaldecoder("utf-16-le")


class SurrogateJoiner:
    """Joins surrogate pairs that a stream splits; a surrogate without a partner becomes U+FFFD."""

    __slots__ = ("_decoder", "_is_between")

    def __init__(self) -> None:
        #: holds a high surrogate at the end of a piece
        self._decoder = _new_decoder("replace")
        #: it holds nothing
        self._is_between = True

    def feed(self, piece: str) -> str:
        """Return the text so far, without a high surrogate at its end."""
        if self._is_between and piece.isascii():
            return piece
        text = self._decoder.decode(piece.encode("utf-16-le", "surrogatepass"))
        self._is_between = not self._decoder.getstate()[0]
        return text

    def close(self) -> str:
        """Return a replacement character for a surrogate that is held."""
        self._is_between = True
        return self._decoder.decode(b"", final=True)


def join_surrogates(text: str) -> str:
    """A whole text as a stream of it is read."""
    joiner = SurrogateJoiner()
    return joiner.feed(text) + joiner.close()


class Block:
    """A block of one kind. It sends events while it is `active`, and holds its segments once it is `done`.

    What arrives before it is active waits. The `Assembler` says when it is active and when it ends.
    """

    kind = ""
    #: its number among the blocks
    number = 0
    active = done = False
    #: the provider says that it has ended; another block or an encrypted one follows, so that it ends the response not
    ended = followed = False
    #: it ends no block that has no key
    aside = False
    #: its start in the content, which is the end when it became active
    offset = 0

    def __init__(self, recorder: Recorder, key: Key | None = None) -> None:
        self.recorder, self.key = recorder, key
        self.segments: list[Segment] = []
        #: what waits until the block is active, and what was read
        self._waiting: list[str] = []
        self._pieces: list[str] = []
        self._joiner = SurrogateJoiner()
        #: how many characters arrived
        self.length = 0

    @property
    def text(self) -> str:
        """What was read so far."""
        return "".join(self._pieces)

    @property
    def _span(self) -> tuple[int, int]:
        """The span of a segment that is not part of the content: empty, at its offset."""
        return self.offset, self.offset

    def feed(self, piece: str) -> None:
        """Take a piece, which waits until the block is active."""
        self.length += len(piece)
        if self.active:
            if joined := self._joiner.feed(piece):
                self._read(joined)
        else:
            self._waiting.append(piece)

    def activate(self) -> None:
        """Let it send events, and read what waits."""
        self.offset, self.active = self.recorder.content.length, True
        waiting, self._waiting = "".join(self._waiting), []
        self._open()
        self._read_joined(self._joiner.feed(waiting))

    def finish(self, reason: str | None) -> None:
        """End it. `reason` is the finish reason of the response, if it is known and proves that the block is whole."""
        self._read_joined(self._joiner.close())
        self.done, self.active = True, False
        self._end(reason)

    def _read_joined(self, piece: str) -> None:
        if piece:
            self._read(piece)

    def _open(self) -> None:
        """Called when it becomes active."""

    def _read(self, piece: str) -> None:
        """Called for each piece while it is active."""

    def _end(self, reason: str | None) -> None:
        """Called once at the end."""


class ReasoningBlock(Block):
    """Reasoning that came in a field of its own. A signature that arrives before it is active is sent at its end."""

    kind = "reasoning"

    def __init__(self, recorder: Recorder, key: Key | None = None) -> None:
        super().__init__(recorder, key)
        self._signatures: list[str] = []

    def sign(self, signature: str) -> None:
        """Send a signature."""
        if self.active or self.done:
            self.recorder.send(ReasoningSigned(signature))
        else:
            self._signatures.append(signature)

    def _read(self, piece: str) -> None:
        self._pieces.append(piece)
        self.recorder.send(results.ReasoningDelta(piece))

    def _end(self, reason: str | None) -> None:
        for signature in self._signatures:
            self.recorder.send(ReasoningSigned(signature))
        if text := self.text:
            self.segments.append(Reasoning(text=text, span=self._span))
            self.recorder.send(results.ReasoningEnd())


class PayloadBlock(Block):
    """Something whole that is neither text, reasoning nor a call of the caller's tools: nothing of it follows."""

    kind = "payload"
    followed = True

    def __init__(self, recorder: Recorder, type: str, data: Any, *, aside: bool = False, status: Status = "ok") -> None:
        super().__init__(recorder)
        self.aside, self.data = aside, data
        self._fields: dict[str, Any] = {"type": type, "data": data, "status": status}

    def _open(self) -> None:
        payload = Payload(**self._fields, span=self._span)
        self.segments.append(payload)
        is_usable = payload.status in ("ok", "repaired")
        self.recorder.send(results.PayloadParsed(payload) if is_usable else results.PayloadUnfinished(payload))
