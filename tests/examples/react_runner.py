"""A ReAct agent: thoughts and the final answer stream, tools run between them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from outspoken import Event, Parser


def run(
    model: Callable[[str], Iterable[str]], tools: Mapping[str, Callable[..., Any]], question: str, turns: int = 5
) -> Iterator[Event]:
    """The events of all turns. A `ReasoningDelta` is thought, a `TextDelta` is a part of the answer."""
    parser = Parser("react_json", tools=[*tools.values()])
    prompt = f"Question: {question}\n"
    for _ in range(turns):
        events = parser.stream(model(prompt))
        yield from events
        if events.reply.final_answer_streamed:
            return
        for call in events.reply.tool_calls:
            prompt += f"{events.reply.raw}\nObservation: {tools[call.name](**call.arguments)}\n"
