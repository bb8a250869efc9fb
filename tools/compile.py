"""Compile all grammars ahead of time, into `grammars/compiled/`. Run as `python -m tools.compile [--check]`."""

from __future__ import annotations

import argparse
import sys

from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.registry import compiled_path, grammars_folder
from outspoken.results.errors import GrammarError
from tools.shared.generated import outdated, update


def main(arguments: list[str] | None = None) -> int:
    """Write the compiled grammars, or with `--check` name those that are out of date."""
    parser = argparse.ArgumentParser(prog="python -m tools.compile", description="Compile all grammars ahead of time.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is out of date")
    check = parser.parse_args(arguments).check
    folder = grammars_folder()
    try:
        wanted = {compiled_path(path): compile_grammar(path).to_json() for path in sorted(folder.glob("*.lark"))}
    except GrammarError as error:
        print(error, file=sys.stderr)
        return 1
    changed = outdated(wanted, (folder / "compiled").glob("*.json"))
    return update(changed, lambda path: path.name, check=check)


if __name__ == "__main__":
    sys.exit(main())
