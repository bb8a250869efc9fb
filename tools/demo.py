"""Shows what the library does: parses six responses in as many formats, and one as it streams in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from outspoken import parse, stream
from outspoken.cli.explain import summary
from outspoken.results.printing import one_line

TOOLS = [
    {
        "name": "run_python",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "version": {"type": "string"}, "timeout": {"type": "integer"}},
        },
    },
]

RESPONSES = {
    "reasoning, text and a call as JSON": """\
<think>
They ask for the weather in two cities. One call for each.
</think>

Let me look that up.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}
</tool_call>
<tool_call>
{"name": "get_weather", "arguments": {"city": "Łódź", "unit": "celsius"}}
</tool_call>""",
    "XML parameters, typed by the tool's schema; the code holds a closing tag": """\
I'll run it.

<tool_call>
<function=run_python>
<parameter=code>
print("</parameter> is only text here")
</parameter>
<parameter=version>
3.10
</parameter>
<parameter=timeout>
30
</parameter>
</function>
</tool_call>""",
    "channels": """\
<|channel|>analysis<|message|>I need the user's location first.<|end|><|start|>assistant<|channel|>commentary \
to=functions.get_location <|constrain|>json<|message|>{}<|call|>""",
    "a GUI action": """\
Thought: The search box is at the top of the page. I click on it, then type.
Action: click(start_box='(197,525)')""",
    "an answer with a payload": """\
Your table has three columns now.

SUGGESTED_VALUES:
[{"label": "Add rows", "value": "Add ten sample rows"}, {"label": "Rename", "value": "Rename the second column"}]""",
    "a response that is cut off inside a call": """\
I'll write the file.
<function_calls>
<invoke name="write_file">
<parameter name="path">notes.txt</parameter>
<parameter name="text">Remember the mi""",
}

STREAMED = (
    "Two things at once.<|tool_calls_section_begin|>"
    '<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": "tides"}<|tool_call_end|>'
    '<|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{"zone": "UTC"}<|tool_call_end|>'
    "<|tool_calls_section_end|>"
)


def show(title: str, text: str) -> None:
    """Parse a whole response and print what it contains."""
    reply = parse(text, tools=TOOLS if "run_python" in text else None)
    print(f"── {title}\n\n{framed(text)}\n")
    for _, line in summary(reply):
        print(f"   {line}".rstrip())
    print()


def framed(text: str) -> str:
    """A response behind a line in the margin."""
    return textwrap.indent(text, "   │ ", lambda _: True)


def show_stream(text: str, size: int) -> None:
    """Parse a response in small pieces and print its events as they come."""
    print(f"── two calls as they stream in, {size} characters at a time; the number says how many have arrived\n")
    print(f"{framed(text)}\n")
    arrived = 0

    def chunks() -> Iterator[str]:
        nonlocal arrived
        for start in range(0, len(text), size):
            arrived = min(start + size, len(text))
            yield text[start:arrived]

    for event in stream(chunks()):
        print(f"   {arrived:>4}  {one_line(event)}")


def main() -> None:
    """Print everything."""
    for title, text in RESPONSES.items():
        show(title, text)
    show_stream(STREAMED, 16)


if __name__ == "__main__":
    main()
