"""Invariants of the events of a stream: their order, and that they add up to the reply."""

from typing import Any

from outspoken import (
    ActionParsed,
    ActionUnfinished,
    Done,
    Event,
    PayloadParsed,
    PayloadUnfinished,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
)
from outspoken.actions import ActionText
from outspoken.authoring.fuzz.checks import ViolationError, require
from outspoken.payloads import PayloadPreview

FINISHED = ("ok", "repaired")


class EventChecker:
    """Collects the events of a stream and checks their order."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.blocks: list[str] = []
        self.names: list[str] = []
        self.arguments: list[list[str]] = []
        self.calls: list[ToolCall] = []
        self.others: list[Any] = []
        self.actions = 0
        self.typed: list[str] = []

    def receive(self, event: Event) -> None:
        """Add an event. Raises ViolationError if it may not come here."""
        match event:
            case TextDelta():
                self.text.append(event.text)
            case ReasoningDelta():
                require(event.text, "events", "a delta without text")
                self.reasoning.append(event.text)
            case ReasoningEnd():
                require(self.reasoning, "events", f"{event} without reasoning")
                self.blocks.append("".join(self.reasoning))
                self.reasoning = []
            case ToolCallStart() | ToolCallDelta() | ToolCallEnd() | ToolCallUnfinished():
                self.receive_call(event)
            case ActionText():
                require(event.index == self.actions, "events", f"{event} after {self.actions} actions")
                self.typed.append(event.text)
            case ActionParsed() | ActionUnfinished():
                self.receive_action(event)
            case PayloadParsed():
                self.others.append(event.payload)
            case PayloadUnfinished():
                self.others.append(event.payload)
            case PayloadPreview():
                raise ViolationError("events", f"{event} comes of no registry of payloads")
            case Done():
                raise ViolationError("events", "Done comes before the end")

    def receive_action(self, event: ActionParsed | ActionUnfinished) -> None:
        """An action comes after all of its text, which adds up to the text of the action."""
        require(isinstance(event, ActionParsed) == (event.action.status in FINISHED), "events", event)
        require(event.action.order == self.actions, "events", f"{event} after {self.actions} actions")
        if event.action.type == "type_text":
            require("".join(self.typed) == event.action.text, "events", f"{event} after {self.typed}")
        else:
            require(not self.typed or isinstance(event, ActionUnfinished), "events", f"{event} after {self.typed}")
        self.typed = []
        self.actions += 1
        self.others.append(event.action)

    def receive_call(self, event: ToolCallStart | ToolCallDelta | ToolCallEnd | ToolCallUnfinished) -> None:
        """Calls come one after another. Only an unfinished one may come without a start."""
        require(event.index == len(self.calls), "events", f"{event} after {len(self.calls)} calls")
        announced = len(self.names) > len(self.calls)
        if isinstance(event, ToolCallStart):
            require(not announced, "events", f"{event} within a call")
            self.names.append(event.name)
            self.arguments.append([])
        elif isinstance(event, ToolCallDelta):
            require(announced, "events", f"{event} before its call was announced")
            self.arguments[-1].append(event.arguments)
        else:
            ended = isinstance(event, ToolCallEnd)
            require(ended == (event.call.status in FINISHED), "events", event)
            require(announced or not ended, "events", f"{event} of a call that was not announced")
            if not announced:
                self.names.append(event.call.name)
                self.arguments.append([event.call.arguments_text])
            self.calls.append(event.call)


def check_events(events: list[Event]) -> None:
    """The events are in order and add up to the reply."""
    *before, done = events
    require(isinstance(done, Done), "events", "Done is not the last one")
    assert isinstance(done, Done)
    reply, received = done.reply, EventChecker()
    for event in before:
        received.receive(event)
    require(all(received.text), "events", "a delta without text")
    require("".join(received.text) == reply.text, "events", f"streamed text: {received.text}")
    reasoning = [s.text for s in reply.segments if isinstance(s, Reasoning)]
    require(received.blocks == reasoning and not received.reasoning, "events", f"streamed reasoning: {received.blocks}")
    require(received.calls == [s for s in reply.segments if isinstance(s, ToolCall)], "events", received.calls)
    require(
        received.others == [s for s in reply.segments if s.kind in ("action", "payload")], "events", received.others
    )
    for call, name, parts in zip(received.calls, received.names, received.arguments, strict=True):
        require(call.name == name, "events", f"{call.name} was announced as {name}")
        require("".join(parts) == call.arguments_text, "events", f"streamed arguments: {parts}")
