"""Names of keys for Playwright."""

import pytest

from outspoken.actions.key_names import playwright_key
from tests.actions.playwright_keys import KEYS
from tests.loops import in_one_item
from tests.tables import tables

TABLES = tables(__file__)

NAMES = TABLES["NAMES"]


@in_one_item("name", NAMES)
def test_a_key_has_the_name_that_playwright_knows(name: str) -> None:
    expected = NAMES[name]
    if expected is None:
        with pytest.raises(ValueError, match="Playwright has no key"):
            playwright_key(name)
    else:
        assert playwright_key(name) == expected
        assert expected in KEYS
