"""GUI actions: from a name and arguments to one typed action, by the mapping in the format's header."""

from __future__ import annotations

from typing import Any

from .actions import make_action
from .calls import CallBuilder
from .events import ActionParsed


class ActionBuilder(CallBuilder):
    """The part of the builder that makes actions: the whole builder."""

    def call_id(self, arg: str, m: Any, g: int, base: int) -> None:
        """The id of a call, where it is a token."""
        self.frames[-1].id = m[g]

    def call_index(self, arg: str, m: Any, g: int, base: int) -> None:
        """The number of a call, which is part of its id."""

    def end_action(self, arg: str, m: Any, g: int, base: int) -> None:
        """An action is complete."""
        self.flush()
        frame, end = self.frames.pop(), base + m.end(g)
        span = (max(frame.start, 0), end)
        values: dict[str, Any] = frame.arguments or {}
        repairs = self.take_repairs() if self.edits else ()
        action, problem = make_action(self.header, frame.name or "", values, span, self.slice(*span), repairs)
        if problem:
            self.worsen("invalid")
            self.note("invalid-action", problem, span, helps=("the raw text is kept in `raw`; nothing was guessed",))
        self.segments.append(action)
        if self.events is not None:
            self.events.append(ActionParsed(action))
        self.settle(frame, end)
