"""What a request says of how its response is read: the format, the tools and what of them may be called, thinking."""

from __future__ import annotations

from typing import Any, cast

from outspoken.integrations import framework
from outspoken.providers.stream import ProviderOptions
from outspoken.results.errors import UnknownFormatError
from outspoken.results.settings import Settings

from .http_errors import HttpError
from .settings import ServerSettings


def provider_options(settings: ServerSettings, request: dict[str, Any]) -> ProviderOptions:
    """The options of `ProviderStream` for the response to a chat completion, beside the format."""
    messages: Any = request.get("messages")
    tools: Any = request.get("tools")
    return {
        "thinking": _thinking_of(request),
        "prefix": settings.prefix,
        "tools": framework.readable_tools(cast("list[Any]", tools) if isinstance(tools, list) else ()),
        "settings": Settings(max_chars=settings.max_chars),
        "context": cast("list[Any]", messages) if isinstance(messages, list) else None,
        "tool_choice": choice_of(request),
        "parallel": request.get("parallel_tool_calls") is not False,
        "stops": bool(request.get("stop")),
        "shows_invalid": settings.show_invalid and not settings.ask_again,
    }


def format_of(settings: ServerSettings, request: dict[str, Any]) -> str:
    """The format of the model that a request names. Raises HttpError if it is not known."""
    try:
        return settings.format_of(request.get("model"))
    except UnknownFormatError as error:
        problem = f"{error}; set it where the proxy is started: --model 'MODEL=FORMAT', or --format"
        raise HttpError(400, problem, "unknown_model", "model") from None


def choice_of(request: dict[str, Any]) -> str:
    """What a request lets the model call; see `framework.choice_of`."""
    if not any(isinstance(request.get(key), list) and request[key] for key in ("tools", "functions")):
        return "none"
    return framework.choice_of(request.get("tool_choice", request.get("function_call")))


def _thinking_of(request: dict[str, Any]) -> bool | None:
    """Does a request ask the model to think, as it tells the chat template? None if it says nothing."""
    given: Any = request.get("chat_template_kwargs")
    named = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    found = [named[key] for key in ("enable_thinking", "thinking") if isinstance(named.get(key), bool)]
    return found[0] if found else None
