"""The tools of a checkout for a grammar file anywhere: what `outspoken grammar new|check|show|fuzz|diagram` runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from outspoken.results.packages import missing_package
from outspoken.terminal.errors import UsageError

from .shared.checkout import Checkout


def run(tool: str, file: str, words: Sequence[str] = ()) -> int:
    """Run a tool on a grammar file, with `words` as its other arguments. Returns its exit code.

    Raises UsageError if the tool cannot run, MissingPackageError if it needs the extra `grammar`, and GrammarError for
    other files.
    """
    grammar = Path(file)
    made = Checkout.of(grammar, is_new=tool == "new")
    for path in (grammar, grammar.with_suffix("")) if tool == "new" else ():
        if path.exists():
            raise UsageError(f"`{path}` is there already, and nothing is overwritten")
    try:
        module = import_module(".new_format" if tool == "new" else f".{tool}", __package__)
        main: Callable[[list[str], Checkout], int] = module.main
        return main([grammar.stem, *words], made)
    except ModuleNotFoundError as error:
        raise missing_package(error, "grammar", f"`outspoken grammar {tool}`") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{error.filename or file}: {error.strerror or error}") from error
