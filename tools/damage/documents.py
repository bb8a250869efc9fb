"""Tool calls as models write them. Each contains one payload of code, markup or prose.

A payload is built from random fragments, so that hardly two are alike. `fragments/` has a file per language, whose
paragraphs are the fragments; `§w` stands for a name, `§n` for a number, `§p` for a few words, `§f` for a file name and
`§u` for a host.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

_FRAGMENTS = Path(__file__).parent / "fragments"


class Language(NamedTuple):
    """A language: the extension of its files, how its fragments are joined, and how many there are at most."""

    name: str
    ending: str
    joints: tuple[str, ...]
    most: int = 10

    @property
    def fragments(self) -> list[str]:
        """The paragraphs of the file of the language."""
        return _fragments(self.name)


@cache
def _fragments(name: str) -> list[str]:
    return (_FRAGMENTS / f"{name}.txt").read_text("utf-8").strip("\n").split("\n\n")


_CODE, _PROSE = ("\n", "\n", "\n\n"), ("\n", " ", "\n\n")
LANGUAGES = {
    language.name: language
    for language in (
        Language("python", "py", _CODE),
        Language("javascript", "js", _CODE),
        Language("html", "html", ("\n",)),
        Language("markdown", "md", ("\n\n",)),
        Language("sql", "sql", ("\n", "\n\n"), 4),
        Language("shell", "sh", ("\n",)),
        Language("english", "txt", _PROSE),
        Language("german", "txt", _PROSE),
        Language("chinese", "txt", ("\n", "")),
        Language("yaml", "yml", ("\n",), 5),
        Language("json", "json", ("\n",), 2),
        Language("windows", "bat", ("\n",), 4),
        Language("regex", "txt", ("\n",), 2),
        Language("go", "go", ("\n", "\n\n"), 4),
    )
}

NAMES = ("total", "user", "item", "node", "path", "name", "price", "city", "query", "token", "title", "text", "tags")
PHRASES = (
    "all is well",
    "no such file",
    "the first of many, not the last",
    "red, green and blue",
    "what now?",
    "wait: there is more",
    "it's late",
    "see below",
    "ready in 5 min.",
    "a {small} thing",
    "one [or two] left",
    "Grüße aus Köln",
    "ça va",
    "déjà vu",
    "100 % sure",
    "ok 👍",
)
FILES = ("main", "notes", "data_2024", "read-me", "index", "a b", "report.final")
HOSTS = ("example.com", "api.example.org", "localhost:8080", "shop.example.net")

_BLANK = re.compile("§([wnpfu])")
_FILLINGS: dict[str, Sequence[str]] = {
    "w": [name + end for name in NAMES for end in ("", "", "_id", "s", "2")],
    "n": [str(number) for number in range(2, 100)],
    "p": PHRASES,
    "f": FILES,
    "u": HOSTS,
}


def fill(text: str, random: Random) -> str:
    """A text with its blanks filled."""

    def filling(blank: re.Match[str]) -> str:
        words = _FILLINGS[blank[1]]
        return words[int(random.random() * len(words))]

    return _BLANK.sub(filling, text) if "§" in text else text


def payload(random: Random, language: str) -> str:
    """Some fragments of a language, with their blanks filled; about half of them end their last line."""
    known = LANGUAGES[language]
    fragments = known.fragments
    chosen = random.sample(fragments, random.randint(2, min(known.most, len(fragments))))
    text = fill(random.choice(known.joints).join(chosen), random)
    return text + "\n" if random.random() < 0.5 else text


class Tool(NamedTuple):
    """A tool: its name, the argument that takes the payload, of which languages, and its other arguments."""

    name: str
    payload: str
    languages: tuple[str, ...]
    others: tuple[str, ...]


CODE = ("python", "javascript", "html", "shell", "go", "yaml", "markdown", "json", "sql", "windows")
PROSE = ("english", "english", "german", "chinese", "markdown")
TOOLS = (
    Tool("write_file", "content", CODE, ("path", "language", "mode", "overwrite", "encoding", "tags")),
    Tool("edit_file", "new_string", CODE, ("path", "old_string", "replace_all", "expected_count")),
    Tool("run_python", "code", ("python",), ("timeout", "packages", "env", "interactive", "description")),
    Tool("run_command", "command", ("shell", "windows"), ("cwd", "timeout", "env", "background", "shell")),
    Tool("execute_sql", "query", ("sql",), ("database", "parameters", "read_only", "limit", "timeout")),
    Tool("send_email", "body", PROSE, ("to", "subject", "cc", "priority", "attachments", "options")),
    Tool("create_issue", "body", ("markdown", "english"), ("title", "labels", "assignee", "milestone", "draft")),
    Tool("render_page", "html", ("html",), ("title", "width", "height", "theme", "scale")),
    Tool("save_note", "text", PROSE, ("title", "tags", "pinned", "folder", "metadata")),
    Tool("search_code", "pattern", ("regex",), ("include", "limit", "case_sensitive", "filters", "description")),
    Tool("save_config", "data", ("yaml", "json"), ("path", "format", "backup", "options")),
)
#: arguments, and values they may have; the first one tells the type where the argument is not given
VALUES: dict[str, tuple[Any, ...]] = {
    "path": ("src/§f.§e", "/tmp/§w/§f.§e", "§f.§e", "C:\\Users\\§w\\§f.§e", "docs/Übersicht.§e"),
    "language": ("§l", "en", "plain text"),
    "mode": ("w", "append", "0644"),
    "overwrite": (True, False),
    "encoding": ("utf-8", "latin-1", None),
    "tags": (["§w", "§w"], ["§w"], ["draft", "§p", "v§n"], []),
    "old_string": ("§w = §n", 'x = "§w"', "    return §w\n", "<b>§w</b>"),
    "replace_all": (False, True),
    "expected_count": (1, 2, 17),
    "timeout": (30, 2.5, 0.1, 120, 1e3),
    "packages": (["numpy", "§w==1.§n"], ["requests"], []),
    "env": ({"LANG": "C.UTF-8", "§w": "§n"}, {"DEBUG": "1"}, {}),
    "interactive": (False, True),
    "description": ("§p", 'The "§w" step, again', "§p; §p"),
    "cwd": ("/home/§w", "C:\\work\\§w", "."),
    "background": (False, True),
    "shell": ("bash", "pwsh", None),
    "database": ("main", "§w", None),
    "parameters": ([1, "§w", None], [], [{"name": "§w", "value": -1.5e-7}, {"name": "§p", "value": 0}]),
    "read_only": (True, False),
    "limit": (10, 100, 5),
    "to": (["§w@§u", "§w@§u"], ["§w@§u"]),
    "subject": ("§p", 'About the "§w"', "Fwd: §p"),
    "cc": ([], ["§w@§u"]),
    "priority": (3, 1, -1),
    "attachments": ([{"name": "§f.pdf", "size": 20480, "inline": False}], []),
    "options": ({"retry": {"count": 3, "delay": 0.5}, "notify": ["§w", "ops"]}, {"§w": True, "x": None}),
    "title": ("§p", "§w", '"§w" is slow'),
    "labels": (["bug", "§w"], ["help wanted", "§w", "v§n"]),
    "assignee": (None, "mkeller", "§w"),
    "milestone": (12, 3),
    "draft": (True, False),
    "width": (800, 1280, 99.5),
    "height": (600, 0, 720),
    "theme": ({"dark": True, "accent": "#ff8800", "fonts": ["Inter", "§p"]}, {"dark": False}),
    "scale": (1.5, 2.0, 1),
    "pinned": (False, True),
    "folder": ("§w/§w", "Inbox", None),
    "metadata": ({"source": "https://§u/§w?id=§n", "ids": [[1, 2], [3]]}, {"source": "§f"}, {}),
    "include": (["*.py", "**/§w/*.js"], ["*.md"]),
    "case_sensitive": (False, True),
    "filters": ({"kind": "§w", "since": "2024-05-§n", "sizes": [1, 10, 100]}, {"kind": None}),
    "format": ("§l", "auto"),
    "backup": (True, False),
}


class Document(NamedTuple):
    """A tool call, or only its arguments, as it was meant; with its schema and the payload that it holds."""

    value: dict[str, Any]
    schema: dict[str, Any]
    payload: str


def filled(value: Any, random: Random, language: str) -> Any:
    """A value with the blanks of its strings filled."""
    if isinstance(value, str):
        return fill(value.replace("§e", LANGUAGES[language].ending).replace("§l", language), random)
    if isinstance(value, list):
        return [filled(item, random, language) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {fill(k, random): filled(v, random, language) for k, v in members.items()}
    return value


_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def schema_of(value: Any, loose: bool = False) -> dict[str, Any]:
    """The schema that a value's author would write; `loose` says less of objects."""
    if value is None:
        return {"type": ["string", "null"]}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        kinds = [schema_of(item, loose) for item in items]
        equal = bool(kinds) and kinds.count(kinds[0]) == len(kinds)
        return {"type": "array", "items": kinds[0]} if equal else {"type": "array"}
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if loose:
            return {"type": "object"}
        return {"type": "object", "properties": {k: schema_of(v) for k, v in members.items()}}
    return {"type": _TYPES[type(value)]}


def arguments_schema(tool: Tool, given: dict[str, Any], random: Random) -> dict[str, Any]:
    """The schema of a tool's arguments, of which some are not given; in some, other arguments are forbidden."""
    loose = random.random() < 0.5
    properties: dict[str, Any] = {}
    for name in (tool.payload, *tool.others):
        sample = given[name] if name in given else filled(VALUES[name][0], random, tool.languages[0])
        properties[name] = schema_of(sample, loose)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": [tool.payload]}
    if random.random() < 0.4:
        schema["additionalProperties"] = False
    return schema


def arguments(random: Random, tool: Tool, language: str, number: int) -> tuple[dict[str, Any], str]:
    """The arguments of a tool in some order, and the payload among them."""
    text = payload(random, language)
    names = [tool.payload, *random.sample(tool.others, min(number, len(tool.others)))]
    random.shuffle(names)
    given: dict[str, Any] = {}
    for name in names:
        given[name] = text if name == tool.payload else filled(random.choice(VALUES[name]), random, language)
    return given, text


def document(random: Random) -> Document:
    """A tool call, or only its arguments."""
    tool = random.choice(TOOLS)
    given, text = arguments(random, tool, random.choice(tool.languages), random.randint(0, 5))
    schema = arguments_schema(tool, given, random)
    if random.random() < 0.25:
        return Document(given, schema, text)
    key = "parameters" if random.random() < 0.15 else "arguments"
    call: dict[str, Any] = {"name": tool.name, key: given}
    parts: dict[str, Any] = {"name": {"type": "string"}, key: schema}
    if random.random() < 0.1:
        call = {key: given, "name": tool.name}
    elif random.random() < 0.1:
        call = {"id": f"call_{random.randint(100, 999)}", **call}
        parts["id"] = {"type": "string"}
    return Document(call, {"type": "object", "properties": parts, "required": ["name", key]}, text)


def similar_document(meant: Document, random: Random) -> Document:
    """Another call of the same tool, with the same arguments in the same order and another payload."""

    def change(value: Any) -> Any:
        if value == meant.payload:
            return text
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return {k: change(v) for k, v in members.items()}
        return value

    tools = [tool for tool in TOOLS if tool.name == meant.value.get("name")] or list(TOOLS)
    text = payload(random, random.choice(random.choice(tools).languages))
    return Document(change(meant.value), meant.schema, text)
