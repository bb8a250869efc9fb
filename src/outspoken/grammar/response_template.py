"""Translates a response template of Hugging Face, which describes how a checkpoint writes, to a grammar.

A template is a set of regions, each with an opening and a closing delimiter and a way to read what is between them.
Each becomes a rule of the vocabulary: `thinking` is reasoning, `content` text, `tool_calls` calls, and any other region
a payload. What cannot be expressed is refused, with its key.
"""

from __future__ import annotations

import re
from typing import Any, cast

from .header import one_line
from .template_fields import Field, Split, Template, bounded, literal, parts_of, pattern, written

_NAME = r"[\w.\-]{1,200}"


def _name_of(group: str) -> str:
    """The terminal of a name. `\\w+` also admits `.` and `-`, which occur in names."""
    return f"/{_NAME}/" if group == r"\w+" else f"/{bounded(group)}/"


def _key_of(key: str, ahead: str) -> str:
    """The terminal of a key of a JSON object; `ahead` is a look-ahead at its value."""
    spelled = literal(f'"{key}": ')
    return f'{spelled} | /"{re.escape(key)}"\\s{{0,99}}:{ahead}/'


def grammar_of(template: Template, name: str) -> str:
    """The text of a grammar that reads what a template describes. Raises GrammarError with the key."""
    return _GrammarWriter(template, name).text()


class _GrammarWriter:
    """Writes the grammar of one template."""

    def __init__(self, template: Template, name: str) -> None:
        self._name = name
        self._template, self._fields = template, template.fields
        self._refuse, self._literals = template.refuse, template.literals
        self._terminals: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._rules: list[str] = []
        self._imports: set[str] = {".shared.text.TEXT"}
        self._overrides: list[str] = []
        self._opened = ""
        self._values = "json"
        self._trims: set[str] = set()
        self._payloads: list[str] = []
        self._is_merged = False

    # the grammar

    def text(self) -> str:
        """The grammar."""
        makers = {"thinking": self._thinking, "content": self._content, "tool_calls": self._calls,
                  "payload": self._payload}  # fmt: skip
        items = [item for field in self._fields for item in makers[field.kind](field)]
        items += self._anchors()
        self._check_trims()
        if any(field.is_implicit for field in self._fields):
            items.append("code")
            self._imports.add(".shared.code.code")
        rules = [f"start: ({' | '.join(['TEXT', *items])})*", *self._rules]
        terminals = [f"{name}: {spelled}" for name, spelled in self._terminals.items()]
        imports = [f"%import {path}" for path in sorted(self._imports)]
        blank = ["%import common.WS", "%ignore WS"]
        body = [*rules, "", *terminals, "", *self._overrides, *imports, *blank]
        return "\n".join([*self._header(), "", *body, ""])

    def _check_trims(self) -> None:
        kept = [field for field in self._fields if field.kind == "payload" and not field.is_stripped]
        if kept and "value" in self._trims:
            self._refuse(f"{kept[0].place}.content_args.strip", "white space round other values is dropped")

    def _header(self) -> list[str]:
        found = [f"// format:  {self._name}", "// title:   Response template", "// source:  a response template"]
        found += [f"// trim:    {', '.join(sorted(self._trims))}"] if self._trims else []
        found += [f"// values:  {self._values}"]
        found += ["// repeated: list"] if self._is_merged else []
        anchors = [re.escape(one) for one in self._literals("start_anchor", self._template.data.get("start_anchor"))]
        anchor = "|".join(anchors) or str(self._template.data.get("start_anchor_pattern"))
        found.append(f"// anchor:  {one_line(anchor)}")
        found += [f"// opened:  {one_line(self._opened)}"] if self._opened else []
        return found + (["// payloads:", *self._payloads] if self._payloads else [])

    def _anchors(self) -> list[str]:
        """The beginning of a turn is a marker, unless text outside of regions belongs to a field."""
        if any(field.is_implicit for field in self._fields):
            return []
        anchors = self._literals("start_anchor", self._template.data.get("start_anchor"))
        return [self._terminal("_TURN_OPEN", literal(anchor)) for anchor in anchors]

    def _terminal(self, name: str, spelled: str) -> str:
        """The name of the terminal with a definition; a new one if there is none yet."""
        if spelled not in self._names:
            stem, _, end = name.rpartition("_")
            same = re.compile(rf"{stem}(_\d+)?_{end}")
            number = sum([same.fullmatch(known) is not None for known in self._terminals]) + 1
            self._names[spelled] = name if number == 1 else f"{stem}_{number}_{end}"
            self._terminals[self._names[spelled]] = spelled
        return self._names[spelled]

    def _delimiter(self, field: Field, side: str) -> str:
        """The delimiters of a field, as one symbol or as alternatives."""
        name, place = f"_{field.kind.upper()}_{side.upper()}", f"fields.{field.key}.{side}"
        if f"{side}_pattern" in field.data:
            return self._terminal(name, self._pattern(f"{place}_pattern", field.data[f"{side}_pattern"]))
        names = [self._terminal(name, literal(one)) for one in self._literals(place, field.data.get(side))]
        return names[0] if len(names) == 1 else f"({' | '.join(names)})"

    def _pattern(self, place: str, given: Any, more: str = "", spelled: str | None = None) -> str:
        """A regular expression as a terminal: bounded, and with a spelling, by default its own."""
        if not isinstance(given, str) or not given:
            self._refuse(place, "it is a regular expression")
        self._template.check_time(place, bounded(given) + more)
        try:
            return pattern(bounded(given) + more, spelled or written(given))
        except (re.error, ValueError) as error:
            self._refuse(place, f"`{given}` cannot be read in a stream: {error}")

    def _trim(self, field: Field, what: str) -> None:
        if field.is_stripped:
            self._trims.add(what)

    def _thinking(self, field: Field) -> list[str]:
        self._trim(field, "reasoning")
        self._imports.add(".shared.text.REASONING")
        given = field.data.get("open_pattern")
        if isinstance(given, str) and (match := re.fullmatch(r"\(\?:\^\|(.*)\)", given, re.DOTALL)):
            # The opener is optional at the start: the format behaves as if the prompt ended with it.
            field.data = {**field.data, "open_pattern": match[1]}
            self._opened = written(match[1]) or ""
        self._rules.append(f"think: {self._delimiter(field, 'open')} REASONING {self._delimiter(field, 'close')}")
        return ["think"]

    def _content(self, field: Field) -> list[str]:
        self._trim(field, "text")
        close = self._delimiter(field, "close") if field.is_closed else ""
        if field.is_implicit:
            return [close] if close else []
        opener = self._delimiter(field, "open")
        if not close:
            return [opener]
        self._rules.append(f"_answer: {opener} TEXT {close}")
        return ["_answer"]

    def _payload(self, field: Field) -> list[str]:
        """A region that a reply has no other place for: its text, or its JSON value."""
        number = len(self._payloads) + 1
        source, place = field.source("open"), f"{field.place}.open_pattern"
        opened = self._literals(place, field.data.get("open"))
        self._payloads.append(f"//   {field.key} = (?:{one_line('|'.join(map(re.escape, opened)) or bounded(source))})")
        name = f"REGION_{number}__PAYLOAD_NAME"
        self._terminals[name] = self._pattern(place, source, spelled=opened[0] if opened else None)
        is_json = field.parser == "json" and not field.args.get("allow_non_json")
        if not is_json:
            self._trim(field, "value")
        body = ".shared.json.JSON_VALUE" if is_json else ".shared.text.ARG_VALUE"
        self._imports.add(body)
        close = self._delimiter(field, "close")
        self._rules.append(f"region_{number}: {name} {body.rpartition('.')[2]} {close} -> payload")
        return [f"region_{number}"]

    # calls

    def _calls(self, field: Field) -> list[str]:
        place = field.place
        name, arguments = self._template.shape(field)
        split = self._named(field)
        if split is None:
            if field.parser != "json":
                self._refuse(f"{place}.open_pattern", "it has no group `name`, and no other place holds the name")
            return self._json_calls(field, name, arguments)
        if (name, arguments) != (["name"], ["content"]):
            self._refuse(f"{place}.transform", "the name is `{name}`, and the arguments are `{content}`")
        self._terminals["TOOL_NAME"] = _name_of(split.group)
        before = self._terminal("_TOOL_CALLS_OPEN", self._pattern(f"{place}.open_pattern", split.before))
        head = [before, "TOOL_NAME"]
        if split.after:
            head.append(self._terminal("_NAME_CLOSE", self._pattern(f"{place}.open_pattern", split.after)))
        self._rules.append(f"tool_call: {' '.join([*head, self._body(field, split), self._call_close(field, split)])}")
        return ["tool_call"]

    def _named(self, field: Field) -> Split | None:
        """The parts of an opener that contains the name of the call."""
        given = field.data.get("open_pattern")
        found = parts_of(given, "name") if isinstance(given, str) else None
        if found is not None and any("(?P<" in part for part in found):
            self._refuse(f"{field.place}.open_pattern", "it may have one named group, `name`")
        return found

    def _json_calls(self, field: Field, name: list[str], arguments: list[str]) -> list[str]:
        """Calls as JSON objects with name and arguments: one between the delimiters, or a list."""
        if field.args.get("unquoted_keys") or field.args.get("string_delims"):
            self._refuse(f"{field.place}.content_args", "objects in braces hold arguments, not whole calls")
        keys = (
            [path if field.is_each else path[1:] for path in (name, arguments)] if name else [["name"], ["arguments"]]
        )
        inside = field.is_each or not name or name[0] == arguments[0] == "content"
        held = keys[0][:-1]
        if not inside or not all(keys) or held != keys[1][:-1]:
            self._refuse(f"{field.place}.transform", "the name and the arguments are values of two keys of one object")
        for terminal, key, ahead, usual in (
            ("_NAME_KEY", keys[0][-1], r'(?=\s{0,99}"[^"])', "name"),
            ("_ARGUMENTS_KEY", keys[1][-1], "", "arguments"),
        ):
            if key != usual:
                self._overrides.append(f"%override {terminal}.1: {_key_of(key, ahead)}")
                self._imports.add(f".shared.json_call.{terminal}")
        call = self._held(held)
        opener, close = self._delimiter(field, "open"), self._delimiter(field, "close")
        if not field.is_each:
            self._rules.append(f"tool_call: {opener} {call} {close}")
            return ["tool_call"]
        self._imports |= {f".shared.json.{terminal}" for terminal in ("_BRACKET_OPEN", "_BRACKET_CLOSE", "_COMMA")}
        self._rules.append(f"_calls: {opener} _BRACKET_OPEN tool_call (_COMMA tool_call)* _BRACKET_CLOSE {close}")
        self._rules.append(f"tool_call: {call}")
        return ["_calls"]

    def _held(self, keys: list[str]) -> str:
        """The rule of a call as an object, nested in other objects under `keys`."""
        self._imports.add(".shared.json_call._json_call")
        call = "_json_call"
        for depth, key in enumerate(reversed(keys), 1):
            terminal, rule = f"_HOLDER_{depth}_KEY", f"_held_{depth}"
            self._terminals[f"{terminal}.1"] = _key_of(key, r"(?=\s{0,99}\{)")
            self._rules.append(
                f"{rule}: _BRACE_OPEN (_beside _COMMA)* {terminal} {call} (_COMMA _beside)* _BRACE_CLOSE"
            )
            call = rule
        if keys:
            self._rules.append("_beside: _OTHER_KEY JSON_VALUE")
            names = ("_BRACE_OPEN", "_BRACE_CLOSE", "_COMMA", "_OTHER_KEY", "JSON_VALUE")
            self._imports |= {f".shared.json.{terminal}" for terminal in names}
        return call

    def _body(self, field: Field, split: Split) -> str:
        """The rule of the arguments, which stand between the name and the closer."""
        if field.parser == "json":
            return self._json_arguments(field)
        key = f"{field.place}.content_args.tag_pattern"
        self._imports.add(".shared.text.ARG_VALUE")
        self._trims.add("value")
        value_parser: Any = field.args.get("value_parser")
        if "value_parser" not in field.args:
            self._values = "text"
        elif (
            cast("dict[str, Any]", value_parser).get("name") if isinstance(value_parser, dict) else value_parser
        ) != "json":
            self._refuse(f"{field.place}.content_args.value_parser", "values are text, or `json`")
        self._is_merged = bool(field.args.get("merge_duplicates"))
        if field.parser == "kv-lines":
            return self._lines(field)
        tag = parts_of(field.args.get("tag_pattern"), "key")
        rest = parts_of(tag.after, "value") if tag is not None else None
        if tag is None or rest is None:
            self._refuse(key, "it has a group `key` and then a group `value`")
        if re.search(r"\\[1-9]|\(\?P=", rest.after) or not rest.after:
            self._refuse(key, "a value ends at a closer that says nothing of the key")
        self._terminals["ARG_NAME"] = _name_of(tag.group)
        opener = self._terminal("_ARGUMENT_OPEN", self._pattern(key, tag.before))
        middle = self._terminal("_VALUE_OPEN", self._pattern(key, rest.before))
        another = r"\s{0,9}".join([bounded(tag.before), self._terminals["ARG_NAME"][1:-1], bounded(rest.before)])
        behind = f"(?:{another}|{self._close_source(field, split)})"
        close = self._terminal("_ARGUMENT_CLOSE", self._pattern(key, rest.after, f"(?=\\s{{0,99}}{behind})"))
        self._rules.append(f"argument: {opener} ARG_NAME {middle} ARG_VALUE {close}")
        return "argument*"

    def _json_arguments(self, field: Field) -> str:
        delims: Any = field.args.get("string_delims")
        if not delims and not field.args.get("unquoted_keys"):
            self._imports |= {".shared.json.JSON_OBJECT", ".shared.json.JSON_STRING"}
            self._rules.append("arguments: JSON_OBJECT | JSON_STRING")
            return "arguments"
        pairs = cast("list[Any]", delims) if isinstance(delims, list) else []
        marks = cast("list[Any]", pairs[0]) if len(pairs) == 1 and isinstance(pairs[0], list) else []
        if len(marks) != 2 or marks[0] != marks[1] or not isinstance(marks[0], str) or not marks[0]:
            self._refuse(f"{field.place}.content_args.string_delims", "one mark stands on both sides of a string")
        self._terminals["BRACED_OBJECT"] = literal(marks[0])
        self._rules.append("arguments: BRACED_OBJECT")
        return "arguments"

    def _lines(self, field: Field) -> str:
        """The rule of arguments with a line for each."""
        line, colon = field.args.get("line_sep", "\n"), field.args.get("kv_sep", ":")
        self._literals(f"{field.place}.content_args.line_sep", line)
        self._literals(f"{field.place}.content_args.kv_sep", colon)
        key = rf"[^\s{re.escape(colon[0])}]{{1,200}}"
        self._terminals["ARG_NAME"] = f"/{key}/"
        follows = rf"\s{{0,9}}{key}\s{{0,9}}{re.escape(colon)}"
        between = self._terminal("_LINE", pattern(f"{re.escape(line)}(?={follows})", line))
        middle = self._terminal("_COLON", pattern(rf"{re.escape(colon)}[ \t]*", f"{colon} "))
        self._rules.append(f"argument: ARG_NAME {middle} ARG_VALUE")
        return f"(argument ({between} argument)*)?"

    def _call_close(self, field: Field, split: Split) -> str:
        """The closer of a call. If the opener opens several tags, the inner ones may be closed as well."""
        own = self._literals("close", field.data.get("close"))
        last = own[0] if own else written(str(field.data.get("close_pattern")))
        spelled = None if last is None else "".join([f"{tag}\n" for tag in self._inner(split)]) + last
        return self._terminal("_TOOL_CALLS_CLOSE", pattern(self._close_source(field, split), spelled))

    def _inner(self, split: Split) -> list[str]:
        return [f"</{name}>" for name in re.findall(r"<(\w+)", split.before)[:0:-1]]

    def _close_source(self, field: Field, split: Split) -> str:
        own = [re.escape(one) for one in self._literals("close", field.data.get("close"))]
        given = field.data.get("close_pattern")
        source = "|".join(own) if own else bounded(str(given))
        inner = "".join([f"(?:{re.escape(tag)}\\s{{0,99}})?" for tag in self._inner(split)])
        blank = r"\s{0,99}" if inner else ""
        return f"{blank}{inner}(?:{source})"
