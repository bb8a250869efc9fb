"""What texts are read as, whole and in pieces: the tables of this folder, as `README.md` describes them."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from outspoken import Parser, Reply, Screen, Settings, ToolCall
from outspoken.authoring.fuzz.checks import ParseArguments
from outspoken.results.printing import one_line
from tests.invariants.events import check_events
from tests.invariants.replies import check_chunks
from tests.loops import SEED, for_each, in_one_item
from tests.tables import tables

FILES = {path.stem: tables(str(path)) for path in sorted(Path(__file__).parent.glob("*.yaml"))}
GROUPS = [(file, name) for file, table in FILES.items() for name in table.get("groups", ())]
STREAMS = {name: stream for table in FILES.values() for name, stream in table.get("streams", {}).items()}
#: The text of a reply that is all of the response, to the byte.
ALL = "(all)"


class Row(NamedTuple):
    """A text, how it is read, what is said of it, and whether it is also read in single characters in each run."""

    text: str
    args: ParseArguments
    said: dict[str, Any]
    by_character: bool

    def __str__(self) -> str:
        return f"{self.text!r}, {self.args}"


def filled(value: Any, parts: dict[str, str]) -> Any:
    """A value with the parts that its texts name."""
    if isinstance(value, dict):
        return {key: filled(inner, parts) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [filled(inner, parts) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return re.sub(r"\$([A-Z_]+)", lambda name: parts[name[1]], value) if isinstance(value, str) and parts else value


def options_of(given: dict[str, Any], tools: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `parse` that a table spells as plain data."""
    made = dict(given)
    if isinstance(given.get("tools"), str):
        made["tools"] = tools[given["tools"]]
    if "settings" in given:
        made["settings"] = Settings(**given["settings"])
    if "screen" in given:
        made["screen"] = Screen(*given["screen"])
    return made


def rows(file: str, group: str) -> Iterator[Row]:
    """Each case of a group in each of its formats."""
    table = FILES[file]
    parts, shared = table.get("parts", {}), table["groups"][group]
    for case in shared["cases"]:
        own: dict[str, Any] = {"text": case} if isinstance(case, str) else case
        given: dict[str, Any] = {**shared.get("with", {}), **own.get("with", {})}
        row = filled({**shared, **own, "with": given}, parts)
        options, formats = options_of(row["with"], table.get("tools", {})), row.get("format", "auto")
        reason = options.pop("finish_reason", None)
        said = {key: value for key, value in row.items() if key not in ("text", "format", "with", "cases")}
        for format_ in [formats] if isinstance(formats, str) else formats:
            args = ParseArguments(format_, options, reason)
            yield Row(row["text"], args, said, "by_character" in table)


def call(made: ToolCall) -> list[Any]:
    return [made.name, made.arguments, *([] if made.status == "ok" else [made.status])]


def told(reply: Reply) -> dict[str, Any]:
    """All that a reply says, without what is empty."""
    found: dict[str, Any] = {
        "status": reply.status if reply.status != "ok" else "",
        "shown": ALL if reply.text and reply.text == reply.raw else reply.text,
        "reasoning": reply.reasoning,
        "calls": [call(made) for made in reply.tool_calls],
        "unfinished": [call(made) for made in reply.unfinished_tool_calls],
        "actions": [repr(action) for action in reply.actions],
        "unfinished_actions": [repr(action) for action in reply.unfinished_actions],
        "payloads": [[payload.type, payload.data] for payload in reply.payloads],
        "values": [segment.value for segment in reply.segments if segment.kind == "json"],
        "codes": [diagnostic.code for diagnostic in reply.diagnostics],
    }
    return {key: value for key, value in found.items() if value}


def asked(reply: Reply) -> dict[str, Any]:
    """What only some tables say of a reply."""
    return {
        "kinds": [segment.kind for segment in reply.segments],
        "says": [str(diagnostic) for diagnostic in reply.diagnostics],
        "marks": [reply.raw[slice(*diagnostic.span)] for diagnostic in reply.diagnostics],
        "repairs": [repair.code for repair in reply.repairs],
        "paths": [".".join(map(str, repair.path)) for repair in reply.repairs if repair.level != "markup"],
        "read_as": reply.format,
        "answered": reply.final_answer_streamed,
        "failed": reply.looks_like_failed_tool_call,
        "envelope": reply.to_envelope(),
        "cut_arguments": [call.arguments_text for call in reply.unfinished_tool_calls],
    }


def check(row: Row) -> None:
    """A text is read as its table says, whole and in pieces that are drawn."""
    reply = row.args.parse(row.text)
    more = asked(reply)
    found = told(reply) | {key: more[key] for key in row.said if key in more}
    assert found == {key: value for key, value in row.said.items() if value or key in more}
    if row.by_character:
        events, streamed = row.args.stream(row.text)
        assert streamed == reply
        check_events(events)
    check_chunks(row.text, row.args, reply, Random(f"{SEED} {row}"))


@pytest.mark.parametrize(("file", "group"), GROUPS, ids=[f"{file}: {name}" for file, name in GROUPS])
def test_readings(file: str, group: str) -> None:
    for_each(rows(file, group), check)


@in_one_item("name", STREAMS)
def test_streams(name: str) -> None:
    stream = STREAMS[name]
    session = Parser(stream.get("format", "auto")).session()
    assert session.held is None
    for chunk, events in stream["chunks"]:
        assert [one_line(event) for event in session.feed(chunk)] == events, chunk
    held = session.held
    assert (held and [held.reason, held.start, held.text]) == stream.get("held")
    assert [one_line(event) for event in session.close()[:-1]] == stream.get("end", [])
    assert session.held is None
