"""Constraints of the pages of a registry of payloads."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field

from outspoken.payloads import PayloadRegistry, PayloadType
from tests.constraints.walks import failures
from tests.tables import tables

TABLES = tables(__file__)


class Value(BaseModel):
    """One suggested value."""

    label: str = Field(min_length=1)
    value: int = Field(ge=0, le=20)


class Mode(BaseModel):
    """How to go on."""

    kind: Literal["fast", "slow"]
    note: str | None = None


def _registry() -> PayloadRegistry:
    return PayloadRegistry(
        [
            PayloadType("suggested", "SUGGESTED_VALUES", Value, kind="array", pages=("form",)),
            PayloadType("mode", "MODE", Mode, beside=True),
            PayloadType("raw", "RAW"),
        ]
    )


def test_accepts_payloads_of_the_page():
    form = _registry().constraint("form")
    assert form.warnings == ()
    for accepted in TABLES["ACCEPTS_PAYLOADS_OF_THE_PAGE"]:
        assert form.accepts(accepted), accepted
    for refused in TABLES["ACCEPTS_PAYLOADS_OF_THE_PAGE_2"]:
        assert not form.accepts(refused), refused


def test_pages():
    registry = _registry()
    registry.add_page("start")
    assert not registry.constraint("start").accepts('SUGGESTED_VALUES: [{"label": "a", "value": 3}]\n')
    assert registry.constraint("start").accepts('MODE: {"kind": "slow"}\n')
    assert not registry.constraint("form", text=False).accepts("Hello.")
    with pytest.raises(ValueError, match="no page"):
        registry.constraint("nowhere")


def test_random_pages_in_the_engines():
    for engine in ("llguidance", "xgrammar"):
        found = [one for one in failures("payloads", engine, 4, 1, kind="payloads") if one[0] not in ("", "too long")]
        assert not found, (engine, found)


def test_models_without_such_json():
    registry = PayloadRegistry([PayloadType("a", "A", int), PayloadType("b", "B", Mode)])
    made = registry.constraint()
    assert made.warnings == ("a: the model admits no JSON that is an object, so the payload is left out",)
    assert made.accepts('B: {"kind": "fast"}\n')
    assert not made.accepts("A: 3\n")


def test_what_is_not_enforced_is_named():
    registry = PayloadRegistry([PayloadType("mode", "MODE", Mode, parser=lambda data: data)])
    assert registry.constraint().warnings == ("mode: the model is not enforced, since a parser reads the JSON",)
