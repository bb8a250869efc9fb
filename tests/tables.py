"""Tables of cases that lie beside the module of their tests: `test_x.yaml` for `test_x.py`."""

from pathlib import Path
from typing import Any

import yaml

__all__ = ["tables"]

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def tables(module: str) -> dict[str, Any]:
    """The tables of a module (its `__file__`), by their names: lists of rows, or rows by the names of their cases."""
    found: Any = yaml.load(Path(module).with_suffix(".yaml").read_text("utf-8"), _LOADER)
    assert found, module
    return found
