"""`outspoken formats`: lists the formats."""

from __future__ import annotations

from outspoken.cli.framework import declare
from outspoken.cli.options import json_option
from outspoken.cli.results import print_json
from outspoken.parsing.inspection import formats


@declare(
    "formats",
    "List the formats: their names, the models that write them, and their aliases.",
    [("outspoken formats", "all formats"), ("outspoken formats --json", "the same as JSON, with an example of each")],
)
@json_option("write the list as JSON")
def run(as_json: bool) -> int:
    """Print the list."""
    found = formats()
    if as_json:
        print_json([info.model_dump() for info in found])
        return 0
    width = max(len(info.name) for info in found)
    for info in found:
        print(f"{info.name:<{width}}  {info.title}")
        print(f"{'':<{width}}  models: {', '.join(info.models)}")
        print(f"{'':<{width}}  aliases: {', '.join(info.aliases) or 'none'}")
    return 0
