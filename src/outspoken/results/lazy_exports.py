"""Public names of a package that are imported from their modules when they are first used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def export_lazily(package: str, homes: dict[str, str]) -> None:
    """Give a package the public names of its modules, without importing the modules yet.

    `homes` maps a module, relative to the package or by its full name, to its public names, separated by blanks. Sets
    `__all__`, `__getattr__` and `__dir__` of the package. Type checkers need the same imports under `TYPE_CHECKING`.
    """
    module = sys.modules[package]
    root = package.partition(".")[0]
    home = {name: path for path, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        path = home[name]
        found = getattr(import_module(path if path.startswith(f"{root}.") else f"{package}.{path}"), name)
        setattr(module, name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(module), *home})

    vars(module).update(__all__=sorted(home), __getattr__=get, __dir__=names)
