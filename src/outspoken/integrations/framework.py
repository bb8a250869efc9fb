"""The frameworks of integrations: packages whose extra has the name of the module."""

from __future__ import annotations

from outspoken.results.errors import MissingPackageError
from outspoken.results.packages import Package

__all__ = ["Framework", "MissingPackageError"]


class Framework(Package):
    """A framework: the `extra` of its name, the `distribution` that pip installs, and the `lowest` version of it."""

    @property
    def user(self) -> str:
        """The module of the integration."""
        return f"`outspoken.integrations.{self.extra}`"
