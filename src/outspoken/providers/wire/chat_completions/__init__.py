"""OpenAI's chat completions, which most servers speak. The `reader` reads them, the `exporter` writes them."""

from __future__ import annotations

from outspoken.providers.usage import UsageKeys

#: the names of token counts
USAGE = UsageKeys(
    ("prompt_tokens",),
    ("completion_tokens",),
    ("total_tokens",),
    ("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    ("prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"),
)
