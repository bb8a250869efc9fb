"""The default conventions of `Reply.to_envelope` (SpeakMCP's agent loop) and `Reply.to_message` (the table chat)."""

from __future__ import annotations

from outspoken.results.envelope import Conventions

CONVENTIONS = Conventions(
    content="content",
    tool_calls="toolCalls",
    needs_more_work="needsMoreWork",
    placeholder="Executing tools",
    message_keys=("suggested_values", "suggested_actions"),
)
