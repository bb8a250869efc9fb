"""Show how a response is read: tokens, tree, segments, and where the grammar rejects it.

Run as `python -m tools.show NAME FILE [--stream N] [--trace] [--json] [--html OUT]`. NAME is a format, an alias of one
or `auto`; FILE a file, `-`, or a case of the corpus: `ok/one_call`, `<format>-ok-one_call`.

Exit codes: 0 it was shown, 1 the stream gives another reply than the whole text, 2 wrong use.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from outspoken.authoring.shared.arguments import ArgumentParser, positive, refuse
from outspoken.authoring.shared.checkout import KINDS, Case, Checkout, load
from outspoken.grammar import registry
from outspoken.results.errors import OutspokenError
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text, read_tools
from outspoken.terminal.outputs import print_lines, print_written, use_utf8, write_file
from outspoken.viewer.lines import full_view
from outspoken.viewer.page import MOST, page, view_data
from outspoken.viewer.view import View, show

#: The slider of a page has at most so many places.
_PLACES = 20_000


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Show a response and return the exit code. Without arguments, those of the process are taken."""
    checkout = checkout or Checkout()
    try:
        use_utf8()
        given = _parser().parse_args(arguments)
        with checkout.in_use():
            view = _view(given, checkout)
            if given.html:
                write_file(given.html, page(view))
                print_written(given.html)
            elif given.json:
                shown = {**view_data(view), "reply": view.reply.model_dump(mode="json")}
                print(json.dumps(shown, ensure_ascii=False))
            else:
                print_lines(full_view(view, stream=given.stream is not None, trace=given.trace), given.color)
    except (UsageError, OutspokenError) as error:
        return refuse("show: error: ", error, checkout)
    return int(bool(view.difference))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m tools.show", description="Show how a response is read.")
    parser.add_argument("name", metavar="NAME", help="a format's name or alias, or `auto`")
    parser.add_argument("file", metavar="FILE", help="a file, `-`, or a case of the corpus: `ok/one_call`")
    parser.add_argument("--stream", type=positive(int), metavar="N", help="read and show N characters at a time")
    parser.add_argument("--trace", action="store_true", help="show each step, and what was acceptable there")
    parser.add_argument("--json", action="store_true", help="write all of it as a line of JSON")
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: on a terminal")
    parser.add_argument("--html", metavar="OUT", help="write a page that shows all of it, and nothing else")
    parser.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")
    parser.add_argument("--prefix", help=r"what the prompt had opened already (`<think>\n`)")
    return parser


def _view(given: argparse.Namespace, checkout: Checkout) -> View:
    name = given.name if given.name == "auto" else registry.resolve(given.name)
    case = _case(given.file, name, checkout)
    text, options = (case.text, case.options) if case else (read_text(given.file), {})
    source = str(case or ("standard input" if given.file == "-" else given.file))
    tools = read_tools(given.tools) if given.tools else options.get("tools")
    prefix = options.get("prefix", "") if given.prefix is None else given.prefix.replace("\\n", "\n")
    if given.html and len(text) > MOST:
        raise UsageError(f"the response has {len(text):,} characters; a page shows at most {MOST:,}")
    size = given.stream or (max(1, -(-len(text) // _PLACES)) if given.html else 0)
    return show(text, source, name, tools=tools, prefix=prefix, size=size)


def _case(file: str, name: str, checkout: Checkout) -> Case | None:
    """The case of the corpus that FILE names, by its path or its short name; None for another file."""
    path = Path(file)
    if file == "-" or path.exists():
        corpus, path = checkout.corpus.resolve(), path.resolve()
        is_case = path.is_relative_to(corpus) and path.suffix == ".txt" and len(path.relative_to(corpus).parts) == 3
        return _loaded(path, checkout) if is_case else None
    format_, kind, rest = name, *file.partition("/")[::2]
    if kind not in KINDS:
        format_, kind, rest = (*file.split("-", 2), "", "")[:3]
    elif format_ == "auto":
        raise UsageError(f"`{file}` is a case of which format? Write `<format>-{kind}-{rest}`")
    path = checkout.corpus / format_ / kind / f"{rest.removesuffix('.txt')}.txt"
    if kind in KINDS and path.is_file():
        return _loaded(path, checkout)
    folder = checkout.corpus / (format_ if checkout.is_project else name)
    where = checkout.shown(folder if folder.is_dir() or not checkout.is_project else checkout.corpus)
    raise UsageError(f"there is no file `{file}`, and no case of the corpus of that name (the cases lie in {where})")


def _loaded(path: Path, checkout: Checkout) -> Case:
    try:
        return load(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the case {checkout.shown(path)}: {error}") from error
