"""`outspoken grammar new|check|show|fuzz|diagram FILE`: what the tools of a checkout do, for a grammar file anywhere.

The cases of a grammar `my.lark` are its header's example, and the files in the folder `my` beside it: `my/ok/*.txt` are
sound responses, `my/err/*.txt` damaged ones. Both folders may be missing.

Exit codes: 0 for success, 1 if something is wrong with the grammar, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from outspoken.cli.inputs import UsageError
from outspoken.cli.main import ArgumentParser
from outspoken.cli.outputs import use_utf8
from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible

from .workspace import Workspace, workspace

#: So many responses are made by `fuzz` if neither a number nor a time is given.
_RUNS = 100


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code. By default, the arguments are those of the process."""
    try:
        use_utf8()
        given = _parser().parse_args(arguments)
        codes = [_run(given, file) for file in given.files]
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("outspoken"):
            raise
        print(f'outspoken grammar needs `{error.name}`: pip install "outspoken[grammar]"', file=sys.stderr)
        return 2
    except (UsageError, OutspokenError, OSError) as error:
        print(f"outspoken: error: {visible(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    return max(codes)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="outspoken grammar", description="Works on a grammar file, wherever it lies.")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)

    def add(name: str, words: str, *, many: bool = False) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        command.add_argument(
            "files", nargs="+" if many else 1, type=Path, metavar="FILE", help="a grammar, `NAME.lark`"
        )
        return command

    new = add("new", "write a first grammar and its cases")
    new.add_argument("--from", dest="from_", nargs="+", metavar="RESPONSE", help="files with raw responses")
    new.add_argument("--template", metavar="FILE", help="a chat template, or a tokenizer_config.json")
    new.add_argument("--like", metavar="FORMAT", help="the format that it resembles; default: the nearest one")
    new.add_argument("--force", action="store_true", help="write it even if a format reads all of it already")
    check = add("check", "report what is wrong with grammars or missing from them", many=True)
    check.add_argument("--explain", action="store_true", help="print both derivations of each conflict")
    show = add("show", "show how a response is read")
    show.add_argument("response", metavar="RESPONSE", help="a file, `-`, or a case: `ok/one_call`")
    show.add_argument("--stream", metavar="N", help="read N characters at a time, and show each piece")
    show.add_argument("--trace", action="store_true", help="show each step, and what was acceptable there")
    show.add_argument("--html", metavar="OUT", help="write a page that shows all of it, and nothing else")
    show.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")
    show.add_argument("--prefix", help=r"what the prompt had opened already (`<think>\n`)")
    fuzz = add("fuzz", "generate responses, damage them and check that nothing is lost or invented", many=True)
    fuzz.add_argument("--runs", metavar="N", help=f"the number of responses; default: {_RUNS}")
    fuzz.add_argument("--minutes", metavar="M", help="the duration")
    fuzz.add_argument("--seed", metavar="N", help="the first seed; default: 0")
    diagram = add("diagram", "draw the syntax as a railroad diagram in SVG")
    diagram.add_argument("--output", metavar="OUT", help="the SVG file to write; default: standard output")
    return parser


def _run(given: argparse.Namespace, file: Path) -> int:
    """Run the tool of a command on one file."""
    command: str = given.command
    tool: Callable[[list[str], Workspace], int]
    tool = import_module(f"outspoken.authoring.{'new_format' if command == 'new' else command}").main
    with workspace(file, is_new=command == "new") as made:
        if command == "new":
            return _new(tool, [made.name, *_options(given, "template", "like", "force", "from_")], made)
        if command == "show":
            words = [made.name, given.response, *_options(given, "stream", "trace", "html", "tools", "prefix")]
            return tool(words, made)
        if command == "fuzz" and not (given.runs or given.minutes):
            given.runs = str(_RUNS)
        return tool([made.name, *_options(given, "explain", "runs", "minutes", "seed", "output")], made)


def _options(given: argparse.Namespace, *names: str) -> list[str]:
    """The options of a command as the tool takes them."""
    found: list[str] = []
    for name in names:
        value: Any = getattr(given, name, None)
        if value:
            several = cast("list[str]", value) if isinstance(value, list) else [str(value)]
            found += [f"--{name.rstrip('_')}", *(several if value is not True else [])]
    return found


def _new(tool: Callable[[list[str], Workspace], int], words: list[str], made: Workspace) -> int:
    """Write a new grammar and its cases, and copy them to where they belong."""
    for path in (made.file, made.cases):
        if path.exists():
            raise UsageError(f"`{path}` is there already, and nothing is overwritten")
    code = tool(words, made)
    if code == 0 and made.grammar(made.name).is_file():
        made.file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made.grammar(made.name), made.file)
        shutil.copytree(made.corpus / made.name, made.cases)
    return code
