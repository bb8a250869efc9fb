"""An edited grammar as a format of this process, for as long as it is read with.

Only a worker calls this: a process of the playground that parses one response at a time and that nothing else uses. At
most one edited grammar is loaded at a time; before anything else is read, it is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from outspoken.authoring.check.findings import CheckedFile, Finding
from outspoken.authoring.check.grammar import check_grammar
from outspoken.authoring.check.header import check_header
from outspoken.authoring.shared.checkout import Checkout
from outspoken.authoring.shared.grammar_source import Source
from outspoken.grammar import registry
from outspoken.grammar.header import read_header
from outspoken.results.errors import GrammarError

from .given import Given, Place, ProblemError

#: What an edited grammar is called: the name of its format and this.
SUFFIX = "_edited"
_NAME = re.compile(r"^(//\s*format:\s*)\S+", re.MULTILINE)
#: More findings than this are not shown.
_MOST = 20

#: The text of the grammar that is loaded, and the name of its format.
_loaded: list[tuple[str, str]] = []


def use_format(given: Given) -> str:
    """The format to read with: the exact name of a format, "auto", or that of the edited grammar, which is loaded.

    Raises ProblemError with the places if the grammar cannot be used, and UnknownFormatError for an unknown format.
    """
    if given.grammar is None:
        forget()
        return given.format if given.format == "auto" else registry.resolve(given.format)
    if _loaded and _loaded[0][0] == given.grammar:
        return _loaded[0][1]
    forget()
    name = _load(given.grammar)
    _loaded.append((given.grammar, name))
    return name


def forget() -> None:
    """Forget the edited grammar, if one is loaded."""
    if _loaded:
        registry.use(None)
        _loaded.clear()


def _load(text: str) -> str:
    try:
        known = read_header(text, "grammar").format
        path = registry.grammars_folder() / f"{known}.lark"
        renamed = _NAME.sub(rf"\g<1>{known}{SUFFIX}", text, count=1)  # what is read in it asks for it by its own name
        return registry.add(f"{known}{SUFFIX}", renamed, path)
    except GrammarError as error:
        places = list(_places(text, error))
        first = places[0] if places else None
        place = f"line {first.line}, column {first.column}: " if first else ""
        words = first.message if first else error.message
        raise ProblemError("grammar", f"the grammar cannot be used: {place}{words}", places) from None


def _places(text: str, error: GrammarError) -> Iterator[Place]:
    """What is wrong with a grammar that cannot be used, with the places of it."""
    checkout = Checkout(registry.grammars_folder().parent)
    source = Source(registry.grammars_folder() / "my_format.lark", text)
    file = CheckedFile("grammar", text)
    found: list[Finding] = []
    header, about_header = check_header(checkout, source, file)
    if header is None:
        found = about_header
    found = [one for one in [*found, *check_grammar(checkout, source, file)] if one.diagnostic.severity == "error"]
    if not found:
        found = [file.finding("grammar-refused", error.message, file.line(error.line), helps=error.helps)]
    for finding in found[:_MOST]:
        diagnostic = finding.diagnostic
        start, end = diagnostic.span
        helps = (*diagnostic.notes, *diagnostic.helps)
        yield Place(diagnostic.line, diagnostic.column, start, end, diagnostic.message, diagnostic.severity, helps)
