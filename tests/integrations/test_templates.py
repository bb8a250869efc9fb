"""Chat templates that packages ship: the format in the table is proven, or none is, and the nearest are named."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest

from outspoken.models.finding import find_model
from outspoken.parsing.parser import read_sound
from outspoken.results.errors import UnreadTemplateError

PACKAGES = Path(sysconfig.get_path("purelib"))
#: The templates by their paths, and their formats; `none` for those that write no calls, or refuse these messages.
EXPECTED: dict[str, str] = json.loads(Path(__file__).with_name("templates.json").read_text("utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_format_of_a_template(name: str) -> None:
    try:
        found = find_model(PACKAGES / name, read_sound).format
    except UnreadTemplateError as error:
        found = "none; near " + ", ".join(error.nearest) if error.nearest else "none"
    assert found == EXPECTED[name]


def test_the_table_has_all_templates() -> None:
    folders = {name.partition("/")[0] for name in EXPECTED}
    found = [path for folder in folders for path in (PACKAGES / folder).glob("**/chat_templates/**/*.jinja")]
    assert sorted(str(path.relative_to(PACKAGES)) for path in found) == sorted(EXPECTED)
