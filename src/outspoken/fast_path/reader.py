"""The fast path of a format: a generated function that reads complete, sound text.

It reads what most responses are, several times as fast as the parser, and returns None for everything else. It is
generated once a format is read often, and extended by the branches that texts take; see `codegen`.
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
from outspoken.notations.schema import ANY
from outspoken.notations.tools import Tools, schema_view_of
from outspoken.results.construct import given, make, set_extra, set_given, set_private, set_values
from outspoken.results.encoding import replace_surrogates
from outspoken.results.replies import Reasoning, Reply, Text, ToolCall
from outspoken.results.settings import Settings

if TYPE_CHECKING:
    from .codegen import Part

#: A function is generated for a format after so many reads, and extended by a branch that was missing so many times.
MIN_READS = 3
#: Is the fast path used at all?
ENABLED = True
#: What is read: a complete text, one segment, or one segment in text that is known to be of the format.
WHOLE, SEGMENT, INSIDE = 0, 1, 2
#: The most states and branches of a function. With every `PARTS_PER_STEP` of them, it takes more misses to add another.
MAX_PARTS, PARTS_PER_STEP = 150, 15

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


#: The globals of every generated function.
_GLOBALS: dict[str, Any] = {
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
    """Where and how a generated function starts.

    `state` is 0 for the beginning of a text and 1 for an opening marker. `reads` is WHOLE, SEGMENT or INSIDE. The first
    `prefix_length` characters of the text come from the prompt. Everything up to `safe` is in segments already;
    `after_text` tells whether the last of them is text.
    """

    pos: int
    state: int
    reads: int
    prefix_length: int = 0
    safe: int = 0
    after_text: bool = True


class _Generated(NamedTuple):
    """A generated function, the parts that it has, and the numbers of these and of the parts that it lacks."""

    numbers: dict[Part, int]
    parts: frozenset[Part]
    #: returns a list of segments, what `read_segment` returns, or the number of the part that it lacks
    function: Any
    source: str


class FastPath:
    """The fast path of one automaton. Threads may share it."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        #: the name of the format
        self.format = automaton.tables.header.format
        self._prompt_end = automaton.tables.header.opened
        self._generated = _Generated({}, frozenset(), None, "")
        self._reads = 0
        self._misses: dict[int, int] = {}
        self._lock = Lock()

    @property
    def source(self) -> str:
        """The source of the generated function, for debugging."""
        return self._generated.source

    def read(self, text: str, prefix: str | None, tools: Tools | None, depth: int) -> list[Any] | None:
        """The segments of a text; None if only the parser can tell.

        `prefix` is as for `parse`; `depth` is the greatest depth of nested values.
        """
        function = self._generated.function
        if function is not None and not self._prompt_end:  # the usual case: nothing is missing
            names = None if tools is None else tools.names
            found = function(text, 0, 0, tools, names, depth, WHOLE, 0, 0, True)
            if found.__class__ is list:
                return found
            if found.__class__ is not int:
                return None
        begin = text.lstrip() if self._prompt_end and prefix is None else ""
        if not begin or begin.startswith(self._prompt_end.strip()):
            found = self._run(text, Entry(0, 0, WHOLE), tools, depth)
            return found if found.__class__ is list else None
        found = self._run(self._prompt_end + text, Entry(0, 0, WHOLE, len(self._prompt_end)), tools, depth)
        return found if found.__class__ is list and (not found or found[0].span[0] >= 0) else None

    def read_head(self, text: str, tools: Tools | None, depth: int) -> Any:
        """Read what precedes all text; returns what `read_segment` does."""
        return self._run(text, Entry(0, 0, INSIDE), tools, depth)

    def read_segment(self, text: str, pos: int, tools: Tools | None, depth: int) -> Any:
        """Read what begins with an opening marker at `pos`.

        Returns its segments, where they end, the end of what is certain, and whether they end with text. Returns None
        if only the parser can tell. Returns a bool if the grammar refuses the text: has a stream passed on any of it by
        then?
        """
        function = self._generated.function
        if function is not None:  # the usual case: nothing is missing
            names = None if tools is None else tools.names
            found = function(text, pos, 1, tools, names, depth, SEGMENT, 0, pos, True)
            if found.__class__ is not int:
                return found
        return self._run(text, Entry(pos, 1, SEGMENT, 0, pos), tools, depth)

    def read_in_text(self, text: str, pos: int, tools: Tools | None, depth: int, safe: int, after_text: bool) -> Any:
        """The same for a marker in text that is known to be of the format; see `Entry` for `safe` and `after_text`."""
        return self._run(text, Entry(pos, 1, INSIDE, 0, safe, after_text), tools, depth)

    def _run(self, text: str, entry: Entry, tools: Tools | None, depth: int) -> Any:
        """Run the function, and extend it if it lacks a part that was missed often enough."""
        if self._reads < MIN_READS:
            self._reads += 1
            return None
        names = None if tools is None else tools.names
        pos, state, reads, prefix_length, safe, after = entry
        generated, extends = self._generated, False
        while True:
            run = generated.function
            found = run(text, pos, state, tools, names, depth, reads, prefix_length, safe, after) if run else state
            if found.__class__ is not int:  # the class of True and False is bool
                return found
            if not extends:
                misses = self._misses[found] = self._misses.get(found, 0) + 1
                count = len(generated.parts)
                if misses < MIN_READS * (1 + count // PARTS_PER_STEP) or count >= MAX_PARTS:
                    return None
                extends = True
            generated = self._extend(generated, found)

    def _extend(self, generated: _Generated, missing: int) -> _Generated:
        """Generate the function again with one more part."""
        from .codegen import SourceWriter, entry_states

        with self._lock:
            if self._generated is not generated:
                return self._generated  # another thread was faster
            entries = entry_states(self.automaton)
            numbers = dict(generated.numbers) or {state: number for number, state in enumerate(entries)}
            parts = generated.parts | {next(part for part, number in numbers.items() if number == missing)}
            counts = SourceWriter(self.automaton, numbers, parts, entries).counts
            written = SourceWriter(self.automaton, numbers, parts, entries, counts)
            scope = {**_GLOBALS, **written.names}
            exec(compile(written.source, f"<fast path of {self.format}>", "exec"), scope)
            self._generated = _Generated(numbers, parts, scope["read_sound"], written.source)
            return self._generated


@registry.cached
def fast_path_of(format: str, edition: int) -> FastPath:
    """The fast path of a format, by its name or an alias."""
    return FastPath(registry.automaton(registry.resolve(format), lenient=True))


def read(text: str, format: str, prefix: str | None, tools: Any, settings: Settings) -> Reply | None:
    """The reply to a complete text; None if only the parser can tell. The arguments are those of `parse`."""
    if prefix or len(text) > settings.max_chars or not (text.isascii() or replace_surrogates(text) is text):
        return None
    path = fast_path_of(format, registry.edition())
    known = tools if tools is None or tools.__class__ is Tools else Tools.of(tools)
    segments = path.read(text, prefix, known, settings.max_depth)
    return None if segments is None else reply_of(text, path.format, segments)


def reply_of(text: str, format: str | None, segments: list[Any]) -> Reply:
    """The reply to a sound text."""
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
