"""`outspoken parse --payloads`: an application's payloads on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from outspoken.cli.main import main

TABLES = "outspoken.contrib.table_chat:tables_registry"
TEXT = """Done.

SUGGESTED_VALUES: [{"label": "Sort by size", "value": "Sort"}, {"label": "Add a column", "value": "Add"}]
DATA_PROPOSAL: {"operations": [{"action": "delete", "row_id": 4}]}
"""


@pytest.fixture
def response(tmp_path: Path) -> str:
    path = tmp_path / "response.txt"
    path.write_text(TEXT, "utf-8")
    return str(path)


def test_the_payloads_of_a_page_are_shown(response: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", response, "--payloads", TABLES, "--page", "table_edit"]) == 0
    out = capsys.readouterr().out
    assert "suggested_values" in out
    assert "warning[marker-not-registered]: this page has no payload `DATA_PROPOSAL`" in out


def test_all_payloads_apply_without_a_page(response: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", response, "--payloads", TABLES, "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert [one["type"] for one in reply["segments"] if one["kind"] == "payload"] == [
        "suggested_values",
        "data_proposal",
    ]


def test_a_stream_shows_no_marker(response: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", response, "--payloads", TABLES, "--page", "table_view", "--stream", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("(")[0] for line in lines] == ["TextDelta", "PayloadParsed", "PayloadParsed", "Done"]


def test_a_registry_of_the_working_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_payloads.py").write_text(
        "from outspoken.payloads import PayloadRegistry, PayloadType\n"
        "class App:\n    registry = PayloadRegistry([PayloadType('ferry', 'FERRY')])\n",
        "utf-8",
    )
    (tmp_path / "r.txt").write_text('FERRY: {"a": [}', "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.chdir(tmp_path)
    assert main(["parse", "r.txt", "--payloads", "my_payloads:App.registry", "--repair", "none"]) == 1
    assert "error[broken-payload]: the payload of `FERRY` cannot be read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--payloads", TABLES, "--page", "table_veiw"], "there is no page `table_veiw`; did you mean `table_view`?"),
        (["--payloads", "tables"], "`tables` is not a registry; write it as `module:name`"),
        (["--payloads", "no_such_module:x"], "cannot load `no_such_module:x`: ModuleNotFoundError: "),
        (["--payloads", "outspoken.contrib.table_chat:TYPES"], "is of type tuple; expected a PayloadRegistry"),
        (
            ["--page", "table_view"],
            "`--page` needs `--payloads`; neither can be used with `--format`, `--tools` or `--screen`",
        ),
        (["--payloads", TABLES, "--format", "hermes"], "`--page` needs `--payloads`; neither can be used with"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, response: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", response, *arguments]) == 2
    assert message in capsys.readouterr().err
