"""Tokens: under which keys the providers count them."""

from __future__ import annotations

from typing import Any, NamedTuple

from .nodes import Node
from .replies import Usage


class Counts(NamedTuple):
    """The keys of a usage object; several are alternatives, a dot leads into an object."""

    input_tokens: tuple[str, ...]
    output_tokens: tuple[str, ...]
    total_tokens: tuple[str, ...] = ()
    reasoning_tokens: tuple[str, ...] = ()
    cached_tokens: tuple[str, ...] = ()


CHAT = Counts(
    ("prompt_tokens",),
    ("completion_tokens",),
    ("total_tokens",),
    ("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    ("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"),
)
RESPONSES = Counts(
    ("input_tokens",),
    ("output_tokens",),
    ("total_tokens",),
    ("output_tokens_details.reasoning_tokens",),
    ("input_tokens_details.cached_tokens",),
)
ANTHROPIC = Counts(
    ("input_tokens",),
    ("output_tokens",),
    (),
    ("output_tokens_details.thinking_tokens",),
    ("cache_read_input_tokens",),
)
GEMINI = Counts(
    ("promptTokenCount", "prompt_token_count"),
    ("candidatesTokenCount", "candidates_token_count"),
    ("totalTokenCount", "total_token_count"),
    ("thoughtsTokenCount", "thoughts_token_count"),
    ("cachedContentTokenCount", "cached_content_token_count"),
)
BEDROCK = Counts(("inputTokens",), ("outputTokens",), ("totalTokens",), (), ("cacheReadInputTokens",))
COHERE = Counts(
    ("tokens.input_tokens", "billed_units.input_tokens"),
    ("tokens.output_tokens", "billed_units.output_tokens"),
    (),
    (),
    ("cached_tokens",),
)
OLLAMA = Counts(("prompt_eval_count",), ("eval_count",))


def usage_of(node: Node, counts: Counts) -> Usage:
    """The counts of a usage object. Raises ProviderFormatError where a count is no whole number."""
    found: dict[str, Any] = {name: _first(node, keys) for name, keys in counts._asdict().items()}
    return Usage(**found, raw=node.value)


def _first(node: Node, keys: tuple[str, ...]) -> int | None:
    for key in keys:
        *path, last = key.split(".")
        inner: Node | None = node
        for step in path:
            inner = inner.node(step) if inner is not None else None
        found = inner.whole(last) if inner is not None else None
        if found is not None:
            return found
    return None
