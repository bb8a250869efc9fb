"""`outspoken grammar`: what authors of grammars use, for a grammar file anywhere.

The tools of a checkout (`python -m tools.check`) are the same commands, with the checkout as what their context holds:
they take names of formats in place of files, and no name stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import cloup
from cloup import argument
from cloup.constraints import mutually_exclusive

from outspoken.authoring.shared.checkout import Checkout
from outspoken.cli.groups import Group, example_text
from outspoken.cli.options import SHARED, File, command, json_option, option, positive
from outspoken.terminal.errors import UsageError

#: So many responses are made of a file if neither a number nor a time is given.
_RUNS = 100

_file = argument("file", metavar="FILE", type=File())
_files = argument("files", metavar="FILE...", nargs=-1, type=File())


def _named(words: Sequence[str], *, is_new: bool = False) -> list[tuple[Checkout, list[str]]]:
    """The formats that a command is given: each file with what lies round it, or those of the tool's checkout.

    Raises GrammarError for what is no file of a grammar, and MissingParameter if there is none.
    """
    context = click.get_current_context()
    if context.obj is not None:
        return [(context.obj, list(words))]
    if not words:
        raise click.MissingParameter(ctx=context, param=context.command.params[0])
    paths = [Path(word) for word in words]
    return [(Checkout.of(path, is_new=is_new), [path.stem]) for path in paths]


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
@cloup.constraint(mutually_exclusive, ["responses", "template"])
def new(files: tuple[str, ...], responses: tuple[str, ...], **given: Any) -> int:
    """Write the grammar. All files but the grammar are responses if `--from` is given."""
    from outspoken.authoring.new_format import new_format

    file = next((one for one in files if one.endswith(".lark")), files[0])
    others = [one for one in files if one != file]
    if others and not responses:
        raise UsageError(f"one grammar is written; name the file `{others[0]}` behind `--from` if it is a response")
    [(checkout, [name])] = _named([file], is_new=True)
    return new_format(checkout, name, responses=[*responses, *others], **given)


@command(
    "check",
    "Report what is wrong with grammars or missing from them.",
    ("outspoken grammar check my_tags.lark", "every problem with its place"),
    ("outspoken grammar check *.lark --json", "the findings as JSON, a line for each grammar"),
)
@_files
@json_option("write the findings as JSON, a line for each grammar")
def check(files: tuple[str, ...], as_json: bool) -> int:
    """Check the grammars, and return the highest exit code."""
    from outspoken.authoring.check import report

    return max([report(*one, as_json=as_json) for one in _named(files)])


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
    from outspoken.authoring.show import show_response

    [(checkout, [name])] = _named([file])
    return show_response(checkout, name, response, **given)


@command(
    "fuzz",
    "Make responses of a grammar, damage some, and check that nothing is lost and that pieces give the same.",
    ("outspoken grammar fuzz my_tags.lark", f"{_RUNS} texts"),
    ("outspoken grammar fuzz my_tags.lark --minutes 10 --seed 100", "as many as can be in ten minutes"),
)
@_files
@option("--runs N", "the number of texts", click.IntRange(1), shown=_RUNS)
@option("--minutes M", "the duration", positive)
@option("--seed N", "the first seed; default: 0", int, default=0)
@option("--replay FINDINGS", "check the findings that --json has written, and no others", File())
@json_option("write findings and summaries as JSON lines")
@cloup.constraint(mutually_exclusive, ["runs", "minutes", "replay"])
def fuzz(files: tuple[str, ...], runs: int | None, minutes: float | None, replay: str | None, **given: Any) -> int:
    """Fuzz the grammars, and return the highest exit code. The formats of a checkout are fuzzed until Ctrl-C."""
    from outspoken.authoring.fuzz import fuzz as run_fuzz

    chosen = _named(files)
    is_endless = minutes or replay or any(checkout.is_project for checkout, _ in chosen)
    given |= {"runs": runs if runs or is_endless else _RUNS, "minutes": minutes, "replay": replay}
    return max([run_fuzz(*one, **given) for one in chosen])


@command(
    "diagram",
    "Draw the syntax of a grammar as a railroad diagram in SVG.",
    ("outspoken grammar diagram my_tags.lark -o my_tags.svg", "into a file"),
)
@_file
@option("-o --output OUT", "the SVG file to write", File(), shown="standard output")
def diagram(file: str, output: str | None) -> int:
    """Draw the diagram."""
    from outspoken.authoring.diagram import write_diagram

    [(checkout, [name])] = _named([file])
    return write_diagram(checkout, name, output=output)


run = Group(
    "grammar",
    listed={"Commands": (new, check, show, fuzz, diagram)},
    help="Work on a grammar file, wherever it lies. The cases of NAME.lark are in NAME/ok/*.txt and NAME/err/*.txt.",
    epilog=example_text(
        ("outspoken grammar new my_tags.lark --from a.txt b.txt", "write a grammar for two responses"),
        ("outspoken grammar check my_tags.lark", "report what is wrong with it"),
    ),
)
