"""Damage with two equally likely repairs, as notes on the cases of the corpus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from outspoken import Reply, Segment
from outspoken.authoring.shared.text import common_length
from outspoken.engine.policy import ParserPolicy
from outspoken.parsing.options import read_options
from outspoken.parsing.response_reader import ResponseReader
from outspoken.recovery.path import RecoveryPath

from .corpus import Read
from .findings import Finding

#: How many characters of two readings are shown, and how many before they differ.
_LONG, _BEFORE = 60, 20


class AmbiguousValue(NamedTuple):
    """A value of a damaged segment that has two readings of equal cost: its span, the one taken, and the other."""

    span: tuple[int, int]
    taken: str
    other: str


class _LastOfEqual(ParserPolicy):
    """Of several recovery paths that cost the same, takes the last."""

    ties = -1


class _Watching(ParserPolicy):
    """Collects the ambiguous values of recovery."""

    def __init__(self) -> None:
        self.ambiguous_values: list[AmbiguousValue] = []

    def recovered(self, path: RecoveryPath, *, accepted: bool) -> None:
        """A recovery path was found."""
        for number, step in enumerate(path.steps):
            if step.ambiguous:
                text, stop = _value_from(path, number)
                self.ambiguous_values.append(AmbiguousValue((step.start, stop), *_excerpts(text, step.ambiguous)))


def _value_from(path: RecoveryPath, number: int) -> tuple[str, int]:
    """The value that a way reads from one of its steps on, and where it ends."""
    text, end = "", path.steps[number].end
    for step in path.steps[number:]:
        text, end = text + (step.value_text or step.text), step.end
        try:
            json.loads(text)
        except ValueError:
            continue
        break
    return text, end


def _excerpts(one: str, other: str) -> tuple[str, str]:
    """Excerpts of two values from shortly before they differ."""
    texts = [_normalized(one), _normalized(other)]
    start = max(common_length(*texts) - _BEFORE, 0)
    cut = [text[start : start + _LONG] + "..." * (len(text) > start + _LONG) for text in texts]
    return "..." * bool(start) + cut[0], "..." * bool(start) + cut[1]


def _normalized(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def ambiguous_values(one: Read) -> list[AmbiguousValue]:
    """The ambiguous values in the recovery of a case."""
    watching = _Watching()
    read_by(watching, one)
    return watching.ambiguous_values


def read_by(policy: ParserPolicy, one: Read) -> Reply:
    """A case, as a parser with a policy reads it."""
    options = one.case.options
    prefix = options.get("prefix", "")
    reader = ResponseReader(read_options(one.case.format, options.get("tools")), prefix, policy=policy)
    return reader.read(one.case.text)


def other_result(one: Read) -> tuple[Segment, Segment] | None:
    """The first segment that is another one where of ways of equal cost the last is taken, with that other one."""
    other = read_by(_LastOfEqual(), one)
    pairs = zip_longest(_segments(one.reply), _segments(other))
    return next(
        ((mine, theirs) for mine, theirs in pairs if mine and theirs and _content(mine) != _content(theirs)), None
    )


def _segments(reply: Reply) -> list[Segment]:
    """What a reply holds, without text."""
    return [segment for segment in reply.segments if segment.kind != "text"]


def _content(segment: Segment) -> dict[str, Any]:
    """What a segment says; how it was repaired aside."""
    return segment.model_dump(exclude={"repairs", "span", "raw", "arguments_text"})


def check_ambiguity(cases: list[Read]) -> Iterator[Finding]:
    """A note for each case that recovery could read in two ways."""
    for one in cases:
        if not one.reply.diagnostics and one.reply.status == "ok" and one.case.kind == "ok":
            continue
        for ambiguous in ambiguous_values(one):
            kept = any(s.span[0] <= ambiguous.span[0] < s.span[1] for s in one.reply.segments if s.kind == "text")
            became = "it stays text" if kept else "the call is `invalid`"
            yield one.file.finding(
                "two-readings",
                "this value can be read in two ways that are as likely",
                ambiguous.span,
                "note",
                label=became,
                notes=[f"one is `{ambiguous.taken}`", f"the other is `{ambiguous.other}`"],
                helps=["nothing is guessed; a schema of the tool, or rules in `broken_start`, may decide"],
            )
        if (ways := other_result(one)) is not None:
            mine, theirs = (json.dumps(_content(path), ensure_ascii=False) for path in ways)
            taken, other = _excerpts(mine, theirs)
            yield one.file.finding(
                "two-ways",
                "this damage can be repaired in two ways that cost the same, with another result",
                ways[0].span,
                "note",
                label="read in the first of them",
                notes=[f"one gives `{taken}`", f"the other gives `{other}`"],
                helps=["name more of the markers around it, or say in `broken_start` what is meant"],
            )
