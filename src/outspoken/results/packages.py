"""The packages that extras install: imported when they are used, with an error that says how to install them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .errors import MissingPackageError


def how_to_install(extra: str, distribution: str = "") -> str:
    """How an extra of Outspoken is installed, for messages; without an extra, how another package is."""
    if not extra:
        return f"`pip install {distribution}`"
    return f"extra `{extra}`: `pip install '.[{extra}]'` in a checkout"


@dataclass(frozen=True)
class Package:
    """A package: the `extra` that installs it, what pip calls it, and the `lowest` version with what is used of it.

    Without an `extra`, pip installs the package itself. `needed_by` is what error messages name.
    """

    extra: str
    distribution: str
    lowest: str = ""
    needed_by: str = "this"

    @property
    def user(self) -> str:
        """What needs the package, for messages."""
        return self.needed_by

    def load(self, module: str) -> Any:
        """Import a module of the package.

        The result is not typed, since the package may be missing where types are checked. Raises MissingPackageError if
        the module is missing, or if the installed version is too old.
        """
        self._check_version()
        try:
            return import_module(module)
        except ImportError as error:
            raise self.missing(self._cause(module, error), module) from error

    def missing(self, cause: str = "", module: str | None = None) -> MissingPackageError:
        """The error that says what to install. By default, its cause is that the package is not installed."""
        wanted = f"`{self.distribution}` {self.lowest} or newer" if self.lowest else f"`{self.distribution}`"
        sentence = (
            f"{cause or self._absent}; {self.user} needs {wanted} ({how_to_install(self.extra, self.distribution)})"
        )
        return MissingPackageError(sentence, package=self.distribution, name=module or self.distribution)

    @property
    def _absent(self) -> str:
        return f"`{self.distribution}` is not installed"

    def _check_version(self) -> None:
        try:
            found = version(self.distribution) if self.lowest else ""
        except PackageNotFoundError:
            return  # if the modules are there all the same, as a copy of the sources may be, they are used
        if _numbers(found) < _numbers(self.lowest):
            raise self.missing(f"`{self.distribution}` {found} is installed")

    def _cause(self, module: str, error: ImportError) -> str:
        root = module.partition(".")[0]
        if error.name is None or error.name == root:
            return self._absent if error.name == root else f"`{module}` cannot be imported ({error})"
        if not error.name.startswith(f"{root}."):
            return f"`{error.name}`, which `{module}` imports, is not installed"
        return f"the installed `{self.distribution}` has no usable `{module}` ({error})"


def missing_package(error: ImportError, extra: str, needed_by: str) -> MissingPackageError:
    """The error for an import that failed in code that needs an extra. Raises the error itself if a module is ours."""
    if error.name is None or error.name.partition(".")[0] == "outspoken":
        raise error
    return Package(extra, error.name, needed_by=needed_by).missing()


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(number) for number in re.findall(r"\d+", version)[:3]])
