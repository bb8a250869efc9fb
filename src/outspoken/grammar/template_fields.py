"""Response templates: validates one, and describes its fields, their delimiters and how their content is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, cast

from outspoken.patterns.backtracking import MOST, find_slow
from outspoken.patterns.syntax import Alternatives, Chars, Group, Look, Position, Repeat, Sequence, parse
from outspoken.results.errors import GrammarError

_TOP = {"version", "defaults", "start_anchor", "start_anchor_pattern", "fields"}
_KEYS = {
    "open", "open_pattern", "close", "close_pattern", "repeats", "join", "optional", "content", "content_args",
    "transform", "transform_each",
}  # fmt: skip
#: The kinds of fields by name. Any other field is a payload, or content if it has no opener.
_KINDS = {"thinking": "thinking", "reasoning": "thinking", "reasoning_content": "thinking", "content": "content",
          "tool_calls": "tool_calls"}  # fmt: skip
_ARGS = {
    "text": {"strip"},
    "int": {"strip"},
    "float": {"strip"},
    "bool": {"strip"},
    "json": {"string_delims", "unquoted_keys", "allow_non_json"},
    "xml-inline": {"tag_pattern", "value_parser", "merge_duplicates"},
    "kv-lines": {"line_sep", "kv_sep", "strip", "value_parser"},
}
#: Arguments of content parsers that are supported in calls only.
_ONLY_CALLS = {"json": {"string_delims", "unquoted_keys"}}
_PARSERS = {
    "thinking": ("text",),
    "content": ("text",),
    "tool_calls": ("json", "xml-inline", "kv-lines"),
    "payload": tuple(_ARGS),
}
_END = re.compile(r"(?:\$|\\Z|\\z)")
_KEY = re.compile(r"[\w.\-]+")
#: So many steps may be taken in one region: white space on both sides of a value costs some.
_MOST = 100 * MOST
_PLACEHOLDER = re.compile(r"\{(\w+(?:[.\-]\w+)*)\}")


class Field:
    """One field: its delimiters, and how its content is read.

    `kind` is "thinking", "content" or "tool_calls" for fields of these names; any other field is a "payload", or
    "content" if it has no opener.
    """

    def __init__(self, key: str, data: dict[str, Any]) -> None:
        self.key, self.data = key, data
        self.place = f"fields.{key}"
        self.parser: str = data.get("content", "text")
        self.args: dict[str, Any] = data.get("content_args") or {}
        self.is_implicit = "open" not in data and "open_pattern" not in data
        self.is_closed = "close" in data or _END.fullmatch(str(data.get("close_pattern", "$"))) is None
        self.kind = _KINDS.get(key, "content" if self.is_implicit else "payload")
        self.transform: Any = data.get("transform")
        self.is_each = bool(data.get("transform_each"))

    @property
    def has_name(self) -> bool:
        """Does the opener of a call contain its name?"""
        return parts_of(self.data.get("open_pattern"), "name") is not None

    def source(self, side: str) -> str:
        """The delimiters on a side ("open" or "close") as one expression, the longest first; "" if there are none."""
        given = self.data.get(side)
        literals = cast("list[str]", [given] if isinstance(given, str) else given or [])
        ordered = sorted(literals, key=len, reverse=True)
        return "|".join([re.escape(one) for one in ordered]) or self.data.get(f"{side}_pattern", "")

    @property
    def is_stripped(self) -> bool:
        """Does white space round the content belong to the delimiters?"""
        return bool(self.args.get("strip", True))


class Template:
    """A valid response template. Raises GrammarError with the key for what cannot be expressed."""

    def __init__(self, data: Any, name: str) -> None:
        self._name = name
        if not isinstance(data, dict):
            self.refuse("", f"a template is a dict, not {type(data).__name__}")
        self.data = cast("dict[str, Any]", data)
        self._limit("", self.data, "start_anchor_pattern")
        self.fields = self._checked()

    def refuse(self, key: str, why: str) -> NoReturn:
        """Raise GrammarError for a key."""
        place = f"response template `{self._name}`" + (f", key `{key}`" if key else "")
        raise GrammarError(place, why)

    def literals(self, place: str, given: Any) -> list[str]:
        """The strings of a value that is a string or a list of strings; none for None."""
        if given is None:
            return []
        listed: Any = [given] if isinstance(given, str) else given
        parts = cast("list[Any]", listed) if isinstance(listed, list) else []
        if not parts or not all(isinstance(one, str) and one for one in parts):
            self.refuse(place, "it is a string or a list of strings, none of them empty")
        return parts

    def shape(self, field: Field) -> tuple[list[str], list[str]]:
        """The paths of keys to the name and the arguments of a call; empty for a call as it is written."""
        place, shape = f"{field.place}.transform", field.transform
        if shape is None or shape == "{content}":
            return [], []
        keys = cast("dict[str, Any]", shape) if isinstance(shape, dict) else {}
        function: Any = keys.get("function", keys) or None
        if function == "{content}":
            return [], []
        if not isinstance(function, dict):
            self.refuse(place, "it has the shape of a tool call: a `function` with `name` and `arguments`")
        paths: list[list[str]] = []
        for key in ("name", "arguments"):
            match = _PLACEHOLDER.fullmatch(str(cast("dict[str, Any]", function).get(key)))
            if match is None:
                self.refuse(f"{place}.function.{key}", "it is one placeholder, as `{content}`")
            paths.append(match[1].split("."))
        return paths[0], paths[1]

    # checks

    def _limit(self, place: str, data: dict[str, Any], *keys: str) -> None:
        """Limit the white space that the expressions under some keys read, and refuse those that take too long."""
        for key in keys:
            if isinstance(data.get(key), str):
                data[key] = bounded(data[key], None)
                self.check_time(f"{place}{key}", data[key], _MOST)

    def check_time(self, place: str, source: str, most: int = MOST) -> None:
        """Raise GrammarError for an expression that is none, or takes more steps."""
        try:
            re.compile(source)
            slow = find_slow(source, most)
        except (re.error, RecursionError) as error:
            self.refuse(place, f"it is not a regular expression: {error}")
        if slow:
            self.refuse(place, f"it backtracks without bound: {slow.why}; {slow.helps}")

    def _checked(self) -> list[Field]:
        template = self.data
        for key in template:
            if key not in _TOP:
                self.refuse(key, f"there is no such key; known are {', '.join(sorted(_TOP))}")
        if template.get("version", 1) != 1:
            self.refuse("version", f"version {template['version']!r} is not known; this is written for version 1")
        if not isinstance(template.get("defaults", {}), dict):
            self.refuse("defaults", "they are a dict")
        if ("start_anchor" in template) == ("start_anchor_pattern" in template):
            self.refuse("start_anchor", "a template has either `start_anchor` or `start_anchor_pattern`")
        fields = template.get("fields")
        if not isinstance(fields, dict) or not fields:
            self.refuse("fields", "a template has fields")
        checked_fields = [self._field(str(key), data) for key, data in cast("dict[Any, Any]", fields).items()]
        implicit = [field.key for field in checked_fields if field.is_implicit]
        if len(implicit) > 1:
            self.refuse(f"fields.{implicit[1]}", f"only one field may lack an opener, and `{implicit[0]}` does")
        for kind in ("thinking", "tool_calls"):
            same = [field.key for field in checked_fields if field.kind == kind]
            if len(same) > 1:
                self.refuse(f"fields.{same[1]}", f"it means the same as `{same[0]}`")
        return checked_fields

    def _field(self, key: str, data: Any) -> Field:
        place = f"fields.{key}"
        if not isinstance(data, dict):
            self.refuse(place, "a field is a dict")
        for name in cast("dict[Any, Any]", data):
            if name not in _KEYS:
                self.refuse(f"{place}.{name}", f"there is no such key; known are {', '.join(sorted(_KEYS))}")
        for side in ("open", "close"):
            if side in data and f"{side}_pattern" in data:
                self.refuse(f"{place}.{side}", f"a field has either `{side}` or `{side}_pattern`")
            self.literals(f"{place}.{side}", cast("dict[str, Any]", data).get(side))
        field_data = cast("dict[str, Any]", data)
        self._limit(f"{place}.", field_data, "open_pattern", "close_pattern")
        field = Field(key, field_data)
        self._limit(f"{place}.content_args.", field.args, "tag_pattern")
        if field.kind == "payload" and not _KEY.fullmatch(key):
            self.refuse(place, "the name of a field is made of letters, digits, `_`, `-` and `.`")
        if field.kind != "content" and (field.is_implicit or not field.is_closed):
            self.refuse(f"{place}.{'open' if field.is_implicit else 'close'}", "only content may lack it")
        self._check_content(field)
        self._check_transform(field)
        return field

    def _check_content(self, field: Field) -> None:
        place, parser, is_call = field.place, field.parser, field.kind == "tool_calls"
        allowed = _PARSERS[field.kind]
        if parser not in allowed:
            self.refuse(f"{place}.content", f"`{parser}` cannot be read there; {' or '.join(allowed)} can")
        allowed_names = _ARGS[parser] - (set() if is_call else _ONLY_CALLS.get(parser, set()))
        for name in field.args:
            if name not in allowed_names:
                self.refuse(f"{place}.content_args.{name}", f"it cannot be expressed for `{parser}`")
        if field.kind == "payload":
            self._check_values(field)
        join: Any = field.data.get("join")
        if join is None:
            return
        if not isinstance(join, str) or not field.data.get("repeats"):
            self.refuse(f"{place}.join", "it is a string, and needs `repeats`")
        if parser != "text" or field.transform is not None:
            self.refuse(f"{place}.join", "only texts can be joined")

    def _check_values(self, field: Field) -> None:
        """Check how the values in a payload are read."""
        place, source = f"{field.place}.content_args", field.args.get("tag_pattern")
        if field.parser == "xml-inline":
            groups = self._groups(source)
            if not {"key", "value"} <= groups:
                self.refuse(f"{place}.tag_pattern", "it has the groups `key` and `value`")
        given: Any = field.args.get("value_parser")
        known: Any = cast("dict[str, Any]", given).get("name") if isinstance(given, dict) else given
        if given is not None and known not in _ARGS:
            self.refuse(f"{place}.value_parser", f"there is no `{known}`; there is {', '.join(_ARGS)}")

    def _check_transform(self, field: Field) -> None:
        place, shape = f"{field.place}.transform", field.transform
        if field.kind in ("thinking", "content") and (shape is not None or field.is_each):
            self.refuse(place, "text has no other shape")
        groups = self._groups(field.data.get("open_pattern"))
        if shape is None and (groups or field.is_each):
            self.refuse(place, "without it, the named groups and `transform_each` say nothing")
        variables = {"content", *groups, *(["name"] if field.kind == "tool_calls" else [])}
        for text in _texts(shape):
            match = _PLACEHOLDER.search(text)
            if match is not None and match[0] != text:
                self.refuse(place, f"`{text}` is more than one placeholder")
            if match is not None and not field.is_each and match[1].split(".")[0] not in variables:
                self.refuse(place, f"there is no `{match[1]}`; there is {', '.join(sorted(variables))}")

    def _groups(self, given: Any) -> set[str]:
        """The named groups of an expression."""
        return set(re.compile(given).groupindex) if isinstance(given, str) else set()


def _texts(shape: Any) -> Iterator[str]:
    """All strings in a transform."""
    if isinstance(shape, str):
        yield shape
    held: Any = cast("dict[str, Any]", shape).values() if isinstance(shape, dict) else shape
    for part in held if isinstance(shape, (dict, list)) else ():
        yield from _texts(part)


def filled(shape: Any, scope: dict[str, Any]) -> Any:
    """A transform with its placeholders filled in; the value of a placeholder keeps its type. Raises LookupError."""
    if isinstance(shape, dict):
        return {key: filled(part, scope) for key, part in cast("dict[str, Any]", shape).items()}
    if isinstance(shape, list):
        return [filled(part, scope) for part in cast("list[Any]", shape)]
    match = _PLACEHOLDER.fullmatch(shape) if isinstance(shape, str) else None
    if match is None:
        return shape
    value: Any = scope
    for key in match[1].split("."):
        if not isinstance(value, dict) or key not in value:
            raise LookupError(f"`{match[1]}` leads nowhere: there is no `{key}`")
        value = cast("dict[str, Any]", value)[key]
    return value


_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<\w+>|\(\?[:=!]|\(\?<[=!]|\{\d*,?\d*\}|.", re.DOTALL)
#: The most characters of an unbounded repetition.
_MAX_REPEAT = 200
_BLANKS = frozenset({r"\s", r"[ \t]", " ", r"\n"})


class Split(NamedTuple):
    """An expression split at a named group: what precedes it, the group, and what follows."""

    before: str
    group: str
    after: str


def parts_of(source: Any, group: str) -> Split | None:
    """Split an expression at a group; None if the group is not in its outermost sequence."""
    parts, opener = _outermost(source) if isinstance(source, str) else [], f"(?P<{group}>"
    at = next((at for at, part in enumerate(parts) if part.startswith(opener)), None)
    if at is None or "|" in parts:
        return None
    return Split("".join(parts[:at]), parts[at][len(opener) : -1], "".join(parts[at + 1 :]))


def _outermost(source: str) -> list[str]:
    """The groups of an expression that stand in no other one, and the tokens outside of all groups, in order."""
    depth, found = 0, list[str]()
    for match in _TOKEN.finditer(source):
        if depth:
            found[-1] += match[0]
        else:
            found.append(match[0])
        depth += match[0].startswith("(") - (match[0] == ")")
    return found


def bounded(source: str, most: int | None = _MAX_REPEAT) -> str:
    """The expression with bounded repetitions, since a stream holds a match back until it has ended.

    With None, only repetitions of white space are.
    """
    parts: list[str] = []
    before = ""
    for match in _TOKEN.finditer(source):
        token = match[0]
        limit = 99 if before in _BLANKS else most
        if token in ("*", "+") and before and limit:
            token = f"{{{int(token == '+')},{limit}}}"
        parts.append("(?:" if token.startswith("(?P<") and most else token)
        before = match[0]
    return "".join(parts)


def written(source: str) -> str | None:
    """The shortest text that an expression matches by its first alternatives; None if a character is left open."""
    try:
        return _shortest(parse(bounded(source)))
    except (ValueError, re.error):
        return None


def _shortest(items: Sequence) -> str:
    pieces: list[str] = []
    for item in items:
        if isinstance(item, Chars) and item.only_literals and len(item.literals) == 1:
            pieces += item.literals
        elif isinstance(item, Group):
            pieces.append(_shortest(item.body))
        elif isinstance(item, Alternatives):
            pieces.append(_shortest(item.branches[0]))
        elif isinstance(item, Repeat):
            pieces.append(_shortest(item.body) * item.low if item.low else "")
        elif not isinstance(item, (Look, Position)) or (isinstance(item, Look) and item.is_negative):
            raise ValueError("the expression leaves a character open")
    return "".join(pieces)


def literal(text: str) -> str:
    """A text as a string of a grammar file."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join([escapes.get(char, char) for char in text]) + '"'


def pattern(source: str, spelled: str | None) -> str:
    """An expression as the definition of a terminal, behind its spelling. Raises re.error, ValueError for `^`, `$`."""
    re.compile(source)
    if "^" in _outermost(source) or "$" in _outermost(source):
        raise ValueError("`^` and `$` stand for places, not for text")
    escapes = {"/": r"\/", "\n": r"\n", "\\\n": r"\n"}
    safe = re.sub(r"\\.|/|\n", lambda m: escapes.get(m[0], m[0]), source, flags=re.DOTALL)
    read = f"/{safe}/s" if "." in _outermost(source) else f"/{safe}/"
    return f"{literal(spelled)} | {read}" if spelled else read
