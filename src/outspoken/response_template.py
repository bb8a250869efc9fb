"""From a response template to a grammar: Hugging Face's data about how a checkpoint writes becomes rules of ours.

A template is a set of regions, each with an opening and a closing delimiter and a way to read what is between them.
Here each becomes a rule of the vocabulary: `thinking` is reasoning, `content` text, `tool_calls` calls. What a template
says that a reply has no place for is refused, with its key.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn, cast

from .errors import GrammarError
from .header import one_line
from .template_patterns import Split, bounded, literal, parts_of, pattern, written

_TOP = {"version", "defaults", "start_anchor", "start_anchor_pattern", "fields"}
_KEYS = {
    "open", "open_pattern", "close", "close_pattern", "repeats", "join", "optional", "content", "content_args",
    "transform", "transform_each",
}  # fmt: skip
_FIELDS = {"thinking": "thinking", "reasoning": "thinking", "reasoning_content": "thinking", "content": "content",
           "tool_calls": "tool_calls"}  # fmt: skip
_ARGS = {
    "text": {"strip"},
    "json": {"string_delims", "unquoted_keys", "allow_non_json"},
    "xml-inline": {"tag_pattern", "value_parser"},
    "kv-lines": {"line_sep", "kv_sep", "strip", "value_parser"},
}
_PLACEHOLDER = re.compile(r"\{([\w.\-]+)\}")
_END = re.compile(r"(?:\$|\\Z|\\z)")
_NAME = r"[\w.\-]{1,200}"


def _name_of(group: str) -> str:
    """The terminal of a name; names are not only of letters, whatever the example in the documentation says."""
    return f"/{_NAME}/" if group == r"\w+" else f"/{bounded(group)}/"


def grammar_of(template: Any, name: str) -> str:
    """The text of a grammar that reads what a template describes. Raises GrammarError, which names the key."""
    return _Writer(template, name).text()


class _Field:
    """One field of a template, checked: its delimiters, and how its content is read."""

    def __init__(self, key: str, data: dict[str, Any]) -> None:
        self.key, self.data = key, data
        self.kind = _FIELDS[key]
        self.parser: str = data.get("content", "text")
        self.args: dict[str, Any] = data.get("content_args") or {}
        self.is_implicit = "open" not in data and "open_pattern" not in data
        self.is_closed = "close" in data or "close_pattern" in data


class _Writer:
    """Writes the grammar of one template."""

    def __init__(self, template: Any, name: str) -> None:
        self._name = name
        self._terminals: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._rules: list[str] = []
        self._imports: set[str] = {".shared.text.TEXT"}
        self._overrides: list[str] = []
        self._opened = ""
        self._values = "json"
        self._trims: set[str] = set()
        if not isinstance(template, dict):
            self._refuse("", f"a template is a dict, not {type(template).__name__}")
        self._template = cast("dict[str, Any]", template)
        self._fields = self._checked()

    def _refuse(self, key: str, why: str) -> NoReturn:
        place = f"response template `{self._name}`" + (f", key `{key}`" if key else "")
        raise GrammarError(place, why)

    # what a template may say

    def _checked(self) -> list[_Field]:
        template = self._template
        for key in template:
            if key not in _TOP:
                self._refuse(key, f"there is no such key; known are {', '.join(sorted(_TOP))}")
        if template.get("version", 1) != 1:
            self._refuse("version", f"version {template['version']!r} is not known; this is written for version 1")
        if ("start_anchor" in template) == ("start_anchor_pattern" in template):
            self._refuse("start_anchor", "a template has either `start_anchor` or `start_anchor_pattern`")
        fields = template.get("fields")
        if not isinstance(fields, dict) or not fields:
            self._refuse("fields", "a template has fields")
        found = [self._field(str(key), data) for key, data in cast("dict[Any, Any]", fields).items()]
        implicit = [field.key for field in found if field.is_implicit]
        if len(implicit) > 1:
            self._refuse(f"fields.{implicit[1]}", f"only one field may lack an opener, and `{implicit[0]}` does")
        for kind in set(_FIELDS.values()):
            same = [field.key for field in found if field.kind == kind]
            if len(same) > 1:
                self._refuse(f"fields.{same[1]}", f"it means the same as `{same[0]}`")
        return found

    def _field(self, key: str, data: Any) -> _Field:
        place = f"fields.{key}"
        if not isinstance(data, dict):
            self._refuse(place, "a field is a dict")
        for one in cast("dict[Any, Any]", data):
            if one not in _KEYS:
                self._refuse(f"{place}.{one}", f"there is no such key; known are {', '.join(sorted(_KEYS))}")
        for side in ("open", "close"):
            if side in data and f"{side}_pattern" in data:
                self._refuse(f"{place}.{side}", f"a field has either `{side}` or `{side}_pattern`")
        known = cast("dict[str, Any]", data)
        join: Any = known.get("join")
        if join is not None and (not isinstance(join, str) or not known.get("repeats")):
            self._refuse(f"{place}.join", "it is a string, and needs `repeats`")
        if key not in _FIELDS:
            self._refuse(place, f"a reply has no place for it; it has one for {', '.join(_FIELDS)}")
        field = _Field(key, known)
        self._check_content(field, place)
        return field

    def _check_content(self, field: _Field, place: str) -> None:
        texts = ("text",)
        allowed = texts if field.kind != "tool_calls" else ("json", "xml-inline", "kv-lines")
        if field.parser not in allowed:
            self._refuse(f"{place}.content", f"`{field.parser}` cannot be read there; {' or '.join(allowed)} can")
        for one in field.args:
            if one not in _ARGS[field.parser]:
                self._refuse(f"{place}.content_args.{one}", f"it cannot be expressed for `{field.parser}`")
        if field.kind != "tool_calls" and (field.data.get("transform") is not None or field.data.get("transform_each")):
            self._refuse(f"{place}.transform", "text has no other shape")
        if field.kind != "content" and (field.is_implicit or not field.is_closed):
            self._refuse(f"{place}.{'open' if field.is_implicit else 'close'}", "only content may lack it")
        for side in ("open", "close"):
            self._literals(f"{place}.{side}", field.data.get(side))

    def _literals(self, place: str, given: Any) -> list[str]:
        if given is None:
            return []
        listed: Any = [given] if isinstance(given, str) else given
        parts = cast("list[Any]", listed) if isinstance(listed, list) else []
        if not parts or not all(isinstance(one, str) and one for one in parts):
            self._refuse(place, "it is a string or a list of strings, none of them empty")
        return parts

    # the grammar

    def text(self) -> str:
        """The grammar."""
        makers = {"thinking": self._thinking, "content": self._content, "tool_calls": self._calls}
        items = [item for field in self._fields for item in makers[field.kind](field)]
        items += self._anchors()
        if any(field.is_implicit for field in self._fields):
            items.append("code")
            self._imports.add(".shared.code.code")
        rules = [f"start: ({' | '.join(['TEXT', *items])})*", *self._rules]
        terminals = [f"{name}: {spelled}" for name, spelled in self._terminals.items()]
        imports = [f"%import {path}" for path in sorted(self._imports)]
        blank = ["%import common.WS", "%ignore WS"]
        body = [*rules, "", *terminals, "", *self._overrides, *imports, *blank]
        return "\n".join([*self._header(), "", *body, ""])

    def _header(self) -> list[str]:
        found = [f"// format:  {self._name}", "// title:   Response template", "// source:  a response template"]
        found += [f"// trim:    {', '.join(sorted(self._trims))}"] if self._trims else []
        found += [f"// values:  {self._values}"]
        anchors = [re.escape(one) for one in self._literals("start_anchor", self._template.get("start_anchor"))]
        anchor = "|".join(anchors) or str(self._template.get("start_anchor_pattern"))
        found.append(f"// anchor:  {one_line(anchor)}")
        return found + ([f"// opened:  {one_line(self._opened)}"] if self._opened else [])

    def _anchors(self) -> list[str]:
        """Where text outside of regions is nobody's, the beginning of a turn is markup."""
        if any(field.is_implicit for field in self._fields):
            return []
        anchors = self._literals("start_anchor", self._template.get("start_anchor"))
        return [self._terminal("_TURN_OPEN", literal(anchor)) for anchor in anchors]

    def _terminal(self, name: str, spelled: str) -> str:
        """The name of a terminal that is spelled so: of the one that is there, or of a new one."""
        if spelled not in self._names:
            number = sum(known.startswith(name) for known in self._terminals) + 1
            stem, _, end = name.rpartition("_")
            self._names[spelled] = name if number == 1 else f"{stem}_{number}_{end}"
            self._terminals[self._names[spelled]] = spelled
        return self._names[spelled]

    def _delimiter(self, field: _Field, side: str) -> str:
        """The delimiters of a field, as one symbol or as alternatives."""
        name, place = f"_{field.kind.upper()}_{side.upper()}", f"fields.{field.key}.{side}"
        if f"{side}_pattern" in field.data:
            return self._terminal(name, self._pattern(f"{place}_pattern", field.data[f"{side}_pattern"]))
        names = [self._terminal(name, literal(one)) for one in self._literals(place, field.data.get(side))]
        return names[0] if len(names) == 1 else f"({' | '.join(names)})"

    def _pattern(self, place: str, given: Any, more: str = "") -> str:
        """A regular expression as a terminal: bounded, and with a spelling where it has one."""
        if not isinstance(given, str) or not given:
            self._refuse(place, "it is a regular expression")
        try:
            return pattern(bounded(given) + more, written(given))
        except (re.error, ValueError) as error:
            self._refuse(place, f"`{given}` cannot be read in a stream: {error}")

    def _trim(self, field: _Field, what: str) -> None:
        if field.args.get("strip", True):
            self._trims.add(what)

    def _thinking(self, field: _Field) -> list[str]:
        self._trim(field, "reasoning")
        self._imports.add(".shared.text.REASONING")
        given = field.data.get("open_pattern")
        if isinstance(given, str) and (match := re.fullmatch(r"\(\?:\^\|(.*)\)", given, re.DOTALL)):
            # it may begin without its opener: as if the prompt ended with it
            field.data = {**field.data, "open_pattern": match[1]}
            self._opened = written(match[1]) or ""
        self._rules.append(f"think: {self._delimiter(field, 'open')} REASONING {self._delimiter(field, 'close')}")
        return ["think"]

    def _content(self, field: _Field) -> list[str]:
        self._trim(field, "text")
        ends = field.data.get("close_pattern")
        close = self._delimiter(field, "close") if field.is_closed and not _END.fullmatch(str(ends)) else ""
        if field.is_implicit:
            return [close] if close else []
        opener = self._delimiter(field, "open")
        if not close:
            return [opener]
        self._rules.append(f"_answer: {opener} TEXT {close}")
        return ["_answer"]

    # calls

    def _calls(self, field: _Field) -> list[str]:
        place = f"fields.{field.key}"
        name, arguments = self._shape(field, f"{place}.transform")
        split = self._named(field, place)
        if split is None:
            if field.parser != "json":
                self._refuse(f"{place}.open_pattern", "it has no group `name`, and no other place holds the name")
            return self._json_calls(field, name, arguments, place)
        if (name, arguments) != (["name"], ["content"]):
            self._refuse(f"{place}.transform", "the name is `{name}`, and the arguments are `{content}`")
        self._terminals["TOOL_NAME"] = _name_of(split.group)
        before = self._terminal("_TOOL_CALLS_OPEN", self._pattern(f"{place}.open_pattern", split.before))
        head = [before, "TOOL_NAME"]
        if split.after:
            head.append(self._terminal("_NAME_CLOSE", self._pattern(f"{place}.open_pattern", split.after)))
        body = self._body(field, place, split)
        self._rules.append(f"tool_call: {' '.join([*head, body, self._call_close(field, split)])}")
        return ["tool_call"]

    def _named(self, field: _Field, place: str) -> Split | None:
        """The parts of an opener that holds the name."""
        given = field.data.get("open_pattern")
        found = parts_of(given, "name") if isinstance(given, str) else None
        if found is not None and any("(?P<" in part for part in found):
            self._refuse(f"{place}.open_pattern", "it may have one named group, `name`")
        return found

    def _shape(self, field: _Field, place: str) -> tuple[list[str], list[str]]:
        """Where the name and the arguments of a call are, as paths; empty ones for a call as it is written."""
        shape: Any = field.data.get("transform")
        if shape is None or shape == "{content}":
            return [], []
        known = cast("dict[str, Any]", shape) if isinstance(shape, dict) else {}
        function: Any = known.get("function", known) or None
        if function == "{content}":
            return [], []
        if not isinstance(function, dict):
            self._refuse(place, "it has the shape of a tool call: a `function` with `name` and `arguments`")
        paths: list[list[str]] = []
        for key in ("name", "arguments"):
            match = _PLACEHOLDER.fullmatch(str(cast("dict[str, Any]", function).get(key)))
            if match is None:
                self._refuse(f"{place}.function.{key}", "it is one placeholder, as `{content}`")
            paths.append(match[1].split("."))
        return paths[0], paths[1]

    def _json_calls(self, field: _Field, name: list[str], arguments: list[str], place: str) -> list[str]:
        """Calls as JSON objects that hold both: one between the delimiters, or a list of them."""
        if field.args.get("unquoted_keys") or field.args.get("string_delims"):
            self._refuse(f"{place}.content_args", "objects in braces hold arguments, not whole calls")
        each = bool(field.data.get("transform_each"))
        keys = [path if each else path[1:] for path in (name, arguments)] if name else [["name"], ["arguments"]]
        inside = each or not name or name[0] == arguments[0] == "content"
        if not inside or any(len(path) != 1 for path in keys):
            self._refuse(f"{place}.transform", "the name and the arguments are values of two keys of one object")
        self._imports.add(".shared.json_call._json_call")
        for terminal, (key,), ahead, usual in zip(
            ("_NAME_KEY", "_ARGUMENTS_KEY"), keys, (r'(?=\s{0,99}"[^"])', ""), ("name", "arguments"), strict=True
        ):
            if key != usual:
                spelled, read = literal(f'"{key}": '), f'"{re.escape(key)}"\\s{{0,99}}:{ahead}'
                self._overrides.append(f"%override {terminal}.1: {spelled} | /{read}/")
                self._imports.add(f".shared.json_call.{terminal}")
        opener, close = self._delimiter(field, "open"), self._delimiter(field, "close")
        if not each:
            self._rules.append(f"tool_call: {opener} _json_call {close}")
            return ["tool_call"]
        self._imports |= {f".shared.json.{terminal}" for terminal in ("_BRACKET_OPEN", "_BRACKET_CLOSE", "_COMMA")}
        self._rules.append(f"_calls: {opener} _BRACKET_OPEN tool_call (_COMMA tool_call)* _BRACKET_CLOSE {close}")
        self._rules.append("tool_call: _json_call")
        return ["_calls"]

    def _body(self, field: _Field, place: str, split: Split) -> str:
        """What is between the name and the closer: the arguments."""
        if field.parser == "json":
            return self._json_arguments(field, place)
        self._imports.add(".shared.text.ARG_VALUE")
        self._trims.add("value")
        if "value_parser" not in field.args:
            self._values = "text"
        elif self._parser_of(field) != "json":
            self._refuse(f"{place}.content_args.value_parser", "values are text, or `json`")
        if field.parser == "kv-lines":
            return self._lines(field, place)
        tag = parts_of(field.args.get("tag_pattern"), "key")
        rest = parts_of(tag.after, "value") if tag is not None else None
        if tag is None or rest is None:
            self._refuse(f"{place}.content_args.tag_pattern", "it has a group `key` and then a group `value`")
        if re.search(r"\\[1-9]|\(\?P=", rest.after) or not rest.after:
            self._refuse(f"{place}.content_args.tag_pattern", "a value ends at a closer that says nothing of the key")
        key = f"{place}.content_args.tag_pattern"
        self._terminals["ARG_NAME"] = _name_of(tag.group)
        opener = self._terminal("_ARGUMENT_OPEN", self._pattern(key, tag.before))
        middle = self._terminal("_VALUE_OPEN", self._pattern(key, rest.before))
        behind = f"(?:{bounded(tag.before)}|{self._close_source(field, split)})"
        close = self._terminal("_ARGUMENT_CLOSE", self._pattern(key, rest.after, f"(?=\\s{{0,99}}{behind})"))
        self._rules.append(f"argument: {opener} ARG_NAME {middle} ARG_VALUE {close}")
        return "argument*"

    def _parser_of(self, field: _Field) -> str:
        given: Any = field.args["value_parser"]
        return str(given.get("name") if isinstance(given, dict) else given)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    def _json_arguments(self, field: _Field, place: str) -> str:
        delims: Any = field.args.get("string_delims")
        if not delims and not field.args.get("unquoted_keys"):
            self._imports |= {".shared.json.JSON_OBJECT", ".shared.json.JSON_STRING"}
            self._rules.append("arguments: JSON_OBJECT | JSON_STRING")
            return "arguments"
        pairs = cast("list[Any]", delims) if isinstance(delims, list) else []
        marks = cast("list[Any]", pairs[0]) if len(pairs) == 1 and isinstance(pairs[0], list) else []
        if len(marks) != 2 or marks[0] != marks[1] or not isinstance(marks[0], str) or not marks[0]:
            self._refuse(f"{place}.content_args.string_delims", "one mark stands on both sides of a string")
        self._terminals["BRACED_OBJECT"] = literal(marks[0])
        self._rules.append("arguments: BRACED_OBJECT")
        return "arguments"

    def _lines(self, field: _Field, place: str) -> str:
        """A line for each argument."""
        line, colon = field.args.get("line_sep", "\n"), field.args.get("kv_sep", ":")
        self._literals(f"{place}.content_args.line_sep", line)
        self._literals(f"{place}.content_args.kv_sep", colon)
        key = rf"[^\s{re.escape(colon[0])}]{{1,200}}"
        self._terminals["ARG_NAME"] = f"/{key}/"
        follows = rf"\s{{0,9}}{key}\s{{0,9}}{re.escape(colon)}"
        between = self._terminal("_LINE", pattern(f"{re.escape(line)}(?={follows})", line))
        middle = self._terminal("_COLON", pattern(rf"{re.escape(colon)}[ \t]*", f"{colon} "))
        self._rules.append(f"argument: ARG_NAME {middle} ARG_VALUE")
        return f"(argument ({between} argument)*)?"

    def _call_close(self, field: _Field, split: Split) -> str:
        """The closer of a call whose opener opens more tags than one; the inner ones may be closed, too."""
        spelled = self._close_written(field, split)
        return self._terminal("_TOOL_CALLS_CLOSE", pattern(self._close_source(field, split), spelled))

    def _inner(self, split: Split) -> list[str]:
        return [f"</{name}>" for name in re.findall(r"<(\w+)", split.before)[:0:-1]]

    def _close_source(self, field: _Field, split: Split) -> str:
        own = [re.escape(one) for one in self._literals("close", field.data.get("close"))]
        given = field.data.get("close_pattern")
        source = "|".join(own) if own else bounded(str(given))
        inner = "".join([f"(?:{re.escape(tag)}\\s{{0,99}})?" for tag in self._inner(split)])
        blank = r"\s{0,99}" if inner else ""
        return f"{blank}{inner}(?:{source})"

    def _close_written(self, field: _Field, split: Split) -> str | None:
        own = self._literals("close", field.data.get("close"))
        last = own[0] if own else written(str(field.data.get("close_pattern")))
        return None if last is None else "".join([f"{tag}\n" for tag in self._inner(split)]) + last
