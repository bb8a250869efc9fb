"""The packages that extras install: imported when they are used, with an error that says how to install them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .errors import MissingPackageError


@dataclass(frozen=True)
class Package:
    """A package: the `extra` that installs it, what pip calls it, and the `lowest` version with what is used of it.

    Without an `extra`, pip installs the package itself. `needed_by` is what error messages name.
    """

    extra: str
    distribution: str
    lowest: str = ""
    needed_by: str = "this"

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
        command = install_command(self.extra) if self.extra else f"pip install {self.distribution}"
        sentence = f"{cause or self._absent}; {self.needed_by} needs {wanted} (`{command}`)"
        return MissingPackageError(sentence, package=self.distribution, name=module or self.distribution)

    @property
    def _absent(self) -> str:
        return f"`{self.distribution}` is not installed"

    def _check_version(self) -> None:
        if not self.lowest:
            return
        from importlib.metadata import PackageNotFoundError, version  # takes long to import

        try:
            found = version(self.distribution)
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


def install_command(extra: str) -> str:
    """The command that installs an extra from where Outspoken itself was installed: a folder, a URL or an index."""
    from importlib.metadata import PackageNotFoundError, distribution  # takes long to import

    try:
        installed = distribution("outspoken").read_text("direct_url.json")
    except PackageNotFoundError:
        installed = None
    if not installed:
        return f"pip install 'outspoken[{extra}]'"
    origin: dict[str, Any] = json.loads(installed)
    url: str = origin["url"]
    if "dir_info" in origin:
        from urllib.parse import urlsplit  # long to import, and seldom needed
        from urllib.request import url2pathname

        editable = "-e " * origin["dir_info"].get("editable", False)
        return f"pip install {editable}'{url2pathname(urlsplit(url).path)}[{extra}]'"
    vcs = f"{origin['vcs_info']['vcs']}+" if "vcs_info" in origin else ""
    return f"pip install 'outspoken[{extra}] @ {vcs}{url}'"


def missing_package(error: ImportError, extra: str, needed_by: str) -> MissingPackageError:
    """The error for an import that failed in code that needs an extra. Raises the error itself if a module is ours."""
    if error.name is None or error.name.partition(".")[0] == "outspoken":
        raise error
    return Package(extra, error.name, needed_by=needed_by).missing()


def _numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    return tuple([int(number) for number in re.findall(r"\d+", version)[:3]])
