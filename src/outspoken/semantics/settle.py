"""Makes text and reasoning of the calls, actions and payloads of a whole response that were only said (`said`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from outspoken.results.construct import construct
from outspoken.results.diagnostics import PendingDiagnostic, Severity
from outspoken.results.replies import STATUSES, Reasoning, Status, Text, ToolCall

from .doubt import Doubt, stands_in_line, value_goes_on
from .orphan_closers import orphan_closer
from .quotations import is_linked
from .said import Surroundings
from .said_signs import MADE, Bare, ThinkMarkers, may_end_in_string, quote_at_end


class Settled:
    """The segments of a whole response without the calls that were only said, and what is reported of them.

    `thinks` finds the tags of reasoning. A call in reasoning is refused if its tool is one of those in `exact`.
    `bare` and `ends` are as for `Surroundings`.
    """

    #: the worst status of a call that ends reasoning, or stands in a fence
    lowest: Status = "ok"
    _actions_said = 0
    #: the code of what stands beside the next segment and refuses it, or ""
    _refused = ""

    def __init__(
        self,
        segments: list[Any],
        raw: str,
        thinks: ThinkMarkers | None,
        format: str | None,
        exact: Collection[str] = (),
        prompt_end: str = "",
        bare: Bare | None = None,
        ends: re.Pattern[str] | None = None,
    ) -> None:
        self._raw, self._format, self._exact = raw, format, exact
        self._surroundings = Surroundings(self._read, lambda: thinks, prompt_end, lambda: bare, lambda: ends)
        self.segments: list[Any] = []
        self.diagnostics: list[PendingDiagnostic] = []
        #: the spans of the calls that became text, so that nothing else reports them
        self.quoted: list[tuple[int, int]] = []
        #: the spans of calls that are reasoning now and were refused, which says nothing of the response
        self.withdrawn: list[tuple[int, int]] = []
        at = 0
        while at < len(segments):
            at = self._add(segments, at)

    def _read(self, start: int, end: int) -> str:
        return self._raw[max(start, 0) : max(end, 0)]

    def _add(self, segments: list[Any], at: int) -> int:
        """Add the segment at a place in a list, or what becomes of it; returns the place of the next one."""
        segment = segments[at]
        doubt = None
        if segment.kind in MADE:
            doubt = self._surroundings.doubt_of(segments, at, segment.span[0], kind=segment.kind)
        if doubt is None or segment.status not in ("ok", "repaired"):
            self._look_beside(segments, at)
            self._keep(segment)
            return at + 1
        after = segments[at + 1 :]
        verdict = doubt.decide(segment, after, self._read, len(self._raw), final=True)
        if doubt.closed_by is not None:
            if verdict == "made":
                return self._add_last_thought(segments, at, doubt)
            return self._add_thought(segments, at, doubt.thought_start, doubt.closed_by)
        if verdict == "made":
            self._look_beside(segments, at)
            self._add_made(segment, doubt)
            return at + 1
        return self._add_quoted(segments, at, doubt)

    def _keep(self, segment: Any) -> None:
        """Add a segment. Actions are counted without those that were only said."""
        if self._refused:
            why = "is the text of a link, so it does not run"
            if self._refused == "needs-exact":
                why = "stands in a line of text, and the tool runs only if its call is exact"
            if self._refused == "invalid-call":
                why = "may go on: a value of it ends in a quotation, and its markers follow again"
            self._report(self._refused, f"the {_named(segment)} {why}", segment.span, "error", "written here")
            segment, self.lowest, self._refused = weakened(segment, "invalid"), "invalid", ""
        if segment.kind == "action" and self._actions_said:
            segment = segment.model_copy(update={"order": segment.order - self._actions_said})
        self.segments.append(segment)

    def _look_beside(self, segments: list[Any], at: int) -> None:
        """Note whether what stands beside a call refuses it."""
        segment = segments[at]
        if segment.kind in MADE and segment.status in ("ok", "repaired"):
            after = segments[at + 1 :]
            marks = self._exact, self._surroundings.ends
            self._refused = refused_beside(self._read, segments, at, segment, after, marks, final=True) or ""

    def _report(self, code: str, message: str, span: tuple[int, int], severity: Severity, label: str) -> None:
        self.diagnostics.append(PendingDiagnostic(code, message, span, severity, self._format, label))

    def _add_quoted(self, segments: list[Any], at: int, first: Doubt) -> int:
        """A call that is quoted is text, with the text on both sides of it."""
        call, doubt = segments[at], first.decisive
        self._actions_said += call.kind == "action"
        message = f"the {_named(call)} stands {doubt.where}, so it stays text"
        how: tuple[Severity, str] = ("note", "quoted here")
        if doubt.code == "invented-result":
            how = ("warning", "called here")
        self._report(doubt.code, message, call.span, *how)
        self._surroundings.leave_out(first, call.span[1])
        start = first.text_start
        following = segments[at + 1] if at + 1 < len(segments) else None
        self.quoted.append((start, following.span[0] if following is not None else len(self._raw)))
        if self.segments and type(self.segments[-1]) is Text:
            start = self.segments.pop().span[0]
        if type(following) is Text:
            end, at = following.span[1], at + 1
        else:
            end = call.span[1] if following is not None else len(self._raw.rstrip())
        self.segments.append(_text(Text, "text", self._raw[start:end], start))
        return at + 1

    def _add_thought(self, segments: list[Any], at: int, start: int, closer: tuple[int, int]) -> int:
        """Calls in reasoning that goes on behind them are reasoning, from a start up to its closing tag."""
        thought = self._raw[start : closer[0]]
        if self.segments and type(self.segments[-1]) is Reasoning and self.segments[-1].span[0] == start:
            self.segments.pop()
        else:
            start += len(thought) - len(thought.lstrip())
        self.segments.append(_text(Reasoning, "reasoning", self._raw[start : closer[0]].rstrip(), start))
        while at < len(segments) and segments[at].span[0] < closer[1]:
            segment = segments[at]
            if segment.kind in MADE:
                self._actions_said += segment.kind == "action"
                self.quoted.append(segment.span)
                if segment.status not in ("ok", "repaired"):
                    self.withdrawn.append(segment.span)
                message = f"the {_named(segment)} stands in reasoning that goes on behind it, so it is reasoning"
                self._report("thought-call", message, segment.span, "note", "thought about here")
            self._add_rest(segment, closer[1])
            at += 1
        self._surroundings.skip_to(closer[1])
        return at

    def _add_last_thought(self, segments: list[Any], at: int, doubt: Doubt) -> int:
        """A call in reasoning behind which nothing follows was made: models of several vendors write so."""
        assert doubt.closed_by is not None
        end = doubt.closed_by[0]
        while at < len(segments):
            segment = segments[at]
            if segment.kind in MADE and segment.status in ("ok", "repaired"):
                self._add_made(segment, doubt)
            elif type(segment) is Text:
                if text := self._raw[segment.span[0] : min(segment.span[1], end)].strip():
                    start = self._raw.index(text, segment.span[0])
                    self.segments.append(_text(Reasoning, "reasoning", text, start))
            else:
                self._keep(segment)
            at += 1
        return at

    def _add_made(self, call: Any, doubt: Doubt) -> None:
        """Add a call that was made in spite of a doubt, which may leave it repaired."""
        if (weakness := doubt.weakness) is None:
            self._keep(call)
            return
        code, where = weakness
        if (name := name_of(call)) in self._exact:
            message = f"`{name}` runs only if its call is exact, and this one stands {where}"
            self._report("needs-exact", message, call.span, "error", "called here")
        else:
            self._report(code, f"the {_named(call)} stands {where}", call.span, "warning", "called here")
        weak_call = weakened(call, "invalid" if name in self._exact else "repaired")
        self._keep(weak_call)
        if STATUSES.index(weak_call.status) > STATUSES.index(self.lowest):
            self.lowest = weak_call.status

    def _add_rest(self, segment: Any, start: int) -> None:
        """Add what a segment holds from an offset on: it is text."""
        if segment.span[1] > start:
            text = self._raw[start : segment.span[1]]
            if body := text.lstrip():
                self.segments.append(_text(Text, "text", body, segment.span[1] - len(body)))


def refused_beside(
    read: Callable[[int, int], str],
    segments: Sequence[Any],
    count: int,
    call: Any,
    after: Sequence[Any],
    marks: tuple[Collection[str], Callable[[], re.Pattern[str] | None]],
    *,
    final: bool,
) -> str | None:
    """The code of what refuses a finished call for the text beside it: "" for nothing, None if more text is needed.

    The first `count` segments stand before it. It may be the text of a link, or call one of the tools of the first of
    the `marks`, which run only if they are exact, in a line of text; or a value of it may go on behind it, up to what
    the second one finds.
    """
    exact, find_ends = marks
    if (
        may_end_in_string(call, read)
        and (ends := find_ends()) is not None
        and (goes_on := value_goes_on(read, call, after, ends, final=final)) is not False
    ):
        return "invalid-call" if goes_on else None
    linked = is_linked(read, segments[count - 1].span[1] if count else 0, call.span, after, final=final)
    if linked or linked is None:
        return "quoted-call" if linked else None
    in_line = name_of(call) in exact and stands_in_line(read, segments, count, call.span, after, final=final)
    return None if in_line is None else "needs-exact" if in_line else ""


def is_any_said(raw: str, segments: Sequence[Any], thinks: ThinkMarkers | None, prompt_end: str) -> bool:
    """May a call of a whole response be quoted or thought about, or stand before the end of reasoning that never began?

    `thinks` finds the tags of reasoning. `prompt_end` is what the prompt ended with that the response continues.
    """
    first = next((segment.span[0] for segment in segments if segment.kind in MADE), None)
    if first is None:
        return False
    if any(type(segment) is ToolCall and quote_at_end(segment) for segment in segments):
        return True
    if Settled([*segments], raw, thinks, None, (), prompt_end).diagnostics:
        return True
    closer = orphan_closer(raw, segments, thinks, prompt_end)
    return closer is not None and closer.start() > first


def weakened(call: Any, status: Status) -> Any:
    """A call, action or payload that something speaks against."""
    if call.kind != "tool_call":
        return call.model_copy(update={"status": status})
    return construct(ToolCall, {**vars(call), "status": status})


def name_of(call: Any) -> str:
    """The name of a call or action, or the type of a payload."""
    name: str = call.type if call.kind == "payload" else call.name
    return name


def _named(call: Any) -> str:
    return f"{'call of' if call.kind == 'tool_call' else call.kind} `{name_of(call)}`"


def _text(model: type[Any], kind: str, text: str, start: int) -> Any:
    return model(kind=kind, text=text, span=(start, start + len(text)))
