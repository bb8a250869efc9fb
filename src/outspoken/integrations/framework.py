"""The packages that integrations need: imported when they are used, with an error that says how to install them."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from outspoken.results.errors import OutspokenError


class FrameworkError(OutspokenError, ImportError):
    """A framework that an integration needs is missing, too old, or lacks a part of it. `name` is the module."""


class Framework(NamedTuple):
    """A framework: the `extra` of its name, the `distribution` that pip installs, and the `lowest` version of it."""

    extra: str
    distribution: str
    lowest: str

    def load(self, module: str) -> Any:
        """Import a module of the framework.

        The result is not typed, since the framework may be missing where types are checked. Raises FrameworkError if
        the module is missing, or if the installed version is too old.
        """
        self._check_version()
        try:
            return import_module(module)
        except ImportError as error:
            raise self._error(self._cause(module, error), module) from error

    def _check_version(self) -> None:
        try:
            found = version(self.distribution)
        except PackageNotFoundError:
            return  # if the modules are there all the same, as a copy of the sources may be, they are used
        if _numbers(found) < _numbers(self.lowest):
            raise self._error(f"`{self.distribution}` {found} is installed", self.distribution)

    def _cause(self, module: str, error: ImportError) -> str:
        root = module.partition(".")[0]
        if error.name == root:
            return f"`{self.distribution}` is not installed"
        if error.name is not None and not error.name.startswith(f"{root}."):
            return f"`{error.name}`, which `{module}` imports, is not installed"
        return f"the installed `{self.distribution}` has no usable `{module}` ({error})"

    def _error(self, cause: str, name: str) -> FrameworkError:
        needs = f"`outspoken.integrations.{self.extra}` needs `{self.distribution}` {self.lowest} or newer"
        return FrameworkError(f"{cause}; {needs} (`pip install 'outspoken[{self.extra}]'`)", name=name)


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(number) for number in re.findall(r"\d+", version)[:3]])
