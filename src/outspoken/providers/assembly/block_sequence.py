"""The blocks of a response in order: which are open, which one of its kind is active, and which have ended."""

from __future__ import annotations

from collections import deque
from typing import TypeVar

from .blocks import Block
from .recorder import Recorder

#: What tells the blocks of one kind apart: indexes and names of the provider's.
Key = tuple[int | str, ...]

_BlockT = TypeVar("_BlockT", bound=Block)


class BlockSequence:
    """Begins, activates and finishes blocks.

    A block with a key ends when the provider says so. A block without one ends when a block of another kind begins.
    Of text and of reasoning, one block at a time is active, so that deltas are sent in the order of the blocks.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.blocks: list[Block] = []
        self._by_key: dict[Key, Block] = {}
        #: by identity: the blocks that are open, and those of them that end when another one begins
        self._open: dict[int, Block] = {}
        self._until_next: dict[int, Block] = {}
        self._queues: dict[str, deque[Block]] = {"text": deque(), "reasoning": deque()}
        self.last_reasoning: Block | None = None
        #: each block of text is one of its own, not a part of one string
        self.separates = True

    def get(self, kind: str, key: Key) -> Block | None:
        """Return the block with a key, open or done; None if there is none."""
        return self._by_key.get((kind, *key))

    def find_open(self, kind: str, key: Key | None) -> Block | None:
        """Return the open block with a key, or without a key the one that goes on here."""
        if key is not None:
            found = self.get(kind, key)
            return found if found is not None and not found.done else None
        return next((block for block in self._until_next.values() if block.kind == kind and not block.keyed), None)

    def begin(self, block: _BlockT, key: Key | None) -> _BlockT:
        """Begin a block, and complete those that ended before it."""
        self._recorder.start()
        for other in list(self._until_next.values()):
            if other.end_announced or not block.aside:
                self._complete(other)
        block.index = len(self.blocks)
        self.blocks.append(block)
        self._open[id(block)] = block
        if key is not None:
            self._by_key[(block.kind, *key)] = block
            block.keyed = True
        elif block.kind in self._queues:
            self._until_next[id(block)] = block
        if block.kind == "reasoning":
            self.last_reasoning = block
            self._recorder.has_reasoning = True
        queue = self._queues.get(block.kind)
        if queue is not None:
            queue.append(block)
        if queue is None or queue[0] is block:
            self._activate(block)
        if block.kind == "payload":
            self.finish(block, None)
        return block

    def announce_end(self, block: Block) -> None:
        """Note that the provider ended a block. Whether the response ends with it is known when another one begins."""
        block.end_announced = True
        self._until_next[id(block)] = block

    def complete_reasoning(self) -> None:
        """Complete the reasoning that has ended, before a redacted block."""
        for block in list(self._until_next.values()):
            if block.kind == "reasoning" and (block.end_announced or not block.keyed):
                self._complete(block)

    def split_reasoning(self) -> None:
        """End the active block of reasoning, if it has no key, so that the next reasoning is another block."""
        block = self.last_reasoning
        if block is not None and block.active and not block.keyed:
            self.finish(block, None)

    def _complete(self, block: Block) -> None:
        """Finish a block now, or when it becomes active."""
        if block.active:
            self.finish(block, "stop" if block.kind == "call" else None)
        else:
            block.finish_when_active = True

    def _activate(self, block: Block) -> None:
        if block.kind == "text" and self.separates:
            self._separate(block.index)
        block.activate()

    def _separate(self, index: int) -> None:
        """Separate a block of text from the text before it if another kind of block stands between them."""
        for number in range(index - 1, -1, -1):
            other = self.blocks[number]
            if other.kind == "text" and other.length:
                return
            if (other.kind in ("call", "payload") and not other.aside) or (other.kind == "reasoning" and other.length):
                self._recorder.add_border(self._recorder.content.length)
                return

    def finish(self, block: Block, reason: str | None) -> None:
        """Finish a block, and activate the next one of its kind."""
        if not block.active:
            self._activate(block)
        block.finish(reason)
        del self._open[id(block)]
        self._until_next.pop(id(block), None)
        queue = self._queues.get(block.kind)
        if queue:
            queue.remove(block)
            if queue and not queue[0].active:
                self._activate(queue[0])
                if queue[0].finish_when_active:
                    self.finish(queue[0], None)

    def finish_all(self, reason: str | None, *, provider_ended: bool = False) -> None:
        """Finish all open blocks. If the provider ended the response, all calls but the last are whole."""
        last = self.blocks[-1] if self.blocks else None
        for block in list(self._open.values()):
            if block.done:
                continue  # it waited for a block that finished in this loop
            whole = block.kind == "call" and block is not last and (block.end_announced or provider_ended)
            self.finish(block, "stop" if whole else reason)
