"""Outspoken reads what language models say: tool calls, reasoning, actions, payloads and JSON, typed and in order."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outspoken.results.conventions import Conventions, register_conventions

if TYPE_CHECKING:
    from outspoken.actions.page import PageContext as PageContext, PageElement as PageElement
    from outspoken.contrib.skyvern.api_response import (
        ApiResponse as ApiResponse,
        ApiResponseError as ApiResponseError,
        InvalidLLMResponseFormatError as InvalidLLMResponseFormatError,
        InvalidLLMResponseTypeError as InvalidLLMResponseTypeError,
        LLMContentFilteredError as LLMContentFilteredError,
        LLMOutputTruncatedError as LLMOutputTruncatedError,
        LLMResponseMissingActionsError as LLMResponseMissingActionsError,
        parse_api_response as parse_api_response,
        read_api_response as read_api_response,
        require_actions as require_actions,
    )
    from outspoken.grammar.registry import load_format as load_format
    from outspoken.json.read import JsonLimitError as JsonLimitError, JsonReading as JsonReading, read_json as read_json
    from outspoken.notations.tools import Tools as Tools
    from outspoken.parsing.functions import astream as astream, parse as parse, stream as stream
    from outspoken.parsing.inspection import (
        Candidate as Candidate,
        FormatInfo as FormatInfo,
        detect as detect,
        formats as formats,
    )
    from outspoken.parsing.session import StreamParser as StreamParser
    from outspoken.payloads import PayloadRegistry as PayloadRegistry, PayloadType as PayloadType
    from outspoken.processing.cache import CacheInfo as CacheInfo, ResponseCache as ResponseCache
    from outspoken.processing.categories import ErrorCategory as ErrorCategory
    from outspoken.processing.page_actions import parse_action as parse_action, parse_actions as parse_actions
    from outspoken.processing.processor import ResponseProcessor as ResponseProcessor
    from outspoken.processing.results import Processed as Processed, RetryRequest as RetryRequest
    from outspoken.processing.settings import ProcessorSettings as ProcessorSettings
    from outspoken.processing.stats import ParseStats as ParseStats
    from outspoken.providers.chunk_parser import LLMResponseParser as LLMResponseParser, ParsedDelta as ParsedDelta
    from outspoken.providers.errors import (
        ProviderFormatError as ProviderFormatError,
        UnknownProviderError as UnknownProviderError,
    )
    from outspoken.providers.events import (
        Failed as Failed,
        Finished as Finished,
        ProviderEvent as ProviderEvent,
        ReasoningSigned as ReasoningSigned,
        RefusalDelta as RefusalDelta,
        Started as Started,
        UsageReported as UsageReported,
    )
    from outspoken.providers.export.anthropic import (
        ato_anthropic_events as ato_anthropic_events,
        to_anthropic as to_anthropic,
        to_anthropic_events as to_anthropic_events,
    )
    from outspoken.providers.export.chat_completions import (
        ato_openai_chunks as ato_openai_chunks,
        to_openai as to_openai,
        to_openai_chunks as to_openai_chunks,
    )
    from outspoken.providers.export.responses import (
        ato_openai_responses as ato_openai_responses,
        to_openai_response as to_openai_response,
        to_openai_responses as to_openai_responses,
    )
    from outspoken.providers.export.sse import asse as asse, sse as sse
    from outspoken.providers.export.vercel import (
        ato_vercel_parts as ato_vercel_parts,
        to_vercel as to_vercel,
        to_vercel_parts as to_vercel_parts,
    )
    from outspoken.providers.replies import (
        FinishReason as FinishReason,
        ProviderError as ProviderError,
        ProviderReply as ProviderReply,
        Signature as Signature,
        Usage as Usage,
    )
    from outspoken.providers.stream import ProviderStream as ProviderStream, parse_response as parse_response
    from outspoken.rendering.messages import parse_message as parse_message
    from outspoken.rendering.render import render as render
    from outspoken.results.actions.union import Action as Action
    from outspoken.results.diagnostics import Diagnostic as Diagnostic, Repair as Repair
    from outspoken.results.errors import (
        GrammarError as GrammarError,
        LimitError as LimitError,
        MessageError as MessageError,
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
        PayloadPreview as PayloadPreview,
        PayloadUnfinished as PayloadUnfinished,
        ReasoningDelta as ReasoningDelta,
        ReasoningEnd as ReasoningEnd,
        TextDelta as TextDelta,
        ToolCallDelta as ToolCallDelta,
        ToolCallEnd as ToolCallEnd,
        ToolCallStart as ToolCallStart,
        ToolCallUnfinished as ToolCallUnfinished,
    )
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

#: By module, the public names that it holds.
_HOMES = {
    "actions.page": "PageContext PageElement",
    "contrib.skyvern.api_response": (
        "ApiResponse ApiResponseError InvalidLLMResponseFormatError InvalidLLMResponseTypeError "
        "LLMContentFilteredError LLMOutputTruncatedError LLMResponseMissingActionsError parse_api_response "
        "read_api_response require_actions"
    ),
    "grammar.registry": "load_format",
    "json.read": "JsonLimitError JsonReading read_json",
    "notations.tools": "Tools",
    "parsing.functions": "astream parse stream",
    "parsing.inspection": "Candidate FormatInfo detect formats",
    "parsing.session": "StreamParser",
    "payloads": "PayloadRegistry PayloadType",
    "processing.cache": "CacheInfo ResponseCache",
    "processing.categories": "ErrorCategory",
    "processing.page_actions": "parse_action parse_actions",
    "processing.processor": "ResponseProcessor",
    "processing.results": "Processed RetryRequest",
    "processing.settings": "ProcessorSettings",
    "processing.stats": "ParseStats",
    "providers.chunk_parser": "LLMResponseParser ParsedDelta",
    "providers.errors": "ProviderFormatError UnknownProviderError",
    "providers.events": "Failed Finished ProviderEvent ReasoningSigned RefusalDelta Started UsageReported",
    "providers.export.anthropic": "ato_anthropic_events to_anthropic to_anthropic_events",
    "providers.export.chat_completions": "ato_openai_chunks to_openai to_openai_chunks",
    "providers.export.responses": "ato_openai_responses to_openai_response to_openai_responses",
    "providers.export.sse": "asse sse",
    "providers.export.vercel": "ato_vercel_parts to_vercel to_vercel_parts",
    "providers.replies": "FinishReason ProviderError ProviderReply Signature Usage",
    "providers.stream": "ProviderStream parse_response",
    "rendering.messages": "parse_message",
    "rendering.render": "render",
    "results.actions.union": "Action",
    "results.diagnostics": "Diagnostic Repair",
    "results.errors": (
        "GrammarError LimitError MessageError OutspokenError RenderError ResponseError StreamClosedError ToolError "
        "UnknownFormatError"
    ),
    "results.events": (
        "ActionParsed ActionText ActionUnfinished Done Event PayloadParsed PayloadPreview PayloadUnfinished "
        "ReasoningDelta ReasoningEnd TextDelta ToolCallDelta ToolCallEnd ToolCallStart ToolCallUnfinished"
    ),
    "results.geometry": "Box Point Screen",
    "results.replies": "JsonValue Payload Reasoning Reply Segment Text ToolCall",
    "results.settings": "Settings",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]  # the aliases above export the names to it

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
