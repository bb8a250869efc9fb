"""A grammar that is edited: it is read with under a name of its own, and nothing else is read with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from outspoken import Diagnostic
from outspoken.grammar import registry
from outspoken.grammar.header import read_header
from outspoken.results.errors import GrammarError
from outspoken.results.snippet import visible

from .check.findings import CheckedGrammar
from .check.grammar import check_grammar
from .shared.checkout import Checkout
from .shared.grammar_source import Source

#: What an edited grammar is called: the name of its format and this.
_SUFFIX = "_edited"
_FORMAT = re.compile(r"^(//\s*format:\s*)\S+", re.MULTILINE)
_LONGEST = 60
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{_LONGEST - 1}}}")
#: More findings than this are not told.
_MOST = 20
#: The text of the grammar that is loaded, and the name of its format.
_loaded: list[tuple[str, str]] = []


class EditedGrammarError(Exception):
    """An edited grammar cannot be used. The message is on one line; `found` are its errors with their places."""

    def __init__(self, message: str, found: list[Diagnostic]) -> None:
        place = f"line {found[0].line}, column {found[0].column}: " if found else ""
        super().__init__(f"the grammar cannot be used: {place}{found[0].message if found else message}")
        self.found = found


def use_edited(text: str | None) -> str:
    """Load a grammar in place of the one before, and return its name; "" for None. Raises EditedGrammarError."""
    if _loaded and _loaded[0][0] != text:
        registry.use(None)
        _loaded.clear()
    if text is not None and not _loaded:
        _loaded.append((text, _load(text)))
    return _loaded[0][1] if _loaded else ""


def _load(text: str) -> str:
    path = registry.grammars_folder() / "my_format.lark"  # what it imports is relative to it
    try:
        format_name = read_header(text, "grammar").format
        if not _NAME.fullmatch(format_name):
            words = f"is no name: write up to {_LONGEST} of a-z, 0-9 and _, beginning with a letter"
            line = text[: text.index(format_name)].count("\n") + 1
            raise GrammarError("grammar", f"`{format_name[:_LONGEST]}` {words}", line=line)
        renamed = _FORMAT.sub(
            rf"\g<1>{format_name}{_SUFFIX}", text, count=1
        )  # what is read in it asks for it by its name
        return registry.add(f"{format_name}{_SUFFIX}", renamed, path)
    except GrammarError as error:
        raise EditedGrammarError(_one_line(error), [*_errors(text, path, error)][:_MOST]) from None
    except RecursionError:
        raise EditedGrammarError("it nests too deeply; name the inner parts", []) from None


def _errors(text: str, path: Path, error: GrammarError) -> Iterator[Diagnostic]:
    """The errors of a grammar that cannot be used, with their places."""
    edited = CheckedGrammar(Checkout(registry.grammars_folder().parent), Source(path, text))
    if error.line or edited.source.field("format") is None:  # it is the header that is refused
        yield edited.file.finding("grammar-refused", edited.file.line(error.line), _one_line(error), *error.helps)
    yield from [one for one in check_grammar(edited) if one.severity == "error"]


def _one_line(error: GrammarError) -> str:
    return visible(" ".join(error.message.split()))
