"""Lanes: functions that read whole, sound text of one format, each made from its grammar once that is read often.

A lane reads what most responses are, several times as fast as the machine, and says nothing of the rest. What it
returns is what the machine would; see `lane_source`.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import Any

from . import registry
from .automaton import Automaton
from .construct import construct, given, make, set_extra, set_given, set_private, set_values
from .islands import encodable, read_at, scan_once, too_deep
from .lane_source import LaneSource, Part, State
from .replies import Reasoning, Reply, Text, ToolCall
from .settings import Settings
from .shapes import ANY, shape_of
from .sprint import BLANKS
from .tools import Tools
from .values import fits, read_bare, to_json

#: A lane is made for a format that was read so many times, and learns a way that was met so many times.
AFTER = 3
#: What is read: all of a text, a segment of the format, or one inside of text that the format is known to have.
WHOLE, SEGMENT, INSIDE = 0, 1, 2
#: How many states and ways a lane has at most.
MOST = 300

_TEXT, _REASONING = given(Text), given(Reasoning)


def segment(kind: int, text: str, start: int, end: int) -> Any:
    """A segment of text (1) or of reasoning (2)."""
    if kind == 1:
        made = make(Text)
        set_values(made, {"kind": "text", "text": text, "span": (start, end)})
        set_given(made, _TEXT)
    else:
        made = make(Reasoning)
        set_values(made, {"kind": "reasoning", "text": text, "span": (start, end), "status": "ok"})
        set_given(made, _REASONING)
    set_extra(made, None)
    set_private(made, None)
    return made


_NAMES: dict[str, Any] = {
    "ANY": ANY,
    "TEXT_ONLY": frozenset({"string"}),
    "ToolCall": ToolCall,
    "blanks": BLANKS.match,
    "encodable": encodable,
    "fits": fits,
    "given": given(ToolCall),
    "make": make,
    "quoted": encode_basestring,
    "read": read_at,
    "read_bare": read_bare,
    "SEGMENT": SEGMENT,
    "scan": scan_once,
    "segment": segment,
    "set_extra": set_extra,
    "set_given": set_given,
    "set_private": set_private,
    "set_values": set_values,
    "shape_of": shape_of,
    "to_json": to_json,
    "too_deep": too_deep,
    "UNSOUND": (StopIteration, ValueError, RecursionError),
}


class Lane:
    """The lane of an automaton: its function, which grows by the ways that texts take."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.seen = 0
        self._numbers: dict[Part, int] = {}
        self._wanted: set[Part] = set()
        self._missed: dict[int, int] = {}
        self._function: Any = None
        self.source = ""
        self._opened = automaton.tables.header.opened
        #: the name of the format
        self.format = automaton.tables.header.format
        self._roots = [State(automaton.start, (), False), State(automaton.home, (), True, True)]
        self.start, self.opening = [self._number(state) for state in self._roots]

    def _number(self, part: Part) -> int:
        return self._numbers.setdefault(part, len(self._numbers))

    def _learn(self, missing: int) -> None:
        """Make the function anew, with a part that it did not have."""
        part = next(part for part, number in self._numbers.items() if number == missing)
        numbers, wanted = dict(self._numbers), {*self._wanted, part}
        counts = LaneSource(self.automaton, numbers, wanted, self._roots).counts
        made = LaneSource(self.automaton, numbers, wanted, self._roots, counts)
        scope = {**_NAMES, **made.names}
        exec(compile(made.source, f"<lane of {self.format}>", "exec"), scope)
        self.source = made.source
        self._numbers, self._wanted, self._function = numbers, wanted, scope["lane"]

    def read(self, text: str, prefix: str | None, tools: Tools | None, depth: int) -> list[Any] | None:
        """The segments of a text; None where the lane cannot tell them. See `parse` for `prefix`."""
        self.seen += 1
        if self.seen <= AFTER:
            return None
        found = self._read(text, prefix, tools, depth)
        return found if found.__class__ is list else None

    def _read(self, text: str, prefix: str | None, tools: Tools | None, depth: int) -> Any:
        if self._opened and prefix is None:
            found = text.lstrip()
            if found and not found.startswith(self._opened.strip()):
                opened = len(self._opened)
                made = self._run(self._opened + text, 0, self.start, tools, depth, WHOLE, opened, 0, True)
                return None if made.__class__ is list and made and made[0].span[0] < 0 else made
        return self._run(text, 0, self.start, tools, depth, WHOLE, 0, 0, True)

    def read_head(self, text: str, tools: Tools | None, depth: int) -> Any:
        """What stands before all text: see `read_segment`."""
        self.seen += 1
        return self._run(text, 0, self.start, tools, depth, INSIDE, 0, 0, True) if self.seen > AFTER else None

    def read_segment(self, text: str, pos: int, tools: Tools | None, depth: int) -> Any:
        """What stands at an opening marker: its segments, where they end, and what the builder keeps of that.

        None where the lane cannot tell. Where the format refuses the text: does it so behind what a stream would tell?
        """
        self.seen += 1
        return self._run(text, pos, self.opening, tools, depth, SEGMENT, 0, pos, True) if self.seen > AFTER else None

    def read_on(self, text: str, pos: int, tools: Tools | None, depth: int, safe: int, after: bool) -> Any:
        """The same for a marker in text of the format itself, of which everything up to `safe` was said.

        `after` tells whether what was said last is text.
        """
        self.seen += 1
        return self._run(text, pos, self.opening, tools, depth, INSIDE, 0, safe, after) if self.seen > AFTER else None

    def _run(
        self,
        text: str,
        pos: int,
        state: int,
        tools: Tools | None,
        depth: int,
        once: int,
        opened: int,
        safe: int,
        after: bool,
    ) -> Any:
        known = None if tools is None else tools.names
        function = self._function
        learning = False
        while True:
            found = state if function is None else function(text, pos, state, tools, known, depth, once, opened, safe, after)
            if found.__class__ is not int:  # True and False are of another class
                return found
            if not learning:
                missed = self._missed[found] = self._missed.get(found, 0) + 1
                if missed < AFTER or len(self._wanted) > MOST:
                    return None
                learning = True
            self._learn(found)
            function = self._function


@registry.remembered
def lane_of(format: str, edition: int) -> Lane:
    """The lane of a format, by its name or an alias."""
    return Lane(registry.automaton(registry.resolve(format), lenient=True))


def read(text: str, format: str, prefix: str | None, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a whole text of a format; None where only the machine can tell. See `parse` for the arguments."""
    lane = lane_of(format, registry.edition())
    if prefix or len(text) > settings.max_chars or not is_encodable(text):
        return None
    segments = lane.read(text, prefix, Tools.of(tools), settings.max_depth)
    return None if segments is None else reply_of(text, lane.format, segments)


def is_encodable(text: str) -> bool:
    """Is a text free of lone surrogates?"""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


def reply_of(text: str, format: str | None, segments: list[Any]) -> Reply:
    """The reply to a text that is sound."""
    return construct(
        Reply,
        {
            "raw": text,
            "format": format,
            "segments": segments,
            "status": "ok",
            "diagnostics": [],
            "repairs": [],
            "envelope": False,
            "envelope_content": None,
            "needs_more_work": None,
        },
    )
