"""Write a first grammar and corpus for the format of a new model. Run as `python -m tools.new_format NAME`.

The source is raw responses (`--from`), the vendor's chat template (`--template`), or a similar format (`--like`).
Without any of them, the grammar is a skeleton.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from datetime import date
from pathlib import Path
from typing import NoReturn

from outspoken.results.errors import GrammarError, OutspokenError
from outspoken.authoring.check.header import BANNED
from outspoken.authoring.shared.arguments import refuse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.text import counted

from .call_slots import UnclearError
from .chat_template import ChatTemplate, TemplateError
from .draft import Draft, cases_that_differ_in_streams, write
from .drafting import AlreadyReadError, blank, by_responses, by_template, copy
from .sandbox import temporary_checkout


class WrongUseError(Exception):
    """The arguments of the command are wrong."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Argparse would print the usage, too, and end the process."""
        raise WrongUseError(message)


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Write a new format. Returns 0, 1 if no grammar can be inferred, or 2 for wrong use."""
    checkout = checkout or Checkout()
    try:
        given = _parser().parse_args(arguments)
    except WrongUseError as error:
        return refuse("new_format: ", error, checkout)
    try:
        _check(given, checkout)
        draft = _drafted(given, checkout)
    except (WrongUseError, TemplateError, OutspokenError) as error:
        if isinstance(error, GrammarError):
            return _failed(f"the grammar that came of it cannot be used: {error}", checkout)
        return refuse("new_format: ", error, checkout)
    except UnclearError as error:
        return _failed(f"nothing was written: {error}", checkout)
    except AlreadyReadError as known:
        print(json.dumps({"written": [], "remarks": known.lines}) if given.json else "\n".join(known.lines))
        return 0
    written = write(draft, checkout)
    if given.json:
        paths = [checkout.shown(path) for path in written]
        print(json.dumps({"written": paths, "remarks": draft.remarks}, ensure_ascii=False))
    else:
        _report(draft, written, checkout)
    return 0


def _parser() -> _Parser:
    parser = _Parser(prog="python -m tools.new_format", description="Write a first grammar and corpus for a format.")
    parser.add_argument("name", metavar="NAME", help="the format's name: small letters, digits and `_`")
    parser.add_argument("--like", metavar="FORMAT", help="the format that it resembles; default: the nearest one")
    parser.add_argument("--from", metavar="FILE", dest="responses", nargs="+", type=Path, help="raw responses")
    parser.add_argument("--template", metavar="FILE", type=Path, help="a chat template, or a tokenizer_config.json")
    parser.add_argument("--json", action="store_true", help="write the paths and the remarks as JSON")
    parser.add_argument("--force", action="store_true", help="write it even if a format reads all of it already")
    return parser


def _check(given: argparse.Namespace, checkout: Checkout) -> None:
    """Raise WrongUseError for an unusable name, or options that exclude each other."""
    name: str = given.name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise WrongUseError(f"`{name}` is no name for a format: small letters, digits and `_`, beginning with a letter")
    if name in BANNED:
        raise WrongUseError(f"a grammar cannot be called `{name}`: Lark has its own")
    for path in (checkout.grammar(name), checkout.corpus / name):
        if path.exists():
            raise WrongUseError(f"`{checkout.shown(path)}` is there already, and nothing is overwritten")
    if given.template and (given.responses or given.like):
        raise WrongUseError("`--template` says all that `--from` and `--like` could; give it alone")
    if given.like:
        checkout.existing(given.like)


def _drafted(given: argparse.Namespace, checkout: Checkout) -> Draft:
    today = date.today().isoformat()
    if given.template:
        template = _template(given.template)
        source = f"chat template {given.template.name}, read on {today}"
        return by_template(checkout, given.name, template, source, force=given.force)
    if given.responses:
        texts = _responses(given.responses)
        names = ", ".join(path.name for path in given.responses[:3]) + (", ..." if len(given.responses) > 3 else "")
        return by_responses(
            checkout, given.name, texts, f"responses {names}, read on {today}", given.like, force=given.force
        )
    return copy(checkout, given.name, given.like) if given.like else blank(checkout, given.name)


def _template(path: Path) -> ChatTemplate:
    try:
        return ChatTemplate.of(path)
    except TemplateError as error:
        raise WrongUseError(f"{path}: {error}") from error
    except OSError as error:
        raise WrongUseError(f"cannot read `{path}`: {error.strerror or error}") from error


def _responses(paths: list[Path]) -> dict[str, str]:
    """The texts of responses by the names of their files."""
    texts: dict[str, str] = {}
    for path in paths:
        try:
            text = path.read_bytes().decode()
        except OSError as error:
            raise WrongUseError(f"cannot read `{path}`: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise WrongUseError(f"`{path}` is no text in UTF-8") from error
        if not text.strip():
            raise WrongUseError(f"`{path}` is empty")
        name, number = path.stem, 2
        while name in texts:
            name, number = f"{path.stem}_{number}", number + 1
        texts[name] = text
    return texts


def _failed(message: str, checkout: Checkout) -> int:
    print(f"{'new_format' if checkout.is_project else 'outspoken'}: {message}", file=sys.stderr)
    return 1


def _report(draft: Draft, written: list[Path], checkout: Checkout) -> None:
    """Print what was written, the open questions, and the next steps."""
    print("\n".join(draft.remarks))
    print(f"\nwritten: {counted(len(written), 'file')}")
    for path in written:
        print(f"  {checkout.shown(path)}")
    with temporary_checkout(checkout) as sandbox:
        differing = cases_that_differ_in_streams(draft, sandbox)
    if differing:
        print(f"read differently in a stream: {', '.join(differing)}")
    name = draft.name
    if not checkout.is_project:
        shown = checkout.command("show", name)
        print(f"\nnext:\n  {checkout.command('check', name)}\n  {shown} ok/{draft.cases[0].name}")
        return
    first = next(path for path in written if path.suffix == ".txt")
    print("\nnext:")
    for command, why in (
        (f"edit {checkout.shown(checkout.grammar(name))}", "fill in what the header leaves open"),
        (f"python -m tools.check {name}", "what is wrong or missing"),
        (f"python -m tools.show {name} {checkout.shown(first)}", "how a response is read"),
        (f"./tools/test tests/test_formats.py -k {name} --snapshot-update", "then read the snapshot"),
        ("python -m tools.compile", "so that users need no Lark"),
        ("python -m tools.docs", "the table of formats, and the pages"),
    ):
        print(f"  {command}\n      {why}")
