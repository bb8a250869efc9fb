"""Outspoken reads what language models say: tool calls, reasoning, actions, payloads and JSON, typed and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.conventions import Conventions, register_conventions
from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.grammar.registry import load_format as load_format
    from outspoken.parsing.functions import astream as astream, parse as parse, stream as stream
    from outspoken.parsing.inspection import detect as detect, formats as formats
    from outspoken.parsing.parser import Parser as Parser
    from outspoken.parsing.session import Session as Session
    from outspoken.rendering.render import render as render
    from outspoken.results.actions.union import Action as Action
    from outspoken.results.diagnostics import Diagnostic as Diagnostic, Repair as Repair
    from outspoken.results.errors import (
        GrammarError as GrammarError,
        LimitError as LimitError,
        OutspokenError as OutspokenError,
        RenderError as RenderError,
        ResponseError as ResponseError,
        StreamClosedError as StreamClosedError,
        ToolError as ToolError,
        UnknownFormatError as UnknownFormatError,
    )
    from outspoken.results.events import (
        ActionParsed as ActionParsed,
        ActionText as ActionText,
        ActionUnfinished as ActionUnfinished,
        Done as Done,
        Event as Event,
        PayloadParsed as PayloadParsed,
        PayloadUnfinished as PayloadUnfinished,
        ReasoningDelta as ReasoningDelta,
        ReasoningEnd as ReasoningEnd,
        TextDelta as TextDelta,
        ToolCallDelta as ToolCallDelta,
        ToolCallEnd as ToolCallEnd,
        ToolCallStart as ToolCallStart,
        ToolCallUnfinished as ToolCallUnfinished,
    )
    from outspoken.results.held import Held as Held
    from outspoken.results.geometry import Box as Box, Point as Point, Screen as Screen
    from outspoken.results.replies import (
        JsonValue as JsonValue,
        Payload as Payload,
        Reasoning as Reasoning,
        Reply as Reply,
        Segment as Segment,
        Text as Text,
        ToolCall as ToolCall,
    )
    from outspoken.results.settings import Settings as Settings

export_lazily(__name__)

__version__ = "0.2.0"


def _conventions() -> Conventions:
    """Import the defaults of `Reply.to_envelope` and `Reply.to_message` when one of them is called."""
    from outspoken.contrib.conventions import CONVENTIONS

    return CONVENTIONS


register_conventions(_conventions)
