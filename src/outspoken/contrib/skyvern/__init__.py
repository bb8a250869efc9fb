"""Skyvern's API responses: the JSON object that each of its prompts asks for, and the errors if it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outspoken.results.lazy_exports import export_lazily

if TYPE_CHECKING:
    from .api_response import (
        ApiResponse as ApiResponse,
    )
    from .api_response import (
        ApiResponseError as ApiResponseError,
    )
    from .api_response import (
        InvalidLLMResponseFormatError as InvalidLLMResponseFormatError,
    )
    from .api_response import (
        InvalidLLMResponseTypeError as InvalidLLMResponseTypeError,
    )
    from .api_response import (
        LLMContentFilteredError as LLMContentFilteredError,
    )
    from .api_response import (
        LLMOutputTruncatedError as LLMOutputTruncatedError,
    )
    from .api_response import (
        LLMResponseMissingActionsError as LLMResponseMissingActionsError,
    )
    from .api_response import (
        parse_api_response as parse_api_response,
    )
    from .api_response import (
        read_api_response as read_api_response,
    )
    from .api_response import (
        require_actions as require_actions,
    )

export_lazily(
    __name__,
    {
        "api_response": (
            "ApiResponse ApiResponseError InvalidLLMResponseFormatError InvalidLLMResponseTypeError "
            "LLMContentFilteredError LLMOutputTruncatedError LLMResponseMissingActionsError parse_api_response "
            "read_api_response require_actions"
        ),
    },
)
