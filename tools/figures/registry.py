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


FIGURES: dict[str, Figure] = {
    "servers": Figure(
        "texts that are read as meant with the parsers of vLLM and SGLang, and with ours in their place",
        "tools.integrations.compare",
        (
            *(*READING, "grammars", "src/outspoken/integrations/vllm.py", "src/outspoken/integrations/sglang.py"),
            *("src/outspoken/integrations/server_parsers.py", "src/outspoken/rendering"),
            *("tools/integrations/compare.py", "tools/integrations/compare_servers.py"),
        ),
    ),
}

#: By the name of a section, the function that writes it: MODULE:NAME, called with the records of all figures.
SECTIONS: dict[str, str] = {
    "servers": "tools.integrations.compare_tables:section",
}
