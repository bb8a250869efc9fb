"""Outspoken reads what language models say: tool calls, reasoning, actions, payloads and JSON, typed and in order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outspoken.results.conventions import Conventions, register_conventions

if TYPE_CHECKING:
    from outspoken.actions.page import PageContext, PageElement
    from outspoken.contrib.skyvern.api_response import (
        ApiResponse,
        ApiResponseError,
        InvalidLLMResponseFormat,
        InvalidLLMResponseType,
        LLMContentFilteredError,
        LLMOutputTruncatedError,
        LLMResponseMissingActionsError,
        parse_api_response,
        read_api_response,
        require_actions,
    )
    from outspoken.grammar.loading import load_format
    from outspoken.json.read import JsonLimitError, JsonReading, read_json
    from outspoken.notations.tools import Tools
    from outspoken.parsing.functions import astream, parse, stream
    from outspoken.parsing.inspection import Candidate, FormatInfo, detect, formats
    from outspoken.parsing.session import StreamParser
    from outspoken.payloads import PayloadRegistry, PayloadType
    from outspoken.processing.cache import CacheInfo, ResponseCache
    from outspoken.processing.categories import ErrorCategory
    from outspoken.processing.config import ParserConfig
    from outspoken.processing.page_actions import parse_action, parse_actions
    from outspoken.processing.processor import ResponseProcessor
    from outspoken.processing.results import Processed, RetryRequest
    from outspoken.processing.stats import ParseStats
    from outspoken.providers.chunk_parser import LLMResponseParser, ParsedDelta
    from outspoken.providers.errors import ProviderFormatError, UnknownProviderError
    from outspoken.providers.events import (
        Failed,
        Finished,
        ProviderEvent,
        ReasoningSigned,
        RefusalDelta,
        Started,
        UsageReported,
    )
    from outspoken.providers.export.anthropic import ato_anthropic_events, to_anthropic, to_anthropic_events
    from outspoken.providers.export.chat_completions import ato_openai_chunks, to_openai, to_openai_chunks
    from outspoken.providers.export.responses import ato_openai_responses, to_openai_response, to_openai_responses
    from outspoken.providers.export.sse import asse, sse
    from outspoken.providers.export.vercel import ato_vercel_parts, to_vercel, to_vercel_parts
    from outspoken.providers.replies import FinishReason, ProviderError, ProviderReply, Signature, Usage
    from outspoken.providers.stream import ProviderStream, parse_response
    from outspoken.rendering.messages import parse_message
    from outspoken.rendering.render import render
    from outspoken.results.actions.union import Action
    from outspoken.results.diagnostics import Diagnostic, Repair
    from outspoken.results.errors import (
        GrammarError,
        LimitError,
        MessageError,
        OutspokenError,
        RenderError,
        ResponseError,
        StreamClosedError,
        ToolError,
        UnknownFormatError,
    )
    from outspoken.results.events import (
        ActionParsed,
        ActionText,
        ActionUnfinished,
        Done,
        Event,
        PayloadParsed,
        PayloadPreview,
        PayloadUnfinished,
        ReasoningDelta,
        ReasoningEnd,
        TextDelta,
        ToolCallDelta,
        ToolCallEnd,
        ToolCallStart,
        ToolCallUnfinished,
    )
    from outspoken.results.geometry import Box, Point, Screen
    from outspoken.results.replies import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
    from outspoken.results.settings import Settings

_HOMES = {
    "results.actions.union": ["Action"],
    "parsing.functions": ["astream", "parse", "stream"],
    "contrib.skyvern.api_response": [
        "ApiResponse",
        "ApiResponseError",
        "InvalidLLMResponseFormat",
        "InvalidLLMResponseType",
        "LLMContentFilteredError",
        "LLMOutputTruncatedError",
        "LLMResponseMissingActionsError",
        "parse_api_response",
        "read_api_response",
        "require_actions",
    ],
    "processing.cache": ["CacheInfo", "ResponseCache"],
    "processing.categories": ["ErrorCategory"],
    "processing.config": ["ParserConfig"],
    "results.diagnostics": ["Diagnostic", "Repair"],
    "results.errors": [
        "GrammarError",
        "LimitError",
        "MessageError",
        "OutspokenError",
        "RenderError",
        "ResponseError",
        "StreamClosedError",
        "ToolError",
        "UnknownFormatError",
    ],
    "results.events": [
        "ActionParsed",
        "ActionText",
        "ActionUnfinished",
        "Done",
        "Event",
        "PayloadParsed",
        "PayloadPreview",
        "PayloadUnfinished",
        "ReasoningDelta",
        "ReasoningEnd",
        "TextDelta",
        "ToolCallDelta",
        "ToolCallEnd",
        "ToolCallStart",
        "ToolCallUnfinished",
    ],
    "parsing.inspection": ["Candidate", "FormatInfo", "detect", "formats"],
    "json.read": ["JsonLimitError", "JsonReading", "read_json"],
    "grammar.loading": ["load_format"],
    "rendering.messages": ["parse_message"],
    "actions.page": ["PageContext", "PageElement"],
    "processing.page_actions": ["parse_action", "parse_actions"],
    "payloads": ["PayloadRegistry", "PayloadType"],
    "results.geometry": ["Box", "Point", "Screen"],
    "processing.results": ["Processed", "RetryRequest"],
    "processing.processor": ["ResponseProcessor"],
    "providers.chunk_parser": ["LLMResponseParser", "ParsedDelta"],
    "providers.errors": ["ProviderFormatError", "UnknownProviderError"],
    "providers.events": [
        "Failed",
        "Finished",
        "ProviderEvent",
        "ReasoningSigned",
        "RefusalDelta",
        "Started",
        "UsageReported",
    ],
    "providers.export.anthropic": ["ato_anthropic_events", "to_anthropic", "to_anthropic_events"],
    "providers.export.chat_completions": ["ato_openai_chunks", "to_openai", "to_openai_chunks"],
    "providers.export.responses": ["ato_openai_responses", "to_openai_response", "to_openai_responses"],
    "providers.export.sse": ["asse", "sse"],
    "providers.export.vercel": ["ato_vercel_parts", "to_vercel", "to_vercel_parts"],
    "providers.replies": ["FinishReason", "ProviderError", "ProviderReply", "Signature", "Usage"],
    "providers.stream": ["ProviderStream", "parse_response"],
    "parsing.session": ["StreamParser"],
    "rendering.render": ["render"],
    "results.replies": ["JsonValue", "Payload", "Reasoning", "Reply", "Segment", "Text", "ToolCall"],
    "results.settings": ["Settings"],
    "processing.stats": ["ParseStats"],
    "notations.tools": ["Tools"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Action",
    "ActionParsed",
    "ActionText",
    "ActionUnfinished",
    "ApiResponse",
    "ApiResponseError",
    "Box",
    "CacheInfo",
    "Candidate",
    "Diagnostic",
    "Done",
    "ErrorCategory",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "FormatInfo",
    "GrammarError",
    "InvalidLLMResponseFormat",
    "InvalidLLMResponseType",
    "JsonLimitError",
    "JsonReading",
    "JsonValue",
    "LLMContentFilteredError",
    "LLMOutputTruncatedError",
    "LLMResponseMissingActionsError",
    "LLMResponseParser",
    "LimitError",
    "MessageError",
    "OutspokenError",
    "PageContext",
    "PageElement",
    "ParseStats",
    "ParsedDelta",
    "ParserConfig",
    "Payload",
    "PayloadParsed",
    "PayloadPreview",
    "PayloadRegistry",
    "PayloadType",
    "PayloadUnfinished",
    "Point",
    "Processed",
    "ProviderError",
    "ProviderEvent",
    "ProviderFormatError",
    "ProviderReply",
    "ProviderStream",
    "Reasoning",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningSigned",
    "RefusalDelta",
    "RenderError",
    "Repair",
    "Reply",
    "ResponseCache",
    "ResponseError",
    "ResponseProcessor",
    "RetryRequest",
    "Screen",
    "Segment",
    "Settings",
    "Signature",
    "Started",
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
    "UnknownProviderError",
    "Usage",
    "UsageReported",
    "asse",
    "astream",
    "ato_anthropic_events",
    "ato_openai_chunks",
    "ato_openai_responses",
    "ato_vercel_parts",
    "detect",
    "formats",
    "load_format",
    "parse",
    "parse_action",
    "parse_actions",
    "parse_api_response",
    "parse_message",
    "parse_response",
    "read_api_response",
    "read_json",
    "render",
    "require_actions",
    "sse",
    "stream",
    "to_anthropic",
    "to_anthropic_events",
    "to_openai",
    "to_openai_chunks",
    "to_openai_response",
    "to_openai_responses",
    "to_vercel",
    "to_vercel_parts",
]

__version__ = "0.1.0"


def _conventions() -> Conventions:
    """Import the defaults of `Reply.to_envelope` and `Reply.to_message` when one of them is called."""
    from outspoken.contrib.conventions import CONVENTIONS

    return CONVENTIONS


register_conventions(_conventions)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
