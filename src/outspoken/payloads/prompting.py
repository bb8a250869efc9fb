"""Prompt sections: the instructions for writing payloads, and a summary of the payloads of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from outspoken.json.schema import referred
from outspoken.results.replies import Payload, Reply

from .types import Page, PayloadType
from .validation import check

_RULES = """Write each of these into your answer as it is shown: its marker at the beginning of a line, then its JSON, \
outside of code fences. They are taken out before the user sees your answer, so do not speak of them. JSON is strict: \
double quotes, no comments, no comma after the last item."""
_ONE = "Write at most one of {names} in an answer."
_SUMMARY_LENGTH = 120

_Schema = dict[str, Any]


def instructions(page: Page) -> str:
    """The section of a system prompt for a page: each payload with its fields and an example."""
    if not page.types and not page.actions:
        return ""
    parts = ["# STRUCTURED RESPONSES", _RULES]
    alone = [f"`{one.marker}`" for one in page.types if not one.beside]
    if len(alone) > 1:
        parts.append(_ONE.format(names=f"{', '.join(alone[:-1])} and {alone[-1]}"))
    parts += ["\n\n".join(_describe(one, page)) for one in page.types]
    if page.actions:
        lines = [f"- `{name}`: {text}" if text else f"- `{name}`" for name, text in sorted(page.actions.items())]
        parts.append("\n".join(["## CLIENT ACTIONS\n", *lines]))
    return "\n\n".join(parts) + "\n"


def _describe(type_: PayloadType, page: Page) -> Iterator[str]:
    yield f"## {type_.marker}"
    if type_.instructions:
        yield type_.instructions
    fields = list(_fields_of(type_))
    if fields:
        yield "\n".join(["An array. Each item is:" if type_.kind == "array" else "An object:", *fields])
    if type_.example is not None:
        yield f"Example:\n\n{write_payload(type_, _checked(type_, page))}"


def write_payload(type_: PayloadType, data: Any) -> str:
    """A payload as a model should write it."""
    between = "\n" if type_.kind == "array" else " "
    return f"{type_.marker}:{between}{json.dumps(data, ensure_ascii=False, indent=2)}"


def _checked(type_: PayloadType, page: Page) -> Any:
    """The example of a type. Raises ValueError if it is invalid."""
    checked = check(type_, type_.example, page, "strict")
    if not checked.is_sound or checked.findings:
        reason = "; ".join([finding.message for finding in checked.findings]) or "it is of another kind"
        raise ValueError(f"the example of `{type_.name}` is invalid: {reason}")
    return type_.example


def _fields_of(type_: PayloadType) -> Iterator[str]:
    """A line for each field of the model of a type."""
    if type_.adapter is None:
        return
    schema: _Schema = type_.adapter.json_schema(by_alias=True)
    yield from _fields(schema, schema, "- ")


def _fields(schema: _Schema, root: _Schema, indent: str) -> Iterator[str]:
    """A line for each property of an object, with indented lines for nested properties."""
    schema = _resolved(schema, root)
    options = schema.get("oneOf") or schema.get("anyOf")
    if options:
        yield from _choices(schema, root, indent)
        return
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        text = field.get("description", "")
        found = _without_null(_resolved(field, root), root)
        kind = _kind_of(found, root)
        must = "" if name in required else ", optional"
        limits = _limits(found)
        yield f"{indent}`{name}` ({kind}{must}{limits})" + (f": {text}" if text else "")
        inner = _resolved(found.get("items", found), root)
        yield from _fields(inner, root, f"  {indent}")


def _choices(schema: _Schema, root: _Schema, indent: str) -> Iterator[str]:
    """A line for each alternative of a union, by the field that discriminates them."""
    tag = schema.get("discriminator", {}).get("propertyName")
    options: list[_Schema] = schema.get("oneOf") or schema.get("anyOf") or []
    for option in options:
        found = _resolved(option, root)
        text = found.get("description", "").partition("\n")[0]
        if tag is None or "properties" not in found:
            continue
        value = found["properties"].get(tag, {}).get("const")
        yield f"{indent}`{tag}` is `{value}`: {text}".rstrip(": ")
        others = {key: field for key, field in found["properties"].items() if key != tag}
        yield from _fields({**found, "properties": others}, root, f"  {indent}")


def _resolved(schema: _Schema, root: _Schema) -> _Schema:
    """A schema with its reference resolved; its own description stays."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    found: _Schema = referred(reference, root) or {}
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}


def _without_null(schema: _Schema, root: _Schema) -> _Schema:
    """A nullable schema without the null alternative."""
    options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    if len(options) != 1 or len(options) == len(schema.get("anyOf", [])):
        return schema
    return {**{k: v for k, v in schema.items() if k != "anyOf"}, **_resolved(options[0], root)}


def _kind_of(schema: _Schema, root: _Schema) -> str:
    """The kind of a value in a few words."""
    if "const" in schema:
        return f"`{_plain(schema['const'])}`"
    if "enum" in schema:
        return " or ".join([f"`{_plain(one)}`" for one in schema["enum"]])
    kind = schema.get("type")
    if kind == "array":
        items = _resolved(schema.get("items", {}), root)
        return f"array of {_plural(_kind_of(items, root))}" if items else "array"
    if kind is None and "oneOf" in schema:
        return "object"
    return str(kind) if isinstance(kind, str) else "any JSON"


def _plural(kind: str) -> str:
    return kind if kind == "any JSON" or kind.startswith("`") or " of " in kind else f"{kind}s"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _limits(schema: _Schema) -> str:
    """The minimal and maximal number of items."""
    least, most = schema.get("minItems"), schema.get("maxItems")
    text = f", at least {least}" if least else ""
    return text + (f", at most {most}" if most is not None else "")


# summaries


def manifest(types: Iterable[PayloadType], replies: Iterable[Reply]) -> str:
    """A line for each payload in some replies, in order: the number of the reply, its type, and its summary."""
    known = {one.name: one for one in types}
    lines: list[str] = []
    for number, reply in enumerate(replies, 1):
        for payload in reply.payloads:
            text = _summary(known.get(payload.type), payload)
            lines.append(f"- answer {number}, `{payload.type}`" + (f": {text}" if text else ""))
    return "\n".join(lines)


def _summary(type_: PayloadType | None, payload: Payload) -> str:
    if type_ is not None and type_.summarize is not None:
        text = " ".join(type_.summarize(payload.data).split())
    else:
        data: Any = payload.data
        keys = list(cast("dict[str, Any]", data)) if isinstance(data, dict) else None
        text = ", ".join(keys) if keys is not None else f"{len(data)} items" if isinstance(data, list) else ""  # pyright: ignore[reportUnknownArgumentType]
    return text if len(text) <= _SUMMARY_LENGTH else text[: _SUMMARY_LENGTH - 1] + "…"
