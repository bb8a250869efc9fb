"""A package that is installed brings its payloads along."""

import sys
from pathlib import Path

import pytest

from outspoken.contrib.table_chat import SUGGESTED_VALUES
from outspoken.payloads import PayloadRegistry

MODULE = """
from outspoken.payloads import PayloadType

FERRY = PayloadType("ferry", "FERRY:", dict[str, int])

def trains():
    yield PayloadType("train", "TRAIN:")
    yield PayloadType("tram", "TRAM:", pages=("town",))
"""
POINTS = """
[outspoken.payloads]
b_ferries = made_for_travel:FERRY
a_trains = made_for_travel:trains

[somebody.else]
c = made_for_travel:NOTHING
"""


def test_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_for_travel.py").write_text(MODULE, "utf-8")
    info = tmp_path / "made_for_travel-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-for-travel\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(POINTS, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    registry = PayloadRegistry([SUGGESTED_VALUES])
    assert [one.name for one in registry.load()] == ["train", "tram", "ferry"]
    assert [one.name for one in registry.types] == ["suggested_values", "train", "tram", "ferry"]
    assert registry.pages == ("town",)
    assert registry.parse('Hi TRAM: {"a": 1}').to_message()["custom_payload"] == {"type": "tram", "data": {"a": 1}}
    with pytest.raises(ValueError, match="a payload `train` is already registered"):
        registry.load()
