"""Skyvern's API responses: the JSON object that each of its prompts asks for, and the errors if it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .api_response import (
        ApiResponse as ApiResponse,
        ApiResponseError as ApiResponseError,
        ApiResponseLike as ApiResponseLike,
        InvalidLLMResponseFormatError as InvalidLLMResponseFormatError,
        InvalidLLMResponseTypeError as InvalidLLMResponseTypeError,
        LLMContentFilteredError as LLMContentFilteredError,
        LLMOutputTruncatedError as LLMOutputTruncatedError,
        LLMResponseMissingActionsError as LLMResponseMissingActionsError,
        parse_api_response as parse_api_response,
        read_api_response as read_api_response,
        require_actions as require_actions,
    )

export_lazily(
    __name__,
    {
        "api_response": (
            "ApiResponse ApiResponseError ApiResponseLike InvalidLLMResponseFormatError InvalidLLMResponseTypeError "
            "LLMContentFilteredError LLMOutputTruncatedError LLMResponseMissingActionsError parse_api_response "
            "read_api_response require_actions"
        ),
    },
)
