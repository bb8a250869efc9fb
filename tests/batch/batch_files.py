"""What the tests of batches share: files of responses of all kinds, and the results of a batch as plain data."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from outspoken.batch import BatchOptions
from outspoken.batch.arrow import parquet
from tests.tables import tables

CALL = '<tool_call>\n{"name": "find", "arguments": {"city": "Paris", "n": %d}}\n</tool_call>'


def zstd(data: bytes) -> bytes:
    """Compress some bytes."""
    compress: Any = import_module("zstandard").compress
    return compress(data)


def write_lines(path: Path, count: int, first: int = 0) -> Path:
    """Write a file of JSON lines with calls in hermes, each another one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": f"r{n}", "text": CALL % n}) + "\n" for n in range(first, first + count)]
    path.write_text("".join(lines), "utf-8")
    return path


def results(out: Path) -> list[dict[str, Any]]:
    """The rows of all parts, in the order of their names."""
    rows: list[dict[str, Any]] = []
    for part in sorted((out / "parts").iterdir()):
        if part.suffix == ".parquet":
            rows += parquet().read_table(part).to_pylist()
        else:
            rows += [json.loads(line) for line in part.read_text("utf-8").splitlines()]
    return rows


def quarantine(out: Path) -> list[dict[str, Any]]:
    """The rows in quarantine, in the order of their files."""
    files = sorted((out / "quarantine").iterdir())
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


# what the tests of reports share: responses with all kinds of damage, and hostile ones


TABLES = tables(__file__)

TOOLS = TABLES["TOOLS"]
#: The name of a tool that a page must not read as HTML, with a character that turns the direction of text.
HOSTILE = "</style><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202e"

#: Responses with their formats; hermes where there is none.
MIXED = TABLES["MIXED"]
#: What reads them.
OPTIONS = BatchOptions(format="hermes", format_column="format", tools=TOOLS, id_column="id", keep=("when",))
_BAD = ["not json <script>alert(1)</script>\u202e", '{"text": 3, "id": "</pre>"}']


def write_mixed(path: Path, times: int, day: int = 1) -> Path:
    """Write a file with all the responses and two lines that are no responses, so many times over two days."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for round in range(times):
        for n, (format, text) in enumerate(MIXED):
            when = None if n == 1 else f"2026-11-{day + round * 2 // times:02}T00:{n:02}:00Z"
            lines.append(json.dumps({"id": f"r{round}-{n}", "format": format, "text": text, "when": when}))
        lines += _BAD
    path.write_text("".join([f"{line}\n" for line in lines]), "utf-8")
    return path
