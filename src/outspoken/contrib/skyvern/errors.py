"""What the functions of this package raise. Skyvern's names of the errors are aliases of these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from outspoken.results.edits import shown
from outspoken.results.errors import OutspokenError

if TYPE_CHECKING:
    from .api_response import ApiResponse

#: the most keys that a message lists
_MAX_KEYS = 10


class ApiResponseError(OutspokenError, ValueError):
    """The base of all errors of `parse_api_response`. `response` is what was read, or None."""

    def __init__(self, message: str, response: ApiResponse | None = None) -> None:
        self.response = response
        super().__init__(message)


class InvalidLLMResponseFormatError(ApiResponseError):
    """A response that cannot be used: one without content or without JSON, or what the errors derived from it say."""


class InvalidLLMResponseTypeError(InvalidLLMResponseFormatError):
    """A response whose JSON is not an object. `type_name` is its Python type: `list`, `int`, ..."""

    def __init__(self, type_name: str, response: ApiResponse | None = None) -> None:
        self.type_name = type_name
        super().__init__(f"the JSON of the response is of type {type_name}; expected an object", response)


class LLMResponseMissingActionsError(InvalidLLMResponseFormatError):
    """An object without the required list `actions`. `keys` are the keys that it has."""

    def __init__(self, keys: Iterable[str], response: ApiResponse | None = None) -> None:
        self.keys = tuple(keys)
        names = [shown(key) for key in self.keys[:_MAX_KEYS]]
        if len(self.keys) > _MAX_KEYS:
            names.append(f"{len(self.keys) - _MAX_KEYS} more")
        has = f"its keys are {', '.join(names)}" if names else "it has no keys"
        super().__init__(f"the response has no list `actions`; {has}", response)


class LLMOutputTruncatedError(InvalidLLMResponseFormatError):
    """A response that was truncated before it contained anything usable. Unknown token counts are None."""

    def __init__(
        self,
        model: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        reasoning_tokens: int | None = None,
        response: ApiResponse | None = None,
    ) -> None:
        self.model = model
        self.prompt_tokens, self.completion_tokens = prompt_tokens, completion_tokens
        self.reasoning_tokens = reasoning_tokens
        of = f" of `{model}`" if model else ""
        counts = {"prompt": prompt_tokens, "completion": completion_tokens, "reasoning": reasoning_tokens}
        known = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count is not None)
        tokens = f" (tokens: {known})" if known else ""
        super().__init__(f"the output{of} was truncated before it contained anything usable{tokens}", response)


class LLMContentFilteredError(InvalidLLMResponseFormatError):
    """A response that a content filter withheld. The same prompt will probably be filtered again."""

    def __init__(self, model: str | None = None, response: ApiResponse | None = None) -> None:
        self.model = model
        super().__init__(f"the output{f' of `{model}`' if model else ''} was withheld by a content filter", response)


class InvalidActionError(OutspokenError, ValueError):
    """An action of a known type that cannot be carried out: an argument is missing or of the wrong kind."""


class UnsupportedActionError(OutspokenError, ValueError):
    """An action of a type that Skyvern does not read from a response, or cannot carry out. `action_type` names it."""

    def __init__(self, action_type: str, reason: str = "") -> None:
        self.action_type = str(action_type)
        super().__init__(f"the action `{self.action_type[:80]}` is not supported{f': {reason}' if reason else ''}")


#: Skyvern's names.
InvalidLLMResponseFormat = EmptyLLMResponseError = InvalidLLMResponseFormatError
InvalidLLMResponseType = InvalidLLMResponseTypeError
UnsupportedActionType = UnsupportedActionError
