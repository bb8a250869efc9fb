"""The arguments of a call as a value of a type, or bound to the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from .errors import CallError
from .signatures import function_of, hints_of, is_function, is_partial, model, parameters, readable

if TYPE_CHECKING:
    from .replies import ToolCall


def into(call: ToolCall, type_: Any) -> Any:
    """Validate the arguments of a call in pydantic's lax mode; see `ToolCall.into`."""
    if call.status not in ("ok", "repaired"):
        raise CallError(call.name, [("", f"the call is {call.status} and must not be run")])
    try:
        if is_function(type_):
            return _bound(call, type_)
        return TypeAdapter[Any](readable(type_)).validate_python(call.arguments)
    except ValidationError as error:
        problems = [(_path(found["loc"]), found["msg"]) for found in error.errors(include_url=False)]
        raise CallError(call.name, problems) from error


def check_names(call: ToolCall, known: Any) -> None:
    """Raise CallError for a call with arguments of names that are not known."""
    unknown = [name for name in call.arguments if name not in known]
    if unknown:
        raise CallError(call.name, [(_path((name,)), "there is no such argument") for name in unknown])


def _bound(call: ToolCall, function: Callable[..., Any]) -> inspect.BoundArguments:
    """The arguments, bound to a function's parameters; none that a `partial` binds is the model's to give."""
    signature = inspect.signature(function)
    names = {name for name, _ in parameters(function)}
    more = {name: value for name, value in call.arguments.items() if name not in names}
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    fixed = function.keywords if is_partial(function) else {}
    check_names(call, names if rest is None else call.arguments.keys() - fixed.keys())
    given = {**_values(function, call.arguments), **(_rest_values(function, rest, more) if more else {})}
    place: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_ONLY or parameter.name not in given:
            break
        place.append(given.pop(parameter.name))
    try:
        return signature.bind(*place, **given)
    except TypeError as error:
        raise CallError(call.name, [("", str(error))]) from error


def _values(function: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """The given arguments of a function, validated."""
    made = model(function)
    read = made.model_validate(arguments)
    fields: dict[str, Any] = made.model_fields
    return {field.alias: getattr(read, key) for key, field in fields.items() if key in read.model_fields_set}


def _rest_values(function: Any, rest: str | None, values: dict[str, Any]) -> dict[str, Any]:
    """The values for `**rest`, validated by its annotation."""
    hint = hints_of(function_of(function)).get(rest or "")
    if hint is None:
        return values
    type_ = get_args(hint)[0] if getattr(get_origin(hint), "_name", None) == "Unpack" else dict[str, hint]
    return TypeAdapter[Any](type_).validate_python(values)


def _path(place: tuple[int | str, ...]) -> str:
    """A place in the arguments as a JSON Pointer."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in place)
