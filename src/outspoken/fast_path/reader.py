"""Lanes: functions that read whole, sound text of one format, each made from its grammar once that is read often.

A lane reads what most responses are, several times as fast as the machine, and says nothing of the rest. What it
returns is what the machine would; see `lane_source`.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.engine.text_buffer import BLANKS
from outspoken.grammar import registry
from outspoken.grammar.automaton import Automaton
from outspoken.json.scanner import encodable_value, read_at, scan_once, too_deep
from outspoken.notations.coerce import fits, read_bare, to_json
from outspoken.notations.schema import ANY, schema_view_of
from outspoken.notations.tools import Tools
from outspoken.results.construct import given, make, set_extra, set_given, set_private, set_values
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reasoning, Reply, Text, ToolCall
from outspoken.results.settings import Settings

if TYPE_CHECKING:
    from .codegen import Part

#: A lane is made for a format that was read so many times, and learns a way that was met so many times.
AFTER = 3
#: Whether lanes are used at all.
ENABLED = True
#: What is read: all of a text, a segment of the format, or one inside of text that the format is known to have.
WHOLE, SEGMENT, INSIDE = 0, 1, 2
#: How many states and ways a lane has at most, and with how many more it takes so many texts more to learn another.
MOST, STEP = 150, 15

_TEXT, _REASONING, _REPLY = given(Text), given(Reasoning), given(Reply)


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
    "encodable_value": encodable_value,
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
    "schema_view_of": schema_view_of,
    "to_json": to_json,
    "too_deep": too_deep,
    "UNSOUND": (StopIteration, ValueError, RecursionError),
}


class Entry(NamedTuple):
    """Where and how a lane is entered: the place, the state, and what is read.

    The state is 0 for the beginning of a text, 1 for an opening marker. `opened` is how much of the text stood in the
    prompt. Everything up to `safe` was said; `after` tells whether what was said last is text.
    """

    pos: int
    state: int
    reads: int
    opened: int = 0
    safe: int = 0
    after: bool = True


class _Made(NamedTuple):
    """What was made of a lane so far: the parts that it knows by number, those that the function has, the function."""

    numbers: dict[Part, int]
    wanted: frozenset[Part]
    function: Any
    source: str


class Lane:
    """The lane of an automaton: its function, which grows by the ways that texts take. Threads may share it."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        #: the name of the format
        self.format = automaton.tables.header.format
        self._opened = automaton.tables.header.opened
        self._made = _Made({}, frozenset(), None, "")
        self._seen = 0
        self._missed: dict[int, int] = {}
        self._learning = Lock()

    @property
    def source(self) -> str:
        """The source of the function, for those who want to see what it does."""
        return self._made.source

    def read(self, text: str, prefix: str | None, tools: Tools | None, depth: int) -> list[Any] | None:
        """The segments of a text; None where the lane cannot tell them. See `parse` for `prefix`."""
        function = self._made.function
        if function is not None and not self._opened:  # nothing is to be learned, most times
            known = None if tools is None else tools.names
            made = function(text, 0, 0, tools, known, depth, WHOLE, 0, 0, True)
            if made.__class__ is list:
                return made
            if made.__class__ is not int:
                return None
        found = text.lstrip() if self._opened and prefix is None else ""
        if not found or found.startswith(self._opened.strip()):
            made = self._enter(text, Entry(0, 0, WHOLE), tools, depth)
            return made if made.__class__ is list else None
        made = self._enter(self._opened + text, Entry(0, 0, WHOLE, len(self._opened)), tools, depth)
        return made if made.__class__ is list and (not made or made[0].span[0] >= 0) else None

    def read_head(self, text: str, tools: Tools | None, depth: int) -> Any:
        """What stands before all text: see `read_segment`."""
        return self._enter(text, Entry(0, 0, INSIDE), tools, depth)

    def read_segment(self, text: str, pos: int, tools: Tools | None, depth: int) -> Any:
        """What stands at an opening marker: its segments, where they end, what is safe, and whether text ended there.

        None where the lane cannot tell. Where the format refuses the text: does it so behind what a stream would tell?
        """
        function = self._made.function
        if function is not None:  # nothing is to be learned, most times
            known = None if tools is None else tools.names
            found = function(text, pos, 1, tools, known, depth, SEGMENT, 0, pos, True)
            if found.__class__ is not int:
                return found
        return self._enter(text, Entry(pos, 1, SEGMENT, 0, pos), tools, depth)

    def read_on(self, text: str, pos: int, tools: Tools | None, depth: int, safe: int, after: bool) -> Any:
        """The same for a marker in text of the format itself; see `Entry` for `safe` and `after`."""
        return self._enter(text, Entry(pos, 1, INSIDE, 0, safe, after), tools, depth)

    def _enter(self, text: str, entry: Entry, tools: Tools | None, depth: int) -> Any:
        """Read, and learn the ways that are missing if they were missed often enough."""
        if self._seen < AFTER:
            self._seen += 1
            return None
        known = None if tools is None else tools.names
        pos, state, reads, opened, safe, after = entry
        made, learning = self._made, False
        while True:
            function = made.function
            found = function(text, pos, state, tools, known, depth, reads, opened, safe, after) if function else state
            if found.__class__ is not int:  # True and False are of another class
                return found
            if not learning:
                missed = self._missed[found] = self._missed.get(found, 0) + 1
                if missed < AFTER * (1 + len(made.wanted) // STEP) or len(made.wanted) >= MOST:
                    return None
                learning = True
            made = self._learn(made, found)

    def _learn(self, made: _Made, missing: int) -> _Made:
        """Make the function anew, with a part that it did not have."""
        from .codegen import LaneSource, roots_of

        with self._learning:
            if self._made is not made:
                return self._made  # another thread was faster
            roots = roots_of(self.automaton)
            numbers = dict(made.numbers) or {state: number for number, state in enumerate(roots)}
            wanted = made.wanted | {next(part for part, number in numbers.items() if number == missing)}
            counts = LaneSource(self.automaton, numbers, wanted, roots).counts
            written = LaneSource(self.automaton, numbers, wanted, roots, counts)
            scope = {**_NAMES, **written.names}
            exec(compile(written.source, f"<lane of {self.format}>", "exec"), scope)
            self._made = _Made(numbers, wanted, scope["lane"], written.source)
            return self._made


@registry.cached
def lane_of(format: str, edition: int) -> Lane:
    """The lane of a format, by its name or an alias."""
    return Lane(registry.automaton(registry.resolve(format), lenient=True))


def read(text: str, format: str, prefix: str | None, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a whole text of a format; None where only the machine can tell. See `parse` for the arguments."""
    if prefix or len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    lane = lane_of(format, registry.edition())
    given = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    segments = lane.read(text, prefix, given, settings.max_depth)
    return None if segments is None else reply_of(text, lane.format, segments)


def reply_of(text: str, format: str | None, segments: list[Any]) -> Reply:
    """The reply to a text that is sound."""
    made = make(Reply)
    set_values(
        made,
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
            "final_answer_streamed": False,
        },
    )
    set_given(made, _REPLY)
    set_extra(made, None)
    set_private(made, None)
    return made
