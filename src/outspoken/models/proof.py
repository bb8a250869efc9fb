"""Which format reads back what a chat template writes.

The template writes messages whose calls, text and reasoning are known. A format is proven if it reads all of them as
they were meant; one that reads only some is no more than near.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from outspoken.grammar import registry
from outspoken.grammar.model_ids import PromptEnds
from outspoken.results.replies import Reply

from .chat_template import ChatTemplate, Turn, prompt_ends, turns_of
from .messages import schemas

#: The messages that are read back, the telling one first.
_MESSAGES = (
    *("one_call", "two_calls", "values", "no_arguments"),
    *("text_then_call", "reasoning_then_call", "reasoning_then_text", "text_only"),
)
#: So many are named of the formats that read most.
_NEAREST = 3


class Read(Protocol):
    """Reads a text in a format, or in the one that fits it (`auto`)."""

    def __call__(self, text: str, format: str, *, tools: Any, prefix: str | None) -> Reply:
        """The reply."""
        ...


class Proof(NamedTuple):
    """The format that reads all that a template writes, or None; the nearest ones, and what stood in the way.

    `nearest` says how many of the messages each reads, 0 if only their calls. `turns` are the messages.
    """

    format: str | None
    nearest: dict[str, int]
    turns: dict[str, Turn]
    ends: PromptEnds
    remarks: list[str]

    @property
    def has_calls(self) -> bool:
        """Does the template write calls?"""
        return any(turn.message.calls and turn.message.calls[0].name in turn.text for turn in self.turns.values())


def prove(template: ChatTemplate, read: Read, wanted: str = "") -> Proof:
    """Find the format that reads back what a template writes, if it does the `wanted` one.

    Of several formats, it is one of certain models, and the one that is detected. The first one that reads everything
    is taken: each format that is tried costs a new process 10 to 20 ms. Raises TemplateError if the template writes
    nothing.
    """
    turns, remarks = turns_of(template, _MESSAGES)
    ends = prompt_ends(template)
    has_models = {name for name, _, _ in registry.ids(registry.edition())}
    nearest: dict[str, int] = {}
    for names in _candidates(turns, read, wanted):
        for name in sorted(names, key=lambda name: (name != wanted, name not in has_models)):
            nearest[name] = _count(turns, name, read)
            if nearest[name] == len(turns):
                return Proof(name, {name: len(turns)}, turns, ends, remarks)
    best = max([0, *nearest.values()])
    near = [name for name, right in nearest.items() if right == best][:_NEAREST]
    return Proof(None, dict.fromkeys(near, best), turns, ends, remarks)


def _count(turns: dict[str, Turn], format: str, read: Read) -> int:
    """How many messages a format reads as they were meant; 0 if only the calls of the first one, -1 if not these."""
    found = 0
    for turn in turns.values():
        has_calls, is_whole = _reads(turn, format, read)
        found += is_whole
        if not found:
            return 0 if has_calls else -1
    return found


def _candidates(turns: dict[str, Turn], read: Read, wanted: str) -> Iterator[list[str]]:
    """The formats that may read what a template writes: what each call is detected as, with relatives; then all others.

    Calls whose prompt opens nothing come first: sound text without a prefix is read fast.
    """
    calls = [turn for turn in turns.values() if turn.message.calls and turn.message.calls[0].name in turn.text]
    if not calls:  # reasoning and text alone tell no format
        return
    names, tried = registry.names(), {registry.PLAIN}
    for turn in sorted(calls, key=lambda turn: bool(turn.prefix)):
        detected = read(turn.text, "auto", tools=schemas(turn.message), prefix=turn.prefix or "").format
        first = [name for name in (detected, wanted) if name]
        related = [n for n in names if registry.like(n) in first or n in map(registry.like, first)]
        likely = [name for name in dict.fromkeys([*first, *related]) if name not in tried]
        tried.update(likely)
        yield likely
    yield [name for name in names if name not in tried]


def _reads(turn: Turn, format: str, read: Read) -> tuple[bool, bool]:
    """Does a format read the calls of a message, and all of it, as it was meant?

    Some templates write the text beside calls as reasoning. Behind text, the template may leave out what the model
    writes to end it.
    """
    message = turn.message
    # what the prompt begins is read as text of the model: without a prefix, sound text needs no parser
    reply = read(turn.prefix + turn.text, format, tools=schemas(message) or None, prefix="")
    said, meant = (reply.text.strip(), (reply.reasoning or "").strip()), (message.text, message.reasoning or "")
    if [(call.name, call.arguments) for call in reply.tool_calls] != [call[:2] for call in message.calls]:
        return False, False
    return True, sorted(said) == sorted(meant) and not reply.diagnostics if message.calls else said == meant
