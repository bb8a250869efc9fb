"""Is a payload what its type says? What a value is taken for, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from pydantic import TypeAdapter, ValidationError

from .options import Validation
from .page import Page
from .types import PayloadType


class BrokenRules(ValueError):
    """A model's own rules that a value breaks, for a validator that finds several at once."""

    def __init__(self, rules: list[str]) -> None:
        self.rules = rules
        super().__init__("; ".join(rules))


class Finding(NamedTuple):
    """Something odd about a payload: a stable code, and what it says."""

    code: str
    message: str


class Checked(NamedTuple):
    """What a payload's JSON is taken for.

    `data` is plain JSON, `value` the same as instances of the model, None where it is not valid. `is_sound` says that
    the payload may be used.
    """

    is_sound: bool
    data: Any
    value: Any
    findings: list[Finding]


def check(type_: PayloadType, data: Any, page: Page, level: Validation) -> Checked:
    """Check the JSON behind a marker against the type of that marker."""
    findings: list[Finding] = []
    data, fits = _kind(type_, data, findings)
    if not fits:
        return Checked(False, data, None, findings)
    if type_.parser is not None:
        try:
            data = type_.parser(data)
        except ValueError as error:
            findings.append(Finding("invalid-payload", str(error) or "it cannot be used"))
            return Checked(False, data, None, findings)
    if level == "off" or type_.adapter is None:
        return Checked(True, data, None, findings)
    checked = _validated(type_, type_.adapter, data, page, findings, strict=level == "strict")
    if checked.is_sound and checked.value is not None and type_.check is not None:
        findings += [Finding("odd-payload", said) for said in type_.check(checked.value, page)]
    return checked


def _kind(type_: PayloadType, data: Any, findings: list[Finding]) -> tuple[Any, bool]:
    """The data as the object or array that the type asks for, and whether it is that."""
    if type_.kind == "array":
        if is_list(data):
            return data, True
        findings.append(Finding("wrapped-object", "an array is asked for; the object was read as its one item"))
        return [data], True
    if is_dict(data):
        return data, True
    if is_list(data) and len(data) == 1 and is_dict(data[0]):
        findings.append(Finding("unwrapped-array", "an object is asked for; it was taken out of an array"))
        return data[0], True
    findings.append(Finding("wrong-kind", "an object is asked for, and this is an array"))
    return data, False


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Is a value a list?"""
    return isinstance(value, list)


def is_dict(value: Any) -> TypeGuard[dict[str, Any]]:
    """Is a JSON value an object?"""
    return isinstance(value, dict)


def _validated(
    type_: PayloadType, adapter: TypeAdapter[Any], data: Any, page: Page, findings: list[Finding], *, strict: bool
) -> Checked:
    context = {"page": page.name, "actions": page.actions}
    if type_.kind == "object":
        data, value, wrong = _one(adapter, data, context, (), findings)
        findings += [Finding("invalid-payload", said) for said in wrong]
        return Checked(not (wrong and strict), data, value, findings)
    kept: list[Any] = []
    values: list[Any] = []
    is_sound = True
    for number, item in enumerate(data if is_list(data) else [data]):
        item, value, wrong = _one(adapter, item, context, (number,), findings)
        findings += [Finding("invalid-item", said) for said in wrong]
        is_sound = is_sound and not wrong
        if not wrong:
            kept.append(item)
            values.append(value)
    return Checked(False, data, None, findings) if strict and not is_sound else Checked(True, kept, values, findings)


def _one(
    adapter: TypeAdapter[Any], data: Any, context: dict[str, Any], at: tuple[int | str, ...], findings: list[Finding]
) -> tuple[Any, Any, list[str]]:
    """One value: its JSON with what was read as something else, its instance, and what is wrong with it."""
    try:
        value = adapter.validate_python(data, context=context)
    except ValidationError as error:
        return data, None, _wrong(error, data, at)
    dumped = adapter.dump_python(value, by_alias=True, exclude_unset=True, warnings=False)
    return _coerced(data, dumped, at, findings), value, []


def _wrong(error: ValidationError, data: Any, at: tuple[int | str, ...]) -> list[str]:
    """What pydantic says is wrong, each with its place."""
    found: list[str] = []
    for one in error.errors(include_url=False):
        raised = one.get("ctx", {}).get("error")
        said = raised.rules if isinstance(raised, BrokenRules) else [one["msg"].removeprefix("Value error, ")]
        place = _place((*at, *_followed(one["loc"], data)))
        found += [f"`{place}`: {rule}" if place else rule for rule in said]
    return found


def _followed(path: tuple[int | str, ...], data: Any) -> Iterator[int | str]:
    """A path of pydantic's without the steps that lead nowhere in the data, as the tag of a union does."""
    for number, step in enumerate(path, 1):
        if is_dict(data) and step in data:
            data = data[str(step)]
        elif is_list(data) and isinstance(step, int) and step < len(data):
            data = data[step]
        elif number < len(path):
            continue
        yield step


def _place(path: tuple[int | str, ...]) -> str:
    """A path as it is written: `operations[0].row_id`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _coerced(data: Any, dumped: Any, at: tuple[int | str, ...], findings: list[Finding]) -> Any:
    """The JSON with every plain value that the model read as another one; keys that the model does not know stay."""
    if is_dict(data) and is_dict(dumped):
        return {k: _coerced(v, dumped[k], (*at, k), findings) if k in dumped else v for k, v in data.items()}
    if is_list(data) and is_list(dumped) and len(data) == len(dumped):
        return [
            _coerced(one, other, (*at, i), findings) for i, (one, other) in enumerate(zip(data, dumped, strict=True))
        ]
    plain = (str, int, float, bool, type(None))
    is_same = type(data) is type(dumped) and data == dumped
    if is_same or not (type(data) in plain and type(dumped) in plain):
        return data
    findings.append(Finding("coerced-value", f"`{_place(at)}` is {data!r}, and was read as {dumped!r}"))
    return dumped
