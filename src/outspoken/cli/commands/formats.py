"""`outspoken formats`: lists the formats."""

from __future__ import annotations

from cloup import argument

from outspoken.cli.options import command, format_names, json_option, option
from outspoken.grammar.registry import resolve
from outspoken.parsing.inspection import formats
from outspoken.results.snippet import visible
from outspoken.terminal.outputs import print_json


@command(
    "formats",
    "List the formats: their names, the models that write them, and their aliases."
    "\n\nNAME is a format's name or alias, or the id of a model. Formats that are named are shown with an example.",
    ("outspoken formats", "all formats"),
    ("outspoken formats hermes --json", "one of them, as JSON"),
)
@argument("names", metavar="[NAME]...", nargs=-1, shell_complete=format_names)
@option("-m --models", "show the patterns of the ids of models, too")
@json_option("write the list as JSON")
def run(names: tuple[str, ...], models: bool, as_json: bool) -> int:
    """Print the list."""
    wanted = {resolve(name) for name in names}
    listed = [info for info in formats() if not wanted or info.name in wanted]
    if as_json:
        print_json(listed)
        return 0
    width = max(len(info.name) for info in listed)
    for info in listed:
        lines = [f"models: {', '.join(info.models)}", f"aliases: {', '.join(info.aliases) or 'none'}"]
        if models:
            lines.append(f"ids:     {', '.join(info.ids) or 'none'}")
        if wanted:
            lines += ["example:", *[f"  {visible(line)}" for line in info.example.splitlines()]]
        print(f"{info.name:<{width}}  {info.title}", *lines, sep=f"\n{'':<{width}}  ")
    return 0
