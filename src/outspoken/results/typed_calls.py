"""The arguments of a call as a value of a type, or bound to the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from .errors import CallError
from .schemas.convert import Conversion
from .schemas.fitting import Fit, fit_to, target_of_call
from .schemas.schema import pointer_of
from .signatures import function_of, hints_of, is_function, is_partial, kept, parameters

if TYPE_CHECKING:
    from .replies import ToolCall


def into(call: ToolCall, type_: Any) -> Any:
    """The arguments of a call as a type, after conversions; see `ToolCall.into`."""
    return _read(_runnable(call), call.arguments, type_)


def conversions(call: ToolCall, type_: Any) -> tuple[Conversion, ...]:
    """The conversions that make the arguments of a call fit a type; see `ToolCall.conversions`."""
    return _fit(_runnable(call), call.arguments, type_).conversions


def converted(call: ToolCall, type_: Any) -> dict[str, Any]:
    """The arguments of a call after conversions, as JSON."""
    return _fit(_runnable(call), call.arguments, type_).data


def problems(name: str, arguments: Mapping[str, Any], type_: Any) -> tuple[tuple[str, str], ...]:
    """Why the arguments of a call do not fit a type, with the place of each reason; nothing if they do."""
    try:
        _read(name, arguments, type_)
    except CallError as error:
        return error.problems
    except Exception as error:  # of the caller's own validator
        return (("", f"{type(error).__name__}: {error}"),)
    return ()


def _read(name: str, arguments: Mapping[str, Any], type_: Any) -> Any:
    return _bound(name, arguments, type_) if is_function(type_) else _fit(name, arguments, type_).typed


def _runnable(call: ToolCall) -> str:
    """The name of a call that may be run."""
    if call.status not in ("ok", "repaired"):
        raise CallError(call.name, [("", f"the call is {call.status} and must not be run")])
    return call.name


def _fit(name: str, arguments: Mapping[str, Any], type_: Any) -> Fit:
    fit = fit_to(target_of_call(type_), arguments)
    if fit.error is not None:
        raise CallError(name, [(pointer_of(path), message) for path, message in fit.error])
    return fit


def check_names(name: str, arguments: Iterable[str], known: Container[str]) -> None:
    """Raise CallError for a call with arguments of names that are not known."""
    unknown = [argument for argument in arguments if argument not in known]
    if unknown:
        raise CallError(name, [(pointer_of((argument,)), "there is no such argument") for argument in unknown])


class _Described(NamedTuple):
    """A function: its signature, the names of the parameters that a call can name, and that of `**rest`."""

    signature: inspect.Signature
    names: frozenset[str]
    rest: str | None


@kept
def _described(function: Callable[..., Any]) -> _Described:
    signature = inspect.signature(function)
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    return _Described(signature, frozenset([name for name, _ in parameters(function)]), rest)


def _bound(name: str, arguments: Mapping[str, Any], function: Callable[..., Any]) -> inspect.BoundArguments:
    """The arguments, bound to a function's parameters; none that a `partial` binds is the model's to give."""
    signature, names, rest = _described(function)
    fit = _fit(name, arguments, function)
    data: dict[str, Any] = fit.data
    more = {key: value for key, value in data.items() if key not in names}
    fixed = function.keywords if is_partial(function) else {}
    check_names(name, data, names if rest is None else data.keys() - fixed.keys())
    bound = {**_given(fit.typed), **(_rest_values(name, function, rest, more) if more else {})}
    place: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.POSITIONAL_ONLY or parameter.name not in bound:
            break
        place.append(bound.pop(parameter.name))
    try:
        return signature.bind(*place, **bound)
    except TypeError as error:
        raise CallError(name, [("", str(error))]) from error


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
        problems = [(pointer_of(found["loc"]), found["msg"]) for found in error.errors(include_url=False)]
        raise CallError(name, problems) from error
