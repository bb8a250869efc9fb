"""What the READMEs of `src` name in backticks exists: modules, functions, classes, their fields and methods."""

import re
from functools import cache
from importlib import import_module
from inspect import getsource
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import outspoken
from outspoken.results.errors import MissingPackageError
from tests.tables import tables

TABLES = tables(__file__)

TOP = Path(__file__).resolve().parents[2]
SOURCE = TOP / "src" / "outspoken"
ROOMS = sorted([path.parent.name for path in SOURCE.glob("*/__init__.py")])
READMES = sorted((TOP / "src").rglob("README.md"))
#: Packages that have the name of one of our modules, and files that are no modules.
EXTRAS = {*re.findall(r"^([\w-]+) = \[", (TOP / "pyproject.toml").read_text("utf-8"), re.MULTILINE)} - {*ROOMS}
SUFFIXES = {"html", "js", "css"}
#: What documents call an object of the class of this name.
VARIABLES = {"reply", "session", "diagnostic", "registry", "automaton", "processor"}

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
#: A name with at least one dot, with or without arguments behind it, or the path of a Python file.
_NAME = re.compile(r"`((?:\w+/)*\w+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")


@cache
def modules() -> dict[str, ModuleType | None]:
    """The modules by their names without `outspoken.`, which the package has not; None where a framework is lacking."""
    found: dict[str, ModuleType | None] = {"": outspoken}
    for one in walk_packages(outspoken.__path__, "outspoken."):
        try:
            found[one.name.partition(".")[2]] = import_module(one.name)
        except MissingPackageError:
            found[one.name.partition(".")[2]] = None
    return found


@cache
def classes() -> dict[str, list[type]]:
    """The classes of the library, by their names."""
    found: dict[str, list[type]] = {}
    for one in {id(one): one for module in modules().values() for one in vars(module or outspoken).values()}.values():
        if isinstance(one, type) and one.__module__.startswith("outspoken"):
            found.setdefault(one.__name__, []).append(one)
    return found


def has(owner: Any, name: str) -> bool:
    """Has a module or an object of a class an attribute? What a class annotates and its methods assign counts, too."""
    if hasattr(owner, name) or not isinstance(owner, type):
        return hasattr(owner, name)
    own = [getsource(kind) for kind in owner.__mro__ if kind.__module__.startswith("outspoken")]
    return any(re.search(rf"^ +(?:self\.)?{name}\b[^(\n]*[:=]", source, re.MULTILINE) for source in own)


def _in_module(name: str) -> bool | None:
    """Does `module.name` or `module.Class.name` exist? None if no module begins the name, or it needs a framework."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module, rest = ".".join(parts[:end]), parts[end:]
        if module in modules():
            owner = modules()[module]
            if owner is None or not rest:
                return None if rest else True
            inner = getattr(owner, rest[0], None)
            return has(owner, rest[0]) and (len(rest) < 2 or not isinstance(inner, type) or has(inner, rest[1]))
    return None


def exists(name: str, readme: Path) -> bool | None:
    """Does what a README names exist? None if the name is not one of the library."""
    room = readme.parent.relative_to(TOP / "src").parts[1:]
    if name.endswith(".py"):
        return any((base / name).exists() for base in (readme.parent, SOURCE, TOP, *[SOURCE / one for one in ROOMS]))
    first, _, rest = name.partition(".")
    if first == "outspoken":
        return _in_module(rest) if rest.partition(".")[0] in modules() else has(outspoken, rest)
    if rest in SUFFIXES or first in EXTRAS:
        return None
    found = [_in_module(one) for one in _modules_named(first, ".".join(room), rest)]
    found += [has(one, rest.partition(".")[0]) for one in _classes_named(first)]
    return any(found) if found else None


def _modules_named(first: str, room: str, rest: str) -> list[str]:
    """What `first.rest` may mean: in a room, beside the README, or, in the page on the rooms, in any of them."""
    known = [one for one in modules() if one in (first, f"{room}.{first}") or (not room and one.endswith(f".{first}"))]
    return [f"{one}.{rest}" for one in known]


def _classes_named(first: str) -> list[type]:
    """The classes that a name means: those of that name, or `reply` for an object of `Reply` or `ProviderReply`."""
    meant = (
        [first]
        if first in classes()
        else [one for one in classes() if first in VARIABLES and one.endswith(first.title())]
    )
    return [one for name in meant for one in classes()[name]]


def named(readme: Path) -> list[str]:
    """What a README names, without its blocks of code."""
    return _NAME.findall(_FENCE.sub("", readme.read_text("utf-8")))


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_names_in_documents_exist(readme: Path) -> None:
    assert [name for name in named(readme) if exists(name, readme) is False] == []


def test_many_names_are_checked() -> None:
    checked = [name for readme in READMES for name in named(readme) if exists(name, readme)]
    assert len(checked) > 200


@pytest.mark.parametrize(("name", "wanted"), TABLES["A_NAME_THAT_IS_GONE_IS_FOUND"])
def test_a_name_that_is_gone_is_found(name: str, wanted: bool | None) -> None:
    assert exists(name, TOP / "src" / "README.md") is wanted
