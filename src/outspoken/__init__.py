"""Outspoken reads what language models say: tool calls, reasoning, actions, payloads and JSON, typed and in order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .actions import Action
    from .api import astream, parse, stream
    from .api_response import (
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
    from .cache import CacheInfo, ResponseCache
    from .categories import ErrorCategory
    from .config import ParserConfig
    from .diagnostics import Diagnostic, Repair
    from .errors import (
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
    from .events import (
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
    from .inspection import Candidate, FormatInfo, detect, formats
    from .json_reading import JsonLimitError, JsonReading, read_json
    from .loading import load_format
    from .messages import parse_message
    from .page import PageContext, PageElement
    from .page_actions import parse_action, parse_actions
    from .payloads import PayloadRegistry, PayloadType
    from .points import Box, Point, Screen
    from .processed import Processed, RetryRequest
    from .processing import ResponseProcessor
    from .providers.delta import LLMResponseParser, ParsedDelta
    from .providers.errors import ProviderFormatError, UnknownProviderError
    from .providers.events import Failed, Finished, ProviderEvent, ReasoningSigned, RefusalDelta, Started, UsageReported
    from .providers.out_anthropic import ato_anthropic_events, to_anthropic, to_anthropic_events
    from .providers.out_openai import ato_openai_chunks, to_openai, to_openai_chunks
    from .providers.out_responses import ato_openai_responses, to_openai_response, to_openai_responses
    from .providers.out_sse import asse, sse
    from .providers.out_vercel import ato_vercel_parts, to_vercel, to_vercel_parts
    from .providers.replies import FinishReason, ProviderError, ProviderReply, Signature, Usage
    from .providers.stream import ProviderStream, parse_response
    from .reading import StreamParser
    from .rendering import render
    from .replies import JsonValue, Payload, Reasoning, Reply, Segment, Text, ToolCall
    from .settings import Settings
    from .stats import ParseStats
    from .tools import Tools

_HOMES = {
    "actions": ["Action"],
    "api": ["astream", "parse", "stream"],
    "api_response": [
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
    "cache": ["CacheInfo", "ResponseCache"],
    "categories": ["ErrorCategory"],
    "config": ["ParserConfig"],
    "diagnostics": ["Diagnostic", "Repair"],
    "errors": [
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
    "events": [
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
    "inspection": ["Candidate", "FormatInfo", "detect", "formats"],
    "json_reading": ["JsonLimitError", "JsonReading", "read_json"],
    "loading": ["load_format"],
    "messages": ["parse_message"],
    "page": ["PageContext", "PageElement"],
    "page_actions": ["parse_action", "parse_actions"],
    "payloads": ["PayloadRegistry", "PayloadType"],
    "points": ["Box", "Point", "Screen"],
    "processed": ["Processed", "RetryRequest"],
    "processing": ["ResponseProcessor"],
    "providers.delta": ["LLMResponseParser", "ParsedDelta"],
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
    "providers.out_anthropic": ["ato_anthropic_events", "to_anthropic", "to_anthropic_events"],
    "providers.out_openai": ["ato_openai_chunks", "to_openai", "to_openai_chunks"],
    "providers.out_responses": ["ato_openai_responses", "to_openai_response", "to_openai_responses"],
    "providers.out_sse": ["asse", "sse"],
    "providers.out_vercel": ["ato_vercel_parts", "to_vercel", "to_vercel_parts"],
    "providers.replies": ["FinishReason", "ProviderError", "ProviderReply", "Signature", "Usage"],
    "providers.stream": ["ProviderStream", "parse_response"],
    "reading": ["StreamParser"],
    "rendering": ["render"],
    "replies": ["JsonValue", "Payload", "Reasoning", "Reply", "Segment", "Text", "ToolCall"],
    "settings": ["Settings"],
    "stats": ["ParseStats"],
    "tools": ["Tools"],
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


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
