"""Public names of a package that are imported from their modules when they are first used."""

from __future__ import annotations

import dis
import sys
from importlib import import_module
from types import CodeType
from typing import Any

from .old_names import missing_name


def export_lazily(package: str) -> None:
    """Give a package the names that it imports under `TYPE_CHECKING`, without importing their modules yet.

    Call it below these imports. Sets `__all__`, `__getattr__` and `__dir__` of the package.
    """
    module = sys.modules[package]
    loader: Any = module.__loader__
    home = {name: path for name, path in _imports(loader.get_code(package)) if name not in vars(module)}

    def get(name: str) -> Any:
        if name not in home:
            raise missing_name(package, name)
        exported = getattr(import_module(home[name], package), name)
        setattr(module, name, exported)
        return exported

    def names() -> list[str]:
        return sorted({*vars(module), *home})

    vars(module).update(__all__=sorted(home), __getattr__=get, __dir__=names)


def _imports(code: CodeType) -> list[tuple[str, str]]:
    """The names that a module imports, also where it does not run, and the path of the module of each.

    They are read from the bytecode, which is there without the source, too.
    """
    imports: list[tuple[str, str]] = []
    path, level, names = "", 0, 0
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            path = "." * level + step.argval
        elif step.opname == "IMPORT_FROM":
            imports.append((step.argval, path))
        level, names = names, step.argval if isinstance(step.argval, int) else 0  # the two before `IMPORT_NAME`
    return imports
