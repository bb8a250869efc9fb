"""GUI actions: from a name and arguments, of an action or of a call, to one typed action."""

from __future__ import annotations

from typing import Any

from outspoken.json.partial_string import PartialTypedText
from outspoken.results.events import ActionParsed, ActionText, ActionUnfinished
from outspoken.results.replies import Status

from .answer_builder import AnswerBuilder
from .open_node import Frame

_HELPS = ("the raw text is kept in `raw`; nothing was guessed",)


class ActionBuilder(AnswerBuilder):
    """The part of the builder that makes actions: the whole builder.

    The text that an action types is sent while it comes. From there on the action is announced, as a call is: it ends,
    or is said to be unfinished.
    """

    def call_id(self, arg: str, m: Any, g: int, base: int) -> None:
        """The id of a call, where it is a token."""
        self.frames[-1].id = m[g]

    def call_index(self, arg: str, m: Any, g: int, base: int) -> None:
        """The number of a call, which is part of its id."""

    # what is being read

    def may_act(self, frame: Frame) -> bool:
        """May what is being read be an action?"""
        if "action" in frame.kinds or self.acts is None:
            return True
        return self.acts.word(frame.name or "") in self.acts.names

    def name_argument(self, frame: Frame) -> None:
        """An argument of what may be an action begins."""
        if self.acts is None or not self.may_act(frame):
            return
        frame.places = frame.places or {}
        frame.places.setdefault(frame.key or "", frame.key_start)
        if frame.typed is not None:
            frame.typed.end()
            frame.typed.again = frame.typed.again or frame.key == frame.typed.key
        elif not self._is_part(frame) and self.acts.types(frame.name or "", frame.key or ""):
            frame.typed = PartialTypedText(frame.key or "")
            frame.index = self.calls

    def _is_part(self, frame: Frame) -> bool:
        """Is this an action within another one, of which nothing is said before that ends?"""
        at = self.frames.index(frame)
        return at > 0 and "action" in self.frames[at - 1].kinds

    def value(self, piece: str, start: int, end: int) -> None:
        """More of an argument's bare text; one without a name is known by its place."""
        frame = self.frames[-1]
        if self.acts is not None and frame.key is None and frame.bare is None:
            frame.key, frame.key_start = f"${len(frame.arguments or ()) + 1}", start
            self.name_argument(frame)
        super().value(piece, start, end)

    def typing(self, piece: str, *, quoted: bool) -> None:
        """More of the text that an action types or an answer says."""
        typed = self.frames[-1].typed
        if typed is None:
            return
        certain = typed.quoted(piece) if quoted else typed.bare(piece)
        if certain and self.events is not None:
            self.flush()
            self.events.append(typed.event(self.acted, certain))

    # the end of an action

    def end_action(self, arg: str, m: Any, g: int, base: int) -> None:
        """An action is complete."""
        frame, end = self.frames.pop(), base + m.end(g)
        if not self._act(frame, end):
            self._refuse(frame, end)
        if self._within_action():
            self._nest(self.frames[-1])
        self.settle(frame, end)

    def _refuse(self, frame: Frame, end: int) -> None:
        """An action whose word the format does not have, or not with these arguments, or that has none."""
        from outspoken.actions.codec import unknown_action

        known: dict[str, Any] = frame.arguments or {}
        name = self.called(frame.name or "", known)
        action = unknown_action(name, known, self._common(frame, end))
        problem = f"`{name}` is not an action of this format" if name else "this does not say which action it is"
        if name and self.acts is not None and self.acts.knows(name):
            problem = f"`{name}` with these arguments is not an action of this format"
        self._add(frame, action, problem, action.span)

    def end_quoted(self, arg: str, m: Any, g: int, base: int) -> None:
        """A JSON string is complete that holds actions, written as the format writes them."""
        frame, end = self.frames.pop(), base + m.end(g)
        span = (max(frame.start, 0), end)
        text = self.last if isinstance(self.last, str) else ""
        found = self.read_embedded(
            self.header.format, text, self.slice(*span), span[0], self.settings, self.repair_limit
        )
        self.flush()
        for action in found.actions:
            action = action.model_copy(update={"order": self.acted})
            self.segments.append(action)
            if self.events is not None:
                self._send_rest(frame, action)
                known = action.status in ("ok", "repaired")
                self.events.append(ActionParsed(action) if known else ActionUnfinished(action))
            self.acted += 1
        if not found.actions:
            self.note("unread-entry", "this string was to hold actions, and holds none", span, "warning")
        self.notes += found.notes if found.actions else []
        self.worsen(found.status if found.actions else "ok")
        self.settle(frame, end)

    def called(self, name: str, arguments: dict[str, Any]) -> str:
        """The word for an action, be it in an argument."""
        return self.acts.called(name, arguments) if self.acts is not None else name

    def is_begun(self, frame: Frame) -> bool:
        """Is this an action, or a call that may be one, of which an argument was begun?"""
        from outspoken.actions.mapping import PARTS

        if "action" not in frame.kinds:
            return frame.begun
        arguments: Any = frame.arguments
        held = isinstance(arguments, dict) and PARTS in arguments
        named = bool(frame.name) or held or (self.acts is not None and bool(self.acts.naming))
        begun = frame.key is not None or arguments is not None or frame.parts is not None
        return named and begun

    def act(self, frame: Frame, end: int) -> bool:
        """A call is complete: take it for an action, if it is one."""
        if not self.may_act(frame) or not self._act(frame, end):
            return False
        self.settle(frame, end)
        return True

    def _act(self, frame: Frame, end: int) -> bool:
        """Add the action that a name and arguments mean, if they mean one."""
        from outspoken.actions.codec import Made, make_action, unknown_action

        common = self._common(frame, end)
        arguments: dict[str, Any] = frame.arguments or {}
        made = make_action(self.header, frame.name or "", arguments, common, self.settings)
        if made is None:
            return False
        if frame.typed is not None and frame.typed.again:
            # one of them may have been sent
            problem = f"`{frame.name}` says twice what is to be typed"
            made = Made(unknown_action(frame.name or "", arguments, common), problem, frame.typed.key)
        if self.edits:
            repairs = self.take_repairs()
            status = made.action.status if made.problem else "repaired"
            made = made._replace(action=made.action.model_copy(update={"repairs": repairs, "status": status}))
        span: tuple[int, int] = common["span"]
        places = frame.places or {}
        wrong = (places[made.argument], end - 1) if made.argument in places else span
        self._add(frame, made.action, made.problem, wrong)
        for key in made.clamped:
            message = f"the point in `{key}` is beyond the screen, and was moved to its edge"
            self.note("clamped-point", message, (places.get(key, span[0]), end), "warning")
        return True

    def _common(self, frame: Frame, end: int) -> dict[str, Any]:
        """What is known of an action besides what it says."""
        span = (max(frame.start, 0), end)
        return {"raw": self.slice(*span), "span": span, "id": frame.id, "order": self.acted}

    def _add(self, frame: Frame, action: Any, problem: str, span: tuple[int, int]) -> None:
        """Put an action among the segments, and say it."""
        self.flush()
        if problem:
            if not self._within_action():
                self.worsen("invalid")
            self.note("invalid-action", problem, span, helps=_HELPS)
        self.segments.append(action)
        if self.events is not None:
            self._send_rest(frame, action)
            self.events.append(ActionUnfinished(action) if problem else ActionParsed(action))
        self.acted += 1

    def _send_rest(self, frame: Frame, action: Any) -> None:
        """Send what was not yet sent of the text that an action types."""
        if action.type != "type_text" or self.events is None:
            return
        rest = action.text[len(frame.typed.sent) if frame.typed is not None else 0 :]
        if rest:
            self.events.append(ActionText(self.acted, rest))

    def _within_action(self) -> bool:
        """Does what comes next belong to an action?"""
        return bool(self.frames) and "action" in self.frames[-1].kinds

    def _nest(self, frame: Frame) -> None:
        """The action that was just added is a part of another one: the argument `*` of that."""
        from outspoken.actions.mapping import PARTS

        frame.arguments = frame.arguments or {}
        frame.arguments.setdefault(PARTS, []).append(self.segments.pop())
        self.acted -= 1
        if self.events is not None:
            self.events.pop()
            while self.events and type(self.events[-1]) is ActionText and self.events[-1].index == self.acted:
                self.events.pop()

    # ends that are none

    def unfinished(self, frame: Frame, end: int, status: Status) -> None:
        """A call or an announced action that never ended (`truncated`) or that cannot be read (`invalid`)."""
        if self.is_answer(frame):
            self.unfinished_answer(frame, end, status)
            return
        if frame.typed is None and "action" not in frame.kinds:
            super().unfinished(frame, end, status)
            return
        from outspoken.actions.codec import unfinished_action

        span = (max(frame.start, 0), end)
        repairs = self.take_repairs() if self.edits else ()
        known = self.known_arguments(frame, "".join(frame.parts or ()))
        name = self.called(frame.name or "", known)
        common = {**self._common(frame, end), "name": name, "status": status, "repairs": repairs}
        action = unfinished_action(common, dict(known), frame.typed)
        self.flush()
        self.worsen(status)
        self.segments.append(action)
        said = f"the action `{action.name}`" if action.name else "the action"
        if status == "truncated":
            label = "opened here, and the text ends inside it"
            self.note("unclosed-action", f"{said} never ends", span, label=label)
        else:
            message = frame.problem or f"{said} cannot be read"
            self.note("invalid-action", message, span, helps=_HELPS)
        if self.events is not None:
            self._send_rest(frame, action)
            self.events.append(ActionUnfinished(action))
        self.acted += 1
        self.settle(frame, end)
