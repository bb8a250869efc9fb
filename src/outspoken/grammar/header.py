"""The header of a grammar file: data about the format, written as comments at the top.

`// key: value` is one field; lines that are indented under a key continue it, and keep their line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from outspoken.results.errors import GrammarError

_FIELD = re.compile(r"//[ ]([a-z_]+):[ \t]*(.*)")
_ENTRY = re.compile(r"([^=(]*(?:\([^)]*\))?)\s*=\s*(.+)")
_SHARED = re.compile(r"(?:\.\w+)+")
_MORE = re.compile(r"//[ ]{3}(.*)|//[ \t]*$")

_TRIMMABLE = frozenset({"text", "reasoning", "value"})
_CHOICES = {"values": ("json", "text"), "written": ("json", "words", "python"), "repeated": ("list",)}
#: Fields with entries, each with what the right side of an entry is.
_ENTRIES = {
    "actions": "action(...)",
    "arguments": "argument|argument",
    "checks": "action(...)",
    "evidence": "alone",
    "payloads": "expression",
}
#: Fields that the compiled form of a grammar leaves out if they are empty.
_RARE = frozenset({"point", "any_case", "answer", "arguments", "checks", "evidence", "payloads", "repeated"})
#: What `evidence` may ask for.
_EVIDENCE = ("line", "end", "alone", "behind")


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a format.

    - `like`: the format that spells its calls like this one, if any: detection prefers that one.
    - `trim`: the free text (`text`, `reasoning`, `value`) round which white space belongs to the markers.
    - `values`: how bare text of an argument is read without a schema: "json" (JSON if it is JSON), or "text".
    - `written`: how values other than strings are written as bare text: "json", "words" (JSON, but Python's `True`,
      `False` and `None`), or "python".
    - `indent`: the indentation, in spaces, of JSON arguments that are written on several lines; 0 for one line.
    - `repeated`: the value of an argument that is given more than once: the last one (""), or the "list" of all.
    - `opened`: what every prompt ends with (`<|start|>assistant`). It is not written at the start of a response, and is
      read before it unless the caller passes a prefix.
    - `anchor`: a pattern of what precedes a turn of the model. The prompt before its last match is not read.
    - `answer`: the names, in any case, of calls whose input is the answer to the user.
    - `actions`: maps the format's words for actions to the vocabulary of actions. `arguments` holds short names for
      several arguments that mean the same; with `any_case`, the format's words count in any case.
    - `space`, `point`: the coordinate space of points, and how one is written (`({x},{y})`; "" for a list).
    - `checks`: what to change of actions that do not fit the page.
    - `payloads`: maps types of payloads to patterns of what is written, if that differs from the type.
    - `evidence`: maps opening markers that are not distinctive to what detection asks for: the start of a line
      ("line"), the end of a line behind what they open ("end"), both and a complete segment ("alone"), or a format that
      was found before ("behind").
    """

    format: str
    title: str = ""
    models: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    source: str = ""
    example: str = ""
    trim: frozenset[str] = frozenset()
    values: str = "json"
    written: str = "json"
    indent: int = 0
    opened: str = ""
    anchor: str = ""
    like: str = ""
    space: str = "px"
    point: str = ""
    any_case: bool = False
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    actions: dict[str, str] = field(default_factory=dict[str, str])
    payloads: dict[str, str] = field(default_factory=dict[str, str])
    repeated: str = ""
    answer: tuple[str, ...] = ()
    checks: dict[str, str] = field(default_factory=dict[str, str])
    evidence: dict[str, str] = field(default_factory=dict[str, str])

    def evidence_of(self, marker: str) -> str:
        """What detection asks for at an opening marker; "" if the marker is evidence enough."""
        return self.evidence.get(marker, "")

    def payload(self, written: str) -> str:
        """The type of a payload by its `PAYLOAD_NAME`; by default the name itself in lower case."""
        bare = written.strip()
        for name, source in self.payloads.items():
            if re.fullmatch(source, written, re.DOTALL) or re.fullmatch(source, bare, re.DOTALL):
                return name
        return bare.lower()

    def to_data(self) -> dict[str, Any]:
        """The header as plain data, for the compiled form of the grammar."""
        data = asdict(self)
        data["trim"] = sorted(self.trim)
        return {key: value for key, value in data.items() if value or key not in _RARE}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Header:
        """The inverse of `to_data`."""
        values: dict[str, Any] = {
            **data,
            "trim": frozenset(data["trim"]),
            "models": tuple(data["models"]),
            "aliases": tuple(data["aliases"]),
            "answer": tuple(data.get("answer", ())),
        }
        return cls(**values)


def read_header(text: str, path: str, folder: Path | None = None) -> Header:
    """Read the header of a grammar's text. Raises GrammarError for a field that is unknown or not valid.

    `path` names the grammar in errors; `folder` is its folder, by default that of `path`.
    """
    folder = Path(path).parent if folder is None else folder
    fields = _fields(text, path)
    known = Header.__dataclass_fields__
    for key, (line, _) in fields.items():
        if key not in known:
            raise GrammarError(
                path, f"the header has no field `{key}`", line=line, helps=[f"fields: {', '.join(sorted(known))}"]
            )
    if not fields.get("format", (1, ""))[1]:
        raise GrammarError(
            path, "the header has no `format`", helps=["the first line is `// format: <name of the file>`"]
        )
    values: dict[str, Any] = {key: _READERS.get(key, str)(value) for key, (_, value) in fields.items()}
    _check(values, fields, path)
    values |= {key: _entries(key, fields, path, folder) for key in _ENTRIES}
    values["evidence"] = _evidence(values["evidence"], fields, path)
    values["indent"] = int(values.get("indent", 0))
    return Header(**values)


def _check(values: dict[str, Any], fields: dict[str, tuple[int, str]], path: str) -> None:
    """Raise GrammarError for a value that is not valid."""
    wrong = [key for key, choices in _CHOICES.items() if values.get(key, choices[0]) not in choices]
    problems = {key: f"`{key}` is one of {', '.join(_CHOICES[key])}" for key in wrong}
    if unknown := values.get("trim", frozenset[str]()) - _TRIMMABLE:
        problems["trim"] = f"`trim` names {', '.join(sorted(unknown))}"
    if not values.get("indent", "0").isdecimal():
        problems["indent"] = "`indent` is a number of spaces"
    try:
        re.compile(values.get("anchor", ""))
    except re.error as error:
        problems["anchor"] = f"`anchor` is not a regular expression: {error}"
    for key, message in problems.items():
        raise GrammarError(path, message, line=fields[key][0])


def _fields(text: str, path: str) -> dict[str, tuple[int, str]]:
    """The fields by key, each with its line and its value."""
    found: dict[str, tuple[int, list[str]]] = {}
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//"):
            break
        if match := _FIELD.match(line):
            key = match[1]
            if key in found:
                raise GrammarError(path, f"the header has `{key}` twice", line=number)
            found[key] = (number, [match[2]] if match[2] else [])
        elif (match := _MORE.match(line)) and key:
            found[key][1].append(match[1] or "")
        else:
            raise GrammarError(path, "a header line is `// key: value`, or is indented by three spaces", line=number)
    return {key: (line, "\n".join(lines)) for key, (line, lines) in found.items()}


def one_line(value: str) -> str:
    """A value as one line of the header."""
    return value.replace("\\\n", "\n").replace("\n", "\\n")


def _list(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.replace("\n", ",").split(",") if part.strip())


_READERS: dict[str, Callable[[str], object]] = {
    "models": _list,
    "aliases": _list,
    "answer": _list,
    "trim": lambda value: frozenset(_list(value)),
    "example": lambda value: value.replace("\\t", "\t"),
    "opened": lambda value: value.replace("\\n", "\n"),
    "any_case": lambda value: value == "yes",
}


def _entries(key: str, fields: dict[str, tuple[int, str]], path: str, folder: Path) -> dict[str, str]:
    """The lines of a field, such as `left_double = click(clicks=2)`, as a dict from the left side to the right.

    A line `.shared.name` includes the lines of that field in another file. A later line overrides one with the same
    left side.
    """
    line, value = fields.get(key, (0, ""))
    entries: dict[str, str] = {}
    for offset, entry in enumerate(value.splitlines()):
        if not entry.strip():
            continue
        if _SHARED.fullmatch(entry.strip()):
            entries.update(_shared(key, entry.strip(), path, folder, line))
            continue
        match = _ENTRY.fullmatch(entry.strip())
        if match is None or not match[1].strip():
            raise GrammarError(path, f"`{entry.strip()}` is not `name = {_ENTRIES[key]}`", line=line + offset + 1)
        entries[match[1].strip()] = match[2].strip()
    return entries


def _evidence(entries: dict[str, str], fields: dict[str, tuple[int, str]], path: str) -> dict[str, str]:
    """The entries of `evidence` by marker: the left side may name several, separated by `|`."""
    for wanted in entries.values():
        if wanted not in _EVIDENCE:
            message = f"`evidence` is one of {', '.join(_EVIDENCE)}"
            raise GrammarError(path, message, line=fields["evidence"][0])
    return {marker.strip(): wanted for markers, wanted in entries.items() for marker in markers.split("|")}


def _shared(key: str, name: str, path: str, folder: Path, line: int) -> dict[str, str]:
    """The entries of a field in another file."""
    file = folder.joinpath(*name.split(".")[1:]).with_suffix(".lark")
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise GrammarError(path, f"there is no file `{name}` to take `{key}` from", line=line) from error
    return _entries(key, _fields(text, str(file)), str(file), file.parent)
