"""The page on the public interface lists every public name, and says where each name of 0.1 is now."""

import re
from enum import Enum
from importlib import import_module
from inspect import isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import outspoken

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
