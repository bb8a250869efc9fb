"""Infers the notation of a chat template, and checks whether a format reads its turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from outspoken import RenderError, parse, render

from .call_slots import Sample, UnclearError
from .messages import Message, RenderedMessage, found, left_out, schemas, segments
from .notation import Notation, notation


class Turn(NamedTuple):
    """A message and its rendered text."""

    message: Message
    written: RenderedMessage


@dataclass(frozen=True, slots=True)
class TemplateAnalysis:
    """The notation of messages, each turn without its end token, and remarks for the author."""

    notation: Notation
    turns: dict[str, Turn]
    remarks: list[str]


def trimmed(turns: Mapping[str, Turn]) -> tuple[dict[str, Turn], list[str]]:
    """The turns without their common end, and without parts that are not rendered; and remarks on these parts."""
    _, behind = _common_affixes(turns)
    made: dict[str, Turn] = {}
    remarks: list[str] = []
    for name, (message, written) in turns.items():
        missing = left_out(written, message)
        if missing:
            message = replace(message, **dict.fromkeys(missing, ""))
            beside = " beside a call" if message.calls else ""
            remarks += [f"the template does not write {part}{beside}" for part in missing]
        if message.calls or message.text:
            made[name] = Turn(message, _without(written, behind))
    return made, list(dict.fromkeys(remarks))


def analyse(turns: Mapping[str, Turn]) -> TemplateAnalysis:
    """Infer how messages are written. Raises UnclearError if that is impossible."""
    before, _ = _common_affixes(turns)
    bare, remarks = trimmed(turns)
    samples: dict[str, Sample] = {}
    lost: dict[str, str] = {}
    for name, turn in bare.items():
        try:
            sample = found(turn.written, turn.message)
        except UnclearError as error:
            lost[name] = str(error)
            continue
        skipped = len(before) if not sample.after and sample.text.startswith(before) else sample.start
        samples[name] = replace(sample, start=skipped)
    if not any(sample.calls for sample in samples.values()):
        raise UnclearError(f"no call can be found: {next(iter(lost.values()), 'none is written')}")
    if not any(call.arguments for name in samples for call in bare[name].message.calls):
        raise UnclearError(next(iter(lost.values()), "no call has arguments"))
    inferred = _known_notations(samples, bare, remarks)
    if before.strip():
        remarks.append(f"every turn begins with {before!r}")
    if inferred.ending.strip():
        remarks.append(f"a turn that ends with a call ends with {inferred.ending!r}, which is left out")
    remarks += [f"`{name}`: {why}" for name, why in lost.items()]
    ended = {
        name: Turn(t.message, _without(t.written, inferred.ending)) for name, t in bare.items() if name not in lost
    }
    return TemplateAnalysis(inferred, ended, remarks)


def _known_notations(samples: dict[str, Sample], turns: Mapping[str, Turn], remarks: list[str]) -> Notation:
    """The notation of samples; if they contradict each other, of those without quotes and line breaks in values."""
    try:
        return notation(list(samples.values()))
    except UnclearError as error:
        plain = [sample for name, sample in samples.items() if not _has_line_breaks(turns[name].message)]
        if len(plain) == len(samples):
            raise
        inferred = notation(plain)
        remarks.append(f"a text with quotes and line breaks is written otherwise than other values: {error}")
        return inferred


def _has_line_breaks(message: Message) -> bool:
    return any("\n" in str(value) for call in message.calls for value in call.arguments.values())


def _common_affixes(turns: Mapping[str, Turn]) -> tuple[str, str]:
    """The markup before and after every text, such as empty reasoning or an end-of-turn token."""
    for message, written in turns.values():
        if message.text and message == Message(message.text):
            before, text, behind = (written.prefix + written.text).partition(message.text)
            return (before, behind) if text else ("", "")
    return "", ""


def _without(written: RenderedMessage, ending: str) -> RenderedMessage:
    """A message without the end of the turn; that may lack its trailing white space."""
    ended = ending if written.text.endswith(ending) else ending.rstrip()
    if ended and written.text.endswith(ended):
        return RenderedMessage(written.text[: len(written.text) - len(ended)], written.prefix)
    return written


def differences(turn: Turn, format: str) -> list[str]:
    """How the reply of a format differs from the message; empty if it does not."""
    message, written = turn
    reply = parse(written.text, format, tools=schemas(message) or None, prefix=written.prefix)
    wrong = [f"{diagnostic.code}: {diagnostic.message}" for diagnostic in reply.diagnostics]
    calls = [(call.name, call.arguments) for call in reply.tool_calls]
    for name, meant, read in (
        ("calls", [(call.name, call.arguments) for call in message.calls], calls),
        ("text", message.text, reply.text.strip()),
        ("reasoning", message.reasoning, (reply.reasoning or "").strip()),
    ):
        if meant != read:
            wrong.append(f"meant as {name}: {_shown(meant)}; read: {_shown(read)}")
    return wrong


def _shown(value: Any) -> str:
    return repr(value) if value else "nothing"


def rewritten(turn: Turn, format: str) -> str | None:
    """A message as a format's own renderer writes it; None if it cannot."""
    ids = any(call.id in turn.written.text for call in turn.message.calls)
    try:
        return render(segments(turn.message, ids=ids), format, tools=schemas(turn.message) or None)
    except RenderError:
        return None
