"""Collects the tests of a framework only where it can be imported: tools/integrations/noxfile.py runs all of them."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from tests.garbage import pytest_runtest_logfinish as pytest_runtest_logfinish
from tools.integrations.frameworks import FRAMEWORKS

collect_ignore = [
    f"test_{name}.py" for name, tested in FRAMEWORKS.items() if not any(map(find_spec, tested.modules.split()))
]

pytest.register_assert_rewrite(
    *[f"tests.{name}" for name in ("integrations.model_tests", "integrations.server_tests", "serving.probing")]
)


def pytest_sessionfinish() -> None:
    """Stop the server of the tests, if one was started."""
    if (module := sys.modules.get("tests.integrations.text_server")) is not None:
        module.running.stop()
