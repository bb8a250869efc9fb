"""Records what the package `ui-tars` reads of the inputs of a test: `python -m tools.record_ui_tars FOLDER`.

FOLDER holds the package, as its wheel `ui_tars-0.5.1-py3-none-any.whl` unpacked. The tests do not need it: they compare
with `tests/actions/ui_tars.json`, which this writes. The package imports `jsonschema` for functions that are not called
here; a stand-in takes its place. Screens are 1920 by 1080 pixels; `doubao` divides coordinates by 1000, `qwen25vl` by
the size of the resized screen.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).parents[1] / "tests" / "ui_tars.json"
_HEIGHT, _WIDTH = 1080, 1920


def reader(folder: str) -> Callable[..., list[dict[str, Any]]]:
    """The function of the package that reads a response."""
    stand_in = ModuleType("jsonschema")
    stand_in.__dict__["validate"] = print
    sys.modules["jsonschema"] = stand_in
    sys.path.insert(0, folder)
    return import_module("ui_tars.action_parser").parse_action_to_structure_output


def outcome(read: Callable[..., list[dict[str, Any]]], text: str, model: str) -> Any:
    """What the package reads, or the name of the exception that it raises."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = read(text, 1000, _HEIGHT, _WIDTH, model_type=model)
    except Exception as error:
        return type(error).__name__
    keys = ("reflection", "thought", "action_type", "action_inputs")
    return [{key: item[key] for key in keys} for item in found]


def main() -> None:
    """Replace the results of all rows of the file."""
    read = reader(sys.argv[1])
    rows: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    for row in rows:
        row["found"] = outcome(read, row["text"], row["model"])
    lines = ",\n".join([json.dumps(row, ensure_ascii=False) for row in rows])
    FILE.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
