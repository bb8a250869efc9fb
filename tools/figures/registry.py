"""The figures, the commands that measure them, and the sections of documents that show them."""

from __future__ import annotations

from typing import NamedTuple

#: The rooms that a response goes through when it is read.
READING = tuple(
    f"src/outspoken/{room}"
    for room in (
        *("results", "patterns", "grammar", "json", "notations", "actions", "semantics", "recovery", "engine"),
        *("detection", "fast_path", "parsing"),
    )
)


class Figure(NamedTuple):
    """What is measured by one command: `python -m MODULE`, which writes what it finds to the file of `--json`.

    `code` are the folders and modules that are measured, and those that measure. A figure is stale when one of them
    says something else. `grammars` stands for the grammars of the formats that the figure names.
    """

    about: str
    module: str
    code: tuple[str, ...]


_SERVERS = (
    *("src/outspoken/integrations/vllm.py", "src/outspoken/integrations/sglang.py"),
    *("src/outspoken/integrations/server_parsers.py", "tools/integrations/compare_servers.py"),
)
#: What makes texts, damages them and judges what is read of them.
_TEXTS = ("src/outspoken/rendering", "tools/damage", "tools/integrations/compare.py")

FIGURES: dict[str, Figure] = {
    "servers": Figure(
        "tool calls that are read as meant with the parsers of vLLM and SGLang, and with ours in their place",
        "tools.integrations.compare",
        (*READING, "grammars", *_TEXTS, *_SERVERS),
    ),
    "speed": Figure(
        "microseconds for a response with the parsers of vLLM and SGLang, and with ours",
        "tools.compare.speed",
        (*READING, "grammars", "tools/compile", *_SERVERS, "tools/bench/peers.py", "tools/compare/speed.py"),
    ),
    "templates": Figure(
        "tool calls that are read as meant with response templates of transformers, and with ours, and the time",
        "tools.compare.templates",
        (*READING, "grammars", *_TEXTS, "tools/compare/templates.py", "tools/compare/response_templates.py"),
    ),
    "documents": Figure(
        "JSON documents that are read as meant with json-repair, BAML and Instructor, and with ours, and the time",
        "tools.compare.documents",
        (
            *("src/outspoken/json", "src/outspoken/results", "tools/damage", "tools/compare/documents.py"),
            *("tools/compare/json_texts.py", "tools/compare/json_readers.py", "tools/compare/schemas.py"),
        ),
    ),
}

#: By the name of a section, the function that writes it: MODULE:NAME, called with the records of all figures.
SECTIONS: dict[str, str] = {
    "servers": "tools.integrations.compare_tables:section",
    "speed": "tools.compare.sections:speed",
    "templates": "tools.compare.sections:templates",
    "documents": "tools.compare.sections:documents",
    "comparison": "tools.compare.sections:comparison",
}
