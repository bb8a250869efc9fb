"""GUI actions: from the name and arguments of an action or a call to one typed action."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outspoken.json.partial_string import PartialTypedText
from outspoken.results.edits import shown
from outspoken.results.replies import Status

from . import unknown_keys
from .action_verdict import refusal_of_action
from .open_node import OpenNode
from .schema_objections import Objection
from .segments import action_fields, add_action, nest_action
from .state import ReplyState
from .verdict import REFUSED_CODES, note_cut

if TYPE_CHECKING:
    from outspoken.actions.mapping import ActionMapping

_HELPS = ("the raw text is kept in `raw`; nothing was guessed",)


class ActionBuilder:
    """Makes actions.

    The text that an action types is sent while it arrives. From then on the action is announced, as a call is: it is
    completed, or reported as unfinished. `enabled` is true for formats that have words for actions.
    """

    enabled = False
    #: what knows the names of actions; None if the format has none
    mapping: ActionMapping | None = None

    def __init__(self, state: ReplyState) -> None:
        self._state, self._output, self._recorder = state, state.output, state.recorder
        if state.header.actions:
            from outspoken.actions.mapping import mapping_of  # few formats need it, and it takes long to import

            self.mapping = mapping_of(state.header)
            self.enabled = self.mapping is not None

    # while it is read

    def may_be_action(self, node: OpenNode) -> bool:
        """May a node be an action? A call of a given tool is none, unless the tool is the action's."""
        mapping, name = self.mapping, node.name or ""
        if mapping is None or "action" in node.kinds:
            return mapping is not None
        return mapping.is_name(name) and not mapping.is_taken(name, self._state.context.tools)

    def misses(self, name: str, arguments: dict[str, Any]) -> list[Objection]:
        """What says that a call which is no action was meant as one, with a mistake. Its tool was not given."""
        tools = self._state.context.tools
        if self.mapping is None or (tools is not None and name in tools):
            return []
        mistake = self.mapping.mistake_in(name, arguments)
        message = f"this call of `{name}` is no action of the format: {mistake}"
        return [Objection("unlisted-value", message)] if mistake else []

    def is_started(self, node: OpenNode) -> bool:
        """Is a node an action, or a call that may be one, of which an argument was read in part?"""
        from outspoken.actions.mapping import PARTS

        if "action" not in node.kinds:
            return node.held_back
        arguments: Any = node.arguments
        has_parts = isinstance(arguments, dict) and PARTS in arguments
        named = bool(node.name) or has_parts or (self.mapping is not None and bool(self.mapping.naming))
        return named and (node.key is not None or arguments is not None or node.parts is not None)

    def begin_argument(self, node: OpenNode) -> None:
        """An argument of a node begins."""
        mapping = self.mapping
        if mapping is None or not self.may_be_action(node):
            return
        node.places = node.places or {}
        node.places.setdefault(node.key or "", node.key_start)
        text = node.partial_text
        if text is not None:
            text.close()
            text.repeated = text.repeated or node.key == text.key
        elif not self._is_part(node) and mapping.types_text(node.name or "", node.key or "") and self._types_stay:
            node.partial_text = PartialTypedText(node.key or "", node.start)
            node.index = self._output.call_count

    @cached_property
    def _types_stay(self) -> bool:
        """Is an action that types text certain to remain one when it is checked against the page?"""
        from outspoken.actions.page_rules import may_become_another

        return self._state.context.page is None or not may_become_another(self._state.header, "type_text")

    def _is_part(self, node: OpenNode) -> bool:
        """Is a node an action within another one? Nothing is sent of it before that one ends."""
        nodes = self._state.nodes
        at = nodes.index(node)
        return at > 0 and "action" in nodes[at - 1].kinds

    def add_text(self, piece: str, *, quoted: bool) -> None:
        """Send more of the text that an action types or an answer says: a piece of a literal, or of bare text."""
        text = self._state.nodes[-1].partial_text
        if text is None:
            return
        certain = text.feed_quoted(piece) if quoted else text.feed_bare(piece)
        if certain and self._output.events is not None:
            self._output.flush()
            self._output.events.append(text.event(self._output.action_count, certain))

    # the end of an action

    def end_action(self, end: int) -> None:
        """An action is complete."""
        node = self._state.nodes.pop()
        if node.unknown:
            if (self._recorder.edits or node.repairs) and not node.problem:
                node.problem = f"a repaired action has the key {shown(node.unknown[0].key)}, which has no meaning here"
            unknown_keys.report(self._state, node)
        if not self._make(node, end):
            self._refuse(node, end)
        if self._is_within_action():
            self._nest(self._state.nodes[-1])
        self._output.end_node(node.start, end)

    def take_call(self, node: OpenNode, end: int) -> bool:
        """Make an action of a complete call, if it is one."""
        if not self.may_be_action(node) or not self._make(node, end):
            return False
        self._output.end_node(node.start, end)
        return True

    def end_quoted(self, end: int) -> None:
        """A JSON string is complete that holds actions, written as the format writes them."""
        state, output, recorder = self._state, self._output, self._recorder
        node = state.nodes.pop()
        span = (max(node.start, 0), end)
        text = state.last_value if isinstance(state.last_value, str) else ""
        context = state.context
        embedded = context.read_embedded(context, text, state.source.slice(*span), span[0])
        output.flush()
        for action in embedded.actions:
            self._append(node, action.model_copy(update={"order": output.action_count}))
        if not embedded.actions:
            recorder.report("unread-entry", "this string should hold actions, and holds none", span, "warning")
        recorder.diagnostics += embedded.notes if embedded.actions else []
        recorder.lower_status(embedded.status if embedded.actions else "ok")
        output.end_node(node.start, end)

    def _make(self, node: OpenNode, end: int) -> bool:
        """Add the action that a name and arguments mean, if they mean one."""
        from outspoken.actions.decoding import DecodedAction, unknown_action
        from outspoken.actions.page_rules import read_action

        state, common = self._state, self._common(node, end)
        arguments: dict[str, Any] = node.arguments or {}
        context = state.context
        decoded = read_action(
            state.header, node.name or "", arguments, common, context.settings, context.page, context.given
        )
        if decoded is None:
            return False
        code = "invalid-action"
        if not decoded.problem and (refusal := self._refusal(node, decoded.action.extra, end)) is not None:
            code = refusal.code if refusal.code in REFUSED_CODES else code
            decoded = DecodedAction(unknown_action(node.name or "", arguments, common), refusal.message, refusal.key)
        if decoded.problem:
            note_cut(self._state, node, end, self.mapping)
        if repairs := node.repairs + self._recorder.take_repairs():
            status = decoded.action.status if decoded.problem else "repaired"
            decoded = decoded._replace(action=decoded.action.model_copy(update={"repairs": repairs, "status": status}))
        span: tuple[int, int] = common["span"]
        places = node.places or {}
        wrong = (places[decoded.argument], end - 1) if decoded.argument in places else span
        self._add(node, decoded.action, decoded.problem, wrong, code)
        for finding in decoded.findings:
            self._recorder.report(finding.code, finding.message, span, finding.severity)
        clamps = self._state.context.settings.clamp
        for key in decoded.outside:
            message = f"the point in `{key}` is beyond the screen{', and was moved to its edge' if clamps else ''}"
            code = "clamped-point" if clamps else "outside-point"
            self._recorder.report(code, message, (places.get(key, span[0]), end), "warning")
        return True

    def _refusal(self, node: OpenNode, unread: Mapping[str, Any], end: int) -> Objection | None:
        """Why a finished action may not run; None if it may. `unread` are the arguments that it did not take."""
        name, text = node.name or "", node.partial_text
        if text is not None and text.repeated:  # one of the two may have been sent
            return Objection("repeated-argument", f"`{name}` has its text twice", text.key)
        if node.problem:
            return Objection("unproven", node.problem)
        assert self.mapping is not None
        return refusal_of_action(self._state, node, node.arguments or {}, unread, self.mapping, end)

    def _refuse(self, node: OpenNode, end: int) -> None:
        """Add an action without a name, with a name that the format does not have, or with arguments of another."""
        from outspoken.actions.decoding import unknown_action

        arguments: dict[str, Any] = node.arguments or {}
        name = self._called(node.name or "", arguments)
        action = unknown_action(name, arguments, self._common(node, end))
        problem = f"`{name}` is not an action of this format" if name else "this does not say which action it is"
        if name and self.mapping is not None and self.mapping.knows(name):
            problem = f"`{name}` with these arguments is not an action of this format"
        self._add(node, action, problem, action.span)

    def _called(self, name: str, arguments: dict[str, Any]) -> str:
        """The word for an action, which may stand in an argument."""
        return self.mapping.name_of(name, arguments) if self.mapping is not None else name

    def _common(self, node: OpenNode, end: int) -> dict[str, Any]:
        """The fields of an action that say where it comes from."""
        raw = self._state.source.slice(max(node.start, 0), end)
        return action_fields(self._output, node.id, raw, node.start, end)

    def _add(
        self, node: OpenNode, action: Any, problem: str, span: tuple[int, int], code: str = "invalid-action"
    ) -> None:
        """Add an action to the segments, with a diagnostic if there is a problem with it."""
        self._output.flush()
        if problem:
            if not self._is_within_action():
                self._recorder.lower_status("invalid")
            self._recorder.report(code, problem, span, helps=_HELPS)
        self._append(node, action, invalid=bool(problem))

    def _append(self, node: OpenNode, action: Any, *, invalid: bool = False) -> None:
        output = self._output
        if output.events is not None:
            self._send_rest(node, action)
            finished = action.status in ("ok", "repaired") and not invalid
            models = output.models
            output.events.append(models.ActionParsed(action) if finished else models.ActionUnfinished(action))
        add_action(output, action)

    def _send_rest(self, node: OpenNode, action: Any) -> None:
        """Send the text that an action types, as far as it was not sent yet."""
        if action.type != "type_text":
            return
        rest = action.text[len(node.partial_text.sent) if node.partial_text is not None else 0 :]
        if rest:
            self._output.send(self._output.models.PlacedActionText(self._output.action_count, rest, node.start))

    def _is_within_action(self) -> bool:
        nodes = self._state.nodes
        return bool(nodes) and "action" in nodes[-1].kinds

    def _nest(self, node: OpenNode) -> None:
        """Make the action that was just added the argument `*` of the action round it."""
        output = self._output
        node.arguments = nest_action(output, node.arguments)
        events = output.events
        if events is not None:
            events.pop()
            text_event = output.models.ActionText
            while events and isinstance(events[-1], text_event) and events[-1].index == output.action_count:
                events.pop()

    # unfinished actions

    def unfinished(self, node: OpenNode, end: int, status: Status, arguments: dict[str, Any]) -> None:
        """An action never ended (`truncated`) or cannot be read (`invalid`). `arguments` are its complete ones.

        Within an open action it is one of its parts, so that this is refused, too.
        """
        from outspoken.actions.decoding import unfinished_action

        output, recorder = self._output, self._recorder
        span = (max(node.start, 0), end)
        repairs = node.repairs + recorder.take_repairs()
        name = self._called(node.name or "", arguments)
        common = {**self._common(node, end), "name": name, "status": status, "repairs": repairs}
        action = unfinished_action(common, dict(arguments), node.partial_text)
        output.flush()
        recorder.lower_status(status)
        self._append(node, action, invalid=True)
        subject = f"the action `{action.name}`" if action.name else "the action"
        if status == "truncated":
            label = "opened here, and the text ends inside it"
            recorder.report("unclosed-action", f"{subject} never ends", span, label=label)
        else:
            recorder.report("invalid-action", node.problem or f"{subject} cannot be read", span, helps=_HELPS)
        if self._is_within_action():
            self._nest(self._state.nodes[-1])
        self._output.end_node(node.start, end)
