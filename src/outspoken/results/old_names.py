"""What takes the place of the names and arguments of earlier versions, which the errors for them say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_C = TypeVar("_C", bound=type[Any])

#: The names of `outspoken` that stand in another module now.
_MOVED = {
    "actions": "ActionText Box Point",
    "parsing": "Held Repair Segment Session StreamClosedError ToolError",
}
#: By wire format, the functions of earlier versions for a reply and for events; for asynchronous ones, with an `a`.
_WIRES = {
    "openai": ("to_openai", "to_openai_chunks"),
    "openai_responses": ("to_openai_response", "to_openai_responses"),
    "anthropic": ("to_anthropic", "to_anthropic_events"),
    "vercel": ("to_vercel", "to_vercel_parts"),
}
#: What to use now: by the attribute of a module or a class, and by the keyword argument of a function.
_NEW = {
    **{f"outspoken.{name}": f"outspoken.{home}.{name}" for home, names in _MOVED.items() for name in names.split()},
    **{f"outspoken.providers.{old[0]}": f'to_wire(reply, "{wire}")' for wire, old in _WIRES.items()},
    **{
        f"outspoken.providers.{begin}{old[1]}": f'stream_to_wire(events, "{wire}")'
        for wire, old in _WIRES.items()
        for begin in ("", "a")
    },
    "outspoken.providers.LLMResponseParser": "outspoken.contrib.luxx.LLMResponseParser",
    "outspoken.providers.ParsedDelta": "outspoken.contrib.luxx.ParsedDelta",
    "outspoken.providers.asse": "sse(events, wire)",
    "Parser.with_context": "replace(context=…)",
    "Parser.with_format": "replace(format=…)",
    "Parser.with_page": "replace(page=…, given=…, screen=…)",
    "Processed.value": "values",
    "ResponseCache.cache_parsed_response": "put(key, value)",
    "ResponseCache.get_parsed_response": "get(key)",
    "PayloadParser.parse(content)": "parse(response)",
    "PayloadRegistry.parse(content)": "parse(response)",
    "Settings.__init__(screen)": "Parser(screen=…)",
    "PayloadSettings.__init__(screen)": "Parser(screen=…)",
}


def missing_name(module: str, name: str) -> Exception:
    """The error for a name that a module does not have; its `__getattr__` raises it."""
    from inspect import currentframe

    new = _NEW.get(f"{module}.{name}")
    if new is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    frame: Any = currentframe()
    # `from package import name` would replace the message of an AttributeError
    is_import = frame is not None and frame.f_back.f_back.f_code.co_name == "_handle_fromlist"
    return (ImportError if is_import else AttributeError)(f"`{module}.{name}` is gone; use `{new}`")


def with_old_names(owner: _C) -> _C:
    """A class whose error for an attribute or an argument of an earlier version says what to use."""
    if any(old.startswith(f"{owner.__name__}.__init__(") for old in _NEW):
        owner.__init__ = by_keyword(owner.__init__)
    inherited: Callable[[Any, str], Any] | None = getattr(owner, "__getattr__", None)

    def get(self: Any, name: str) -> Any:
        if new := _NEW.get(f"{owner.__name__}.{name}"):
            raise AttributeError(f"`{owner.__name__}.{name}` is gone; use `{owner.__name__}.{new}`")
        if inherited is not None:
            return inherited(self, name)
        raise AttributeError(f"{owner.__name__!r} object has no attribute {name!r}", name=name, obj=self)

    owner.__getattr__ = get
    return owner


def by_keyword(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function whose TypeError says how to call it. Earlier versions took more arguments by position."""

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # raised inside
                raise
            raise TypeError(f"{error}{usage(function, len(args), kwargs)}") from None

    return call


def usage(function: Callable[..., Any], given: int, kwargs: Mapping[str, object]) -> str:
    """How to call a function that got so many arguments by position, as the end of a message; "" if it is not known."""
    from inspect import Parameter, signature

    for name in kwargs:
        if new := _NEW.get(f"{function.__qualname__}({name})"):
            return f"; use `{new}`"
    parameters = signature(function).parameters.values()
    taken = [parameter.name for parameter in parameters if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD]
    named = [f"{parameter.name}=…" for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
    if given <= len(taken):
        return ""
    shown = [name for name in taken if name != "self"] + named[: given - len(taken)]
    *owner, name = function.__qualname__.split(".")
    return f"; write `{owner[-1] if name == '__init__' else name}({', '.join(shown)})`"
