"""The finish reasons that explain why a response has no usable content, and the messages of their diagnostics."""

from __future__ import annotations

TOKEN_LIMIT = frozenset({"length", "max_tokens"})
CONTENT_FILTER = frozenset({"content_filter"})

MESSAGES = {
    "empty-response": "the response has no content",
    "token-limit": "the model reached its token limit",
    "content-filter": "a content filter stopped the model",
}
