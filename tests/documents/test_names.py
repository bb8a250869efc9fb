"""What the READMEs of `src` name in backticks exists: modules, functions, classes, their fields and methods."""

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pydantic
import pytest

from tests.tables import tables

TABLES = tables(__file__)

TOP = Path(__file__).resolve().parents[2]
SOURCE = TOP / "src" / "outspoken"
ROOMS = sorted([path.parent.name for path in SOURCE.glob("*/__init__.py")])
READMES = sorted((TOP / "src").rglob("README.md"))
#: What models and errors inherit from other packages.
INHERITED = {*dir(pydantic.BaseModel), *dir(builtins.ValueError), *dir(tuple)}

#: Packages that have the name of one of our modules, and files that are no modules.
EXTRAS = {*re.findall(r"^([\w-]+) = \[", (TOP / "pyproject.toml").read_text("utf-8"), re.MULTILINE)} - {*ROOMS}
SUFFIXES = {"html", "js", "css"}
#: What documents call an object of the class of this name.
VARIABLES = {"reply", "session", "diagnostic", "registry", "automaton"}

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
#: A name with at least one dot, with or without arguments behind it, or the path of a Python file.
_NAME = re.compile(r"`((?:\w+/)*\w+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")


class Class:
    """A class of the library: the names in its body, and what its methods assign to `self`."""

    def __init__(self, node: ast.ClassDef) -> None:
        bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
        self.bases = [base for base in bases if base != node.name]  # that of another package has the same name
        self.names = {*_bound(node.body)}
        for one in ast.walk(node):
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "self":
                self.names.add(one.attr)

    def has(self, name: str) -> bool:
        """Does it have an attribute, itself or by one of its bases?"""
        bases = [found for base in self.bases for found in classes().get(base, ())]
        return name in self.names or name in INHERITED or any(base.has(name) for base in bases)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements bind."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from [one.asname or one.name for one in names]
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            case ast.If() | ast.Try():
                yield from _bound(node.body + node.orelse)
            case _:
                pass


@cache
def modules() -> dict[str, ast.Module]:
    """The modules and packages, by their names without `outspoken.`; the package itself is the empty name."""
    found: dict[str, ast.Module] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    return found


@cache
def public(module: str) -> set[object]:
    """The constants of a module: the names that are lazy are among them."""
    return {one.value for one in ast.walk(modules()[module]) if isinstance(one, ast.Constant)}


@cache
def classes() -> dict[str, list[Class]]:
    """The classes, by their names."""
    found: dict[str, list[Class]] = {}
    for module in modules().values():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(Class(node))
    return found


def _in_module(name: str) -> bool | None:
    """Does `module.name` or `module.Class.name` exist? None if no module begins the name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = modules().get(".".join(parts[:end]))
        if module is None:
            continue
        rest = parts[end:]
        known = not rest or rest[0] in {*_bound(module.body)} or rest[0] in public(".".join(parts[:end]))
        return known and (len(rest) < 2 or rest[0] not in classes() or _in_class(rest[0], rest[1]))
    return None


def _in_class(name: str, attribute: str) -> bool:
    return any(one.has(attribute) for one in classes()[name])


def exists(name: str, readme: Path) -> bool | None:
    """Does what a README names exist? None if the name is not one of the library."""
    room = readme.parent.relative_to(TOP / "src").parts[1:]
    if name.endswith(".py"):
        return any((base / name).exists() for base in (readme.parent, SOURCE, TOP, *[SOURCE / one for one in ROOMS]))
    first, _, rest = name.partition(".")
    if first == "outspoken":
        return _in_module(rest) if rest.partition(".")[0] in {*modules(), *ROOMS} else rest in _exports()
    if rest in SUFFIXES or first in EXTRAS:
        return None
    found = [_in_module(one) for one in _modules_named(first, ".".join(room), rest)]
    found += [_in_class(one, rest.partition(".")[0]) for one in _classes_named(first)]
    return any(found) if found else None


def _modules_named(first: str, room: str, rest: str) -> list[str]:
    """What `first.rest` may mean: in a room, beside the README, or, in the page on the rooms, in any of them."""
    known = [one for one in modules() if one in (first, f"{room}.{first}") or (not room and one.endswith(f".{first}"))]
    return [f"{one}.{rest}" for one in known]


def _classes_named(first: str) -> list[str]:
    """The classes that a name means: one of that name, or `reply` for an object of `Reply` or `ProviderReply`."""
    if first in classes():
        return [first]
    return [one for one in classes() if first in VARIABLES and one.endswith(first.title())]


def _exports() -> set[str]:
    """The names in the file of the package itself."""
    return {*re.findall(r"\w+", (SOURCE / "__init__.py").read_text("utf-8"))}


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
