"""`outspoken formats`: lists the formats."""

from __future__ import annotations

from cloup import argument

from outspoken.cli.options import command, format_names, json_option
from outspoken.grammar.registry import resolve
from outspoken.parsing.inspection import FormatInfo, formats
from outspoken.results.snippet import visible
from outspoken.terminal.outputs import print_json


@command(
    "formats",
    "List the formats: their names, the models that write them, and their aliases."
    "\n\nNAME is a format's name or alias. Formats that are named are shown with an example.",
    ("outspoken formats", "all formats"),
    ("outspoken formats hermes --json", "one of them, as JSON"),
)
@argument("names", metavar="[NAME]...", nargs=-1, shell_complete=format_names)
@json_option("write the list as JSON")
def run(names: tuple[str, ...], as_json: bool) -> int:
    """Print the list."""
    wanted = {resolve(name) for name in names}
    found = [info for info in formats() if not wanted or info.name in wanted]
    if as_json:
        print_json([info.model_dump() for info in found])
        return 0
    width = max(len(info.name) for info in found)
    for info in found:
        _show(info, width, with_example=bool(wanted))
    return 0


def _show(info: FormatInfo, width: int, *, with_example: bool) -> None:
    print(f"{info.name:<{width}}  {info.title}")
    print(f"{'':<{width}}  models: {', '.join(info.models)}")
    print(f"{'':<{width}}  aliases: {', '.join(info.aliases) or 'none'}")
    if with_example:
        print(f"{'':<{width}}  example:")
        for line in info.example.splitlines():
            print(f"{'':<{width}}    {visible(line)}")
