"""Assembles what a reader finds to blocks, to their events as it arrives, and to the reply at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from outspoken.providers.events import Failed, Finished, ProviderEvent, ReasoningSigned, RefusalDelta, UsageReported
from outspoken.providers.replies import ProviderError, ProviderReply, Signature
from outspoken.providers.usage import Usage
from outspoken.results.construct import construct
from outspoken.results.diagnostics import place_diagnostics
from outspoken.results.errors import LimitError
from outspoken.results.events import Done
from outspoken.results.finish_reasons import FinishReason, proves_end, to_finish_reason
from outspoken.results.replies import Segment, Status

from .blocks import Block, Key, PayloadBlock, ReasoningBlock, SurrogateJoiner
from .recorder import ContentOptions, Recorder
from .text_blocks import ParsedTextBlock, TextBlock
from .tool_calls import ToolCallBlock

_BlockT = TypeVar("_BlockT", bound=Block)
#: The kinds of which one block at a time is active, so that deltas are sent in the order of the blocks.
_IN_ORDER = ("text", "reasoning")


class Assembler:
    """Takes the parts of a response from a reader, and makes the events and the reply.

    A part is text, reasoning, a call or a payload, and a block while it arrives. Its key is the API's index or name for
    it; without a key, a piece continues the part that came before it. A block ends when another one begins, if it has
    no key or the provider has ended it; the last ones end with the response. Of text and of reasoning, the first block
    that is open is active.
    """

    def __init__(self, options: ContentOptions) -> None:
        self._options = options
        self._recorder = Recorder(options)
        #: the blocks in the order in which they began, those with a key, and those that are open, as an ordered set
        self._blocks: list[Block] = []
        self._by_key: dict[Key, Block] = {}
        self._open: dict[Block, None] = {}
        self._last_reasoning: ReasoningBlock | None = None
        #: each block of text is one of its own, not a part of one string of the provider's, whatever it sends between
        self.separates = True
        self._received = 0
        self._refusal: list[str] = []
        self._refusal_joiner = SurrogateJoiner()
        #: by key: the signed block, or the number of blocks before a signature without one
        self._signatures: dict[Key, tuple[Block | int, str, bool]] = {}
        self._finish: tuple[FinishReason, str] | None = None
        self._usage: Usage | None = None
        self._error: ProviderError | None = None
        self._warned: set[str] = set()

    def take_events(self) -> list[ProviderEvent]:
        """Return the events since the last time."""
        events, self._recorder.events = self._recorder.events, []
        return events

    def read_whole(self) -> None:
        """All of the response follows at once, and only the reply is wanted."""
        self._recorder.is_whole = True

    # parts

    def started(self, id: str | None = None, model: str | None = None) -> None:
        """The response has begun."""
        self._recorder.start(id, model)

    def add(self, kind: Literal["text", "reasoning"], piece: str | None, key: Key | None = None) -> None:
        """Add a piece of the content or the reasoning."""
        if not piece:
            return
        if key is None:
            for block in self._open:
                if block.kind == kind and block.key is None and not block.done:
                    break
            else:
                block = self.begin_part(kind, None)
        else:
            block = self.begin_part(kind, key)
        block.feed(self._counted(piece))

    def begin_part(self, kind: Literal["text", "reasoning"], key: Key | None) -> Block:
        """Begin text or reasoning that may stay empty, or return the part that goes on."""
        if key is None:
            block = next((block for block in self._open if block.kind == kind and block.key is None), None)
        else:
            block = self._by_key.get((kind, *key))
        if block is None or block.done:
            text_block = ParsedTextBlock if self._options.format else TextBlock
            block = self._begin((ReasoningBlock if kind == "reasoning" else text_block)(self._recorder, key))
        return block

    def add_rest(self, kind: Literal["text", "reasoning"], key: Key, whole: str | None) -> None:
        """Take all of a part, and add what has not arrived in pieces."""
        block = self._by_key.get((kind, *key))
        known = block.length if block is not None else 0
        self.add(kind, (whole or "")[known:], key)

    def end_part(self, kind: str, key: Key) -> None:
        """End a part. Whether the response ends with it is still open."""
        block = self._by_key.get((kind, *key))
        if block is not None and not block.done:
            block.ended = True
            if isinstance(block, ToolCallBlock) and block.has_complete_json():
                self._finish_block(block, "stop")

    def split_reasoning(self) -> None:
        """Begin another block with the next reasoning, unless the last one has a key."""
        self._follow(lambda other: other is self._last_reasoning and other.active and other.key is None)

    def call(
        self, key: Key, id: str | None, name: str | None, *, free_text: bool = False, name_may_grow: bool = False
    ) -> ToolCallBlock:
        """Return the call with this key, which begins here if there is none; see `ToolCallBlock`."""
        call = self._by_key.get(("call", *key))
        if isinstance(call, ToolCallBlock):
            call.identify(id, name)
            return call
        call = ToolCallBlock(self._recorder, key, id, name, free_text=free_text, name_may_grow=name_may_grow)
        return self._begin(call)

    def arguments(self, call: ToolCallBlock, piece: str | None) -> None:
        """Add a piece of a call's arguments."""
        if piece:
            call.feed(self._counted(piece))

    def payload(self, type: str, data: Any, *, aside: bool = False, status: Status = "ok") -> None:
        """Add something whole of another kind. With `aside`, it ends no other part."""
        self._begin(PayloadBlock(self._recorder, type, data, aside=aside, status=status))

    def sign(self, signature: str | None, key: Key | None = None, *, redacted: bool = False) -> None:
        """Sign the reasoning with this key, or the last reasoning. A `redacted` signature is a block of its own."""
        if not signature:
            return
        signed = self._by_key.get(("reasoning", *key)) if key is not None else self._last_reasoning
        if redacted:
            self._follow(lambda other: other.kind == "reasoning" and (other.ended or other.key is None))
            signed = signed if key is not None else None
        place = key if key is not None else ("at", len(self._signatures))
        self._signatures[place] = (signed or len(self._blocks), signature, redacted)
        if isinstance(signed, ReasoningBlock) and not redacted:
            signed.sign(signature)
        else:
            self._recorder.send(ReasoningSigned(signature, redacted))
        if signed is not None and key is None:
            self.split_reasoning()  # without a key, reasoning ends with its signature

    def sign_last(self, signature: str | None) -> None:
        """Sign the last part, of whatever kind."""
        if signature and self._blocks:
            self._signatures["last", len(self._signatures)] = (self._blocks[-1], signature, False)
            self._recorder.send(ReasoningSigned(signature))
        else:
            self.sign(signature)

    # when blocks begin and end

    def _begin(self, block: _BlockT) -> _BlockT:
        """Begin a block, and end those that it follows."""
        self.started()
        self._follow(lambda other: other.ended or (other.key is None and not block.aside))
        block.number = len(self._blocks)
        self._blocks.append(block)
        self._open[block] = None
        if block.key is not None:
            self._by_key[(block.kind, *block.key)] = block
        if isinstance(block, ReasoningBlock):
            self._last_reasoning, self._recorder.has_reasoning = block, True
        self._advance()
        return block

    def _follow(self, ends: Callable[[Block], bool]) -> None:
        """Note that something follows the open blocks that end."""
        for block in self._open:
            block.followed = block.followed or ends(block)
        self._advance()

    def _advance(self) -> None:
        """Activate the blocks whose turn it is, and finish those that others follow."""
        busy: set[str] = set()
        for block in list(self._open):
            if block.kind in busy:
                continue
            if block.followed:
                self._finish_block(block, "stop" if block.kind == "call" else None)
            else:
                self._activate(block)
                busy.update([block.kind] if block.kind in _IN_ORDER else [])

    def _activate(self, block: Block) -> None:
        if not block.active:
            if block.kind == "text" and self.separates and self._stands_apart(block):
                self._recorder.add_border(self._recorder.content.length)
            block.activate()

    def _stands_apart(self, text: Block) -> bool:
        """Does a block of another kind stand between a text and the text before it?"""
        for other in reversed(self._blocks[: text.number]):
            if other.kind == "text" and other.length:
                return False
            if (other.kind in ("call", "payload") and not other.aside) or (other.kind == "reasoning" and other.length):
                return True
        return False

    def _finish_block(self, block: Block, reason: str | None) -> None:
        """Finish a block whose turn it is."""
        self._activate(block)
        block.finish(reason)
        del self._open[block]

    def _finish_blocks(self, reason: str | None, *, provider_ended: bool = False) -> None:
        """Finish all open blocks. If the provider ended the response, all calls but the last are whole."""
        for block in list(self._open):
            is_whole = block.kind == "call" and block is not self._blocks[-1] and (block.ended or provider_ended)
            self._finish_block(block, "stop" if is_whole else None if block.followed else reason)

    # what has arrived

    def received(self, kind: str) -> str:
        """What has arrived of the content, the reasoning or the refusal."""
        if kind == "reasoning":
            return "".join([block.text for block in self._blocks if block.kind == "reasoning"])
        return self._recorder.content.text if kind == "content" else "".join(self._refusal)

    @property
    def payloads(self) -> list[Any]:
        """The data of the payloads that have arrived."""
        return [block.data for block in self._blocks if isinstance(block, PayloadBlock)]

    # the response

    @property
    def choice(self) -> int:
        """The index of the choice that is read, of a response with several."""
        return self._options.choice

    def warn(self, code: str, message: str) -> None:
        """Report something of the response that is no error, once."""
        if code not in self._warned:
            self._warned.add(code)
            self._recorder.add_diagnostic(code, message, self._recorder.content.length, "warning")

    def refuse(self, piece: str | None) -> None:
        """Add a piece of a refusal."""
        piece = self._refusal_joiner.feed(piece) if piece else ""
        self._add_refusal(piece)

    def _add_refusal(self, piece: str) -> None:
        if piece:
            self._refusal.append(self._counted(piece))
            self._recorder.send(RefusalDelta(piece))

    def usage(self, usage: Usage) -> None:
        """Report the tokens so far."""
        if usage != self._usage:
            self._usage = usage
            self._recorder.send(UsageReported(usage))

    def failed(self, error: ProviderError) -> None:
        """Report an error of the provider."""
        self.started()
        if error != self._error:
            self._error = self._error or error
            self._recorder.send(Failed(error))

    def finished(self, word: str | None, reason: FinishReason | None = None) -> None:
        """Report why the response ends, in the provider's word. Only the first report counts."""
        if word is None or self._finish is not None:
            return
        reason = reason or to_finish_reason(word)
        self._recorder.is_stopped |= not proves_end(word)
        self._finish_blocks("stop" if reason in ("stop", "tool_calls") else None, provider_ended=True)
        if reason == "stop" and self._recorder.has_complete_call:
            reason = "tool_calls"
        self._finish = (reason, word)
        self._recorder.send(Finished(reason, word))

    def stopped(self) -> None:
        """A text of the request ended the response, so that its end is not proven."""
        self._recorder.is_stopped = True

    def _counted(self, piece: str) -> str:
        self._received += len(piece)
        limit = self._options.read.settings.max_chars
        if self._received > limit:
            raise LimitError(limit, self.close())
        return piece

    # the end

    def cut_off(self, rest: str) -> None:
        """Report that the stream ends inside a chunk. `rest` is the incomplete chunk."""
        if rest:
            message = "the stream ends inside a chunk; the incomplete chunk was dropped"
            notes = (f"it begins with {rest[:40]!r}",)
            self._recorder.add_diagnostic("cut-chunk", message, self._recorder.content.length, notes=notes)
            self._recorder.lower_status("truncated")

    def close(self) -> ProviderReply:
        """End the response and return the reply."""
        self.started()
        self._finish_blocks(None)
        self._recorder.end_text()
        if not (self._recorder.has_complete_call or self._refusal or self._error):
            self._recorder.add_missing_call()
        self._add_refusal(self._refusal_joiner.close())
        reply = self._reply()
        self._recorder.send(Done(reply))
        return reply

    def _reply(self) -> ProviderReply:
        recorder = self._recorder
        segments: list[Segment] = []
        starts: list[int] = []  # of each block, and the end
        for block in self._blocks:
            starts.append(len(segments))
            segments += block.segments
        starts.append(len(segments))
        for segment in segments:
            recorder.lower_status(getattr(segment, "status", "ok"))
        raw, (reason, word) = recorder.content.text, self._finish or (None, None)
        values = {
            "raw": raw,
            "borders": tuple(recorder.borders),
            "segments": segments,
            "status": recorder.status,
            "diagnostics": place_diagnostics(sorted(recorder.diagnostics, key=lambda pending: pending.span[0]), raw),
            "repairs": sorted(recorder.repairs, key=lambda repair: repair.span[0]),
            "provider": self._options.provider,
            "id": recorder.id,
            "model": recorder.model,
            "finish_reason": reason,
            "stop_reason": word,
            "usage": self._usage,
            "refusal": "".join(self._refusal) if self._refusal else None,
            "error": self._error,
            "signatures": [_to_signature(*signature, starts) for signature in self._signatures.values()],
            **self._format_fields(),
        }
        return construct(ProviderReply, {name: values[name] for name in ProviderReply.model_fields})

    def _format_fields(self) -> dict[str, Any]:
        """The fields of the reply that the parsed blocks of content decide."""
        replies, named = self._recorder.replies, self._options.format
        envelopes = [reply for reply in replies if reply.envelope]
        contents = [reply.envelope_content for reply in envelopes if reply.envelope_content is not None]
        return {
            "format": next((reply.format for reply in replies if reply.format), None if named == "auto" else named),
            "envelope": bool(envelopes),
            "envelope_content": "".join(contents) if contents else None,
            "final_answer_streamed": any(reply.final_answer_streamed for reply in replies),
            "unread": {key: value for reply in reversed(envelopes) for key, value in reply.unread.items()},
            "needs_more_work": next((reply.needs_more_work for reply in reversed(envelopes)), None),
        }


def _to_signature(signed: Block | int, data: str, redacted: bool, starts: list[int]) -> Signature:
    segment = starts[signed] if isinstance(signed, int) else starts[signed.number] + max(len(signed.segments) - 1, 0)
    return Signature(segment=segment, data=data, redacted=redacted)
