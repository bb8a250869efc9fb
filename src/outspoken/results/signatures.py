"""What a class or a callable says of the arguments that it takes, as a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import lru_cache, partial, wraps
from typing import Any, TypeGuard, TypeVar, cast, get_origin

from typing_extensions import NotRequired, TypedDict, get_type_hints

from .arguments import kind_of
from .errors import ToolError

_T = TypeVar("_T")

#: How deep a list of tools may hold other lists.
_MAX_DEPTH = 8


def kept(read: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """A function of a type, of which the last results are kept for types that have a hash."""
    keep = lru_cache(maxsize=512)(read)

    @wraps(read)
    def get(type_: Any) -> _T:
        return keep(type_) if isinstance(type_, Hashable) else read(type_)

    return get


class ToolType:
    """The type or the function that a tool was given as. A copy holds the same one, and a pickle none."""

    __slots__ = ("type",)

    def __init__(self, type_: Any = None) -> None:
        self.type = type_

    def __deepcopy__(self, memo: object) -> ToolType:
        return self

    def __reduce__(self) -> tuple[type[ToolType], tuple[()]]:
        return ToolType, ()


def each_tool(tools: Any, depth: int = 0) -> Iterator[tuple[int, Any]]:
    """The tools of a list, also those in lists within it and in what `list_tools` of MCP returns.

    Each has the index of its item in the outer list. Raises ToolError for anything but a list of tools.
    """
    if depth > _MAX_DEPTH or not (is_tool_list(tools) or (depth == 0 and _is_sequence(tools))):
        raise ToolError(-1, name_of(tools), "a list of tools")
    for index, tool in enumerate(tools if _is_sequence(tools) else tools.tools):
        if tool.__class__ is not dict and is_tool_list(tool):
            yield from ((index, inner) for _, inner in each_tool(tool, depth + 1))
        else:
            yield index, tool


def is_tool_list(value: Any) -> bool:
    """Is a value a list or a tuple, or an object that holds one as its `tools` and has no name?"""
    if isinstance(value, (list, tuple)):
        return True
    return not (is_mapping(value) or hasattr(value, "name")) and isinstance(getattr(value, "tools", None), list)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def callable_name(tool: Any) -> str | None:
    """The name of a class or of a function, also that of a `partial`; None if it has none."""
    name = getattr(tool.func if is_partial(tool) else tool, "__name__", None)
    return name if isinstance(name, str) else None


def name_of(value: Any) -> str:
    """What a value is, for a message."""
    if isinstance(value, str) and not value:
        return "an empty str"
    return "a lambda" if getattr(value, "__name__", "") == "<lambda>" else kind_of(value)


def is_function(value: Any) -> TypeGuard[Callable[..., Any]]:
    """Is a value called with arguments, and neither a class nor a type such as `list[int]`?"""
    is_type = inspect.isclass(value) or get_origin(value) is not None or hasattr(value, "__supertype__")
    return callable(value) and not is_type


def function_of(value: Any) -> Any:
    """What has the annotations of a callable: that itself, what a `partial` calls, or the `__call__` of an object."""
    described = value.func if is_partial(value) else value
    is_object = is_function(described) and not inspect.isroutine(described)
    return type(described).__call__ if is_object else described


def field(value: Any, key: str) -> Any:
    """A field of a mapping or an object; None if there is none."""
    return value.get(key) if is_mapping(value) else getattr(value, key, None)


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def model(source: Any) -> Any:
    """A model with a field for each parameter that a call can name."""
    from pydantic import ConfigDict, Field, create_model

    hints = hints_of(function_of(source))
    fields: dict[str, Any] = {
        f"p{number}": (hints.get(name, Any), Field(default, alias=name))
        for number, (name, default) in enumerate(parameters(source))
    }
    return create_model("Arguments", __config__=ConfigDict(arbitrary_types_allowed=True), **fields)


def has_fields(made: Any) -> bool:
    """Is a class a pydantic model, a dataclass or a TypedDict?"""
    return hasattr(made, "model_json_schema") or is_dataclass(made) or is_typed_dict(made)


def is_typed_dict(value: Any) -> bool:
    return inspect.isclass(value) and hasattr(value, "__required_keys__")


def is_partial(value: Any) -> TypeGuard[partial[Any]]:
    return isinstance(value, partial)


def readable(type_: Any) -> Any:
    """A TypedDict as pydantic reads it in every version of Python; any other type as it is."""
    if not is_typed_dict(type_):
        return type_
    required, hints, make = type_.__required_keys__, hints_of(type_), cast("Any", TypedDict)
    made = make(type_.__name__, {key: hint if key in required else NotRequired[hint] for key, hint in hints.items()})
    made.__pydantic_config__ = {"arbitrary_types_allowed": True, **getattr(type_, "__pydantic_config__", {})}
    return made


def hints_of(source: Any) -> dict[str, Any]:
    """The annotations of a function or a class; `Any` where a name does not resolve."""
    try:
        return get_type_hints(source, include_extras=True)
    except Exception:
        return dict.fromkeys(getattr(source, "__annotations__", ()), Any)


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """The parameters that a call can name, with their defaults; not those that a `partial` binds."""
    bound: Any = function.keywords if is_partial(function) else ()
    return [
        (parameter.name, ... if parameter.default is parameter.empty else parameter.default)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.name not in ("self", "cls", *bound)
    ]


def takes_others(function: Callable[..., Any]) -> bool:
    """Does a function take arguments of any name, by `**`?"""
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())
