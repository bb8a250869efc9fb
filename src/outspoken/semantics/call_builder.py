"""Tool calls: from a name and arguments, in any order and notation, to one typed call and its events."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, cast

from outspoken.grammar.automaton import Automaton, Config
from outspoken.grammar.value_markup import loose_markup, value_markup
from outspoken.notations.coerce import SchemaView, escape, may_be_other_than_text, to_json
from outspoken.notations.tools import schema_view_of
from outspoken.patterns.loose_markup import worse
from outspoken.results.codes import NAMELESS, NO_OBJECT
from outspoken.results.replies import Status
from outspoken.results.schemas.schema import fits

from . import taken_in, unknown_keys
from .action_builder import ActionBuilder
from .answer_builder import AnswerBuilder
from .call_shapes import closing_signs, is_ended_by_argument, is_ended_by_chance
from .keys import lacking, mentions
from .nested_values import repaired_nested
from .open_node import EmbeddedValue, OpenNode
from .segments import (
    argument_text,
    as_text,
    bare_value,
    closing_text,
    end_call,
    lacks_bracket,
    object_of,
    place_name,
    types_of,
)
from .state import CutValue, ReplyState
from .unknown_keys import set_paths, set_paths_before
from .verdict import REFUSED_CODES, begins_in_value, note_cut, verdict_on

#: As many characters of a bare value decide whether it may be anything but text.
_DECISIVE = 8
#: The namespaces that say no more than that a tool is called.
_NAMESPACES = frozenset({"default_api", "function", "functions", "tool", "tools"})
#: What the name of a repaired call does not hold.
_NOT_IN_NAME = frozenset('"{}\n<>|')


class CallBuilder:
    """Makes tool calls, and collects the arguments of calls, actions and answers.

    A call is announced (`ToolCallStart`) when its name is known and an argument of it begins, or when it ends.
    """

    __slots__ = (
        "_state", "_output", "_recorder", "_nodes", "_answers", "_actions", "_header", "_tools", "_tool_names",
        "_automaton",
    )  # fmt: skip

    def __init__(self, state: ReplyState, answers: AnswerBuilder, actions: ActionBuilder) -> None:
        self._state, self._output, self._recorder, self._nodes = state, state.output, state.recorder, state.nodes
        self._answers, self._actions = answers, actions
        self._header, self._tools = state.header, state.context.tools
        self._tool_names = self._tools.names if self._tools is not None else None
        #: the automaton of the format; None before the first bare value
        self._automaton: Automaton | None = None

    # events

    def announce(self, node: OpenNode, *, ended: bool = False) -> None:
        """Send the start of a call, if its name is known and it was not sent before.

        A call that may be an action is announced when it has `ended`, an answer never.
        """
        if (
            node.index >= 0
            or not (node.name and self._state.context.calls)
            or (self._answers.enabled and self._answers.is_answer(node))
        ):
            return
        if not ended and self._hold_back(node):
            return
        self._resolve_name(node)
        output = self._output
        node.index = output.call_count
        output.call_count += 1
        if output.events is not None:
            output.flush()
            fields = {"index": node.index, "id": node.id, "name": node.name, "start": node.start}
            output.events.append(output.models.event_of(output.models.PlacedCallStart, fields))
            held = "".join(node.parts or ())
            if held:
                output.events.append(output.models.ToolCallDelta(node.index, held))

    def _hold_back(self, node: OpenNode) -> bool:
        """Must the start of a call wait, since it may be an action?"""
        if not self._actions.may_be_action(node):
            return False
        node.held_back = "action" not in node.kinds
        return True

    def _resolve_name(self, node: OpenNode) -> None:
        """Take the tool that a name means: `search`, if it is called as `search:search` or `functions.search`."""
        names, name = self._tool_names, node.name
        if name and names is not None and name not in names:
            space, _, last = name.rpartition("." if "." in name else ":")
            if last in names and (space == last or space.lower() in _NAMESPACES):
                node.name = last

    def _send(self, node: OpenNode, text: str) -> None:
        """Add JSON text to the arguments. It is held until the call is announced."""
        if node.parts is None:
            node.parts = []
        node.parts.append(text)
        if node.index >= 0 and self._output.events is not None and node.partial_text is None:
            models = self._output.models
            self._output.events.append(models.event_of(models.ToolCallDelta, {"index": node.index, "arguments": text}))

    # arguments that are one JSON object

    def add_arguments_text(self, text: str) -> None:
        """More JSON text of the arguments arrived."""
        node = self._nodes[-1]
        if node.index < 0:
            self.announce(node)
        self._send(node, text)
        node.sending = True

    def embedded_receiver(self, embedded: EmbeddedValue) -> Callable[[str, int, int], None]:
        """What receives more text of a string in an embedded value, and sends it if it is the arguments of a call."""
        read, transcodes = embedded.receive, embedded.scanner.transcodes
        node, events = self._nodes[-1] if self._nodes else None, self._output.events
        is_sent = embedded.step.role == "arguments" and (transcodes or embedded.pieces[0][0] == "{")
        is_announced = node is not None and node.index >= 0 and node.sending and node.partial_text is None
        if node is None or events is None or not (is_sent and is_announced):

            def receive(piece: str, _start: int, _end: int) -> None:
                text = read(piece)
                if is_sent and text:
                    self.add_arguments_text(text)

            return receive
        parts: Any = node.parts
        add_part, send, models, index = parts.append, events.append, self._output.models, node.index
        unfrozen, delta = models.Unfrozen, models.ToolCallDelta

        def receive_and_send(piece: str, _start: int, _end: int) -> None:
            if text := read(piece):
                add_part(text)
                event: Any = unfrozen()
                event.index, event.arguments, event.__class__ = index, text, delta
                send(event)

        return receive_and_send

    def field_arguments(self, start: int, end: int) -> None:
        """The arguments are complete: an object, a string that holds one, or null."""
        state = self._state
        node, value, text = self._nodes[-1], state.last_value, state.last_text
        if self._answers.enabled:
            node.content_span = (start, end)
        if self._recorder.edits:
            set_paths(self._recorder.edits, text, start, end)
        if type(value) is not dict:
            value, text = object_of(value, text, state.context.settings.max_depth)
            if not isinstance(value, dict):
                node.problem = NO_OBJECT.format(name=node.name or "")
        node.arguments = value
        self.announce(node)
        if node.sending:
            node.sending = False
        else:
            self._send(node, text)

    # arguments one by one

    def argument_name(self, name: str, start: int) -> None:
        """An argument begins."""
        node = self._nodes[-1]
        node.key, node.key_start = name, start
        if node.index < 0 and not self._header.repeated:
            self.announce(node)
        self._actions.begin_argument(node)

    def value(self, piece: str, start: int, end: int) -> None:
        """More bare text of an argument arrived. An argument without a name is known by its place: `$1`."""
        node = self._nodes[-1]
        if self._actions.enabled and node.key is None and node.bare is None:
            node.key, node.key_start = self._place_name(node), start
            self._actions.begin_argument(node)
        if self._answers.enabled and self._answers.is_answer(node):
            self._answers.add_bare(node, start, end)
        if node.bare is None:
            node.bare = []
            if node.key is None and "tool_call" in node.kinds:
                node.key = self._place_name(node)
                self.announce(node)
        node.bare.append(piece)
        if node.partial_text is not None:
            self._actions.add_text(piece, quoted=False)
        elif node.sending:
            self._send(node, encode_basestring(piece)[1:-1])
        elif self._output.events is not None and node.index >= 0 and len(node.head) < _DECISIVE:
            node.head = (node.head + piece).lstrip()[:_DECISIVE]
            self._send_if_text(node)

    def value_receiver(self) -> Callable[[str, int, int], None] | None:
        """What receives more bare text of the argument: a faster function than `value` if the text is sent as it is.

        None while it is open whether the value is text.
        """
        node, events = self._nodes[-1], self._output.events
        if events is None or node.partial_text is not None or self._answers.enabled or node.index < 0:
            return self.value
        if node.bare is None or not node.sending:
            return self.value if len(node.head) == _DECISIVE else None
        parts: Any = node.parts
        keep, add_part, send, index = node.bare.append, parts.append, events.append, node.index
        unfrozen, delta = self._output.models.Unfrozen, self._output.models.ToolCallDelta

        def receive(piece: str, start: int, end: int) -> None:
            keep(piece)
            is_plain = piece.isprintable() and '"' not in piece and "\\" not in piece
            text = piece if is_plain else encode_basestring(piece)[1:-1]
            add_part(text)
            event: Any = unfrozen()
            event.index, event.arguments, event.__class__ = index, text, delta
            send(event)

        return receive

    def end_value(self, value_end: Config) -> None:
        """A bare value has ended. It is the empty text if nothing stood there.

        It leads to the configuration `value_end`. If it holds what would end it, the call is invalid, since it may have
        been meant otherwise.
        """
        node = self._nodes[-1]
        self._automaton = value_end.automaton
        if node.bare is None:
            node.bare = [""]
            return
        text = "".join(node.bare)
        markup = loose_markup(value_end)
        if looseness := markup.find(text):
            node.looseness = worse(node.looseness, looseness)
        node.holds_rest = markup.holds_rest(text)
        node.ends_by_chance = node.ends_by_chance or is_ended_by_chance(value_end)
        node.ends_at_argument = node.ends_at_argument or is_ended_by_argument(value_end)
        sign = text.rstrip()[-1:]
        if sign in closing_signs(value_end) and (text[-1:].isspace() or sign not in "'\"" or text.count(sign) % 2):
            node.problem = f"what ends the value of `{node.key}` is there twice"
        if value_markup(value_end).is_in(text):
            node.problem = f"the value of `{node.key}` holds markup that may end it"

    def _send_if_text(self, node: OpenNode) -> None:
        """Send an argument's bare text as a JSON string, once it can be nothing else."""
        if node.head and not may_be_other_than_text(node.head, self._types(node), self._header.values):
            self._send(node, f'{self._lead(node)}"{escape("".join(node.bare or ()))}')
            node.sending = True

    def complete_text(self, node: OpenNode) -> None:
        """Add to the arguments' JSON text what is still missing, as for an argument that never ended."""
        if node.repeated:
            node.parts = [to_json(node.arguments)[:-1]]
        if node.bare is not None and not node.sending and node.index >= 0 and node.partial_text is None:
            node.head = "".join(node.bare).lstrip()[:_DECISIVE]
            self._send_if_text(node)

    def field_argument(self, start: int, end: int) -> None:
        """An argument is complete: its name, and its value as bare text or as an embedded value."""
        node = self._nodes[-1]
        if self._answers.enabled and node.bare is None:
            node.content_span = (start, end)
        key = node.key = node.key or self._place_name(node)
        node.odd_key = key if node.holds_rest else node.odd_key
        if node.holds_rest and not self._recorder.edits:
            message = f"the value of `{key}` holds what may be a part of the marker beside it"
            self._recorder.report("odd-marker", message, (start, end), "warning")
            written = self._state.source.slice(node.key_start, start)
            if written.startswith((f'{key}>"', f'{key}>\n"')):
                node.problem = f"the quote before the value of `{key}` may close its name"
        if node.bare is not None:
            node.problem = self._problem_at_start(node, key, "".join(node.bare), start) or node.problem
            value, text = self._bare_value(node, key, start), None
        else:
            value, text = self._state.last_value, self._state.last_text
            if self._recorder.edits:
                set_paths(self._recorder.edits, text, start, end, key)
                set_paths_before(self._recorder.edits, text, key, node.key_start, start, self._state.source)
        if node.arguments is None:
            node.arguments = {}
            node.keyed = True
        if key in node.arguments and self._header.repeated:
            self._add_to_list(node, key, value)
        else:
            if key in node.arguments:
                self._repeat(node, key, value, start)
            self._add_argument(node, key, value, text or to_json(value) if not node.sending else None)
        node.key = node.bare = None
        node.head, node.is_text, node.holds_rest = "", False, False
        if self._answers.enabled and self._answers.is_answer(node):
            self._answers.send_rest(node)

    def _problem_at_start(self, node: OpenNode, key: str, value: str, start: int) -> str:
        """What the beginning of a bare value says against it; "" if nothing does."""
        if self._header.unnamed and key == self._place_name(node) and lacks_bracket(value):
            return "the arguments seem to be an object without its first bracket"
        if self._begins_with_name(node, key, value, start):
            return f"the value of `{key}` begins with its own name, as the argument does"
        if value[1:2] == " " and taken_in.is_behind_odd(self._recorder.edits, start):
            return f"the value of `{key}` begins with a sign that may stand in the marker before it"
        return ""

    def _begins_with_name(self, node: OpenNode, key: str, value: str, start: int) -> bool:
        """Does a bare value begin with the name of its argument and the marker behind that, as if they were doubled?"""
        if not key or not value.lstrip().startswith(key):
            return False
        before = self._state.source.slice(node.key_start, start).partition(value)[0].rstrip()
        return before.startswith(key) and before != key and value.lstrip().startswith(before)

    def _repeat(self, node: OpenNode, key: str, value: Any, start: int) -> None:
        """An argument is given a second time: with another value, nothing tells which one was meant."""
        if node.arguments[key] != value:
            node.problem = f"the argument `{key}` is given twice, with two values"
            return
        message = f"the argument `{key}` is given twice, with the same value"
        self._recorder.report("repeated-argument", message, (node.key_start, start), "warning")

    def _place_name(self, node: OpenNode) -> str:
        return place_name(node.arguments, self._tools, node.name, self._header.unnamed)

    def _name_only_argument(self, node: OpenNode) -> None:
        """Name the argument that stood before the name of its tool, if the tool has only one."""
        if self._tools is None or node.index >= 0 or not node.keyed or node.arguments.keys() != {"$1"}:
            return
        key = place_name(None, self._tools, node.name)
        if key != "$1":
            value = node.arguments["$1"]
            node.arguments = {key: value}
            node.parts = [argument_text(None, key, to_json(value))]

    def _add_argument(self, node: OpenNode, key: str, value: Any, text: str | None) -> None:
        """Add an argument; `text` is its JSON text, or None if that was sent but for its closing quote."""
        if text is None:
            self._send(node, '"')
        else:
            self._send(node, argument_text(node.arguments, key, text))
        node.arguments[key] = value
        node.sending = False

    def _add_to_list(self, node: OpenNode, key: str, value: Any) -> None:
        """Add the value of an argument that was given before. Nothing was sent of the call yet."""
        node.repeated = node.repeated or set()
        if key in node.repeated:
            node.arguments[key].append(value)
        else:
            node.arguments[key] = [node.arguments[key], value]
        node.repeated.add(key)
        node.sending = False

    def accepts(self, key: str) -> bool:
        """May the call that is being read have another argument of this name?"""
        node, tools = self._nodes[-1], self._tools
        if key == node.key or key in (node.arguments or ()):
            return False
        if tools is None or node.name is None or node.name not in tools:
            return True
        properties: Any = (tools.schema(node.name) or {}).get("properties")
        return not isinstance(properties, dict) or key in properties

    def _bare_value(self, node: OpenNode, key: str, end: int) -> Any:
        """The value of an argument that was written as bare text."""
        parts: Any = node.bare
        text = parts[0] if len(parts) == 1 else "".join(parts)
        types = self._types(node)
        if node.partial_text is not None or (types is None and self._actions.may_be_action(node)):
            return text  # the field of the action decides how its text is read
        value, is_typed = (text, fits(text, types)) if node.sending else bare_value(text, types, self._header.values)
        if not is_typed and (nested := repaired_nested(self._state, text, end, key, self.schema_view(""))) is not None:
            return nested
        if not is_typed:
            node.mistyped = {**(node.mistyped or {}), key: (end - len(text), end)}
        return value

    def _types(self, node: OpenNode) -> frozenset[str] | None:
        types = types_of(self._tools, node.name, node.key)
        return as_text(types) if node.is_text else types

    def schema_view(self, role: str) -> SchemaView:
        """What the tool's schema says of the embedded value that begins here."""
        node = self._nodes[-1] if self._nodes else OpenNode()
        key = None if role == "arguments" else node.key
        return schema_view_of(self._tools, node.name, key, self._header.values)

    def _lead(self, node: OpenNode) -> str:
        """What precedes an argument's value in the JSON text."""
        return argument_text(node.arguments, node.key or "", "")

    # names and ids

    def field_tool_name(self) -> None:
        """The name of the tool, as a string. An answer whose input stood before it can be sent now."""
        value, node = self._state.last_value, self._nodes[-1]
        node.name = value if isinstance(value, str) else None
        if self._answers.enabled and node.arguments and self._answers.is_answer(node):
            self._answers.send_rest(node)

    def field_id(self) -> None:
        """The id of a call, as a string."""
        value = self._state.last_value
        self._nodes[-1].id = value if isinstance(value, str) else None

    # the end of a call

    def end_tool_call(self, end: int) -> None:
        """A call is complete."""
        node, recorder, output = self._nodes.pop(), self._recorder, self._output
        if node.unknown:
            unknown_keys.complete(self._state, node)
        self._resolve_name(node)
        name = node.name
        self._name_only_argument(node)
        arguments: dict[str, Any] | None = node.arguments
        if self._answers.enabled and not (node.problem or recorder.ambiguity) and self._answers.is_answer(node):
            self._answers.end_call(node, end)
            return
        node.problem = node.problem or self._problem(node)
        if not name or node.problem:
            recorder.ambiguity = ""
            self.unfinished(node, end, "invalid")
            return
        if self._actions.enabled and self._end_action(node, end):
            return
        if not self._state.context.calls:
            self._show(end)
            return
        if node.repeated:
            self.complete_text(node)
        if node.index < 0:
            self.announce(node, ended=True)
        if arguments is None or node.keyed:
            self._send(node, closing_text(arguments, keyed=node.keyed))
        text = "".join(node.parts or ())
        doubts, is_refused = verdict_on(self._state, node, name, arguments or {}, end)
        doubts = doubts or self._actions.misses(name, arguments or {})
        if is_refused:
            node.problem = doubts[0].message
            node.problem_code = doubts[0].code if doubts[0].code in REFUSED_CODES else "invalid-call"
            self.unfinished(node, end, "invalid")
            return
        repairs = recorder.take_repairs() if recorder.edits else ()
        status: Status = "repaired" if repairs else "ok"
        call = end_call(output, name, arguments or {}, text, node.id, node.start, end, status, repairs)
        for code, message, key in doubts:
            label = "called here" if code == "unknown-tool" else "in this call"
            place = (node.mistyped or {}).get(key, call.span)
            recorder.report(code, message, place, "warning", label="" if place is not call.span else label)
        if output.events is not None:
            output.events.append(output.models.ToolCallEnd(node.index, call))

    def _end_action(self, node: OpenNode, end: int) -> bool:
        """Make an action of a call that is one; a repaired call that should be one, and is none, is refused."""
        if self._actions.take_call(node, end):
            return True
        if self._recorder.edits and self._actions.may_be_action(node):
            node.problem = f"a repaired call of `{node.name}` should be an action, and is none of this format"
            self.unfinished(node, end, "invalid")
            return True
        return False

    def _problem(self, node: OpenNode) -> str:
        """Why a finished call cannot be read; "" if it can."""
        if self._recorder.edits and node.name and not _NOT_IN_NAME.isdisjoint(node.name):
            return "the name holds punctuation of the call"
        return self._doubt(node) or self._recorder.ambiguity or ("" if node.name else NAMELESS)

    def _doubt(self, node: OpenNode) -> str:
        """Why a bare value of a call may hold markup; "" if nothing shows it."""
        automaton, arguments = self._automaton, node.arguments
        if automaton is None or not arguments:
            return ""
        names = lacking(self._tools, node.name, arguments)
        if names and mentions(names, arguments):
            marks, on_lines = taken_in.argument_marks(automaton), node.ends_at_argument
            key = taken_in.takes_in_argument(marks, names, arguments, on_lines=on_lines)
            if key:
                return f"the value of `{key}` seems to hold another argument"
        return ""

    def unfinished(self, node: OpenNode, end: int, status: Status) -> None:
        """A call, action or answer never ended (`truncated`) or cannot be read (`invalid`)."""
        self._resolve_name(node)
        if self._answers.is_answer(node):
            self._answers.unfinished(node, end, status)
            return
        if begins_in_value(self._state, node):
            self._state.cut_value = CutValue(end, is_empty=True, has_begun=True)
        elif node.key is not None:
            is_empty = status == "invalid" or not "".join(node.bare or ()).strip()
            self._state.cut_value = self._state.cut_value._replace(end=end, is_empty=is_empty)
        if status == "invalid":
            note_cut(self._state, node, end, self._actions.mapping)
        if node.partial_text is not None or "action" in node.kinds:
            self._actions.unfinished(node, end, status, self._complete_arguments(node))
            return
        if not self._state.context.calls:
            self._show(end)
            return
        output, recorder = self._output, self._recorder
        output.flush()
        self.complete_text(node)
        recorder.lower_status(status)
        name, text, arguments = node.name or "", "".join(node.parts or ()), self._complete_arguments(node)
        call = end_call(output, name, arguments, text, node.id, node.start, end, status, recorder.take_repairs())
        if status == "truncated":
            label = "opened here, and the text ends inside it"
            recorder.report("unclosed-call", f"the call of `{name}` never ends", call.span, label=label)
        else:
            message = node.problem or f"the call of `{name}` cannot be read"
            recorder.report(node.problem_code, message, call.span, helps=("the raw text is kept; nothing was guessed",))
        if node.index < 0:
            node.index = output.call_count
            output.call_count += 1
            if output.events is not None:
                output.send(output.models.PlacedCallStart(node.index, node.id, name, node.start))
                if text:
                    output.send(output.models.ToolCallDelta(node.index, text))
        if output.events is not None:
            output.send(output.models.ToolCallUnfinished(node.index, call))

    def _show(self, end: int) -> None:
        """A call that ends here is text, since the request allows none."""
        self._recorder.edits.clear()
        self._recorder.ambiguity = ""
        self._output.show(end)

    def _complete_arguments(self, node: OpenNode) -> dict[str, Any]:
        """The arguments of an unfinished call, as far as they are complete."""
        complete = node.arguments
        text = "".join(node.parts or ())
        if complete is None and not node.keyed and text[:1] == "{":
            from outspoken.json.repair import repair_region

            read = repair_region(
                text, 0, len(text), closed=False, repair_limit="notation", settings=self._state.context.settings
            )
            complete = read[0].value if read else None
        return cast("dict[str, Any]", complete) if isinstance(complete, dict) else {}
