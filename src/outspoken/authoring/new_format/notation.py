"""Infers how calls are written: the markup between the parts of located calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from .call_slots import Call, Sample, Slot, SlotKind, UnclearError, is_tag, tokens


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments that stand one by one. `kind` is what a value is: bare text, JSON, or a Python literal.

    `typed` is what stands before a value that is no text, where that differs: such a value is JSON.
    """

    open: str
    middle: str
    close: str
    separator: str = ""
    kind: SlotKind = "value"
    typed: str | None = None


@dataclass(frozen=True, slots=True)
class Notation:
    """The markup of calls and reasoning. `head` are the slots of a call, each with the markup before it.

    `lead` is the markup between the head and the arguments. `before` is the white space that sets markup off from text
    before it; None if that was not seen. `separated` says that two calls in a row were seen. `ending` is what stands
    behind the last call and closes nothing: a token that ends the turn.
    """

    head: tuple[tuple[str, SlotKind], ...]
    lead: str = ""
    arguments: Arguments | None = None
    close: str = ""
    section: tuple[str, str] = ("", "")
    separator: str = ""
    before: str | None = None
    think: tuple[str, str] | None = None
    separated: bool = False
    ending: str = ""
    #: under which key a call that is an object holds its arguments
    key: str = "arguments"

    @property
    def kinds(self) -> tuple[SlotKind, ...]:
        """The slots of a call in order, with the kind of the values of its arguments at the end."""
        return (*[kind for _, kind in self.head], *([self.arguments.kind] if self.arguments else []))

    @property
    def markers(self) -> dict[str, str]:
        """All markup by its place."""
        found = {"call open": self.head[0][0], "section open": self.section[0]}
        found |= {f"before the {kind.replace('_', ' ')}": markup for markup, kind in self.head[1:]}
        found |= {"behind the name": self.lead}
        if self.arguments:
            written = self.arguments
            found |= {"argument open": written.open, "before the value": written.middle, "value close": written.close}
            found |= {"between arguments": written.separator, "before other values": written.typed or ""}
        found |= {"call close": self.close, "between calls": self.separator, "section close": self.section[1]}
        if self.think:
            found |= {"reasoning open": self.think[0], "reasoning close": self.think[1]}
        return {place: markup for place, markup in found.items() if markup}


def notation(samples: Sequence[Sample], like: Notation | None = None) -> Notation:
    """How the calls of samples are written. What they do not show is taken from a notation that is like it.

    Raises UnclearError if the samples contradict each other.
    """
    called = _numbered(_split(_bare([sample for sample in samples if sample.calls])))
    if not called:
        raise UnclearError("there is no call")
    calls = [call for sample in called for call in sample.calls]
    if len({tuple(slot.kind for slot in call.head) for call in calls}) > 1:
        raise UnclearError("the calls are built in different ways")
    arguments, lead = _arguments(called, like)
    opening, closing, between = _edges(called, arguments, lead)
    head = _head(called)
    section, separator, first, last, ending = _nested(opening, closing, between, like)
    before = _before(called)
    if between and not separator.strip() and not any(section):
        before, separator = separator if before is None else before, ""
    if before is None:
        before = like.before if like else None
    found = Notation(
        head=((first, head[0][1]), *head[1:]),
        key=_key(called),
        lead=lead,
        arguments=arguments,
        close=last,
        section=section,
        separator=separator,
        before=before,
        separated=bool(between),
        ending=ending,
    )
    think = _think(samples, found)
    return replace(found, think=think or (like.think if like else None))


def _bare(samples: list[Sample]) -> list[Sample]:
    """Calls without arguments, whose `{}` is markup where the arguments of others stand one by one in it."""
    if not any(call.arguments for sample in samples for call in sample.calls):
        return samples
    return [replace(s, calls=tuple(_without_braces(s, call) for call in s.calls)) for s in samples]


def _without_braces(sample: Sample, call: Call) -> Call:
    last = call.head[-1]
    empty = last.kind == "object" and sample.text[last.start : last.end] == "{}"
    return replace(call, head=call.head[:-1]) if empty else call


def _split(samples: list[Sample]) -> list[Sample]:
    """Samples in which a section ends and another one begins, as two: all that opens a section stands there again."""
    again = [_again(sample) for sample in samples]
    if not any(found and len(found) < len(sample.calls) - 1 for sample, found in zip(samples, again, strict=True)):
        return samples
    made: list[Sample] = []
    for sample, places in zip(samples, again, strict=True):
        edges = [0, *[number + 1 for number in places], len(sample.calls)]
        for first, last in pairwise(edges):
            calls = sample.calls[first:last]
            start = sample.start if first == 0 else calls[0].start - len(sample.opening.lstrip())
            end = sample.end if last == len(sample.calls) else sample.calls[last].start - len(sample.opening.lstrip())
            made.append(replace(sample, calls=calls, start=start, end=end, after=sample.after if first == 0 else ""))
    return made


def _again(sample: Sample) -> list[int]:
    """The numbers of the calls behind which stands all that stands before the first one."""
    return [i for i, gap in enumerate(sample.between) if gap.endswith(sample.opening.lstrip())]


def _numbered(samples: list[Sample]) -> list[Sample]:
    """Calls whose markup counts them, from 0 or from 1, with slots for these numbers."""
    many = max(samples, key=lambda sample: len(sample.calls), default=None)
    if many is None or len(many.calls) < 2:
        return samples
    for number in range(1, len(many.calls[0].head)):
        gaps = [many.text[call.head[number - 1].end : call.head[number].start] for call in many.calls]
        for first in (0, 1):
            split = [re.search(rf"(?<!\d){i}(?!\d)", gap) for i, gap in enumerate(gaps, first)]
            rests = {gap[: m.start()] + "#" + gap[m.end() :] for gap, m in zip(gaps, split, strict=True) if m}
            if len(set(gaps)) > 1 and len(rests) == 1 and all(split):
                return [replace(s, calls=tuple(_with_index(s, call, number) for call in s.calls)) for s in samples]
    return samples


def _with_index(sample: Sample, call: Call, number: int) -> Call:
    start = call.head[number - 1].end
    match = re.search(r"(?<!\d)\d+(?!\d)", sample.text[start : call.head[number].start])
    if match is None:
        raise UnclearError("some calls are numbered, and some are not")
    slot = Slot("index", start + match.start(), start + match.end())
    return replace(call, head=(*call.head[:number], slot, *call.head[number:]))


def _head(samples: list[Sample]) -> list[tuple[str, SlotKind]]:
    """The slots before the arguments, each with the markup before it; that of the first is not known yet."""
    calls = [(sample, call) for sample in samples for call in sample.calls]
    found: list[tuple[str, SlotKind]] = [("", calls[0][1].head[0].kind)]
    for number in range(1, len(calls[0][1].head)):
        gaps = [s.text[call.head[number - 1].end : call.head[number].start] for s, call in calls]
        found.append((_agreed(gaps, f"before the {calls[0][1].head[number].kind}"), calls[0][1].head[number].kind))
    return found


def _agreed(markups: Iterable[str], place: str) -> str:
    """The markup that stands at a place everywhere, white space aside. Raises UnclearError if it differs."""
    counted = Counter(markups)
    if len({"".join(markup.split()) for markup in counted}) > 1:
        one, other, *_ = {"".join(markup.split()): markup for markup in counted}.values()
        raise UnclearError(f"the markup {place} differs: {one!r} and {other!r}")
    return counted.most_common(1)[0][0]


def _key(samples: list[Sample]) -> str:
    """Under which key calls that are objects hold their arguments, where the shared rule knows it."""
    slots = [(s.text, slot) for s in samples for call in s.calls for slot in call.head if slot.kind == "call"]
    objects = [text[slot.start : slot.end] for text, slot in slots]
    found = {match[1] for text in objects if (match := re.search(r'"(arguments|parameters|args)"\s*:', text))}
    return found.pop() if len(found) == 1 else "arguments"


def _arguments(samples: list[Sample], like: Notation | None) -> tuple[Arguments | None, str]:
    """How arguments that stand one by one are written, and what stands before the first of them."""
    calls = [(sample, call) for sample in samples for call in sample.calls if call.arguments]
    if not calls:
        return (like.arguments, like.lead) if like and like.arguments else (None, "")
    leads = [s.text[call.head[-1].end : call.arguments[0][0].start] for s, call in calls]
    gaps = [s.text[one[1].end : two[0].start] for s, call in calls for one, two in pairwise(call.arguments)]
    tails = [_tail(s, call) for s, call in calls]
    lead = _agreed(leads, "before the first argument")
    close = _common_start([*tails, *gaps]) if gaps else _first_tag(tails)
    opened = _common_end([lead, *[gap[len(close) :] for gap in gaps]]) if gaps else _last_tag(lead)
    separator = _agreed([gap[len(close) : len(gap) - len(opened)] for gap in gaps] or [""], "between arguments")
    if not separator.strip() and separator and close.strip():
        close, separator = close + separator, ""
    rest = lead[: len(lead) - len(opened)]
    if not opened and separator and separator == rest:
        opened, rest, separator = rest, "", ""
    middle, typed, kind = _middles(calls)
    if like and like.arguments and kind == "json" and typed is None:
        kind = like.arguments.kind
    return Arguments(opened, middle, close, separator, kind, typed), rest


def _tail(sample: Sample, call: Call) -> str:
    """What stands between the last slot of a call and the next call, or the end of the markup."""
    number = sample.calls.index(call)
    following = sample.calls[number + 1].start if number + 1 < len(sample.calls) else sample.end
    return sample.text[call.end : following]


def _middles(calls: list[tuple[Sample, Call]]) -> tuple[str, str | None, SlotKind]:
    """What stands between name and value; where it differs for values that are no text; the kind of values."""
    pairs = [(s.text[key.end : value.start], value.kind) for s, call in calls for key, value in call.arguments]
    kinds = {kind for _, kind in pairs}
    texts = [middle for middle, kind in pairs if kind == "value"]
    others = [middle for middle, kind in pairs if kind != "value"]
    if texts and others and {"".join(m.split()) for m in texts} != {"".join(m.split()) for m in others}:
        return _agreed(texts, "before a value"), _agreed(others, "before a value that is no text"), "value"
    middle = _agreed([middle for middle, _ in pairs], "before a value")
    if not kinds & {"quoted_json", "quoted_python"}:
        return middle, None, "value" if "value" in kinds else "json"
    python = bool(kinds & {"quoted_python", "python"}) or (middle.strip() == "=" and "json" not in kinds)
    return middle, None, "python" if python else "json"


def _edges(samples: list[Sample], arguments: Arguments | None, lead: str) -> tuple[str, list[str], list[str]]:
    """The markup before the first call, behind the last one, and between two; without that of arguments."""
    closing: list[str] = []
    between: list[str] = []
    for sample in samples:
        for number, call in enumerate(sample.calls):
            inner = (arguments.close if call.arguments else lead) if arguments else ""
            tail = _tail(sample, call)
            tail = tail.removeprefix(inner) if tail.startswith(inner) else tail.removeprefix(inner.rstrip())
            (closing if number + 1 == len(sample.calls) else between).append(tail)
    plain = [sample.opening for sample in samples if sample.after != "reasoning"]
    opening = _agreed(plain or [_behind_thought(sample) for sample in samples], "before the first call")
    bare = [sample.opening for sample in samples if not sample.after]
    return (bare[0] if bare else opening), closing, between


def _behind_thought(sample: Sample) -> str:
    """The markup before the first call, without what closes the reasoning before it."""
    return "".join(tokens(sample.opening)[1:])


def _nested(
    opening: str, closing: list[str], between: list[str], like: Notation | None
) -> tuple[tuple[str, str], str, str, str, str]:
    """The markup of a section, what separates its calls, what opens and what closes each, and what ends the turn."""
    end = _agreed(closing, "behind the last call") if closing else ""
    if not between:
        return _alone(opening.lstrip(), end, like)
    gap = _agreed(between, "between two calls")
    last = _common_start([end, gap])
    first = _common_end([opening, gap[len(last) :]])
    outer, rest = opening[: len(opening) - len(first)].lstrip(), end[len(last) :]
    separator = gap[len(last) : len(gap) - len(first)]
    if not outer:
        return ("", ""), separator, first, last, rest
    if separator and not separator.strip() and last.strip() and rest.startswith(separator):
        rest, last, separator = rest[len(separator) :], last + separator, ""
    return (outer, rest), separator, first, last, ""


def _alone(opening: str, end: str, like: Notation | None) -> tuple[tuple[str, str], str, str, str, str]:
    """The same where no two calls stand together: what is like it says whether there is a section."""
    parts, closers = tokens(opening), tokens(end)
    inner = len(tokens(like.head[0][0])) if like else 0
    if like is None or not any(like.section) or len(parts) < max(2, inner + 1):
        return ("", ""), "", opening, end, ""
    outer = min(len(tokens(like.section[1])), len(closers)) if like.close else len(closers)
    section = ("".join(parts[: len(parts) - inner]), "".join(closers[len(closers) - outer :]) if outer else "")
    first, last = opening[len(section[0]) :], end[: len(end) - len(section[1])]
    return section, like.separator, first.lstrip(), last, ""


def _before(samples: list[Sample]) -> str | None:
    """The white space between text and the markup behind it; None if no call follows text."""
    found = [s.opening[: len(s.opening) - len(s.opening.lstrip())] for s in samples if s.after == "text"]
    return Counter(found).most_common(1)[0][0] if found else None


def _think(samples: Sequence[Sample], calls: Notation) -> tuple[str, str] | None:
    """The markup of reasoning; None if there is none."""
    for sample in sorted(samples, key=lambda sample: bool(sample.calls)):
        if sample.thought is None:
            continue
        opened = sample.text[: sample.thought[0]]
        closed = sample.text[sample.thought[1] : sample.thought_end]
        if sample.calls and sample.after != "text":
            closed = closed.removesuffix(calls.section[0] + calls.head[0][0]).removesuffix(calls.before or "")
        opening = "".join(tokens(opened)[-2:] if opened.endswith("\n") else tokens(opened)[-1:])
        if opening.strip() and closed.strip():
            return opening.lstrip(), closed
    return None


def _common_start(markups: list[str]) -> str:
    """The tokens with which all of these begin, as the shortest of them spells them, without white space alone."""
    lists = [tokens(markup) for markup in markups]
    count = 0
    while all(len(found) > count for found in lists) and len({found[count].strip() for found in lists}) == 1:
        count += 1
    while count and not lists[0][count - 1].strip():
        count -= 1
    return "".join(min(lists, key=lambda found: len("".join(found[:count])))[:count])


def _common_end(markups: list[str]) -> str:
    """The tokens with which all of these end, without the white space before them."""
    lists = [tokens(markup) for markup in markups]
    count = 0
    while all(len(found) > count for found in lists) and len({found[-1 - count].strip() for found in lists}) == 1:
        count += 1
    found = "".join(lists[-1][len(lists[-1]) - count :]) if count else ""
    return found.lstrip() if found.strip() else ""


def _first_tag(tails: list[str]) -> str:
    """What closes a value where no call has two arguments: the first token, if there are more behind it."""
    found = tokens(tails[0])
    return found[0] if len(found) > 1 and is_tag(found[0]) else ""


def _last_tag(lead: str) -> str:
    """What opens an argument where no call has two: the last tag before its name, if there is more before it."""
    found = tokens(lead)
    return found[-1].lstrip() if len(found) > 1 and found[-1].strip().startswith("<") else ""
