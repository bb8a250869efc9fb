"""From what the grammar reads to what a registry makes of it: which payloads stand, and what the message is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from outspoken.json.scanner import repeated_keys
from outspoken.results.construct import construct
from outspoken.results.diagnostics import Severity
from outspoken.results.message_text import Message
from outspoken.results.pending_diagnostics import PendingDiagnostic
from outspoken.results.replies import Payload, Span

from .grammar import FORMAT
from .options import Options
from .page import Page
from .replies import TypedPayload
from .types import PayloadType
from .validation import Checked, check

#: Findings after which a payload is not what it should be.
_WRONG = frozenset({"invalid-payload", "invalid-item", "wrong-kind"})
_EMPHASIS = "*_`"


class Verdict(NamedTuple):
    """What becomes of a payload: what of the message is certain by now, and the payload if it has a place."""

    text: str
    payload: TypedPayload | None


class Judge:
    """Says what the payloads of one response are, each once, however often it is asked."""

    def __init__(self, page: Page, options: Options, read: Callable[[int, int], str]) -> None:
        self.page, self.options, self._read = page, options, read
        #: the whole text, once it is there
        self.raw: str | None = None
        self._checked: dict[Span, Checked] = {}

    def read(self, start: int, end: int) -> str:
        """The raw text between two offsets."""
        return self._read(start, end) if self.raw is None else self.raw[start:end]

    def check(self, type_: PayloadType, payload: Payload) -> Checked:
        """The payload, checked against its type."""
        if payload.span not in self._checked:
            self._checked[payload.span] = check(type_, payload.data, self.page, self.options.validation)
        return self._checked[payload.span]


class Finisher:
    """Goes through a response once, in order, and says what stands.

    `text` and `payload` take its parts; `chosen` is the one payload that is to stand of those that are not `beside`, if
    that is not the first. What was noticed is in `notes`.
    """

    def __init__(self, judge: Judge, chosen: Span | None = None) -> None:
        self._judge, self._chosen = judge, chosen
        self._options, self._page = judge.options, judge.page
        self.message = Message()
        self.notes: list[PendingDiagnostic] = []
        self.unfinished: list[TypedPayload] = []
        self.extra: list[TypedPayload] = []
        self.custom: TypedPayload | None = None
        #: what stands, by type
        self.taken: dict[str, TypedPayload] = {}

    def text(self, piece: str) -> str:
        """More text; returns more of the message."""
        return self.message.text(piece)

    def payload(self, found: Payload) -> Verdict:
        """A payload, or what began as one."""
        type_ = self._page.of(found.type)
        if type_ is None:
            self._note(found, "marker-not-registered", f"`{found.type}` has no place on this page", "warning")
            return self._left_out(found, strip=self._options.strip_unregistered)
        made = self._typed(found, type_)
        if made.status in ("truncated", "invalid"):
            self.unfinished.append(made)
            return self._left_out(found, strip=self._options.strip_broken)
        if not self.has_place(type_) or not (type_.beside or self._may_stand(found)):
            return self._extra(found, made)
        self.taken[type_.name] = made
        if not type_.beside:
            self.custom = made
        self.message.cut(self._lead(found))
        return Verdict("", made)

    def end(self) -> list[TypedPayload]:
        """The response has ended. Returns what stands beside a payload, and is not to."""
        if self.custom is None:
            return []
        beside = [self.taken[name] for name in self._page.beside if name in self.taken]
        drop = self._options.suggestions_with_proposal == "drop"
        for one in beside:
            done = "it is left out" if drop else "both are kept"
            message = f"`{one.type}` stands in one message with `{self.custom.type}`; {done}"
            self._note(one, "suggestions-with-proposal", message, "warning")
        return beside if drop else []

    def has_place(self, type_: PayloadType) -> bool:
        """Would the next payload of a type stand?"""
        return type_.name not in self.taken and (type_.beside or self.custom is None)

    def _may_stand(self, found: Payload) -> bool:
        return self._chosen is None or found.span == self._chosen

    def _typed(self, found: Payload, type_: PayloadType) -> TypedPayload:
        """The payload with its type, after all that can be said against it was noted."""
        status, data, value = found.status, found.data, None
        if status == "ok":
            for key in repeated_keys(self._judge.read(*found.span)):
                message = f"the key `{key}` stands twice in an object; the last one counts"
                self._note(found, "repeated-key", message, "warning")
        if status in ("ok", "repaired"):
            checked = self._judge.check(type_, found)
            data, value = checked.data, checked.value
            status = status if checked.is_sound else "invalid"
            severity = "warning" if checked.is_sound else "error"
            for code, message in checked.findings:
                self._note(found, code, message, severity if code in _WRONG else "warning")
        return construct(
            TypedPayload,
            {
                "kind": "payload",
                "type": type_.name,
                "data": data,
                "status": status,
                "span": found.span,
                "repairs": found.repairs,
                "marker": type_.marker,
                "value": value,
            },
        )

    def _extra(self, found: Payload, made: TypedPayload) -> Verdict:
        """A payload for which there is no place any more."""
        one = self.taken.get(made.type) or self.custom
        reason = f"`{one.type}` is taken" if one is not None else "another one counts before it"
        self._note(found, "extra-payload", f"a message has one payload of this kind, and {reason}", "warning")
        if self._options.extra == "collect":
            self.extra.append(made)
        return self._left_out(found, strip=self._options.extra != "keep")

    def _left_out(self, found: Payload, *, strip: bool) -> Verdict:
        """What has no place in the reply is left out of the message, or is text of it."""
        if strip:
            self.message.cut(self._lead(found))
            return Verdict("", None)
        return Verdict(self.message.text(self._judge.read(*found.span)), None)

    def _lead(self, found: Payload) -> str:
        """What stands before the marker of a payload on its line: the marks of a list, a heading or a quotation."""
        start = found.span[0]
        head = self._judge.read(start, min(start + len(found.type) + 80, found.span[1]))
        at = head.lower().find(found.type.lower())
        return head[: max(at, 0)].rstrip(_EMPHASIS)

    def _note(self, at: Payload, code: str, message: str, severity: Severity) -> None:
        self.notes.append(PendingDiagnostic(code, message, at.span, severity, FORMAT))


def chosen(judge: Judge, payloads: list[Payload]) -> Span | None:
    """Of the payloads that are not beside others, the one whose type was registered first; the first of these."""
    found: list[tuple[int, Any]] = []
    for payload in payloads:
        type_ = judge.page.of(payload.type)
        if type_ is None or type_.beside or payload.status not in ("ok", "repaired"):
            continue
        if judge.check(type_, payload).is_sound:
            found.append((judge.page.types.index(type_), payload.span))
    return min(found)[1] if found else None
