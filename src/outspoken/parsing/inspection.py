"""What formats there are, and which of them a text may be in."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from outspoken.detection.opener_index import PLAIN
from outspoken.grammar import registry
from outspoken.notations.tools import Tools
from outspoken.results.replies import STATUSES, Reply, Status

from .functions import parse

_MODEL = ConfigDict(frozen=True, defer_build=True)


class FormatInfo(BaseModel):
    """What the grammar of a format says of it.

    `name` and each of the `aliases` is accepted as `parse(text, format=...)`; `example` is a response in the format.
    `like` is the format that `auto` names where both read a text alike, or "".
    """

    model_config = _MODEL

    name: str
    title: str
    models: tuple[str, ...]
    aliases: tuple[str, ...]
    source: str
    like: str
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
        like=header.like,
        example=header.example,
    )


def detect(text: str, *, tools: Any = None) -> list[Candidate]:
    """The formats that a text may be in, best first; empty for plain text.

    Every format reads the text, as it stands or behind what its prompts open, where that is sound. Those that find
    nothing but what plain text has (text and reasoning tags) are no candidates, nor are those that find what the
    format does that they are like; plain text itself is one if there is reasoning. The format that `parse` picks is
    the first one. The others follow by their damage, then by how much they cover, by whether the tools they call are
    known, by name.
    """
    given = Tools.of(tools)
    picked = parse(text, tools=given).format
    plain = _found(parse(text, format=PLAIN))
    found: list[Candidate] = []
    replies = {name: _reading(text, name, given) for name in registry.names()}
    for name, reply in replies.items():
        here, like = _found(reply), registry.header(name).like
        foreign = any(repair.code == "foreign-notation" for repair in reply.repairs)
        same = like and name != picked and replies[like].status == reply.status and _found(replies[like]) == here
        if here and (here != plain or name == PLAIN) and not foreign and not same:
            found.append(_candidate(name, reply, given))
    return sorted(found, key=lambda c: (c.format != picked, *_rank(c)))


def _reading(text: str, name: str, tools: Tools | None) -> Reply:
    """What a format reads in a text of which it is not known what the prompt had opened."""
    reply = parse(text, format=name, tools=tools, prefix="")
    if reply.reasoning is None and not reply.tool_calls and registry.header(name).opened:
        behind = parse(text, format=name, tools=tools)
        return behind if behind.status == "ok" else reply
    return reply


def _found(reply: Reply) -> list[tuple[str, str]]:
    """What a reply has besides text: the kinds of its segments, with what the model wrote there."""
    found = [(s.kind, reply.raw[slice(*s.span)].strip()) for s in reply.segments if s.kind != "text"]
    return found + [("envelope", "")] * reply.envelope


def _rank(candidate: Candidate) -> tuple[Any, ...]:
    likeness = bool(registry.header(candidate.format).like)
    return STATUSES.index(candidate.status), -candidate.covered, not candidate.known, likeness, candidate.format


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
