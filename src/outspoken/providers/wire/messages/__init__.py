"""Anthropic's Messages. The `reader` reads them, the `exporter` writes them; a `request` becomes a chat completion."""

from __future__ import annotations

from outspoken.providers.usage import UsageKeys

#: the names of token counts
USAGE = UsageKeys(
    ("input_tokens",), ("output_tokens",), (), ("output_tokens_details.thinking_tokens",), ("cache_read_input_tokens",)
)
