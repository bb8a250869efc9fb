"""The header of a grammar file: data about the format, written as comments at the top.

`// key: value` is one field; lines that are indented under a key continue it, and keep their line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, NonNegativeInt, TypeAdapter, ValidationError

from outspoken.patterns.lazy import lazy_pattern
from outspoken.results.errors import GrammarError

from .model_ids import PromptEnds

if TYPE_CHECKING:
    from outspoken.results.geometry import Space

_FIELD = lazy_pattern(r"//[ ]([A-Za-z_]\w*):(?=\s|$)[ \t]*(.*)")
_MORE = lazy_pattern(r"//[ ]{3}(.*)|//[ \t]*$")
_ENTRY = lazy_pattern(r"([^=(]*(?:\([^)]*\))?)\s*=\s*(.+)")
_SHARED = lazy_pattern(r"(?:\.\w+)+")

#: Fields with entries, each with what the right side of an entry is.
_ENTRIES = {
    "actions": "action(...)",
    "arguments": "argument|argument",
    "checks": "action(...)",
    "evidence": "alone",
    "ids": "thinking <think> | plain </think>",
    "payloads": "expression",
}
#: The fields of which the left side of an entry may name several, and what separates them.
_SEPARATORS = {"evidence": "|", "ids": ","}
#: What the entities of XML stand for.
_ENTITIES = {"&amp;": "&", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&apos;": "'", "&#39;": "'"}

Span = tuple[int, int]


def _expression(pattern: str) -> str:
    """A pattern that Python can read in good time. Raises ValueError for another one."""
    from outspoken.patterns.backtracking import find_slow  # not where a response is read

    try:
        re.compile(pattern)
        slow = find_slow(pattern)
    except (re.error, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    if slow:
        raise ValueError(f"a pattern that backtracks without bound: {slow.why}; {slow.helps}")
    return pattern


def _prompt_ends(written: str) -> str:
    """What a prompt ends with. Raises ValueError if it is not written as `PromptEnds` says."""
    PromptEnds.of(written)
    return written


def _result(written: str) -> str:
    """How a result is written. Raises ValueError if it has no place for the result."""
    if "{result}" not in written:
        raise ValueError("a text without `{result}`")
    return written


Expression = Annotated[str, AfterValidator(_expression)]
Ends = Annotated[str, AfterValidator(_prompt_ends)]
Result = Annotated[str, AfterValidator(_result)]


#: What a field with entries is without any.
_NO_ENTRIES: dict[str, Any] = {}


class Header(NamedTuple):
    """The header of a format.

    - `like`: the format that spells its calls like this one, if any: detection prefers that one.
    - `ids`: maps patterns of the ids of models to what their chat templates end a prompt with (`model_ids`).
    - `trim`: the free text (`text`, `reasoning`, `value`) round which white space belongs to the markers.
    - `separate`: whether each `text` is a message of its own, apart from the one before it ("text"), or not ("").
    - `values`: how bare text of an argument is read without a schema: "json" (JSON if it is JSON), or "text".
    - `written`: how values other than strings are written as bare text: "json", "words" (JSON, but Python's `True`,
      `False` and `None`), or "python".
    - `indent`: the indentation, in spaces, of JSON arguments that are written on several lines; 0 for one line.
    - `reasoned_calls`: a call in reasoning that goes on behind it is reasoning (""), or a call that is "run".
    - `repeated`: the value of an argument that is given more than once: the last one (""), or the "list" of all.
    - `names`: names of tools and arguments are written as they are (""), or as attributes of XML ("xml").
    - `unnamed`: the name of the first argument that is written without one; "" for its place (`$1`).
    - `opened`: what every prompt ends with (`<|start|>assistant`). It is not written at the start of a response, and is
      read before it unless the caller passes a prefix.
    - `result`: how a prompt tells the `{result}` of a call, of the tool `{name}`; "" if no prompt does in text.
    - `anchor`: a pattern of what precedes a turn of the model. The prompt before its last match is not read.
    - `answer`: the names, in any case, of calls whose input is the answer to the user.
    - `actions`: maps the format's words for actions to the vocabulary of actions. `arguments` holds short names for
      several arguments that mean the same; with `any_case`, the format's words count in any case.
    - `space`, `point`: the coordinate space of points, and how one is written (`({x},{y})`; "" for a list).
    - `checks`: what to change of actions that do not fit the page.
    - `payloads`: maps types of payloads to patterns of what is written, if that differs from the type.
    - `evidence`: maps opening markers that are not distinctive to what detection asks for: the start of a line
      ("line"), the end of a line behind what they open ("end"), both and a complete segment ("alone"), and that it
      is a call of a given tool ("declared"), a format that was found before ("behind"), or its name ("named").
    - `forced`: a pattern of what a response begins with if an engine forces calls in this format, whatever the model's
      own is. The group `name` holds the name of the first call, the group `list` the bracket of a list.
    """

    format: str
    title: str = ""
    models: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    source: str = ""
    example: str = ""
    trim: frozenset[Literal["text", "reasoning", "value"]] = frozenset()
    separate: Literal["", "text"] = ""
    values: Literal["json", "text"] = "json"
    written: Literal["json", "words", "python"] = "json"
    indent: NonNegativeInt = 0
    opened: str = ""
    result: Result = ""
    anchor: Expression = ""
    like: str = ""
    space: Space = "px"
    point: str = ""
    any_case: bool = False
    arguments: dict[str, str] = _NO_ENTRIES
    actions: dict[str, str] = _NO_ENTRIES
    payloads: dict[str, Expression] = _NO_ENTRIES
    reasoned_calls: Literal["", "run"] = ""
    repeated: Literal["", "list"] = ""
    names: Literal["", "xml"] = ""
    forced: Expression = ""
    unnamed: str = ""
    answer: tuple[str, ...] = ()
    checks: dict[str, str] = _NO_ENTRIES
    evidence: dict[str, Literal["line", "end", "alone", "declared", "behind", "named"]] = _NO_ENTRIES
    ids: dict[str, Ends] = _NO_ENTRIES

    def evidence_of(self, marker: str) -> str:
        """What detection asks for at an opening marker; "" if the marker is evidence enough."""
        return self.evidence.get(marker, "")

    def needs_format(self, marker: str) -> bool:
        """Does an opening marker count only where a format was found before, or where this one is named?"""
        return self.evidence_of(marker) in ("behind", "named")

    @property
    def bare_calls(self) -> Literal["", "name", "bracket"]:
        """How calls without a marker begin: with their names, or with the bracket of an object or a list."""
        if self.evidence_of("TOOL_NAME") == "named":
            return "name"
        return "bracket" if "alone" in self.evidence.values() else ""

    def read_name(self, written: str) -> str:
        """A name as it is meant."""
        if self.names != "xml" or "&" not in written:
            return written
        return re.sub(r"&(?:amp|quot|lt|gt|apos|#39);", lambda entity: _ENTITIES[entity[0]], written)

    def write_name(self, name: str) -> str:
        """A name as it is written."""
        return name.replace("&", "&amp;").replace('"', "&quot;") if self.names == "xml" else name

    def payload(self, written: str) -> str:
        """The type of a payload by its `PAYLOAD_NAME`; by default the name itself in lower case."""
        bare = written.strip()
        for name, source in self.payloads.items():
            if re.fullmatch(source, written, re.DOTALL) or re.fullmatch(source, bare, re.DOTALL):
                return name
        return bare.lower()

    def to_data(self) -> dict[str, Any]:
        """What is not empty of the header, as plain data."""
        data = {**self._asdict(), "trim": sorted(self.trim)}
        return {key: value for key, value in data.items() if value}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Header:
        """The inverse of `to_data`."""
        lists = {key: tuple(data[key]) for key in ("models", "aliases", "answer") if key in data}
        values: dict[str, Any] = {**data, **lists, "trim": frozenset(data.get("trim", ()))}
        return cls(**values)


class HeaderField(NamedTuple):
    """A field as it is written: its key, the span of that, and the span of all that the field says.

    `lines` are the lines of its value, each with the place where it begins.
    """

    key: str
    key_span: Span
    span: Span
    lines: tuple[tuple[int, str], ...]

    @property
    def value(self) -> str:
        """The value, with the line breaks of the header."""
        return "\n".join([line for _, line in self.lines])


class HeaderProblem(NamedTuple):
    """Why a header cannot be used: the code of the finding, its message and place, and what to write instead."""

    code: str
    message: str
    span: Span
    helps: tuple[str, ...] = ()
    label: str = ""


def read_header(text: str, path: str) -> Header:
    """Read the header of a grammar's text. Raises GrammarError for a field that is unknown or not valid.

    `path` names the grammar in errors; files that it includes lie in the same folder.
    """
    header, problems = examine_header(text, Path(path).parent)
    if header is None:
        first = problems[0]
        line = text.count("\n", 0, first.span[0]) + 1
        raise GrammarError(path, first.message, line=line, helps=first.helps)
    return header


def examine_header(text: str, folder: Path) -> tuple[Header | None, list[HeaderProblem]]:
    """The header, or None with all of its problems. `folder` is that of the grammar."""
    fields, problems = _fields(text)
    field_names = Header._fields
    first: dict[str, HeaderField] = {}
    values: dict[str, Any] = {}
    places: dict[tuple[str, ...], Span] = {}
    for written in fields:
        key = written.key
        if key not in field_names:
            from difflib import get_close_matches  # not where a response is read

            near = get_close_matches(key.lower(), list(field_names), 1)
            helps = f"did you mean `{near[0]}`?" if near else f"fields are {', '.join(sorted(field_names))}"
            message = f"the header has no field `{key}`"
            problems.append(HeaderProblem("unknown-field", message, written.key_span, (helps,)))
        elif key in first:
            label = f"the first one is in line {text.count(chr(10), 0, first[key].span[0]) + 1}"
            message, helps = f"the header has `{key}` twice", ("join them, or take one out",)
            problems.append(HeaderProblem("duplicate-field", message, written.key_span, helps, label))
        else:
            first[key], places[(key,)] = written, written.span
            values[key] = _READERS.get(key, str)(written.value)
            if key in _ENTRIES:
                entries = [*_entries(written, folder)]
                problems += [entry for entry in entries if isinstance(entry, HeaderProblem)]
                sound = [entry for entry in entries if isinstance(entry, _Entry)]
                values[key] = {entry.name: entry.meaning for entry in sound}
                places |= {(key, entry.name): entry.span for entry in sound}
    try:
        header = _adapter().validate_python({"format": "", **values})
    except ValidationError as error:
        for error_details in error.errors():
            key, *inner = [str(part) for part in error_details["loc"]]
            span = places.get((key, *inner[:1]), places[(key,)])
            helps = (error_details["msg"].replace("Input", f"`{key}`").replace("Value error,", f"`{key}` is"),)
            problems.append(HeaderProblem("bad-header", f"`{key}` cannot be `{error_details['input']}`", span, helps))
        header = None
    problems.sort(key=lambda problem: problem.span)
    if not values.get("format"):
        helps = ("the first line is `// format: <name of the file>`",)
        problems.append(HeaderProblem("missing-field", "the header has no `format`", _line_at(text, 0), helps))
    return (None if problems else header), problems


@cache
def _adapter() -> TypeAdapter[Header]:
    from outspoken.results.geometry import Space as Space  # an annotation names it; not where a response is read

    return TypeAdapter(Header)


def _line_at(text: str, start: int) -> Span:
    """The span of the line that begins at a place, without blanks at its end."""
    line = text[start:].partition("\n")[0]
    return start, start + len(line.rstrip())


def _fields(text: str) -> tuple[list[HeaderField], list[HeaderProblem]]:
    """The fields in the order of the text, also those that no header has, and the lines that are none."""
    fields: list[HeaderField] = []
    problems: list[HeaderProblem] = []
    at = 0
    for line in text.splitlines(keepends=True):
        if not line.startswith("//"):
            break
        span = _line_at(text, at)
        if match := _FIELD.match(line.rstrip("\r\n")):
            key, value = (at + match.start(1), at + match.end(1)), (at + match.start(2), match[2])
            fields.append(HeaderField(match[1], key, (key[0], span[1]), (value,) if match[2] else ()))
        elif (match := _MORE.match(line.rstrip("\r\n"))) and fields:
            last_field = fields[-1]
            more = (at + match.start(1), match[1]) if match[1] else (span[1], "")
            fields[-1] = last_field._replace(span=(last_field.span[0], span[1]), lines=(*last_field.lines, more))
        else:
            helps = ("write `// key: value`; what goes on with a value is indented by three spaces behind `//`",)
            problems.append(HeaderProblem("bad-header", "a line of the header is no field", span, helps))
        at += len(line)
    return fields, problems


def header_fields(text: str) -> list[HeaderField]:
    """The fields of a header as they are written, in their order, also those that no header has."""
    return _fields(text)[0]


def one_line(value: str) -> str:
    """A value as one line of the header."""
    return value.replace("\\\n", "\n").replace("\n", "\\n")


def _list(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.replace("\n", ",").split(",") if part.strip())


_READERS: dict[str, Callable[[str], object]] = {
    "models": _list,
    "aliases": _list,
    "answer": _list,
    "trim": _list,
    "example": lambda value: value.replace("\\t", "\t"),
    "opened": lambda value: value.replace("\\n", "\n"),
}


class _Entry(NamedTuple):
    """An entry of a field, such as `left_double = click(clicks=2)`."""

    name: str
    meaning: str
    span: Span


def _entries(written: HeaderField, folder: Path) -> Iterator[_Entry | HeaderProblem]:
    """The entries of a field, of which a later one overrides one of the same name, and the lines that are none.

    A line `.shared.name` includes the lines of that field in another file. The left side of an entry may name several,
    if the field is one of `_SEPARATORS`. An entry of `ids` may have no right side.
    """
    key = written.key
    for start, line in written.lines:
        entry, span = line.strip(), (start, start + len(line.rstrip()))
        match = _ENTRY.fullmatch(entry)
        if _SHARED.fullmatch(entry):
            file = folder.joinpath(*entry.split(".")[1:]).with_suffix(".lark")
            if file.is_file():
                shared = [
                    field_entry for field_entry in header_fields(file.read_text("utf-8")) if field_entry.key == key
                ]
                yield from [
                    field_entry._replace(span=span) for other in shared for field_entry in _entries(other, file.parent)
                ]
            else:
                message, helps = f"there is no file `{entry}` to take `{key}` from", ("a path is `.shared.<file>`",)
                yield HeaderProblem("bad-header", message, span, helps)
        elif key == "ids" and entry and " = " not in entry:
            yield from [_Entry(name.strip(), "", span) for name in entry.split(",")]
        elif match is not None and match[1].strip():
            names = match[1].split(_SEPARATORS.get(key, "\n"))
            yield from [_Entry(name.strip(), match[2].strip(), span) for name in names]
        elif entry:
            helps = (f"an entry of `{key}` is `name = {_ENTRIES[key]}`",)
            yield HeaderProblem("bad-header", f"`{entry}` is no entry of `{key}`", span, helps)
