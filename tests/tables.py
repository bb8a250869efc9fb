"""Tables of cases that lie beside the module of their tests: `test_x.yaml` for `test_x.py`.

Rows of other projects' tests lie beside the project, and are no part of it.
"""

import json
from pathlib import Path
from typing import Any

import yaml

__all__ = ["BESIDE", "beside", "tables"]

#: Where rows of other projects' tests lie.
BESIDE = Path(__file__).parents[2] / "shared" / "conformance"

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def tables(module: str) -> dict[str, Any]:
    """The tables of a module (its `__file__`), by their names: lists of rows, or rows by the names of their cases."""
    found: Any = yaml.load(Path(module).with_suffix(".yaml").read_text("utf-8"), _LOADER)
    assert found, module
    return found


def beside(name: str | Path) -> list[dict[str, Any]]:
    """The rows of a file that lies beside the project, one a line; none where there is no such file."""
    path = BESIDE / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
