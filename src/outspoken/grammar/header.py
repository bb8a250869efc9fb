"""The header of a grammar file: data about the format, written as comments at the top.

`// key: value` is one field; lines that are indented under a key continue it, and keep their line breaks.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from outspoken.results.errors import GrammarError

_FIELD = re.compile(r"//[ ]([a-z_]+):[ \t]*(.*)")
_ENTRY = re.compile(r"([^=(]*(?:\([^)]*\))?)\s*=\s*(.+)")
_SHARED = re.compile(r"(?:\.\w+)+")
_MORE = re.compile(r"//[ ]{3}(.*)|//[ \t]*$")

_TRIMMABLE = frozenset({"text", "reasoning", "value"})
_VALUES = ("json", "text")
_RARE = frozenset({"point", "any_case", "answer", "arguments", "checks", "payloads", "repeated"})
_WRITTEN = ("json", "words", "python")


@dataclass(frozen=True, slots=True)
class Header:
    """What a format says of itself.

    `trim` names the free text round which white space belongs to the markup: `text`, `reasoning`, `value`.
    `values` says how an argument's bare text is read where no tool schema says: "json" (JSON if it is JSON, else
    text) or "text". `written` says how bare text is written for what is no string: as "json", as that but for Python's
    `True`, `False` and `None` ("words"), or as "python". `indent` says how far JSON arguments are indented that are
    written over several lines, 0 that they are written on one. `opened` is what the prompt ends with in every turn,
    and so is not written at the start of a response (`<|start|>assistant`), and is read before it unless the caller
    says otherwise; `\\n` stands for a line break. `anchor` is a regular expression of what stands before a turn of the
    model: what a prompt says before the last one is not read. `like` is the format that spells its calls as this one
    does, where one does: of two that read a text alike, detection names that one. `space` is the coordinate space of
    points, `point` how one is written (`({x},{y})`; "" for a list). `actions` maps the format's words for actions to
    the vocabulary of actions, `arguments` is short names for several arguments that mean the same, and `any_case` says
    that the format's words count in any case. `payloads` maps the types of payloads that are not called by what is
    written to an expression of what is written. `repeated` says what an argument is that is given more than once: its
    last value (""), or the "list" of all. `answer` is the names, in any case, of calls whose input is the answer
    to the user. `checks` says what is to be changed of actions that do not fit the page.
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

    def payload(self, written: str) -> str:
        """The type of a payload, by its `PAYLOAD_NAME`: what is written, in lower case, where nothing else is said."""
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
    """Read the header of a grammar's text. Raises `GrammarError` for a field that is unknown or cannot be read.

    `path` names the grammar in errors; `folder` is where it lies, where that is not the folder of `path`.
    """
    folder = Path(path).parent if folder is None else folder
    fields = _fields(text, path)
    known = Header.__dataclass_fields__
    for key, (line, _) in fields.items():
        if key not in known:
            raise GrammarError(
                path, f"the header has no field `{key}`", line=line, helps=[f"fields: {', '.join(sorted(known))}"]
            )
    get = {key: value for key, (_, value) in fields.items()}
    if not get.get("format"):
        raise GrammarError(
            path, "the header has no `format`", helps=["the first line is `// format: <name of the file>`"]
        )
    trim = frozenset(_list(get.get("trim", "")))
    if not trim <= _TRIMMABLE:
        raise GrammarError(path, f"`trim` names {', '.join(sorted(trim - _TRIMMABLE))}", line=fields["trim"][0])
    for key, choices in (("values", _VALUES), ("written", _WRITTEN)):
        if get.get(key, "json") not in choices:
            raise GrammarError(path, f"`{key}` is one of {', '.join(choices)}", line=fields[key][0])
    if get.get("repeated", "list") != "list":
        raise GrammarError(path, "`repeated` is list", line=fields["repeated"][0])
    if not get.get("indent", "0").isdecimal():
        raise GrammarError(path, "`indent` is a number of spaces", line=fields["indent"][0])
    return Header(
        format=get["format"],
        title=get.get("title", ""),
        models=_list(get.get("models", "")),
        aliases=_list(get.get("aliases", "")),
        source=get.get("source", ""),
        example=get.get("example", "").replace("\\t", "\t"),
        trim=trim,
        values=get.get("values", "json"),
        written=get.get("written", "json"),
        indent=int(get.get("indent", "0")),
        opened=get.get("opened", "").replace("\\n", "\n"),
        anchor=_expression(get.get("anchor", ""), path, fields.get("anchor", (0, ""))[0]),
        like=get.get("like", ""),
        space=get.get("space", "px"),
        point=get.get("point", ""),
        any_case=get.get("any_case", "") == "yes",
        arguments=_entries("arguments", fields, path, folder),
        actions=_entries("actions", fields, path, folder),
        payloads=_pairs(get.get("payloads", ""), "expression", path, fields.get("payloads", (0, ""))[0]),
        repeated=get.get("repeated", ""),
        answer=_list(get.get("answer", "")),
        checks=_entries("checks", fields, path, folder),
    )


def _fields(text: str, path: str) -> dict[str, tuple[int, str]]:
    """The fields in order: key to (line, value)."""
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


def _expression(value: str, path: str, line: int) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise GrammarError(path, f"`anchor` is no regular expression: {error}", line=line) from error
    return value


def one_line(value: str) -> str:
    """A value as it stands in a field of the header."""
    return value.replace("\\\n", "\n").replace("\n", "\\n")


def _list(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.replace("\n", ",").split(",") if part.strip())


def _entries(key: str, fields: dict[str, tuple[int, str]], path: str, folder: Path) -> dict[str, str]:
    """`left_double = click(clicks=2)` lines: the left side to the right one.

    A line `.shared.name` stands for the lines of that file's own field; a later line takes the place of one with the
    same left side.
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
        if match is None:
            said = "argument|argument" if key == "arguments" else "action(...)"
            raise GrammarError(path, f"`{entry.strip()}` is not `name = {said}`", line=line + offset + 1)
        entries[match[1].strip()] = match[2].strip()
    return entries


def _shared(key: str, name: str, path: str, folder: Path, line: int) -> dict[str, str]:
    """The entries of another file's field."""
    file = folder.joinpath(*name.split(".")[1:]).with_suffix(".lark")
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise GrammarError(path, f"there is no file `{name}` to take `{key}` from", line=line) from error
    return _entries(key, _fields(text, str(file)), str(file), file.parent)


def _pairs(value: str, right: str, path: str, line: int) -> dict[str, str]:
    """`left_double = click(clicks=2)` lines: a name to what it means."""
    pairs: dict[str, str] = {}
    for offset, entry in enumerate(value.splitlines()):
        if not entry.strip():
            continue
        name, equals, meaning = (part.strip() for part in entry.partition("="))
        if not equals or not name or not meaning:
            raise GrammarError(path, f"`{entry.strip()}` is not `name = {right}`", line=line + offset + 1)
        pairs[name] = meaning
    return pairs
