"""Outspoken reads what language models say: tool calls, reasoning, actions, payloads and JSON, typed and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.envelope import Conventions, register_conventions
from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from outspoken.constraints.deriving import constraint as constraint
    from outspoken.grammar.registry import load_format as load_format
    from outspoken.json.read import read_json as read_json
    from outspoken.parsing.functions import astream as astream, parse as parse, stream as stream
    from outspoken.parsing.inspection import detect as detect, formats as formats
    from outspoken.parsing.parser import Parser as Parser
    from outspoken.payloads.registry import PayloadRegistry as PayloadRegistry
    from outspoken.payloads.types import PayloadType as PayloadType
    from outspoken.processing.page_actions import parse_actions as parse_actions
    from outspoken.processing.processor import ResponseProcessor as ResponseProcessor
    from outspoken.providers.stream import (
        astream_response as astream_response,
        parse_response as parse_response,
        stream_response as stream_response,
    )
    from outspoken.rendering.render import render as render
    from outspoken.results.actions.union import Action as Action
    from outspoken.results.diagnostics import Diagnostic as Diagnostic
    from outspoken.results.errors import (
        GrammarError as GrammarError,
        LimitError as LimitError,
        OutspokenError as OutspokenError,
        RenderError as RenderError,
        ResponseError as ResponseError,
        UnknownFormatError as UnknownFormatError,
    )
    from outspoken.results.events import (
        ActionParsed as ActionParsed,
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
    from outspoken.results.geometry import Screen as Screen
    from outspoken.results.replies import (
        JsonValue as JsonValue,
        Payload as Payload,
        Reasoning as Reasoning,
        Reply as Reply,
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
