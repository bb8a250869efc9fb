"""Payload data validated against the model of its type, with everything that is wrong or converted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from pydantic import TypeAdapter, ValidationError

from outspoken.results.schemas.convert import Conversion, convert
from outspoken.results.schemas.schema import dotted, is_object

from .types import Page, PayloadType, Validation

#: The keys and indexes that lead to a value.
Path = tuple[int | str, ...]


class BrokenRulesError(ValueError):
    """Several messages of one model validator; each becomes a finding."""

    def __init__(self, rules: list[str]) -> None:
        self.rules = rules
        super().__init__("; ".join(rules))


class PayloadFinding(NamedTuple):
    """A diagnostic of a payload: a stable code and a message."""

    code: str
    message: str


class Checked(NamedTuple):
    """The result of checking a payload.

    `data` is plain JSON, and `value` the same as instances of the model; None if it is invalid. `is_sound` is True if
    the payload is safe to use.
    """

    is_sound: bool
    data: Any
    value: Any
    findings: list[PayloadFinding]


def check(type_: PayloadType, data: Any, page: Page, level: Validation, *, repaired: bool = False) -> Checked:
    """Check the JSON of a payload against its type. That of a `repaired` one must be what the model describes."""
    findings: list[PayloadFinding] = []
    data, is_kind = _kind(type_, data, findings)
    if not is_kind:
        return Checked(False, data, None, findings)
    if type_.parser is not None:
        try:
            data = type_.parser(data)
        except ValueError as error:
            findings.append(PayloadFinding("invalid-payload", str(error) or "its parser rejects it"))
            return Checked(False, data, None, findings)
    if level == "off" or type_.adapter is None:
        return Checked(True, data, None, findings)
    checked = _Validation(type_, type_.adapter, page, findings, repaired).check(data, strict=level == "strict")
    if checked.is_sound and checked.value is not None and type_.check is not None:
        findings += [PayloadFinding("odd-payload", message) for message in type_.check(checked.value, page)]
    return checked


def _kind(type_: PayloadType, data: Any, findings: list[PayloadFinding]) -> tuple[Any, bool]:
    """The data as the object or array that the type requires, and whether that is possible."""
    if type_.kind == "array":
        if is_list(data):
            return data, True
        findings.append(PayloadFinding("wrapped-object", "expected an array; the object was read as its only item"))
        return [data], True
    if is_object(data):
        return data, True
    if is_list(data) and len(data) == 1 and is_object(data[0]):
        findings.append(PayloadFinding("unwrapped-array", "expected an object; it was taken out of an array"))
        return data[0], True
    findings.append(PayloadFinding("wrong-kind", "expected an object, not an array"))
    return data, False


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """True for a list."""
    return isinstance(value, list)


class _Validation:
    """Validates the JSON of one payload. What it converts is a finding, and a mistake if the text was `repaired`."""

    def __init__(
        self, type_: PayloadType, adapter: TypeAdapter[Any], page: Page, findings: list[PayloadFinding], repaired: bool
    ) -> None:
        self._type, self._adapter, self._findings, self._repaired = type_, adapter, findings, repaired
        self._context = {"page": page.name, "actions": page.actions}

    def check(self, data: Any, *, strict: bool) -> Checked:
        """The result for the object, or for all items of the array."""
        if self._type.kind == "object":
            data, value, wrong = self._one(data, ())
            self._findings += [PayloadFinding("invalid-payload", message) for message in wrong]
            return Checked(not (wrong and (strict or self._repaired)), data, value, self._findings)
        kept: list[Any] = []
        values: list[Any] = []
        is_sound = True
        for number, item in enumerate(data if is_list(data) else [data]):
            item, value, wrong = self._one(item, (number,))
            self._findings += [PayloadFinding("invalid-item", message) for message in wrong]
            is_sound = is_sound and not wrong
            if not wrong:
                kept.append(item)
                values.append(value)
        if strict and not is_sound:
            return Checked(False, data, None, self._findings)
        return Checked(True, kept, values, self._findings)

    def _one(self, data: Any, at: Path) -> tuple[Any, Any, list[str]]:
        """Validate one value: its JSON with converted values, its instance, and the messages if it is invalid.

        What does not validate is converted as in answers; so are keys that the type does not have.
        """
        value, wrong = self._instance(data, at)
        if wrong or (is_object(data) and self._type.view.unknown_names(data)):
            converted_data = convert(data, self._type.view)
            taken, misfits = self._instance(converted_data.value, at) if converted_data.conversions else (None, wrong)
            if converted_data.conversions and not misfits:
                told = [_message_of(conversion, at) for conversion in converted_data.conversions]
                if self._repaired:
                    return data, None, [f"{message}, in a text that was repaired" for message in told]
                self._findings += [PayloadFinding("coerced-value", message) for message in told]
                data, value, wrong = converted_data.value, taken, []
        if wrong:
            return data, None, wrong
        dumped = self._adapter.dump_python(value, by_alias=True, exclude_unset=True, warnings=False)
        if self._repaired and is_object(data) and is_object(dumped):
            unknown = [dotted((*at, key)) for key in data if key not in dumped]
            if unknown:
                return (
                    data,
                    None,
                    [f"`{place}`: the text was repaired, and this is no field of it" for place in unknown],
                )
        converted = list[PayloadFinding]()
        data = _coerced(data, dumped, at, converted)
        if self._repaired and converted:
            return data, None, [f"{conversion.message}, in a text that was repaired" for conversion in converted]
        self._findings += converted
        return data, value, []

    def _instance(self, data: Any, at: Path) -> tuple[Any, list[str]]:
        """The instance of a value, or the messages if it is invalid."""
        try:
            return self._adapter.validate_python(data, context=self._context), []
        except ValidationError as error:
            return None, _wrong(error, data, at)


def _message_of(conversion: Conversion, at: Path) -> str:
    place = dotted((*at, *conversion.path))
    return f"`{place}`: {conversion.message}" if place else conversion.message


def _wrong(error: ValidationError, data: Any, at: Path) -> list[str]:
    """The messages of a validation error, each with its path."""
    found: list[str] = []
    for one in error.errors(include_url=False):
        raised = one.get("ctx", {}).get("error")
        rules = raised.rules if isinstance(raised, BrokenRulesError) else [one["msg"].removeprefix("Value error, ")]
        place = dotted((*at, *_followed(one["loc"], data)))
        found += [f"`{place}`: {rule}" if place else rule for rule in rules]
    return found


def _followed(path: tuple[int | str, ...], data: Any) -> Iterator[int | str]:
    """A path from pydantic without the steps that are not in the data, such as the tags of unions."""
    for number, step in enumerate(path, 1):
        if is_object(data) and step in data:
            data = data[str(step)]
        elif is_list(data) and isinstance(step, int) and step < len(data):
            data = data[step]
        elif number < len(path):
            continue
        yield step


def _coerced(data: Any, dumped: Any, at: Path, findings: list[PayloadFinding]) -> Any:
    """The JSON with the plain values that the model converted; keys that the model does not know stay."""
    if is_object(data) and is_object(dumped):
        return {k: _coerced(v, dumped[k], (*at, k), findings) if k in dumped else v for k, v in data.items()}
    if is_list(data) and is_list(dumped) and len(data) == len(dumped):
        return [
            _coerced(member, other, (*at, i), findings)
            for i, (member, other) in enumerate(zip(data, dumped, strict=True))
        ]
    plain = (str, int, float, bool, type(None))
    is_same = type(data) is type(dumped) and data == dumped
    if is_same or not (type(data) in plain and type(dumped) in plain):
        return data
    if type(data) is int and type(dumped) is float and data == dumped:
        return dumped  # JSON's numbers are of one type
    findings.append(PayloadFinding("coerced-value", f"`{dotted(at)}` is {data!r}, and was read as {dumped!r}"))
    return dumped
