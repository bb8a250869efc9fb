"""What a message says to install works as it stands, wherever Outspoken was installed from."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from outspoken.results.packages import install_command

WHEEL = "file:///tmp/outspoken-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'outspoken[ui]'"),
        ({"url": "file:///my%20code/outspoken", "dir_info": {}}, "pip install '/my code/outspoken[ui]'"),
        ({"url": "file:///o", "dir_info": {"editable": True}}, "pip install -e '/o[ui]'"),
        ({"url": WHEEL, "archive_info": {}}, f"pip install 'outspoken[ui] @ {WHEEL}'"),
        (
            {"url": "https://example.org/o.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "pip install 'outspoken[ui] @ git+https://example.org/o.git'",
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_library_was(
    origin: dict[str, Any] | None, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "outspoken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outspoken\nVersion: 1.0\n", "utf-8")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin), "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert install_command("ui") == command
