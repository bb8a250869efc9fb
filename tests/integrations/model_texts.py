"""What a model of a format writes, as the grammar of the format spells it, and damaged responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from outspoken import render
from outspoken.results.replies import Reasoning, Segment, Text, ToolCall

#: Formats with markup of every kind: JSON in tags, tagged arguments, lines of a scratchpad, channels, special tokens.
FORMATS = ("hermes", "qwen3_coder", "glm_4_5", "react", "harmony", "kimi_k2", "mistral")

#: The tools of the tests, as OpenAI's API takes them.
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Look up the {name} of a place.",
            "parameters": {
                "type": "object",
                "properties": {"place": {"type": "string"}, "day": {"type": "integer"}},
                "required": ["place"],
            },
        },
    }
    for name in ("tide", "wind")
]

#: A model whose prompts open the reasoning, and a response of it.
THINKER = "Qwen/Qwen3-4B-Thinking-2507"
THOUGHT = "They ask.\n</think>\n\nAt nine."

#: A call of each tool in one response.
BOTH = (("tide", {"place": "Brest", "day": 3}), ("wind", {"place": "Brest"}))

#: A call in hermes whose arguments have two readings, and one that the token limit cut.
INVALID = '<tool_call>\n{"name": "tide", "arguments": {"place": "Brest", "day": 1 2}}\n</tool_call>'
CUT = 'Wait.\n<tool_call>\n{"name": "tide", "arguments": {"place": "Bre'
#: A call in hermes with a trailing comma and a bracket too few: it can be repaired.
REPAIRABLE = '<tool_call>\n{"name": "tide", "arguments": {"place": "Brest", "day": 3,}\n</tool_call>'


def written(
    format: str, *calls: tuple[str, Mapping[str, Any]], text: str = "", reasoning: str = "", answer: str = ""
) -> str:
    """A response in a format: reasoning, text, calls and a text behind them, of which each may be missing."""
    segments: list[Segment] = []
    if reasoning:
        segments.append(Reasoning(text=reasoning, span=(0, 0)))
    if text:
        segments.append(Text(text=text, span=(0, 0)))
    segments += [ToolCall(name=name, arguments=dict(arguments)) for name, arguments in calls]
    if answer:
        segments.append(Text(text=answer, span=(0, 0)))
    return render(segments, format=format, tools=TOOLS)


def pieces(text: str, size: int = 7) -> Iterator[str]:
    """A text in pieces, as a server streams it."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
