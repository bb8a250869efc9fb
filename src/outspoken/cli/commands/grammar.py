"""`outspoken grammar`: what authors of grammars use, for a grammar file anywhere.

Each command passes its arguments on to the tool of its name in `outspoken.authoring`.
"""

from __future__ import annotations

from typing import Any

import click
import cloup
from cloup import argument
from cloup.constraints import mutually_exclusive

from outspoken.authoring.commands import run as run_tool
from outspoken.cli.groups import Group, example_text
from outspoken.cli.options import SHARED, File, command, json_option, option, positive
from outspoken.terminal.errors import UsageError

#: So many responses are made if neither a number nor a time is given.
_RUNS = 100

_file = argument("file", metavar="FILE", type=File())
_files = argument("files", metavar="FILE...", nargs=-1, required=True, type=File())


def _words(as_json: bool = False, **given: Any) -> list[str]:
    """The options of a tool, as it takes them: those that were given."""
    options = {"json": as_json, **given}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items() if value]


@command(
    "new",
    "Write a first grammar and its cases, from responses or a chat template.",
    ("outspoken grammar new my_tags.lark --from a.txt b.txt", "from raw responses"),
    ("outspoken grammar new my_tags.lark --template tokenizer_config.json", "from a chat template"),
)
@argument("files", metavar="FILE", nargs=-1, required=True, type=File())
@option("--from RESPONSE...", "files with raw responses", File(), into="responses", multiple=True)
@option("--template FILE", "a chat template, or a tokenizer_config.json", File())
@option("--force", "write it even if a format reads all of it already")
@json_option("write the paths and the remarks as JSON")
def new(files: tuple[str, ...], responses: tuple[str, ...], **given: Any) -> int:
    """Write the grammar. All files but the grammar are responses if `--from` is given."""
    file = next((one for one in files if one.endswith(".lark")), files[0])
    others = [one for one in files if one != file]
    if others and not responses:
        raise UsageError(f"one grammar is written; name the file `{others[0]}` behind `--from` if it is a response")
    return run_tool("new", file, [*_words(**given), *(["--from", *responses, *others] if responses else [])])


@command(
    "check",
    "Report what is wrong with grammars or missing from them.",
    ("outspoken grammar check my_tags.lark", "every problem with its place"),
    ("outspoken grammar check *.lark --json", "the findings as JSON, a line for each grammar"),
)
@_files
@json_option("write the findings as JSON, a line for each grammar")
def check(files: tuple[str, ...], **given: Any) -> int:
    """Check the grammars, and return the highest exit code."""
    return max([run_tool("check", file, _words(**given)) for file in files])


@command(
    "show",
    "Show how a response is read: tokens, tree, segments, and where the grammar rejects it."
    "\n\nRESPONSE is a file, `-` for standard input, or a case of the grammar, such as ok/one_call.",
    ("outspoken grammar show my_tags.lark response.txt", "a file"),
    ("outspoken grammar show my_tags.lark ok/one_call --trace", "a case of the grammar, step by step"),
)
@_file
@argument("response", metavar="RESPONSE", type=File())
@option("--stream N", "read N characters at a time, and show each piece", click.IntRange(1))
@option("--trace", "show each step, and what was acceptable there")
@option("--html OUT", "write a page that shows all of it, and nothing else", File())
@SHARED["tools"]
@SHARED["prefix"]
@json_option("write tokens, tree and reply as a line of JSON")
@SHARED["color"]
def show(file: str, response: str, **given: Any) -> int:
    """Show the response."""
    return run_tool("show", file, [response, *_words(**given)])


@command(
    "fuzz",
    "Make responses of a grammar, damage some, and check that nothing is lost and that pieces give the same.",
    ("outspoken grammar fuzz my_tags.lark", f"{_RUNS} texts"),
    ("outspoken grammar fuzz my_tags.lark --minutes 10 --seed 100", "as many as can be in ten minutes"),
)
@_files
@option("--runs N", "the number of texts", click.IntRange(1), shown=_RUNS)
@option("--minutes M", "the duration", positive)
@option("--seed N", "the first seed; default: 0", int)
@option("--replay FINDINGS", "check the findings that --json has written, and no others", File())
@json_option("write findings and summaries as JSON lines")
@cloup.constraint(mutually_exclusive, ["runs", "minutes", "replay"])
def fuzz(files: tuple[str, ...], runs: int | None, minutes: float | None, replay: str | None, **given: Any) -> int:
    """Fuzz the grammars, and return the highest exit code."""
    words = _words(runs=None if minutes or replay else runs or _RUNS, minutes=minutes, replay=replay, **given)
    return max([run_tool("fuzz", file, words) for file in files])


@command(
    "diagram",
    "Draw the syntax of a grammar as a railroad diagram in SVG.",
    ("outspoken grammar diagram my_tags.lark -o my_tags.svg", "into a file"),
)
@_file
@option("-o --output OUT", "the SVG file to write", File(), shown="standard output")
def diagram(file: str, **given: Any) -> int:
    """Draw the diagram."""
    return run_tool("diagram", file, _words(**given))


run = Group(
    "grammar",
    listed={"Commands": (new, check, show, fuzz, diagram)},
    help="Work on a grammar file, wherever it lies. The cases of NAME.lark are in NAME/ok/*.txt and NAME/err/*.txt.",
    epilog=example_text(
        ("outspoken grammar new my_tags.lark --from a.txt b.txt", "write a grammar for two responses"),
        ("outspoken grammar check my_tags.lark", "report what is wrong with it"),
    ),
)
