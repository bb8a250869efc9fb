"""The names of token counts in usage objects: those by which readers and exporters of one API know them."""

from __future__ import annotations

from typing import Any, NamedTuple

from .replies import Usage


class UsageKeys(NamedTuple):
    """The keys of a usage object. Several keys are alternatives; a dot leads into an object."""

    input_tokens: tuple[str, ...]
    output_tokens: tuple[str, ...]
    total_tokens: tuple[str, ...] = ()
    reasoning_tokens: tuple[str, ...] = ()
    cached_tokens: tuple[str, ...] = ()

    def write(self, usage: Usage, *required: str) -> dict[str, Any]:
        """A usage object, with the first key of each count. Unknown counts are left out; `required` ones are 0."""
        found: dict[str, Any] = {}
        for name, paths in self._asdict().items():
            count = getattr(usage, name)
            if count is None and name in required:
                is_total = name == "total_tokens"
                count = (usage.input_tokens or 0) + (usage.output_tokens or 0) if is_total else 0
            if count is not None and paths:
                *parents, last = paths[0].split(".")
                inner = found
                for key in parents:
                    inner = inner.setdefault(key, {})
                inner[last] = count
        return found


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
