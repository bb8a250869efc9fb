"""Outspoken reads what language models say: tool calls, reasoning, actions, payloads and JSON, typed and in order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .actions import Action
    from .api import astream, parse, stream
    from .diagnostics import Diagnostic, Repair
    from .errors import (
        GrammarError,
        LimitError,
        OutspokenError,
        RenderError,
        ResponseError,
        StreamClosedError,
        ToolError,
        UnknownFormatError,
    )
    from .events import (
        ActionParsed,
        Done,
        Event,
        PayloadParsed,
        ReasoningDelta,
        TextDelta,
        ToolCallDelta,
        ToolCallEnd,
        ToolCallStart,
        ToolCallUnfinished,
    )
    from .inspection import Candidate, FormatInfo, detect, formats
    from .reading import StreamParser
    from .rendering import render
    from .replies import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
    from .settings import Settings
    from .tools import Tools

_HOMES = {
    "actions": ["Action"],
    "api": ["astream", "parse", "stream"],
    "diagnostics": ["Diagnostic", "Repair"],
    "errors": [
        "GrammarError",
        "LimitError",
        "OutspokenError",
        "RenderError",
        "ResponseError",
        "StreamClosedError",
        "ToolError",
        "UnknownFormatError",
    ],
    "events": [
        "ActionParsed",
        "Done",
        "Event",
        "PayloadParsed",
        "ReasoningDelta",
        "TextDelta",
        "ToolCallDelta",
        "ToolCallEnd",
        "ToolCallStart",
        "ToolCallUnfinished",
    ],
    "inspection": ["Candidate", "FormatInfo", "detect", "formats"],
    "reading": ["StreamParser"],
    "rendering": ["render"],
    "replies": ["JsonValue", "Payload", "Reasoning", "Reply", "Segment", "Text", "ToolCall"],
    "settings": ["Settings"],
    "tools": ["Tools"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Action",
    "ActionParsed",
    "Candidate",
    "Diagnostic",
    "Done",
    "Event",
    "FormatInfo",
    "GrammarError",
    "JsonValue",
    "LimitError",
    "OutspokenError",
    "Payload",
    "PayloadParsed",
    "Reasoning",
    "ReasoningDelta",
    "RenderError",
    "Repair",
    "Reply",
    "ResponseError",
    "Segment",
    "Settings",
    "StreamClosedError",
    "StreamParser",
    "Text",
    "TextDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolCallUnfinished",
    "ToolError",
    "Tools",
    "UnknownFormatError",
    "astream",
    "detect",
    "formats",
    "parse",
    "render",
    "stream",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
