"""What stands around the reasoning of a format, as `render` writes it; servers and chat templates know it as tags."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from outspoken.grammar import registry
from outspoken.results.errors import RenderError
from outspoken.results.replies import Reasoning

from .render import render

_REASONING = "Outspoken weighs the words"


class ReasoningTags(NamedTuple):
    """What stands around the reasoning of a format. `open` is what a prompt ends with that opens the reasoning."""

    open: str
    close: str

    @property
    def closed(self) -> str:
        """A prefix for what stands behind the reasoning, on a line of its own."""
        return f"{self.open.strip()}{_REASONING}{self.close}\n"

    def prefix(self, prompt: str) -> str | None:
        """The `prefix` of a response behind a prompt; None if the prompt says nothing about reasoning."""
        tail = prompt.rstrip()
        return self.open if tail.endswith(self.open.strip()) else "" if tail.endswith(self.close) else None


@cache
def reasoning_tags(format: str) -> ReasoningTags | None:
    """The tags around the reasoning of a format.

    None if there are none, as in a format whose reasoning is a line or a field of its actions: it cannot be split off.
    """
    if format == "auto":
        return ReasoningTags("<think>\n", "</think>")
    header, thought = registry.header(format), Reasoning(text=_REASONING, span=(0, 0))
    try:
        before, _, behind = ("" if header.actions else render(thought, format=format)).partition(_REASONING)
    except RenderError:
        return None
    opener, closer = before or header.opened, re.match(r"[<\[].*[>\]]", behind.strip())
    return ReasoningTags(opener, closer[0]) if closer and opener.strip()[:1] in ("<", "[") else None
