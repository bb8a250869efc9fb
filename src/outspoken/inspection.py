"""What formats there are, and which of them a text may be in."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from . import registry
from .api import parse
from .detection import PLAIN
from .replies import STATUSES, Reply, Status
from .tools import Tools

_MODEL = ConfigDict(frozen=True, defer_build=True)


class FormatInfo(BaseModel):
    """What the grammar of a format says of it.

    `name` and each of the `aliases` is accepted as `parse(text, format=...)`; `example` is a response in the format.
    """

    model_config = _MODEL

    name: str
    title: str
    models: tuple[str, ...]
    aliases: tuple[str, ...]
    source: str
    example: str


class Candidate(BaseModel):
    """A format that reads more than text in a response.

    `covered` is the share of the response, from 0 to 1 and white space aside, that it reads as something else than
    text. `status` is that of its reply, `calls` names the tools of its finished calls in order, and `known` says that
    all of those are tools that were given, or that none were given.
    """

    model_config = _MODEL

    format: str
    status: Status
    covered: float
    calls: tuple[str, ...]
    known: bool


def formats() -> list[FormatInfo]:
    """All formats, in alphabetical order."""
    return [_info(name) for name in registry.names()]


def _info(name: str) -> FormatInfo:
    header = registry.header(name)
    return FormatInfo(
        name=name,
        title=header.title,
        models=header.models,
        aliases=header.aliases,
        source=header.source,
        example=header.example,
    )


def detect(text: str, *, tools: Any = None) -> list[Candidate]:
    """The formats that a text may be in, best first; empty for plain text.

    Every format reads the text. Those that find nothing but what plain text has (text and reasoning tags) are no
    candidates; plain text itself is one if there is reasoning. The format that `parse` picks is the first one. The
    others follow by their damage, then by how much they cover, by whether the tools they call are known, by name.
    """
    given = Tools.of(tools)
    picked = parse(text, tools=given).format
    plain = _found(parse(text, format=PLAIN))
    found: list[Candidate] = []
    for name in registry.names():
        reply = parse(text, format=name, tools=given)
        here = _found(reply)
        foreign = any(repair.code == "foreign-notation" for repair in reply.repairs)
        if here and (here != plain or name == PLAIN) and not foreign:
            found.append(_candidate(name, reply, given))
    return sorted(found, key=lambda c: (c.format != picked, *_rank(c)))


def _found(reply: Reply) -> list[tuple[str, str]]:
    """What a reply has besides text: the kinds of its segments, with what the model wrote there."""
    found = [(s.kind, reply.raw[slice(*s.span)].strip()) for s in reply.segments if s.kind != "text"]
    return found + [("envelope", "")] * reply.envelope


def _rank(candidate: Candidate) -> tuple[Any, ...]:
    return STATUSES.index(candidate.status), -candidate.covered, not candidate.known, candidate.format


def _candidate(name: str, reply: Reply, tools: Tools | None) -> Candidate:
    calls = tuple([call.name for call in reply.tool_calls])
    whole = _ink(reply.raw)
    # The content of an envelope is text, too, but not as it stands there
    text = sum([_ink(s.text) for s in reply.segments if s.kind == "text" and reply.raw.startswith(s.text, s.span[0])])
    return Candidate(
        format=name,
        status=reply.status,
        covered=round(1 - text / whole, 3) if whole else 0.0,
        calls=calls,
        known=tools is None or all(call in tools for call in calls),
    )


def _ink(text: str) -> int:
    """How many characters of a text are no white space."""
    return sum([len(word) for word in text.split()])
