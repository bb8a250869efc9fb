"""Which formats there are, and which of them a text may be in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outspoken.grammar import registry
from outspoken.grammar.registry import PLAIN
from outspoken.notations.tools import ToolLike, Tools
from outspoken.results.arguments import text_of
from outspoken.results.construct import FrozenModel
from outspoken.results.replies import STATUSES, Reply, Status

from .functions import parse


class FormatInfo(FrozenModel):
    """A format, as its grammar describes it.

    Pass `name` or one of the `aliases` as `parse(text, format=...)`. `example` is a response in the format. `like` is
    the format that "auto" prefers if both read a text alike, or "". `ids` maps patterns of the ids of models to what
    their prompts end with.
    """

    name: str
    title: str
    models: tuple[str, ...]
    aliases: tuple[str, ...]
    source: str
    like: str
    example: str
    ids: dict[str, str]


class Candidate(FrozenModel):
    """A format that finds more than text in a response.

    `covered` is the share of the response that is not text, from 0 to 1, without white space. `status` is the status of
    the format's reply. `calls` are the names of the complete calls, in order. `known` is true if all of them are among
    the given tools, or if no tools were given.
    """

    format: str
    status: Status
    covered: float
    calls: tuple[str, ...]
    known: bool


def formats() -> list[FormatInfo]:
    """Return all formats in alphabetical order."""
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
        ids=header.ids,
    )


def detect(text: str | bytes | None, *, tools: Tools | Sequence[ToolLike] | None = None) -> list[Candidate]:
    """Return the formats that a text may be in, the best first. The list is empty for plain text.

    Every format reads the text, with and without the end of its prompts. A format is left out if it finds no more than
    plain text does (text, and reasoning on lines of its own), the same as the format that it is `like`, or with
    repaired markup the calls that another one finds as they stand. Plain text is included if it finds reasoning. The
    first candidate is the format that `parse` picks. The others are sorted by damage, by `covered`, by `known` and by
    name.
    """
    text, known_tools = text_of(text, "text"), Tools.of(tools)
    picked = parse(text, tools=known_tools).format
    plain = _found(parse(text, format=PLAIN))
    candidates: list[Candidate] = []
    replies = {name: _reply_of(text, name, known_tools) for name in registry.names()}
    intact = [_names(reply) for reply in replies.values() if not _has_repaired_markup(reply)]
    for name, reply in replies.items():
        here, like = _found(reply), registry.header(name).like
        is_foreign = any(repair.code == "foreign-notation" for repair in reply.repairs)
        is_foreign = is_foreign or (name != picked and _has_repaired_markup(reply) and _names(reply) in intact)
        same = like and name != picked and replies[like].status == reply.status and _found(replies[like]) == here
        own = name == PLAIN or (here != plain and not _is_plain(reply))
        if here and own and not is_foreign and not same:
            candidates.append(_candidate(name, reply, known_tools))
    return sorted(candidates, key=lambda c: (c.format != picked, *_rank(c)))


def _reply_of(text: str, name: str, tools: Tools | None) -> Reply:
    """The reply of a format for a text whose prompt is not known."""
    reply = parse(text, format=name, tools=tools, prefix="")
    if reply.reasoning is None and not reply.tool_calls and registry.header(name).opened:
        behind = parse(text, format=name, tools=tools)
        return behind if behind.status == "ok" else reply
    return reply


def _found(reply: Reply) -> list[tuple[str, str]]:
    """What a reply holds besides text: the kinds of its segments, with what the model wrote there."""
    found = [(s.kind, reply.raw[slice(*s.span)].strip()) for s in reply.segments if s.kind != "text"]
    return found + [("envelope", "")] * reply.envelope


def _is_plain(reply: Reply) -> bool:
    """Does a reply hold nothing but text, and reasoning that plain text would find if it stood alone?"""
    edges = [0, *[edge for segment in reply.segments for edge in segment.span], len(reply.raw)]
    for number, segment in enumerate(reply.segments):
        if segment.kind == "reasoning":
            alone = parse(reply.raw[edges[2 * number] : edges[2 * number + 3]].strip(), format=PLAIN)
            if [s.kind for s in alone.segments] != ["reasoning"] or alone.reasoning != segment.text:
                return False
        elif segment.kind != "text":
            return False
    return not reply.envelope


def _names(reply: Reply) -> list[str]:
    """The names of the calls of a reply, complete or not."""
    return [s.name for s in reply.segments if s.kind == "tool_call"]


def _has_repaired_markup(reply: Reply) -> bool:
    return any(diagnostic.code in ("damaged-marker", "missing-marker") for diagnostic in reply.diagnostics)


def _rank(candidate: Candidate) -> tuple[Any, ...]:
    likeness = bool(registry.header(candidate.format).like)
    return STATUSES.index(candidate.status), -candidate.covered, not candidate.known, likeness, candidate.format


def _candidate(name: str, reply: Reply, tools: Tools | None) -> Candidate:
    calls = tuple([call.name for call in reply.tool_calls])
    whole = _length_without_space(reply.raw)
    # The content of an envelope is text, too, but not as it stands there
    text = sum(
        [
            _length_without_space(s.text)
            for s in reply.segments
            if s.kind == "text" and reply.raw.startswith(s.text, s.span[0])
        ]
    )
    return Candidate(
        format=name,
        status=reply.status,
        covered=round(1 - text / whole, 3) if whole else 0.0,
        calls=calls,
        known=tools is None or all(call in tools for call in calls),
    )


def _length_without_space(text: str) -> int:
    """The number of characters that are not white space."""
    return sum([len(word) for word in text.split()])
