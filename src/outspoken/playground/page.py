"""The page of the playground: the view of a response, and beside it what is read."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from outspoken import formats
from outspoken.viewer.page import document

from .answers import TARGETS
from .given import MOST_CHARS, Given

_HERE = Path(__file__).parent
_SCRIPTS = ("editors", "live", "files")
#: What the page begins with if no file is given: a response with a mistake, for a first look.
_FIRST = Given(
    name="an example",
    text=(
        "Let me look that up.\n<tool_call>\n"
        '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3,}}\n</tool_call>\nOne moment.'
    ),
    tools=(
        '[{"name": "get_weather", "parameters": {"type": "object", "properties": '
        '{"city": {"type": "string"}, "days": {"type": "integer"}}}}]'
    ),
)


def live_page(first: Given | None = None) -> str:
    """The page, as HTML. It asks nobody but the server that it comes from."""
    known = formats()
    live = {
        "given": (first or _FIRST).model_dump(),
        "formats": [[one.name, one.title, one.example] for one in known],
        "targets": TARGETS,
        "most": MOST_CHARS,
    }
    return document(
        {"live": live},
        "Outspoken playground",
        script="\n".join([_file(f"{name}.js") for name in _SCRIPTS]),
        style=_file("live.css"),
        mode="live",
        connect="'self'",
        actions=_file("actions.html"),
        input=_file("input.html"),
        keys=_file("keys.html"),
    )


@cache
def _file(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
