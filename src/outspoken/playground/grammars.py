"""An edited grammar as a format of this process: under a name that says so and that nothing else uses.

At most one edited grammar is loaded at a time; before anything else is read, it is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from outspoken.authoring.check.findings import CheckedFile, CheckedGrammar
from outspoken.authoring.check.grammar import check_grammar
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.header import read_header
from outspoken.results.errors import GrammarError

from .given import Given, Place, ProblemError, one_line

#: What an edited grammar is called: the name of its format and this.
SUFFIX = "_edited"
_FORMAT = re.compile(r"^(//\s*format:\s*)\S+", re.MULTILINE)
_LONGEST = 60
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{_LONGEST - 1}}}")
#: More findings than this are not shown.
_MOST = 20

#: The text of the grammar that is loaded, and the name of its format.
_loaded: list[tuple[str, str]] = []


def use_format(given: Given) -> str:
    """The format to read with: the exact name of a format, "auto", or that of the edited grammar, which is loaded.

    Raises ProblemError with the places if the grammar cannot be used, and UnknownFormatError for an unknown format.
    """
    if _loaded and _loaded[0][0] == given.grammar:
        return _loaded[0][1]
    if _loaded:
        registry.use(None)
        _loaded.clear()
    if given.grammar is None:
        return given.format if given.format == "auto" else registry.resolve(given.format)
    _loaded.append((given.grammar, _load(given.grammar)))
    return _loaded[0][1]


def _load(text: str) -> str:
    try:
        known = read_header(text, "grammar").format
        if not _NAME.fullmatch(known):
            words = f"is no name: write up to {_LONGEST} of a-z, 0-9 and _, beginning with a letter"
            raise GrammarError(
                "grammar", f"`{known[:_LONGEST]}` {words}", line=text[: text.index(known)].count("\n") + 1
            )
        renamed = _FORMAT.sub(rf"\g<1>{known}{SUFFIX}", text, count=1)  # what is read in it asks for it by its own name
        return registry.add(f"{known}{SUFFIX}", renamed, _path())
    except GrammarError as error:
        places = list(_places(text, error))
        place = f"line {places[0].line}, column {places[0].column}: " if places else ""
        words = places[0].message if places else one_line(error.message)
        raise ProblemError("grammar", f"the grammar cannot be used: {place}{words}", places) from None
    except RecursionError:
        raise ProblemError("grammar", "the grammar cannot be used: it nests too deeply; name the inner parts") from None


def _path() -> Path:
    """The file that an edited grammar stands for: what it imports is relative to it."""
    return registry.grammars_folder() / "my_format.lark"


def _places(text: str, error: GrammarError) -> Iterator[Place]:
    """The errors of a grammar that cannot be used, with their places."""
    checkout, source, file = Checkout(registry.grammars_folder().parent), Source(_path(), text), CheckedFile("", text)
    found = [one for one in check_grammar(CheckedGrammar(checkout, source, file)) if one.severity == "error"]
    if error.line or source.field("format") is None:  # it is the header that is refused
        span = file.line(error.line)
        found.insert(0, file.finding("grammar-refused", span, one_line(error.message), *error.helps))
    for diagnostic in found[:_MOST]:
        helps = (*diagnostic.notes, *diagnostic.helps)
        place = (diagnostic.line, diagnostic.column, *diagnostic.span)
        yield Place(*place, diagnostic.message, diagnostic.severity, helps)
