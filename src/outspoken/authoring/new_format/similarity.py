"""Finds the format that responses resemble: the same order of parts, with any markup between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from outspoken import RenderError, render
from outspoken.authoring.shared.checkout import Checkout
from outspoken.grammar.header import Header, read_header
from outspoken.grammar.sources import sources

from .call_slots import Call, Sample, Slot, UnclearError, is_tag, json_value, python_value, slots_of_object, tokens
from .messages import MESSAGES, RenderedMessage, found, segments
from .notation import Notation, notation

#: A tag, a part of one before or behind a name in it, or a token.
TAG = (
    r"(?:<[^<>\n\"'=]{1,80}>|<[^<>\n\"'=]{1,80}=(?:[\"']|(?![\"']))|[\"'][^<>\n]{0,80}>|(?<=[\w.\-])\s*/?>"
    r"|\[/?[A-Z][A-Z0-9_]*\])"
)
_THOUGHT = re.compile(
    r"(?P<open>[<\[][^<>\[\]/\n]{0,30}(?:think|thought|reason)[^<>\[\]\n]{0,30}[>\]]\s*)(?P<text>.*?)"
    r"(?P<close>\s*[<\[][^<>\[\]\n]{0,30}(?:think|thought|reason)[^<>\[\]\n]{0,30}[>\]]\s*)",
    re.DOTALL | re.IGNORECASE,
)
#: The end of reasoning that the prompt had opened.
_CLOSED = re.compile(r"[^<\[]*?(?:</[^<>/\n]{0,30}think[^<>\n]{0,30}>|\[/THINK\])\s*", re.IGNORECASE)
_NAMES = {
    "name": r"[\w.\-/$@]{1,100}",
    "id": r"(?=[A-Za-z_.\-]{0,40}\d)[\w.\-]{1,100}",
    "index": r"\d{1,9}",
    "key": r"[\w.\-$]{1,100}",
}
#: A word that opens a call: alone before it on a line (`CALL: {`), or glued to its bracket (`functools[`).
_WORD = r"(?:(?<=\n)|\A)[A-Z][A-Za-z_]{1,30}:"
_GLUED = re.compile(r"(?<!\w)[A-Za-z]\w{2,30}\Z")
#: The tokens that end a turn, where whoever ran the model left them in.
END_OF_TURN = (
    r"<\|(?:im_end|eot_id|eom_id|eot|end_of_text|endoftext|end_of_turn)\|>|</s>|<end_of_turn>|<eos>"
    r"|<｜end▁of▁sentence｜>"
)
_CLOSERS = re.compile(rf"(?:\s*(?!(?:{END_OF_TURN})\s*\Z)(?:{TAG}|[\])}}]|```))*")


#: The notation of a format, by its name and the checksums of the files that its grammar is made from.
_NOTATIONS: dict[tuple[str, tuple[tuple[str, int], ...]], Notation | None] = {}


def rendered_notation(format: str) -> Notation | None:
    """How a format writes calls, inferred from its renderer; None if it writes none, or without a marker."""
    samples: list[Sample] = []
    for message in MESSAGES.values():
        try:
            samples.append(found(RenderedMessage(render(segments(message), format)), message))
        except (RenderError, UnclearError):
            continue
    try:
        inferred = notation(samples)
    except UnclearError:
        return None
    return inferred if (inferred.section[0] + inferred.head[0][0]).strip() else None


def notations(checkout: Checkout, formats: Iterable[str]) -> dict[str, Notation]:
    """The notations of formats, as far as they can be inferred; the most common ones come first.

    Formats of GUI actions are none of them: samples do not tell what their words mean.
    """
    headers = {name: _header(checkout, name) for name in formats}
    formats = [name for name, header in headers.items() if not header.actions]
    formats.sort(key=lambda name: (-len(headers[name].models), name))
    made = {name: (name, tuple(sources(checkout.grammar(name)).items())) for name in formats}
    if not all(key in _NOTATIONS for key in made.values()):
        with checkout.in_use():
            for name, key in made.items():
                _NOTATIONS[key] = rendered_notation(name)
    return {name: found for name, key in made.items() if (found := _NOTATIONS[key])}


def _header(checkout: Checkout, format: str) -> Header:
    path = checkout.grammar(format)
    return read_header(path.read_text("utf-8"), str(path))


@dataclass(frozen=True, slots=True)
class FormatMatch:
    """Responses as a format of the name `format` would write them, with other markup."""

    format: str
    notation: Notation
    calls: int
    changes: int


def matching_formats(texts: Sequence[str], known: dict[str, Notation]) -> list[FormatMatch]:
    """The formats in whose notation the responses can be read, the nearest first.

    Equally near formats are in the order of `known`.
    """
    made: list[FormatMatch] = []
    for name, one in known.items():
        for form in (one, *_with_id(one)):
            with suppress(UnclearError):
                made.append(match_format(texts, name, form))
    return sorted(made, key=lambda like: (like.changes, -like.calls))


def _with_id(known: Notation) -> list[Notation]:
    """A name and its arguments between tokens, with an id before the name or behind it as well."""
    if known.kinds != ("name", "object") or not is_tag(known.head[1][0]):
        return []
    (opened, _), (token, _) = known.head
    orders = (("id", "name"), ("name", "id"))
    return [replace(known, head=((opened, one), (token, other), (token, "object"))) for one, other in orders]


def match_format(texts: Sequence[str], format: str, known: Notation) -> FormatMatch:
    """Infer the notation of responses whose calls are built like a known one with other markup. Raises UnclearError."""
    samples = [sample for text in texts for sample in locate_calls(text, known)]
    if known.arguments and not any(call.arguments for sample in samples for call in sample.calls):
        raise UnclearError("no call has arguments that stand one by one")
    inferred = notation(samples, known)
    old, new = known.markers, inferred.markers
    changes = sum(old.get(place, "").strip() != new.get(place, "").strip() for place in {*old, *new})
    return FormatMatch(format, inferred, sum(len(sample.calls) for sample in samples), changes)


def locate_calls(text: str, known: Notation) -> list[Sample]:
    """The calls of a response that are built like those of a known notation, in adjacent groups."""
    thought = _THOUGHT.search(text)
    closed = thought or _CLOSED.match(text)
    start = closed.end() if closed else 0
    calls = list(_objects(text, start) if known.kinds[0] in ("call", "quoted_name") else _named(text, start, known))
    words = [token.strip() for markup, _ in known.head for token in tokens(markup) if not is_tag(token)]
    groups: list[Sample] = []
    for call in calls:
        at = groups[-1].calls[-1].end if groups else start
        end = _run_behind(text, call, known)
        opened = _run_before(text, at, call.start, words)
        if groups and not text[groups[-1].end : opened].strip():
            groups[-1] = replace(groups[-1], calls=(*groups[-1].calls, call), end=end)
        elif text[opened : call.start].strip():
            after = (
                "text" if text[at:opened].strip() or groups else ""
            )  # what closes reasoning is no part of the markup
            groups.append(Sample(text, (call,), opened, end, after))
    if thought:
        close = thought["close"]
        span = (thought.start("text"), thought.end("text"))
        groups.append(Sample(text, (), 0, 0, "", span, thought.start("close") + len(close)))
    return groups


def _run_before(text: str, start: int, end: int, words: list[str]) -> int:
    """The start of the markup that ends at `end`, at least `start`."""
    literal = "|".join(re.escape(word) for word in words if word)
    pattern = re.compile(rf"(?:{TAG}|[\[,;({{]|{_WORD}{'|' + literal if literal else ''})\s*\Z")
    at = end
    while at > start and (match := pattern.search(text[start:at])):
        at = start + match.start()
    if text[at : at + 1] == "[" and (glued := _GLUED.search(text[start:at])):
        at = start + glued.start()
    while at > start and at < end and text[at - 1].isspace():
        at -= 1
    return at


def _run_behind(text: str, call: Call, known: Notation) -> int:
    """The end of the markup after a call."""
    inner = _gap(known.lead).match(text, call.end) if known.arguments and not call.arguments else None
    start = inner.end() if inner else call.end
    match = _CLOSERS.match(text, start)
    return match.end() if match else start


def _objects(text: str, start: int) -> Iterator[Call]:
    """The calls that are JSON objects."""
    at = text.find("{", start)
    while at >= 0:
        slots = slots_of_object(text, at)
        value = json_value(text, at)
        if slots and value:
            yield Call(slots)
            at = text.find("{", value[1])
        else:
            at = text.find("{", at + 1)


def _named(text: str, start: int, known: Notation) -> Iterator[Call]:
    """The calls whose name is not part of a JSON object."""
    first = known.head[0][0]
    opens = rf"(?:{TAG}|(?<![\w])\[|(?<=\)),)\s*" if not any(map(is_tag, tokens(first))) else rf"{TAG}\s*"
    words = "".join(rf"(?:{re.escape(token.strip())})?" for token in tokens(first) if not is_tag(token))
    opener = re.compile(opens + words)
    at = start
    while match := opener.search(text, at):
        call = _call(text, match.end(), known)
        at = call.end if call else match.start() + 1
        if call:
            yield call


def _call(text: str, start: int, known: Notation) -> Call | None:
    """The call whose first slot begins at `start`."""
    head: list[Slot] = []
    at = start
    for number, (markup, kind) in enumerate(known.head):
        if number:
            gap = _gap(markup, loose=kind == "object").match(text, at)
            if gap is None:
                return None
            at = gap.end()
        if kind == "object":
            value = json_value(text, at)
            if value is None or not isinstance(value[0], dict):
                return None
            head.append(Slot("object", at, value[1]))
        else:
            match = re.compile(_NAMES.get(kind, r"(?!)")).match(text, at)
            if match is None:
                return None
            head.append(Slot(kind, at, match.end()))
        at = head[-1].end
    if known.arguments is None:
        return Call(tuple(head))
    return _with_arguments(text, tuple(head), known)


def _with_arguments(text: str, head: tuple[Slot, ...], known: Notation) -> Call | None:
    """The call with the arguments after its head; None if there is something else."""
    arguments = known.arguments
    if arguments is None:
        return None
    pairs: list[tuple[Slot, Slot]] = []
    lead = _gap(known.lead).match(text, head[-1].end)
    at = head[-1].end
    while True:
        before = _tags(arguments.separator) if pairs else rf"{_tags(known.lead)}(?:<[^<>\n\"'=]{{1,80}}>)?"
        opened = re.compile(before + _tags(arguments.open)).match(text, at)
        key = re.compile(_NAMES["key"]).match(text, opened.end()) if opened and "</" not in opened[0] else None
        middle = _gap(arguments.middle, bare=arguments.kind == "value").match(text, key.end()) if key else None
        slot = _value(text, middle.end(), known) if middle else None
        if key is None or slot is None:
            break
        pairs.append((Slot("key", *key.span()), slot))
        close = _gap(arguments.close).match(text, slot.end)
        at = close.end() if close else slot.end
    closed = pairs or (lead and _gap(known.close).match(text, lead.end()))
    return Call(head, tuple(pairs)) if closed else None


def _value(text: str, start: int, known: Notation) -> Slot | None:
    """The value of an argument that begins at `start`."""
    arguments = known.arguments
    if arguments is None:
        return None
    if arguments.kind in ("json", "python"):
        value = (json_value if arguments.kind == "json" else python_value)(text, start)
        if value is None:
            return None
        spelled = "quoted_json" if arguments.kind == "json" else "quoted_python"
        return Slot(spelled if isinstance(value[0], str) else arguments.kind, start, value[1])
    close = re.compile(rf"\s*(?:</[^<>\n]{{1,80}}>|{_tags(arguments.close)})(?=\s*(?:{TAG}|\Z))").search(text, start)
    if close is None:
        return None
    end = close.end() - len(close[0].lstrip())
    if text[start : start + 1] == "\n" and text[end - 1 : end] == "\n" and end - start > 2:
        start, end = start + 1, end - 1
    value = json_value(text, start)
    other = value is not None and value[1] == end and not isinstance(value[0], str)
    return Slot("either" if other else "value", start, end)


def _gap(markup: str, *, loose: bool = False, bare: bool = False) -> re.Pattern[str]:
    """A pattern for markup with any tags in place of its tags. Loose markup may be any tags.

    It includes the white space after it, unless bare text follows, to which that may belong.
    """
    if loose and any(map(is_tag, tokens(markup))):
        return re.compile(rf"\s*(?:{TAG}\s*){{0,3}}")
    return re.compile(_tags(markup) + (r"[ ]?" if bare and markup.endswith(" ") else "" if bare else r"\s*"))


def _tags(markup: str) -> str:
    """The pattern for markup with any tags for its tags, up to its last token."""
    return r"\s*" + r"\s*".join(
        [TAG if is_tag(token) else re.escape(token.strip()) for token in tokens(markup) if token.strip()]
    )
