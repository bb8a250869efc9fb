"""What an event adds to the reply, as a short text that the page's script reads."""

from __future__ import annotations

from outspoken.results.events import (
    ActionParsed,
    ActionText,
    ActionUnfinished,
    Event,
    PayloadParsed,
    PayloadUnfinished,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallUnfinished,
)
from outspoken.results.printing import several_lines


def delta(event: Event) -> str:
    """What an event adds: a letter for its kind, the index of what it belongs to, `:`, and a text.

    `t` text, `r` reasoning, `R` the end of it; `c` a call and its name, `a` more of its arguments, `e` its end, `u` its
    status if it is unfinished; `x` more of the text of an action, `A` an action, `P` a payload. "" adds nothing.
    """
    match event:
        case TextDelta(text=text):
            return f"t:{text}"
        case ReasoningDelta(text=text):
            return f"r:{text}"
        case ReasoningEnd():
            return "R:"
        case ToolCallStart(index=index, name=name):
            return f"c{index}:{name}"
        case ToolCallDelta(index=index, arguments=arguments):
            return f"a{index}:{arguments}"
        case ToolCallEnd(index=index):
            return f"e{index}:"
        case ToolCallUnfinished(index=index, call=call):
            return f"u{index}:{call.status}"
        case ActionText(index=index, text=text):
            return f"x{index}:{text}"
        case ActionParsed(action=action) | ActionUnfinished(action=action):
            return f"A{action.order}:{several_lines(action)}"
        case PayloadParsed(payload=payload) | PayloadUnfinished(payload=payload):
            return f"P:{several_lines(payload)}"
        case _:
            return ""
