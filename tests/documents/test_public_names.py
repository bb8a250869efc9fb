"""The page on the public interface lists every public name; what READMEs name in backticks exists."""

import re
from enum import Enum
from functools import cache
from importlib import import_module
from inspect import getsource, isfunction, signature
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, get_args

import pytest

import outspoken
from outspoken.results.errors import MissingPackageError
from tests.tables import tables

PAGE = (Path(outspoken.__file__).parent / "README.md").read_text("utf-8")
CHANGES = (Path(outspoken.__file__).parents[2] / ".github" / "CHANGELOG.md").read_text("utf-8")
#: How many names `outspoken` exported in version 0.1.
NAMES_OF_0_1 = 109


def table(title: str, page: str = PAGE) -> list[tuple[str, list[str]]]:
    """The rows of the first table below a title: the text of the one cell, and the code in the other."""
    head, _, rest = page.partition(f"\n## {title}\n")[2].partition("|---|---|\n")
    assert head
    cells = [line.strip("|").split("|") for line in rest.partition("\n\n")[0].splitlines()]
    return [(first.strip(), re.findall(r"`([\w.]+)`", second)) for first, second in cells]


def resolved(path: str) -> Any:
    """The module or the name in a module that a dotted path means."""
    module, _, name = path.rpartition(".")
    home = import_module(module)
    return getattr(home, name) if hasattr(home, name) else import_module(path)


def test_every_public_name_is_listed() -> None:
    listed: dict[str, list[str]] = {}
    module = ""
    for title, names in table("Names"):
        module = (re.findall(r"`(outspoken[\w.]*)`", title) or [module])[0]
        listed.setdefault(module, []).extend(names)
    assert len(listed) > 8
    for module, names in listed.items():
        exported = getattr(import_module(module), "__all__", None)
        assert len(names) == len(set(names)), module
        assert set(names) == set(exported) if exported else all(resolved(f"{module}.{name}") for name in names), module
    assert len(listed["outspoken"]) <= 46
    assert f"**{len(listed['outspoken'])} names in `outspoken`**" in CHANGES


def test_every_extra_is_listed() -> None:
    project = (Path(outspoken.__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    extras = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    listed = re.findall(r"`([\w-]+)`", " ".join(title for title, _ in table("Extras")))
    assert sorted(listed) == sorted(re.findall(r"^([\w-]+) = \[", extras, re.MULTILINE))


def test_every_name_of_0_1_is_unchanged_or_has_a_successor() -> None:
    exported: list[str] = vars(outspoken)["__all__"]
    old: list[str] = []
    for title, successors in table("From 0.1", CHANGES):
        names = re.findall(r"`(\w+)`", title)
        old += names
        for name in names:
            if not successors:
                assert name in exported
            else:
                assert name not in exported
                home = resolved(successors[0])
                assert not isinstance(home, ModuleType) or hasattr(home, name), (successors[0], name)
    assert len(old) == len(set(old)) == NAMES_OF_0_1


def test_every_result_has_one_vocabulary_of_outcomes() -> None:
    from outspoken.actions import MODELS
    from outspoken.contrib.skyvern import ApiResponse
    from outspoken.json import JsonReading
    from outspoken.payloads import PayloadReply, TypedPayload
    from outspoken.processing import ParseStats, Processed
    from outspoken.providers import ProviderReply
    from outspoken.results.replies import STATUSES

    replies = (outspoken.Reply, outspoken.Reasoning, outspoken.ToolCall, outspoken.Payload, *MODELS.values())
    rooms = (JsonReading, ApiResponse, Processed, ProviderReply, PayloadReply, TypedPayload)
    for model in (*replies, *rooms):
        assert get_args(model.model_fields["status"].annotation) == STATUSES, model
    assert tuple(ParseStats().counts()) == STATUSES


def test_asynchronous_twins_have_a_leading_a() -> None:
    processing, payloads = import_module("outspoken.processing"), import_module("outspoken.payloads")
    homes: list[object] = [outspoken, import_module("outspoken.providers"), outspoken.Parser]
    homes += [payloads.PayloadParser, payloads.PayloadRegistry, processing.ResponseProcessor]
    found: set[str] = set()
    for home in homes:
        members = vars(home)
        names = set[str](members.get("__all__", [name for name in members if name[0] != "_"]))
        for name in names:
            parameters = getattr(getattr(home, name), "__annotations__", {})
            kinds = [str(kind) for kind in parameters.values()]
            takes_both = any(" | AsyncIterable" in kind for kind in kinds)  # such as `sse`
            is_asynchronous = not takes_both and any("Async" in kind or "Awaitable" in kind for kind in kinds)
            if is_asynchronous and callable(getattr(home, name)):
                assert name[0] == "a", name
                assert name[1:] in names, name
                found.add(name)
    assert found >= {"astream", "astream_response", "aprocess"}


def test_errors_end_in_error() -> None:
    for room in ("", ".json", ".payloads", ".processing", ".providers", ".contrib.skyvern", ".serving", ".rendering"):
        module = import_module(f"outspoken{room}")
        for name in vars(module)["__all__"]:
            exported = getattr(module, name)
            if isinstance(exported, type) and issubclass(exported, Exception):
                # only Skyvern's own names of its errors may end otherwise
                alias = room == ".contrib.skyvern" and name != exported.__name__
                assert (exported.__name__ if alias else name).endswith("Error"), name


#: Functions with more arguments by position: names and arguments of applications.
_BY_POSITION = {
    "ParseStats.record", "ParseStats.rates", "ParseStats.error_rates",
}  # fmt: skip


def test_text_or_response_comes_first_then_what_it_is_read_as_and_everything_else_by_keyword() -> None:
    seen: set[str] = set()
    for room in ("", ".constraints", ".json", ".parsing", ".payloads", ".processing", ".providers", ".rendering"):
        module = import_module(f"outspoken{room}")
        for name in vars(module)["__all__"]:
            exported: Any = getattr(module, name)
            functions: dict[str, Any] = {name: exported} if isfunction(exported) else {}
            if isinstance(exported, type) and not issubclass(exported, Enum):
                members: dict[str, Any] = {**exported.__dict__}
                functions = {f"{name}.{key}": one for key, one in members.items() if isfunction(one) and key[0] != "_"}
            for path, function in functions.items():
                taken = [
                    one for one in signature(function).parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD
                ]
                few = 2 + ("." in path)
                assert len(taken) <= few or path in _BY_POSITION or path.startswith("Point."), path
                seen.add(path)
    assert {"parse", "parse_response", "PayloadRegistry.parse", "render", *_BY_POSITION} <= seen


# what the READMEs of `src` name in backticks exists: modules, functions, classes, their fields and methods


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
