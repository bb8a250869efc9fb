"""The server of a chat about tables: text streams as server-sent events, and payloads follow, validated."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Any

from outspoken.contrib.table_chat import tables_registry
from outspoken.payloads import PayloadSettings
from outspoken.providers import sse

SETTINGS = PayloadSettings(strip_unfinished=True)
PAYLOADS = tables_registry({"table_view": {"open_filters": "Open the filters"}}, settings=SETTINGS)


def system_prompt(page: str) -> str:
    """The prompt that teaches the model its payloads."""
    return f"You help with tables.\n\n{PAYLOADS.instructions(page)}"


async def respond(
    chunks: AsyncIterable[str], page: str, store: Callable[[dict[str, Any]], object]
) -> AsyncIterator[bytes]:
    """The server-sent events for a response of the model; the message is stored at its end."""
    events = PAYLOADS.astream(chunks, page=page)
    async for written in sse(events, "openai"):
        yield written
    store(events.reply.to_message())
