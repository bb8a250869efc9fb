"""A row of another project's tests, compared with what we read: in what do they differ, and is that on purpose?"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from outspoken import Parser, Reply, ToolCall, parse
from tests.parsing.peers import Row
from tests.streams import streamed


class Found(NamedTuple):
    """What was read of a row."""

    calls: list[tuple[str, Any]]
    text: str
    reasoning: str


def found(reply: Reply, *, unfinished: bool = False) -> Found:
    """The calls of a reply, its text and its reasoning; with `unfinished`, calls that are cut are calls, too."""
    wanted = ("ok", "repaired", "truncated") if unfinished else ("ok", "repaired")
    calls = [s for s in reply.segments if isinstance(s, ToolCall) and s.status in wanted]
    return Found([(c.name, c.arguments) for c in calls], reply.text, reply.reasoning or "")


def read(row: Row, *, ended: bool = False) -> Reply:
    """A row's text as its format reads it, in the row's chunks where it has any."""
    reason = "stop" if ended else None
    if row.chunks is None:
        return parse(row.text, format=row.format, tools=row.tools, prefix=row.prefix, finish_reason=reason)
    return streamed(Parser(row.format, tools=row.tools), row.chunks, reason, row.prefix)


def differs(row: Row, got: Found) -> list[str]:
    """In which of the things that the row asserts do we differ?"""
    names, arguments = [name for name, _ in got.calls], [value for _, value in got.calls]
    return [
        *["count"] * (row.number is not None and len(got.calls) != row.number),
        *["names"] * (row.names is not None and names != row.names),
        *["arguments"] * (row.arguments is not None and not _agree(arguments, row.arguments)),
        *["content"] * (row.content is not None and not _holds(row, row.content, got)),
        *["reasoning"] * (row.reasoning is not None and _bare(got.reasoning) != _bare(row.reasoning)),
    ]


def _agree(ours: list[Any], theirs: list[Any]) -> bool:
    """Are the arguments of all calls the same? Of None no more is known than that the peer could not read them."""
    return len(ours) == len(theirs) and all(
        other is None or _same(value, other) for value, other in zip(ours, theirs, strict=True)
    )


def _same(left: Any, right: Any) -> bool:
    """Equality of JSON values, where 1 is 1.0 and not true."""
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        return ours.keys() == theirs.keys() and all(_same(value, theirs[key]) for key, value in ours.items())
    if isinstance(left, list) and isinstance(right, list):
        mine, other = cast("list[Any]", left), cast("list[Any]", right)
        return len(mine) == len(other) and all(_same(a, b) for a, b in zip(mine, other, strict=True))
    return isinstance(left, bool) is isinstance(right, bool) and left == right


def _bare(text: str) -> str:
    """A text without white space: what stands between blocks belongs to their markup or to the text round them."""
    return "".join(text.split())


def _holds(row: Row, content: str, got: Found) -> bool:
    """Is the peer's content our text, or, where its parser leaves something in it, the same when it is read?"""
    if _bare(got.text) == _bare(content):
        return True
    if not row.joined:
        return False
    inner = found(parse(content, format=row.format, tools=row.tools, prefix=""))
    if row.joined == "reasoning":
        return _bare(inner.reasoning + inner.text) == _bare(got.reasoning + got.text)
    return _bare(inner.text) == _bare(got.text) and inner.calls == got.calls


def habit(row: Row, reply: Reply) -> str | None:
    """Which of our habits (its name) explains all that differs? None if none does."""
    mine = found(reply)
    if row.prefix and _is_prefilled(row, mine):
        return "PREFILLED"
    return next((why for why, other in _other_readings(row, reply, mine) if not differs(row, other)), None)


def _other_readings(row: Row, reply: Reply, mine: Found) -> Iterator[tuple[str, Found]]:
    """What we would have found without one of our habits, with its name."""
    yield "CUT", found(read(row, ended=True))
    yield "CUT", found(reply, unfinished=True)
    given = _properties(row)
    if row.arguments is not None and len(row.arguments) == len(mine.calls):
        pairs = list(zip(mine.calls, row.arguments, strict=True))
        untyped = [(name, _retyped(value, other, given.get(name, {}))) for (name, value), other in pairs]
        yield "TYPED", mine._replace(calls=untyped)
        yield "SPELLED", mine._replace(calls=[(name, _respelled(value, other)) for (name, value), other in pairs])
    if given:
        yield "UNKNOWN", mine._replace(calls=[call for call in mine.calls if call[0] in given])
    if row.content is not None and _bare(mine.text).startswith(_bare(row.content)):
        yield "KEPT" if reply.status == "ok" else "BROKEN", mine._replace(text=row.content)
    if row.reasoning is not None and reply.status != "ok" and mine.reasoning.strip().startswith(row.reasoning.strip()):
        yield "BROKEN", mine._replace(reasoning=row.reasoning)


def _properties(row: Row) -> dict[str, Any]:
    """The schemas of each tool's arguments, by its name."""
    tools: list[dict[str, Any]] = [tool.get("function") or tool for tool in row.tools or ()]
    schemas: dict[str, dict[str, Any]] = {tool["name"]: tool.get("parameters") or {} for tool in tools}
    return {name: schema.get("properties") or {} for name, schema in schemas.items()}


def _retyped(value: Any, other: Any, known: dict[str, Any]) -> Any:
    """The other arguments where they are texts, no schema is known, and ours are the JSON in them."""
    if not _are_objects(value, other):
        return other if _is_json_of(other, value) else value
    ours, theirs = cast("dict[str, Any]", value), cast("dict[str, Any]", other)
    return {key: item if key in known else _retyped(item, theirs.get(key), {}) for key, item in ours.items()}


def _respelled(value: Any, other: Any) -> Any:
    """The other arguments where ours are texts and theirs the JSON in them, or the reverse."""
    if not _are_objects(value, other):
        return other if _is_json_of(value, other) or _is_json_of(other, value) else value
    ours, theirs = cast("dict[str, Any]", value), cast("dict[str, Any]", other)
    return {key: _respelled(item, theirs.get(key)) for key, item in ours.items()}


def _are_objects(value: Any, other: Any) -> bool:
    return isinstance(value, dict) and isinstance(other, dict)


def _is_json_of(text: Any, value: Any) -> bool:
    try:
        return isinstance(text, str) and _same(json.loads(text), value)
    except ValueError:
        return False


def _is_prefilled(row: Row, mine: Found) -> bool:
    """Do content and reasoning only lack their beginnings, and do these stand in the prompt?"""
    for text, other in ((mine.text, row.content), (mine.reasoning, row.reasoning)):
        if other is not None and text.strip() != other.strip():
            rest = other.strip().removesuffix(text.strip()).strip()
            if not rest or rest not in (row.prefix or ""):
                return False
    return not differs(row._replace(content=None, reasoning=None), mine)
