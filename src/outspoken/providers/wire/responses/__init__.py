"""OpenAI's Responses. The `reader` reads them, the `exporter` writes them; a `request` becomes a chat completion."""

from __future__ import annotations

from outspoken.providers.usage import UsageKeys

#: the names of token counts
USAGE = UsageKeys(
    ("input_tokens",),
    ("output_tokens",),
    ("total_tokens",),
    ("output_tokens_details.reasoning_tokens",),
    ("input_tokens_details.cached_tokens",),
)
