"""`describe_tools`: what a system prompt says of the tools that a model may call, in a format's own way of calling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from outspoken.json.descriptions import describe_schema, sample_of
from outspoken.notations.tools import ListedTools, ToolLike, Tools
from outspoken.results.arguments import check_type

from .render import render

_CALL = "To call a tool, write this and nothing behind it, with the name of the tool and its arguments:"


def describe_tools(format: str, tools: Sequence[ToolLike] | ListedTools) -> str:
    """The section of a system prompt for tools: each with its description and the type of its arguments, and how to
    call one in a format.

    It is for models to which a format is taught (`react`, `anthropic_xml`, `json`). The chat template of a model that
    knows a format writes the tools itself; see `Parser.prompt`. The example of a call is read back as it was written.

    Raises RenderError if the format has no calls, and UnknownFormatError and ToolError as `parse` does.
    """
    known_tools = Tools.of(tools)
    described = [tool["function"] for tool in known_tools.to_openai()] if known_tools is not None else []
    parts = ["# Tools", *["\n".join(_section(**tool)) for tool in described]]
    if described:
        first = described[0]
        arguments: Any = sample_of(first["parameters"]) if first["parameters"].get("properties") else {}
        text = render(
            {"name": first["name"], "arguments": arguments}, check_type(format, str, "format"), tools=known_tools
        )
        parts += [_CALL, text.strip("\n")]
    return "\n\n".join(parts) + "\n"


def _section(name: str, parameters: dict[str, Any], description: str = "", **_: Any) -> Iterator[str]:
    """A tool: its name, its description, and its arguments."""
    yield f"## {name}"
    if description:
        yield f"\n{description}"
    arguments = describe_schema({**parameters, "type": "object"}) if parameters.get("properties") else "none"
    yield f"\nIts arguments: {arguments}"
