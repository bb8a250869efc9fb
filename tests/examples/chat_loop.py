"""A chat loop for any format: text streams, tools run, and an unusable response is asked for again."""

from collections.abc import Callable, Iterable
from typing import Any

from outspoken import Parser, Reply, TextDelta
from outspoken.processing import ResponseProcessor

Message = dict[str, str]


def chat(
    model: Callable[[list[Message]], Iterable[str]],
    format: str,
    tools: list[Callable[..., object]],
    messages: list[Message],
    show: Callable[[str], object],
) -> Reply:
    """Let a model answer the last of the messages; `model` returns the pieces of its response to them."""
    parser = Parser(format, tools=tools)
    processor = ResponseProcessor(parser)
    attempt = 1
    while True:
        events = parser.stream(model(messages))
        for event in events:
            if isinstance(event, TextDelta):
                show(event.text)
        messages.append({"role": "assistant", "content": events.reply.raw})
        result = processor.process(events.reply.raw, attempt=attempt)
        attempt = attempt + 1 if result.needs_retry else 1
        if result.needs_retry:
            messages.append({"role": "user", "content": result.retry_message()})
        elif not result.tool_calls:
            return events.reply
        for call in result.tool_calls:
            tool: Any = next(tool for tool in tools if tool.__name__ == call.name)
            messages.append({"role": "tool", "content": str(tool(**call.arguments))})
