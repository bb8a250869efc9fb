"""What a model of a format writes, as the grammar of the format spells it, and damaged responses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from outspoken import render
from outspoken.results.replies import Reasoning, Segment, Text, ToolCall

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "src" / "outspoken" / "integrations" / "README.md"

#: The server of all examples.
TIDE = "High tide in Brest at nine."
_URL = "http://localhost:8000/v1"


def blocks(framework: str, language: str) -> list[str]:
    """The blocks of code of a framework in a language."""
    section = PAGE.read_text("utf-8").partition(f"\n## {framework}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def configuration(framework: str, url: str) -> str:
    """The first configuration file of a framework, with another server."""
    text = blocks(framework, "yaml")[0]
    assert _URL in text
    return text.replace(_URL, url)


def printed_by_example(framework: str, given: str = _URL, instead: str = _URL, **replaced: str) -> str:
    """What the first example of a framework prints, with another server or model, and with others for some modules."""
    code = blocks(framework, "python")[0]
    assert instead in code
    program = code.replace(instead, given)
    for module, other in replaced.items():
        assert f"from {module} import " in program
        program = program.replace(f"from {module} import ", f"from {other} import ")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "example.py"  # some frameworks read the source of functions
        path.write_text(program, "utf-8")
        known = os.pathsep.join(filter(None, [str(TOP), os.environ.get("PYTHONPATH")]))
        command, variables = [sys.executable, str(path)], os.environ | {"PYTHONPATH": known}
        ran = subprocess.run(command, cwd=TOP, env=variables, capture_output=True, text=True, timeout=50)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# what a model of a format writes, as the grammar of the format spells it, and damaged responses


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

Called = tuple[str, Mapping[str, Any]]


def written(
    format: str, *calls: Called, text: str = "", reasoning: str = "", answer: str = "", tools: Any = TOOLS
) -> str:
    """A response in a format: reasoning, text, calls and a text behind them, of which each may be missing."""
    segments: list[Segment] = [Reasoning(text=reasoning, span=(0, 0))] if reasoning else []
    segments += [Text(text=text, span=(0, 0))] if text else []
    segments += [ToolCall(name=name, arguments=dict(arguments)) for name, arguments in calls]
    segments += [Text(text=answer, span=(0, 0))] if answer else []
    return render(segments, format=format, tools=tools)


def pieces(text: str, size: int = 7) -> Iterator[str]:
    """A text in pieces, as a server streams it."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
