"""CanIToolCall 0.1, the neutral suite: recorded outputs of nine families, whole and by its strategies of chunks.

Where a reply differs from what a fixture expects, the reason stands here.
"""

from __future__ import annotations

import pytest
from canitoolcall.adapters.base import ReplayInput
from canitoolcall.checks import case_status, run_checks
from canitoolcall.chunking import DEFAULT_STRATEGIES, split
from canitoolcall.fixtures import Fixture, load_families, load_fixtures
from canitoolcall.results import Observation, Status

from tests.loops import some
from tests.tables import tables
from tools.integrations.canitoolcall_adapter import DetectingAdapter, ModelAdapter, OutspokenAdapter

TABLES = tables(__file__)
FAMILIES = load_families()

#: Fixtures that are read in another way, by id, and more of them with `auto`.
OTHERWISE: dict[str, str] = TABLES["OTHERWISE"]


#: How a fixture is read: the adapter, the share of the ways to cut it into chunks, and what is read in another way.
WAYS: dict[str, tuple[type[OutspokenAdapter], float, dict[str, str]]] = {
    "named": (OutspokenAdapter, 0.17, OTHERWISE),
    "detected": (DetectingAdapter, 0.125, {**OTHERWISE, **TABLES["OTHERWISE_DETECTED"]}),
    "model": (ModelAdapter, 0.07, OTHERWISE),
}


def passes(fixture: Fixture, adapter: OutspokenAdapter, share: float) -> bool:
    """Does a fixture pass the suite's own checks?"""
    family = FAMILIES.get(fixture.family)
    raw = ReplayInput.from_fixture(fixture, family)
    units, special = adapter.units(raw), adapter.special_token_ids(raw)
    strategies = some(DEFAULT_STRATEGIES, fixture.id, share)
    chunks = {strategy.id: split(units, strategy, special=special) for strategy in strategies}
    streamed = {name: adapter.parse_stream(raw, parts, fixture.tools) for name, parts in chunks.items()}
    observed = Observation(adapter.parse(raw, fixture.tools), streamed)
    return case_status(run_checks(fixture, family, observed)) in (Status.PASS, Status.SOFT_PASS)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_fixtures_of_the_neutral_suite(family: str, way: str) -> None:
    adapter, share, otherwise = WAYS[way]
    own = [fixture for fixture in load_fixtures() if fixture.family == family]
    fixtures = {fixture.id: fixture for fixture in some(own, f"{family} {way}", 0.5)}
    assert fixtures
    failed = {name for name, fixture in fixtures.items() if not passes(fixture, adapter(), share)}
    assert failed == fixtures.keys() & otherwise
