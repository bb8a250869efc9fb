"""Write a first grammar and corpus for the format of a new model: `outspoken grammar new`.

The source is raw responses (`--from`) or the vendor's chat template (`--template`). Without them, the grammar is a
skeleton. A grammar is written only if it reads the responses back.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from outspoken.authoring.check.header import BANNED
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.wording import counted, unique
from outspoken.models.chat_template import ChatTemplate, TemplateError, turns_of
from outspoken.results.errors import GrammarError
from outspoken.terminal.errors import UsageError
from outspoken.terminal.outputs import print_json

from .drafting import AlreadyReadError, Draft, Example, blank, by_examples, reading, write
from .shapes import UnclearError


def new_format(
    checkout: Checkout,
    name: str,
    *,
    responses: Sequence[str] = (),
    template: str | None = None,
    as_json: bool = False,
    force: bool = False,
) -> int:
    """Write a new format from the files of responses, or from a template. Returns 1 if no grammar can be inferred.

    Without `force`, nothing is written if a format reads all of it already. Raises UsageError.
    """
    _check(name, checkout)
    try:
        draft = _drafted(checkout, name, responses, template, force=force)
        written = write(draft, checkout)
    except AlreadyReadError as known:
        print_json({"written": [], "remarks": known.lines}, line=True) if as_json else print("\n".join(known.lines))
        return 0
    except (UnclearError, GrammarError) as error:
        print(f"outspoken: nothing was written: {error}", file=sys.stderr)
        return 1
    if as_json:
        print_json({"written": [checkout.shown(path) for path in written], "remarks": draft.remarks}, line=True)
    else:
        _report(draft, written, checkout)
    return 0


def _check(name: str, checkout: Checkout) -> None:
    """Raise UsageError for an unusable name."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(f"`{name}` is no name for a format: small letters, digits and `_`, beginning with a letter")
    if name in BANNED:
        raise UsageError(f"a grammar cannot be called `{name}`: Lark has its own")
    for path in (checkout.grammar(name), checkout.corpus / name):
        if path.exists():
            raise UsageError(f"`{checkout.shown(path)}` is there already, and nothing is overwritten")


def _drafted(checkout: Checkout, name: str, responses: Sequence[str], template: str | None, *, force: bool) -> Draft:
    when = f"read on {date.today().isoformat()}"
    if template:
        examples, remarks = examples_of(Path(template))
        source, what = f"chat template {Path(template).name}, {when}", "all that the template writes"
    else:
        paths = [Path(path) for path in responses]
        examples, remarks = _responses(paths, when), list[str]()
        names = [path.name for path in paths]
        source = f"responses {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}, {when}"
        what = f"all {len(names)} responses" if len(names) > 1 else "the response"
    if not examples:
        return blank(checkout, name)
    readers = reading(checkout, list(examples.values()))
    if readers and not force:
        raise AlreadyReadError(readers, what)
    draft = by_examples(checkout, name, examples, source)
    draft.remarks = [*([f"`{readers[0]}` reads {what} already"] if readers else []), *draft.remarks, *remarks]
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
        name = unique(path.stem, texts)
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
