"""The arguments of a call as a value of a type, or bound to the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from .errors import CallError
from .schemas.convert import Conversion
from .schemas.fitting import Fit, fit_to, target_of_call
from .signatures import function_of, hints_of, is_function, is_partial, parameters

if TYPE_CHECKING:
    from .replies import ToolCall


def into(call: ToolCall, type_: Any) -> Any:
    """The arguments of a call as a type, after conversions; see `ToolCall.into`."""
    return _bound(call, type_) if is_function(type_) else _fit(call, type_).typed


def conversions(call: ToolCall, type_: Any) -> tuple[Conversion, ...]:
    """The conversions that make the arguments of a call fit a type; see `ToolCall.conversions`."""
    return _fit(call, type_).conversions


def _fit(call: ToolCall, type_: Any) -> Fit:
    if call.status not in ("ok", "repaired"):
        raise CallError(call.name, [("", f"the call is {call.status} and must not be run")])
    fit = fit_to(target_of_call(type_), call.arguments)
    if fit.error is not None:
        raise CallError(call.name, [(_path(path), message) for path, message in fit.error])
    return fit


def check_names(name: str, arguments: Iterable[str], known: Container[str]) -> None:
    """Raise CallError for a call with arguments of names that are not known."""
    unknown = [argument for argument in arguments if argument not in known]
    if unknown:
        raise CallError(name, [(_path((argument,)), "there is no such argument") for argument in unknown])


def _bound(call: ToolCall, function: Callable[..., Any]) -> inspect.BoundArguments:
    """The arguments, bound to a function's parameters; none that a `partial` binds is the model's to give."""
    signature = inspect.signature(function)
    fit = _fit(call, function)
    data: dict[str, Any] = fit.data
    names = {name for name, _ in parameters(function)}
    more = {name: value for name, value in data.items() if name not in names}
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    fixed = function.keywords if is_partial(function) else {}
    check_names(call.name, data, names if rest is None else data.keys() - fixed.keys())
    given = {**_given(fit.typed), **(_rest_values(call.name, function, rest, more) if more else {})}
    place: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_ONLY or parameter.name not in given:
            break
        place.append(given.pop(parameter.name))
    try:
        return signature.bind(*place, **given)
    except TypeError as error:
        raise CallError(call.name, [("", str(error))]) from error


def _given(read: Any) -> dict[str, Any]:
    """The arguments of a function that were given, validated, by name."""
    fields: dict[str, Any] = read.__class__.model_fields
    return {field.alias: getattr(read, key) for key, field in fields.items() if key in read.model_fields_set}


def _rest_values(name: str, function: Any, rest: str | None, values: dict[str, Any]) -> dict[str, Any]:
    """The values for `**rest`, validated by its annotation."""
    hint = hints_of(function_of(function)).get(rest or "")
    if hint is None:
        return values
    type_ = get_args(hint)[0] if getattr(get_origin(hint), "_name", None) == "Unpack" else dict[str, hint]
    try:
        return TypeAdapter[Any](type_).validate_python(values)
    except ValidationError as error:
        problems = [(_path(found["loc"]), found["msg"]) for found in error.errors(include_url=False)]
        raise CallError(name, problems) from error


def _path(place: tuple[int | str, ...]) -> str:
    """A place in the arguments as a JSON Pointer."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in place)
