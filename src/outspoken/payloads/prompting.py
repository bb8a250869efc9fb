"""Prompt sections: the instructions for writing payloads, and a summary of the payloads of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from outspoken.json.descriptions import describe_schema
from outspoken.results.replies import Payload, Reply

from .types import Page, PayloadType
from .validation import check

_RULES = """Write each of these into your answer as it is shown: its marker at the beginning of a line, then its JSON, \
outside of code fences. They are taken out before the user sees your answer, so do not speak of them. JSON is strict: \
double quotes, no comments, no comma after the last item."""
_ONE = "Write at most one of {names} in an answer."
_SUMMARY_LENGTH = 120


def instructions(page: Page) -> str:
    """The section of a system prompt for a page: each payload with its fields and an example."""
    if not page.types and not page.actions:
        return ""
    parts = ["# STRUCTURED RESPONSES", _RULES]
    alone = [f"`{payload_type.marker}`" for payload_type in page.types if not payload_type.beside]
    if len(alone) > 1:
        parts.append(_ONE.format(names=f"{', '.join(alone[:-1])} and {alone[-1]}"))
    parts += ["\n\n".join(_describe(payload_type, page)) for payload_type in page.types]
    if page.actions:
        lines = [f"- `{name}`: {text}" if text else f"- `{name}`" for name, text in sorted(page.actions.items())]
        parts.append("\n".join(["## CLIENT ACTIONS\n", *lines]))
    return "\n\n".join(parts) + "\n"


def _describe(type_: PayloadType, page: Page) -> Iterator[str]:
    yield f"## {type_.marker}"
    if type_.instructions:
        yield type_.instructions
    if type_.adapter is not None:
        schema = type_.adapter.json_schema(by_alias=True)
        if type_.kind == "array":
            schema = {"type": "array", "items": schema, "$defs": schema.get("$defs", {})}
        yield f"Its JSON is of this type:\n\n{describe_schema(schema)}"
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
