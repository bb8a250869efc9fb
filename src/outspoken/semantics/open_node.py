"""What is still being read: a node of the reply (a call, an action, a payload, a block), or an embedded value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from outspoken.json.scanner import JsonScanner

if TYPE_CHECKING:
    from outspoken.grammar.automaton import Transition
    from outspoken.json.partial_string import PartialString
    from outspoken.notations.interface import ValueScanner
    from outspoken.patterns.loose_markup import Looseness
    from outspoken.results.diagnostics import Repair


class UnknownEntry(NamedTuple):
    """A key that the grammar does not know, from `start` to `key_end`, and its value, which ends at `end`."""

    key: str
    start: int
    key_end: int
    end: int
    value: Any
    text: str

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


class OpenNode:
    """What is known of a node before it ends. Its fields are filled in the order of the text.

    `kinds` are the grammar rules that it may become, separated by blanks. `start` is its offset in the raw text.
    The defaults are class attributes, so that making a node costs little.
    """

    start = 0
    kinds = ""
    name: str | None = None
    id: str | None = None
    #: the value of the arguments: of all of them, or of those that are complete
    arguments: Any = None
    #: the JSON text of the arguments so far, in pieces
    parts: list[str] | None = None
    #: the name of the argument that is being read, and its offset
    key: str | None = None
    key_start = 0
    #: the bare text of that argument, in pieces, and its first characters, which decide its type
    bare: list[str] | None = None
    head = ""
    #: the places of the bare values of another type than the schema asks for, by argument
    mistyped: dict[str, tuple[int, int]] | None = None
    #: how certain it is that a bare value holds damaged markup
    looseness: Looseness = ""
    #: the bare value holds what may be a part of the marker beside it
    holds_rest = False
    #: the argument of which a value holds that
    odd_key = ""
    #: a bare value ends with what may also stand in it
    ends_by_chance = False
    #: a bare value has no closing marker of its own: what opens the next argument ends it
    ends_at_argument = False
    #: the markup says that the argument is a string
    is_text = False
    #: the argument's text is passed on as a JSON string while it arrives
    sending = False
    #: the arguments come one by one, so that the end of the call closes their object
    keyed = False
    #: the arguments that were given more than once, in formats where that makes a list
    repeated: set[str] | None = None
    #: the number of a call whose start was sent; -1 for any other
    index = -1
    #: an argument was read of a call that may be an action, whose start is therefore not sent
    held_back = False
    problem = ""
    problem_code = "invalid-call"
    #: where its reasoning that was not passed on yet begins, and where the last stretch of it ends
    text_start: int | None = None
    text_end = 0
    #: the entries of its object whose keys the grammar does not know
    unknown: tuple[UnknownEntry, ...] = ()
    #: what has a place beside its arguments, but says nothing
    left_out = ""
    content: str | None = None
    content_span: tuple[int, int] = (0, 0)
    needs_more_work: bool | None = None
    #: the list of calls of an envelope is empty
    no_calls = False
    #: the text that an action types, or that an answer says, as far as it arrived
    partial_text: PartialString | None = None
    #: the repairs between the parts of an action
    repairs: tuple[Repair, ...] = ()
    #: the offsets of the arguments by name, where diagnostics need them
    places: dict[str, int] | None = None

    def __init__(self, kinds: str = "", start: int = 0, name: str | None = None) -> None:
        self.kinds, self.start, self.name = kinds, start, name


class EmbeddedValue:
    """A value that is still arriving: its transition and scanner, its text so far, and the offset where it began."""

    __slots__ = ("step", "scanner", "pieces", "begun", "_recent", "_recent_length")

    def __init__(self, step: Transition, scanner: ValueScanner, begun: int) -> None:
        self.step, self.scanner, self.begun = step, scanner, begun
        self.pieces: list[str] = []
        #: the end of the text so far, of which the scanner still holds back a part
        self._recent: list[str] = []
        self._recent_length = 0

    def receive(self, piece: str) -> str:
        """Take more of a string in which the scanner finds nothing special; return what `certain` does."""
        self.pieces.append(piece)
        text = self.scanner.receive(piece)
        held = self.scanner.held or self._recent_length
        return self.certain() if held and not self.scanner.transcodes else text

    def certain(self) -> str:
        """More of the value's JSON text, as far as no later text can change it."""
        if self.scanner.transcodes:
            return self.scanner.take_json()
        if not self.pieces or self.pieces[0][0] != "{":
            return ""
        held, piece = self.scanner.held, self.pieces[-1]
        self._recent.append(piece)
        self._recent_length += len(piece)
        if self._recent_length <= held:
            return ""
        text = "".join(self._recent)
        self._recent, self._recent_length = [text[len(text) - held :]], held
        return text[: len(text) - held]

    def release(self) -> str:
        """What becomes certain where the text is cut."""
        return "".join(self._recent)[: self.scanner.release()] if isinstance(self.scanner, JsonScanner) else ""
