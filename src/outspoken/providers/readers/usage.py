"""Token counts: the keys under which each API reports them."""

from __future__ import annotations

from typing import Any, NamedTuple

from outspoken.providers.decode.json_object import JsonObject
from outspoken.providers.replies import Usage


class UsageKeys(NamedTuple):
    """The keys of a usage object. Several keys are alternatives; a dot leads into an object."""

    input_tokens: tuple[str, ...]
    output_tokens: tuple[str, ...]
    total_tokens: tuple[str, ...] = ()
    reasoning_tokens: tuple[str, ...] = ()
    cached_tokens: tuple[str, ...] = ()


CHAT_COMPLETIONS = UsageKeys(
    ("prompt_tokens",),
    ("completion_tokens",),
    ("total_tokens",),
    ("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    ("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"),
)
RESPONSES = UsageKeys(
    ("input_tokens",),
    ("output_tokens",),
    ("total_tokens",),
    ("output_tokens_details.reasoning_tokens",),
    ("input_tokens_details.cached_tokens",),
)
ANTHROPIC = UsageKeys(
    ("input_tokens",), ("output_tokens",), (), ("output_tokens_details.thinking_tokens",), ("cache_read_input_tokens",)
)
GEMINI = UsageKeys(
    ("promptTokenCount", "prompt_token_count"),
    ("candidatesTokenCount", "candidates_token_count"),
    ("totalTokenCount", "total_token_count"),
    ("thoughtsTokenCount", "thoughts_token_count"),
    ("cachedContentTokenCount", "cached_content_token_count"),
)
BEDROCK = UsageKeys(("inputTokens",), ("outputTokens",), ("totalTokens",), (), ("cacheReadInputTokens",))
COHERE = UsageKeys(
    ("tokens.input_tokens", "billed_units.input_tokens"),
    ("tokens.output_tokens", "billed_units.output_tokens"),
    (),
    (),
    ("cached_tokens",),
)
OLLAMA = UsageKeys(("prompt_eval_count",), ("eval_count",))


def parse_usage(body: JsonObject, keys: UsageKeys) -> Usage:
    """Read a usage object. Raises ProviderFormatError if a count is no integer."""
    counts: dict[str, Any] = {name: _first_count(body, paths) for name, paths in keys._asdict().items()}
    return Usage(**counts, raw=body.value)


def _first_count(body: JsonObject, paths: tuple[str, ...]) -> int | None:
    for path in paths:
        *parents, last = path.split(".")
        inner: JsonObject | None = body
        for key in parents:
            inner = inner.object(key) if inner is not None else None
        count = inner.integer(last) if inner is not None else None
        if count is not None:
            return count
    return None
