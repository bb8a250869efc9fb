"""A grammar file as text: its definitions, imports and names, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from outspoken.grammar.header import HeaderField, header_fields
from outspoken.grammar.sources import own_folder

#: A string or a regular expression in a grammar.
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"i?|/(?!/)(?:[^/\\\n]|\\.)+/[a-z]*')

_DEFINED = re.compile(r"^([?!]?)(\w+)(?:\{[^}]*\})?(?:\.-?\d+)?[ \t]*:", re.MULTILINE)
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_ALIAS = re.compile(r"->\s*(\w+)")
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"|/(?!/)(?:[^/\\\n]|\\.)+/)|(?://|#)[^\n]*')
_IMPORT = re.compile(r"^%import[ \t]+(\.*)([\w.]+?)(?:\.(\w+)(?:[ \t]*->[ \t]*(\w+))?|[ \t]*\(([^)]*)\))[ \t]*$", re.M)
_IGNORE = re.compile(r"^%ignore[ \t]+(\w+)[ \t]*$", re.MULTILINE)
_OVERRIDE = re.compile(r"^%override[ \t]+[?!]?(\w+)[^:\n]*:((?:.*\n[ \t|]+)*.*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^%.*$", re.MULTILINE)


class Definition(NamedTuple):
    """A rule or terminal: its name, its right side, and the span of all of it in the file."""

    name: str
    body: str
    span: tuple[int, int]

    @property
    def is_terminal(self) -> bool:
        """Whether it is a terminal. Their names are in capitals."""
        return self.name.strip("_").isupper()

    @property
    def aliases(self) -> list[str]:
        """The names that its alternatives are given with `->`."""
        return _ALIAS.findall(QUOTED.sub(" ", self.body))

    @property
    def uses(self) -> set[str]:
        """The other names that its right side speaks of."""
        return set(_WORD.findall(_ALIAS.sub(" ", QUOTED.sub(" ", self.body)))) - {self.name}


class Import(NamedTuple):
    """One imported name: the file it comes from, without `.lark`, its name there and here, and where it is named.

    `dotted` is the path of the file as it is written, without the dot before it.
    """

    module: str
    relative: bool
    name: str
    known_as: str
    span: tuple[int, int]
    dotted: str = ""


@dataclass(frozen=True)
class Source:
    """The text of a grammar file."""

    path: Path
    text: str

    @classmethod
    def of(cls, path: Path) -> Source:
        """Read a grammar file."""
        return cls(path, path.read_text("utf-8"))

    @cached_property
    def bare(self) -> str:
        """The text with blanks for its comments, so that places stay what they are."""
        return _COMMENT.sub(lambda m: m[1] or " " * len(m[0]), self.text)

    @cached_property
    def definitions(self) -> list[Definition]:
        """The rules and terminals in the order of the file."""
        plain = _DIRECTIVE.sub(lambda m: " " * len(m[0]), self.bare)
        found = list(_DEFINED.finditer(plain))
        ends = [*[match.start() for match in found[1:]], len(plain)][: len(found)]
        made: list[Definition] = []
        for match, end in zip(found, ends, strict=True):
            body = plain[match.end() : end].rstrip()
            made.append(Definition(match[2], body.strip(), (match.start(), match.end() + len(body))))
        return made

    def definition(self, name: str) -> Definition | None:
        """The rule or terminal of a name, if this file defines it."""
        return next((d for d in self.definitions if d.name == name), None)

    @cached_property
    def imports(self) -> list[Import]:
        """The imported names in the order of the file."""
        found: list[Import] = []
        for match in _IMPORT.finditer(self.bare):
            module, relative = match[2].rpartition(".")[2], bool(match[1])
            names = [match] if match[3] else _WORD.finditer(self.bare, *match.span(5))
            for name in names:
                known_as, group = (match[4] or match[3], 3) if match[3] else (name[0], 0)
                found.append(Import(module, relative, name[group], known_as, name.span(group), match[2]))
        return found

    @cached_property
    def overrides(self) -> list[Definition]:
        """The rules and terminals that this file puts in the place of imported ones."""
        return [Definition(m[1], m[2].strip(), m.span()) for m in _OVERRIDE.finditer(self.bare)]

    @property
    def written(self) -> list[Definition]:
        """Everything that this file spells out: what it defines, and what it overrides."""
        return [*self.definitions, *self.overrides]

    def imported_file(self, imported: Import) -> Path | None:
        """The file that an import speaks of: beside this one, or of the library's own, whether it is there or not.

        None for one of Lark's own.
        """
        if not imported.relative:
            return None
        name = Path(*imported.dotted.split(".")).with_suffix(".lark")
        beside, own = self.path.parent / name, own_folder() / name
        return own if own.is_file() and not beside.is_file() else beside

    def resolve(self, name: str) -> tuple[Source, Definition] | None:
        """Where a rule or terminal is defined: here, or in a file that is imported, directly or through another one.

        `name` may have the prefix that Lark gives to what an imported file needs besides what is imported.
        """
        here = self.definition(name)
        if here is not None:
            return self, here
        for imported in self.imports:
            path = self.imported_file(imported)
            within = imported.name if imported.known_as == name else _without_prefix(name, imported.dotted)
            if within and path is not None and path.is_file():
                resolved = Source.of(path).resolve(within)
                if resolved is not None:
                    return resolved
        return None

    @cached_property
    def fields(self) -> list[HeaderField]:
        """The fields of the header in the order of the file, also those that no header has."""
        return header_fields(self.text)

    def field(self, key: str) -> HeaderField | None:
        """The first field of the header with this key."""
        return next((field for field in self.fields if field.key == key), None)

    def words(self, definition: Definition) -> Iterator[tuple[str, tuple[int, int]]]:
        """The names on the right side of a definition, each with its span in the file; aliases are none."""
        start, end = definition.span[1] - len(definition.body), definition.span[1]
        plain = QUOTED.sub(_blank, self.bare[start:end])
        for match in _WORD.finditer(_ALIAS.sub(_blank, plain)):
            yield match[0], (start + match.start(), start + match.end())

    @cached_property
    def ignored(self) -> list[str]:
        """The terminals that may stand between all others."""
        return _IGNORE.findall(self.bare)

    def find(self, text: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
        """The span of a word or a quoted string in the file, from a place on; None if it is not there."""
        pattern = rf"(?<!\w){re.escape(text)}(?!\w)" if re.fullmatch(r"\w+", text) else re.escape(text)
        match = re.compile(pattern).search(self.text, start, len(self.text) if end is None else end)
        return match.span() if match else None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_prefix(name: str, dotted: str) -> str:
    """The name that a file itself uses for what another one imports from it unasked; "" where it is not from there."""
    lead, prefix = "_" * name.startswith("_"), dotted.replace(".", "__") + "__"
    plain = name[len(lead) :]
    return lead + plain[len(prefix) :] if plain.startswith(prefix) else ""
