"""Show how a response is read: tokens, tree, segments, and where the grammar rejects it.

Run as `python -m tools.show NAME FILE [--stream N] [--trace] [--json] [--html OUT]`. NAME is a format, an alias of one
or `auto`; FILE a file, `-`, or a case of the corpus: `ok/one_call`, `<format>-ok-one_call`.

Exit codes: 0 it was shown, 1 the stream gives another reply than the whole text, 2 wrong use.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

from outspoken.grammar import registry
from outspoken.results.errors import OutspokenError
from outspoken.results.snippet import visible
from outspoken.terminal.errors import UsageError
from outspoken.terminal.inputs import read_text, read_tools
from outspoken.terminal.outputs import use_utf8
from outspoken.authoring.shared.arguments import ArgumentParser, refuse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.corpus import KINDS, Case, load

from .as_json import as_json
from .model import ResponseView, show
from .page import MOST, page


class _Given(NamedTuple):
    """A response: what it is called, its text, what the prompt had opened, and the tools that the model was given."""

    source: str
    text: str
    prefix: str
    tools: object


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Show a response and return the exit code. Without arguments, those of the process are taken."""
    checkout = checkout or Checkout()
    try:
        use_utf8()
        given = _parser().parse_args(arguments)
        with checkout.in_use():
            view = _view(given, checkout)
        if given.html:
            _write(Path(given.html), view)
        elif given.json:
            print(json.dumps(as_json(view, stream=given.stream is not None, trace=given.trace), ensure_ascii=False))
        else:
            from .terminal import draw  # needs rich, which a page does not

            draw(view, sys.stdout, stream=given.stream is not None, trace=given.trace, color=given.color)
    except (UsageError, OutspokenError) as error:
        return refuse("show: error: ", error, checkout)
    return int(bool(view.difference))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m tools.show", description="Show how a response is read.")
    parser.add_argument("name", metavar="NAME", help="a format's name or alias, or `auto`")
    parser.add_argument("file", metavar="FILE", help="a file, `-`, or a case of the corpus: `ok/one_call`")
    parser.add_argument("--stream", type=_size, metavar="N", help="read N characters at a time, and show each piece")
    parser.add_argument("--trace", action="store_true", help="show each step, and what was acceptable there")
    parser.add_argument("--json", action="store_true", help="write all of it as a line of JSON")
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: on a terminal")
    parser.add_argument("--html", metavar="OUT", help="write a page that shows all of it, and nothing else")
    parser.add_argument("--tools", metavar="FILE", help="a JSON list of the tools that the model was given")
    parser.add_argument("--prefix", help=r"what the prompt had opened already (`<think>\n`)")
    return parser


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of characters")
    return int(text)


def _view(given: argparse.Namespace, checkout: Checkout) -> ResponseView:
    name = given.name if given.name == "auto" else registry.resolve(given.name)
    response = _response(given.file, name, checkout)
    tools = read_tools(given.tools) if given.tools else response.tools
    prefix = response.prefix if given.prefix is None else given.prefix.replace("\\n", "\n")
    size = given.stream or (_step_of_page(response.text) if given.html else 0)
    return show(response.text, response.source, name, tools=tools, prefix=prefix, size=size)


def _step_of_page(text: str) -> int:
    """How many characters the slider of a page moves by: one, unless the text is long."""
    if len(text) > MOST:
        raise UsageError(f"the response has {len(text):,} characters; a page shows at most {MOST:,}")
    return max(1, -(-len(text) // 20_000))


def _response(file: str, name: str, checkout: Checkout) -> _Given:
    """The response that FILE names. One of the corpus brings its options."""
    path = Path(file)
    if file == "-" or path.exists():
        case = _case_at(path.resolve(), checkout)
        if case is None:
            return _Given("standard input" if file == "-" else file, read_text(file), "", None)
    else:
        case = _case_named(file, name, checkout)
    return _Given(str(case), case.text, case.options.get("prefix", ""), case.options.get("tools"))


def _case_at(path: Path, checkout: Checkout) -> Case | None:
    """The case of the corpus that lies at a path; None if it is another file."""
    corpus = checkout.corpus.resolve()
    if not path.is_relative_to(corpus) or path.suffix != ".txt" or len(path.relative_to(corpus).parts) != 3:
        return None
    try:
        return load(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the case {checkout.shown(path)}: {error}") from error


def _case_named(file: str, name: str, checkout: Checkout) -> Case:
    """The case of the corpus of a short name: `ok/one_call`, `<format>-ok-one_call`."""
    format_, kind, rest = name, *file.partition("/")[::2]
    if kind not in KINDS:
        format_, kind, rest = (*file.split("-", 2), "", "")[:3]
    elif format_ == "auto":
        raise UsageError(f"`{file}` is a case of which format? Write `<format>-{kind}-{rest}`")
    path = checkout.corpus / format_ / kind / f"{rest.removesuffix('.txt')}.txt"
    case = _case_at(path.resolve(), checkout) if kind in KINDS and path.is_file() else None
    if case is None:
        format_ = format_ if checkout.is_project else name
        raise UsageError(
            f"there is no file `{file}`, and no case of the corpus of that name ({_hint(format_, checkout)})"
        )
    return case


def _hint(name: str, checkout: Checkout) -> str:
    folder = checkout.corpus / name
    where = checkout.shown(folder) if folder.is_dir() or not checkout.is_project else checkout.shown(checkout.corpus)
    return f"the cases lie in {where}"


def _write(path: Path, view: ResponseView) -> None:
    try:
        path.write_text(page(view), "utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write `{path}`: {getattr(error, 'strerror', None) or error}") from error
    print(f"written: {visible(str(path))}")
