"""What is wrong with how a text that a constraint admits is read."""

import re
from collections.abc import Sequence
from typing import Any, cast

import jsonschema

from outspoken import Reply, parse
from outspoken.constraints.deriving import Constraint
from outspoken.notations.tools import ToolLike, Tools

#: How a warning ends that an argument may not be what its schema says.
_NOT_ENFORCED = "is not enforced"
#: The warning that an argument may stand twice in a call.
_MAY_REPEAT = "the arguments: that each has another name is not enforced"


def complaint(text: str, constraint: Constraint, tools: Sequence[ToolLike], *, least: int, most: int | None) -> str:
    """What is wrong with how a text is read; "" if nothing is."""
    known = Tools.of(tools) or Tools({})
    reply = parse(text, format=constraint.format, tools=known if known.names else None, finish_reason="stop")
    if _is_in_doubt(reply):
        return ""
    may_repeat = any(f"{call.name}: {_MAY_REPEAT}" in constraint.warnings for call in reply.tool_calls)
    excused = OF_TEXT | {*["repeated-argument"] * may_repeat}
    for call in reply.tool_calls:
        said = [warning for warning in constraint.warnings if warning.startswith(f"{call.name}: ")]
        if any(one.endswith(_NOT_ENFORCED) for one in said):
            excused |= {"type-mismatch"}
        if any(map(_is_quote, call.arguments.values())):
            excused |= {"odd-marker"}
    if found := trouble(reply, excused):
        return found
    count = len(reply.tool_calls) + len(reply.actions)
    if not least <= count <= (len(text) if most is None else most):
        return f"{count} calls"
    for call in reply.tool_calls:
        if call.name not in known.names:
            return "unknown tool"
        excused = [warning.removeprefix(f"{call.name}: ") for warning in constraint.warnings]
        if found := schema_complaint(call.arguments, known.schema(call.name) or {}, excused):
            return found
    return ""


def _is_quote(value: object) -> bool:
    """Does a value begin with a quote that may close the name before it? No constraint forbids that."""
    return isinstance(value, str) and value[:1] == '"' and value.count('"') == 1


def _is_in_doubt(reply: Reply) -> bool:
    """Is a call refused or text for what a constraint cannot forbid: markup in a value, or quotation marks around it?

    Walks write the literals of a grammar into values and text on purpose.
    """
    markup = "a value holds markup that may belong to the call"
    return any(found.code == "quoted-call" or found.message == markup for found in reply.diagnostics)


#: What is said of text with words of markup, of the format or of others: it is text all the same.
OF_TEXT = frozenset({"unread-markup", "orphan-closer", "other-format"})


def trouble(reply: Reply, excused: frozenset[str] = OF_TEXT) -> str:
    """What is wrong with a reply by its status and its diagnostics."""
    if reply.status != "ok":
        return f"{reply.status}: {', '.join(sorted({found.code for found in reply.diagnostics})) or 'no diagnostic'}"
    louder = {found.code for found in reply.diagnostics if found.severity != "note"} - excused
    return f"diagnostics: {', '.join(sorted(louder))}" if louder else ""


def schema_complaint(arguments: Any, schema: dict[str, Any], warnings: Sequence[str]) -> str:
    """The keyword of a schema that refuses arguments, unless a warning names it and the place where it is not enforced.

    `warnings` are those of the tool, without its name.
    """
    plain = _with_null(schema)
    validator = jsonschema.Draft202012Validator(plain, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    for error in validator.iter_errors(arguments):  # pyright: ignore[reportUnknownMemberType]
        if not _is_excused(error, warnings):
            return f"schema: {error.validator}"
    return ""


def _with_null(schema: Any) -> Any:
    """A schema with `nullable`, which JSON Schema does not have, as a choice."""
    if isinstance(schema, list):
        return [_with_null(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    found = {key: _with_null(value) for key, value in cast("dict[str, Any]", schema).items()}
    if found.get("nullable") is True:
        del found["nullable"]
        return {"anyOf": [found, {"type": "null"}]}
    return found


def _is_excused(error: Any, warnings: Sequence[str]) -> bool:
    """Does a warning say that this keyword is not enforced at this place?

    What no option of a choice admits is excused if that is so for all that is wrong with one of the options.
    """
    for warning in warnings:
        found = re.fullmatch(r"(.*): (`[^`]*` is not enforced|the .* is not enforced)", warning)
        place, message = found.groups() if found else ("", "")
        named = _LOOSELY.get(message, [message.partition("`")[2].partition("`")[0].partition(":")[0]])
        if error.validator in named and _is_at(list(error.absolute_path), place):
            return True
    options: dict[Any, list[Any]] = {}
    for inner in error.context:
        options.setdefault(inner.relative_schema_path[0], []).append(inner)
    return any(all(_is_excused(inner, warnings) for inner in some) for some in options.values())


#: The keywords of warnings that name none.
_LOOSELY = {
    "the range of the number is not enforced": [
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    ],
    "the pattern of the string is not enforced": ["pattern", "format"],
    "the pattern or the length of the string is not enforced": ["pattern", "format", "minLength", "maxLength"],
}


def _is_at(path: Sequence[str | int], place: str) -> bool:
    """Is a path in arguments at the place that a warning names?"""
    pattern = re.escape("" if place == "the arguments" else place)
    pattern = pattern.replace(r"\[\]", r"\[[0-9]+\]").replace(r"\.\*", r"\.[^.\[]+")
    written = "".join([f"[{step}]" if isinstance(step, int) else f".{step}" for step in path])
    return re.fullmatch(pattern, written.removeprefix(".")) is not None
