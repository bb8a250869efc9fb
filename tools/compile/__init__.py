"""Compile the grammars ahead of time, and the index of formats, into `grammars/compiled/`.

For each grammar this writes its tables, as JSON, and its fast path, as a Python module. Only what changed is compiled
again (see `record`), on all cores. Run as `python -m tools.compile [--jobs N]`.
"""

from __future__ import annotations

import argparse
import os

from outspoken.grammar.registry import grammars_folder

from .record import Record, inputs_of


def main(arguments: list[str] | None = None) -> int:
    """Compile what is not current. Returns 1 if a grammar cannot be used; then nothing is written."""
    parser = argparse.ArgumentParser(prog="python -m tools.compile", description="Compile the grammars that changed.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes; default: one a core")
    jobs: int = parser.parse_args(arguments).jobs
    folder = grammars_folder()
    record, inputs = Record.read(folder), inputs_of(folder)
    if record.is_current(inputs):
        return 0
    from .compiling import Compilation  # needs Lark and all of the reader, which is slow to import

    return Compilation(folder, record, jobs).run(inputs)


def is_current() -> bool:
    """Is everything compiled as it is now?"""
    folder = grammars_folder()
    return Record.read(folder).is_current(inputs_of(folder))
