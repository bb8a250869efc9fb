"""A relay: the stream of one provider, whose model writes calls as text, becomes the stream of another."""

from collections.abc import AsyncIterable, AsyncIterator, Callable

from outspoken.providers import ProviderReply, astream_response, sse


async def relay(
    body: AsyncIterable[bytes], format: str, log: Callable[[ProviderReply], object]
) -> AsyncIterator[bytes]:
    """The body of a chat completion's stream as that of an Anthropic message; what was read is logged at the end."""
    events = astream_response(body, format=format)
    async for written in sse(events, "anthropic"):
        yield written
    log(events.reply)
