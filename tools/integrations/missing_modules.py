"""Stand-ins for modules that servers import and that their parsers do not use: torch, triton and IPython.

They are enough to run the parsers of vLLM and SGLang from their wheels, without a GPU.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

NAMES = ("torch", "triton", "IPython")


class _Kind(type):
    """The class of stand-ins: each has any attribute, which is another one."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _Kind(name, (_Nothing,), {})
        setattr(cls, name, made)
        return made

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __radd__(cls, other: Any) -> Any:
        return other


class _Nothing(metaclass=_Kind):
    """A class, decorator, context or value that does nothing."""

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        if len(arguments) == 1 and not options and callable(arguments[0]):
            return arguments[0]  # a decorator
        return object.__new__(cls)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def __init_subclass__(cls, **options: Any) -> None:
        pass

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return arguments[0] if arguments and callable(arguments[0]) else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    def __lt__(self, other: Any) -> bool:
        return False

    def __radd__(self, other: Any) -> Any:
        return other


class _StandIn(ModuleType):
    __version__ = "2.14.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _Kind(name, (_Nothing,), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] in NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


@contextmanager
def stand_ins() -> Generator[None]:
    """Put stand-ins in the place of the modules that are missing, for good, and silence what imports warn of."""
    if any(find_spec(name) is None for name in NAMES):
        sys.meta_path.append(_Finder())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
