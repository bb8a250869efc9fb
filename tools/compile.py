"""Compile all grammars ahead, into `grammars/compiled/`. Run as `python -m tools.compile [--check]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from outspoken.grammar.compiler import compile_grammar
from outspoken.grammar.registry import compiled_path, grammars_folder
from outspoken.results.errors import GrammarError


def stale(folder: Path) -> dict[Path, str | None]:
    """The compiled files that are not what they should be, with what they should hold; None for one too many."""
    wanted = {compiled_path(path): compile_grammar(path).to_json() for path in sorted(folder.glob("*.lark"))}
    found = {path: path.read_text("utf-8") for path in (folder / "compiled").glob("*.json")}
    changed: dict[Path, str | None] = {path: text for path, text in wanted.items() if found.get(path) != text}
    return changed | {path: None for path in found if path not in wanted}


def main(arguments: list[str] | None = None) -> int:
    """Write the compiled grammars, or with `--check` say which are not current."""
    parser = argparse.ArgumentParser(prog="python -m tools.compile", description="Compile all grammars ahead.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 where something is not current"
    )
    check = parser.parse_args(arguments).check
    try:
        changed = stale(grammars_folder())
    except GrammarError as error:
        print(error, file=sys.stderr)
        return 1
    for path, text in changed.items():
        print(f"{'not current' if check else 'removed' if text is None else 'written'}: {path.name}")
        if check:
            continue
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
