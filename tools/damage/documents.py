"""Tool calls as models write them. Each contains one payload of code, markup or prose.

A payload is built from random fragments, so that hardly two are alike. `fragments/` has a file per language, whose
paragraphs are the fragments; `§w` stands for a name, `§n` for a number, `§p` for a few words, `§f` for a file name and
`§u` for a host, `§l` for the language and `§e` for the extension of its files. `fragments/documents.json` has the
languages (extension, joints between fragments, how many at most), the tools (payload, languages, other arguments) and
the values that arguments may have; the first one tells the type where the argument is not given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

_FRAGMENTS = Path(__file__).parent / "fragments"
_DATA: dict[str, Any] = json.loads((_FRAGMENTS / "documents.json").read_text("utf-8"))
#: By the name of a tool: the argument that takes the payload, the languages of payloads, and the other arguments.
TOOLS: dict[str, tuple[str, list[str], list[str]]] = _DATA["tools"]
_BLANK = re.compile("§([wnpfu])")
_FILLINGS: dict[str, Sequence[str]] = {
    "w": [name + end for name in _DATA["names"] for end in ("", "", "_id", "s", "2")],
    "n": [str(number) for number in range(2, 100)],
    "p": _DATA["phrases"],
    "f": _DATA["files"],
    "u": _DATA["hosts"],
}
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


class Document(NamedTuple):
    """A tool call, or only its arguments, as it was meant; with its schema and the payload that it holds."""

    value: dict[str, Any]
    schema: dict[str, Any]
    payload: str


def _fill(text: str, random: Random) -> str:
    """A text with its blanks filled."""

    def filling(blank: re.Match[str]) -> str:
        words = _FILLINGS[blank[1]]
        return words[int(random.random() * len(words))]

    return _BLANK.sub(filling, text) if "§" in text else text


@cache
def _fragments(language: str) -> list[str]:
    return (_FRAGMENTS / f"{language}.txt").read_text("utf-8").strip("\n").split("\n\n")


def _payload(random: Random, language: str) -> str:
    """Some fragments of a language, with their blanks filled; about half of them end their last line."""
    _, joints, most = _DATA["languages"][language]
    fragments = _fragments(language)
    chosen = random.sample(fragments, random.randint(2, min(most, len(fragments))))
    text = _fill(random.choice(joints).join(chosen), random)
    return text + "\n" if random.random() < 0.5 else text


def _filled(value: Any, random: Random, language: str) -> Any:
    """A value with the blanks of its strings filled."""
    if isinstance(value, str):
        return _fill(value.replace("§e", _DATA["languages"][language][0]).replace("§l", language), random)
    if isinstance(value, list):
        return [_filled(item, random, language) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {_fill(k, random): _filled(v, random, language) for k, v in members.items()}
    return value


def _schema_of(value: Any, loose: bool = False) -> dict[str, Any]:
    """The schema that a value's author would write; `loose` says less of objects."""
    if value is None:
        return {"type": ["string", "null"]}
    if isinstance(value, list):
        kinds = [_schema_of(item, loose) for item in cast("list[Any]", value)]
        equal = bool(kinds) and kinds.count(kinds[0]) == len(kinds)
        return {"type": "array", "items": kinds[0]} if equal else {"type": "array"}
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {"type": "object"} | ({} if loose else {"properties": {k: _schema_of(v) for k, v in members.items()}})
    return {"type": _TYPES[type(value)]}


def _arguments_schema(tool: str, given: dict[str, Any], random: Random) -> dict[str, Any]:
    """The schema of a tool's arguments, of which some are not given; in some, other arguments are forbidden."""
    key, languages, others = TOOLS[tool]
    loose = random.random() < 0.5
    properties: dict[str, Any] = {}
    for name in (key, *others):
        sample = given[name] if name in given else _filled(_DATA["values"][name][0], random, languages[0])
        properties[name] = _schema_of(sample, loose)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": [key]}
    return schema | ({"additionalProperties": False} if random.random() < 0.4 else {})


def document(random: Random) -> Document:
    """A tool call, or only its arguments, in some order."""
    tool = random.choice(list(TOOLS))
    key, languages, others = TOOLS[tool]
    language, number = random.choice(languages), random.randint(0, 5)
    text = _payload(random, language)
    names = [key, *random.sample(others, min(number, len(others)))]
    random.shuffle(names)
    given: dict[str, Any] = {}
    for name in names:
        given[name] = text if name == key else _filled(random.choice(_DATA["values"][name]), random, language)
    schema = _arguments_schema(tool, given, random)
    if random.random() < 0.25:
        return Document(given, schema, text)
    key = "parameters" if random.random() < 0.15 else "arguments"
    call: dict[str, Any] = {"name": tool, key: given}
    parts: dict[str, Any] = {"name": {"type": "string"}, key: schema}
    if random.random() < 0.1:
        call = {key: given, "name": tool}
    elif random.random() < 0.1:
        call = {"id": f"call_{random.randint(100, 999)}", **call}
        parts["id"] = {"type": "string"}
    return Document(call, {"type": "object", "properties": parts, "required": ["name", key]}, text)


def similar_document(meant: Document, random: Random) -> Document:
    """Another call of the same tool, with the same arguments in the same order and another payload."""

    def change(value: Any) -> Any:
        if value == meant.payload:
            return text
        return {k: change(v) for k, v in cast("dict[str, Any]", value).items()} if isinstance(value, dict) else value

    tools = [meant.value["name"]] if meant.value.get("name") in TOOLS else list(TOOLS)
    text = _payload(random, random.choice(TOOLS[random.choice(tools)][1]))
    return Document(change(meant.value), meant.schema, text)
