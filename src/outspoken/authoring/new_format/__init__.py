"""Write a first grammar and corpus for the format of a new model. Run as `python -m tools.new_format NAME`.

The source is raw responses (`--from`) or the vendor's chat template (`--template`). Without them, the grammar is a
skeleton. A grammar is written only if it reads the responses back.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from datetime import date
from pathlib import Path

from outspoken.authoring.check.header import BANNED
from outspoken.authoring.shared.arguments import ArgumentParser, counted, refuse
from outspoken.authoring.shared.checkout import Checkout
from outspoken.models.chat_template import ChatTemplate, TemplateError, turns_of
from outspoken.results.errors import GrammarError, OutspokenError
from outspoken.terminal.errors import UsageError

from .drafting import AlreadyReadError, Draft, Example, blank, by_examples, reading, write
from .shapes import UnclearError


def main(arguments: list[str] | None = None, checkout: Checkout | None = None) -> int:
    """Write a new format. Returns 0, 1 if no grammar can be inferred, or 2 for wrong use."""
    checkout = checkout or Checkout()
    as_json = False
    try:
        given = _parser().parse_args(arguments)
        as_json = given.json
        _check(given, checkout)
        draft = _drafted(given, checkout)
        written = write(draft, checkout)
    except AlreadyReadError as known:
        print(json.dumps({"written": [], "remarks": known.lines}) if as_json else "\n".join(known.lines))
        return 0
    except (UnclearError, GrammarError) as error:
        print(f"{'new_format' if checkout.is_project else 'outspoken'}: nothing was written: {error}", file=sys.stderr)
        return 1
    except (UsageError, OutspokenError) as error:
        return refuse("new_format: ", error, checkout)
    if as_json:
        paths = [checkout.shown(path) for path in written]
        print(json.dumps({"written": paths, "remarks": draft.remarks}, ensure_ascii=False))
    else:
        _report(draft, written, checkout)
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m tools.new_format", description="Write a first grammar and corpus.")
    parser.add_argument("name", metavar="NAME", help="the format's name: small letters, digits and `_`")
    parser.add_argument("--from", metavar="FILE", dest="responses", nargs="+", type=Path, help="raw responses")
    parser.add_argument("--template", metavar="FILE", type=Path, help="a chat template, or a tokenizer_config.json")
    parser.add_argument("--json", action="store_true", help="write the paths and the remarks as JSON")
    parser.add_argument("--force", action="store_true", help="write it even if a format reads all of it already")
    return parser


def _check(given: argparse.Namespace, checkout: Checkout) -> None:
    """Raise UsageError for an unusable name, or options that exclude each other."""
    name: str = given.name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(f"`{name}` is no name for a format: small letters, digits and `_`, beginning with a letter")
    if name in BANNED:
        raise UsageError(f"a grammar cannot be called `{name}`: Lark has its own")
    for path in (checkout.grammar(name), checkout.corpus / name):
        if path.exists():
            raise UsageError(f"`{checkout.shown(path)}` is there already, and nothing is overwritten")
    if given.template and given.responses:
        raise UsageError("`--template` says all that `--from` could; give it alone")


def _drafted(given: argparse.Namespace, checkout: Checkout) -> Draft:
    when = f"read on {date.today().isoformat()}"
    if given.template:
        examples, remarks = examples_of(given.template)
        source, what = f"chat template {given.template.name}, {when}", "all that the template writes"
    else:
        paths: list[Path] = given.responses or []
        examples, remarks = _responses(paths, when), list[str]()
        names = [path.name for path in paths]
        source = f"responses {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}, {when}"
        what = f"all {len(names)} responses" if len(names) > 1 else "the response"
    if not examples:
        return blank(checkout, given.name)
    known = reading(checkout, list(examples.values()))
    if known and not given.force:
        raise AlreadyReadError(known, what)
    draft = by_examples(checkout, given.name, examples, source)
    draft.remarks = [*([f"`{known[0]}` reads {what} already"] if known else []), *draft.remarks, *remarks]
    return draft


def examples_of(path: Path) -> tuple[dict[str, Example], list[str]]:
    """The messages as a template writes them, and remarks on what it does not write.

    Raises UsageError if the file is no template, and UnclearError if the template writes no message.
    """
    try:
        template = ChatTemplate.of(path)
    except TemplateError as error:
        raise UsageError(f"{path}: {error}") from error
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror or error}") from error
    origin = f"chat template {path.name}, read on {date.today().isoformat()}"
    try:
        turns, remarks = turns_of(template)
    except TemplateError as error:
        raise UnclearError(str(error)) from error
    return {name: Example(turn.text, origin, turn.message, turn.prefix) for name, turn in turns.items()}, remarks


def _responses(paths: list[Path], when: str) -> dict[str, Example]:
    """The responses by the names of their files."""
    texts: dict[str, Example] = {}
    for path in paths:
        try:
            text = path.read_bytes().decode()
        except OSError as error:
            raise UsageError(f"cannot read `{path}`: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"`{path}` is no text in UTF-8") from error
        if not text.strip():
            raise UsageError(f"`{path}` is empty")
        name, number = path.stem, 2
        while name in texts:
            name, number = f"{path.stem}_{number}", number + 1
        texts[name] = Example(text, f"response {name}, {when}")
    return texts


def _report(draft: Draft, written: list[Path], checkout: Checkout) -> None:
    """Print what was written, the open questions, and the next steps."""
    print("\n".join([*draft.remarks, "", f"written: {counted(len(written), 'file')}"]))
    print("\n".join([f"  {checkout.shown(path)}" for path in written]))
    print(f"\nnext:\n  {checkout.command('check', draft.name)}")
    print(f"  {checkout.command('show', draft.name)} ok/{draft.cases[0].name}")
    if checkout.is_project:
        print("  grammars/README.md, `Accept the results`")
