"""The parts of a response: which are open, which has its turn, and how far the content has come."""

from __future__ import annotations

from collections import deque
from typing import Any

from .blocks import Block
from .shift import Shift

Key = tuple[Any, ...]


class Parts:
    """Keeps the parts in order.

    A part has a key of its provider's, by which more of it is known; it ends when the provider says so. A part without
    one ends when another kind begins. Of texts, and of reasoning, one is read at a time, so that what is sent of them
    comes in the order of the parts; what comes of another one waits.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._keyed: dict[Key, Block] = {}
        #: by identity: the parts that are open, and those of them that end when another one begins
        self._opened: dict[int, Block] = {}
        self._ending: dict[int, Block] = {}
        self._turns: dict[str, deque[Block]] = {"text": deque(), "reasoning": deque()}
        self._pieces: list[str] = []
        #: how long the content is
        self.length = 0
        self._lines = self._line_begins = 0
        self.last_thought: Block | None = None

    def made(self, kind: str) -> Block:
        """A new part of a kind."""
        raise NotImplementedError

    def started(self) -> None:
        """The response has begun."""
        raise NotImplementedError

    # the content

    def grow(self, piece: str) -> None:
        """More of the content."""
        breaks = piece.count("\n")
        if breaks:
            self._lines += breaks
            self._line_begins = self.length + piece.rindex("\n") + 1
        self._pieces.append(piece)
        self.length += len(piece)

    @property
    def raw(self) -> str:
        """The content so far."""
        return "".join(self._pieces)

    def here(self) -> Shift:
        """The place that the content has come to."""
        return Shift(self.length, self._lines, self.length - self._line_begins)

    # the parts

    def part(self, kind: str, key: Key | None) -> Block:
        """The part that goes on here, or a new one."""
        if key is not None:
            found = self._keyed.get((kind, *key))
            if found is not None and not found.done:
                return found
        else:
            for block in self._ending.values():
                if block.kind == kind and not block.keyed:
                    return block
        return self.begin(self.made(kind), (kind, *key) if key is not None else None)

    def begin(self, block: Any, key: Key | None) -> Any:
        """A part begins: what ended before it is complete."""
        self.started()
        for other in list(self._ending.values()):
            if other.ended or not block.aside:
                self._complete(other)
        block.place = len(self._blocks)
        self._blocks.append(block)
        self._opened[id(block)] = block
        if key is not None:
            self._keyed[key] = block
            block.keyed = True
        elif block.kind in self._turns:
            self._ending[id(block)] = block
        if block.kind == "reasoning":
            self.last_thought = block
        turn = self._turns.get(block.kind)
        if turn is not None:
            turn.append(block)
        if turn is None or turn[0] is block:
            block.begin()
        if block.kind == "other":
            self.finish(block, None)
        return block

    def ends(self, block: Block) -> None:
        """The provider says that a part has ended. What its end means is known when another one begins."""
        block.ended = True
        self._ending[id(block)] = block

    def _complete(self, block: Block) -> None:
        """What ended is complete, now or when it has had its turn."""
        if block.live:
            self.finish(block, "stop" if block.kind == "call" else None)
        else:
            block.over = True

    def finish(self, block: Block, reason: str | None) -> None:
        """A part is complete; the next one of its kind has its turn."""
        if not block.live:
            block.begin()
        block.finish(reason)
        del self._opened[id(block)]
        self._ending.pop(id(block), None)
        turn = self._turns.get(block.kind)
        if turn:
            turn.remove(block)
            if turn and not turn[0].live:
                turn[0].begin()
                if turn[0].over:
                    self.finish(turn[0], None)

    def settle(self, reason: str | None, *, told: bool = False) -> None:
        """Everything that is open ends here. All calls but the last are whole where the provider `told` of an end."""
        last = self._blocks[-1] if self._blocks else None
        for block in list(self._opened.values()):
            if block.done:
                continue  # it had waited for one that ended here
            whole = block.kind == "call" and block is not last and (block.ended or told)
            self.finish(block, "stop" if whole else reason)
