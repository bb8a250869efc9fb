"""One bad row in a thousand, of ten kinds: all of them are in quarantine with their bytes, and none is lost."""

from __future__ import annotations

import base64
import json
import tempfile
from collections import Counter
from pathlib import Path

from outspoken.batch.arrow import parquet

from .responses import hermes_texts
from .results import run_command

#: Ten kinds of bad rows, with the codes of their errors.
KINDS: tuple[tuple[str, bytes], ...] = (
    ("not-json", b'{"text": "cut'),
    ("not-json", b"[" * 2000),
    ("not-json", b"\x00\x00"),
    ("not-utf8", b'{"text": "caf\xe9"}'),
    ("not-an-object", b'"text"'),
    ("no-text", b'{"response": "a"}'),
    ("no-text", b'{"text": null}'),
    ("not-text", b'{"text": {"a": 1}}'),
    ("too-long", b'{"text": "' + b"x" * 20_000 + b'"}'),
    ("repeated-column", b'{"text": "a", "text": "b"}'),
)


def check_bad_rows(rows: int) -> bool:
    """Write the file, read it, and account for every line."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "in.jsonl", Path(folder) / "out"
        bad: dict[int, tuple[str, bytes]] = {}
        with path.open("wb") as file:
            for line, text in enumerate(hermes_texts(rows), 1):
                raw = json.dumps({"text": text}).encode()
                if line % 1000 == 500:
                    bad[line] = KINDS[len(bad) % len(KINDS)]
                    raw = bad[line][1]
                file.write(raw + b"\n")
        summary = run_command(path, out, "--max-chars", "10000")["total"]
        return _agrees(out, rows, bad, summary["rows"], summary["quarantine"])


def _agrees(out: Path, rows: int, bad: dict[int, tuple[str, bytes]], read: int, counts: dict[str, int]) -> bool:
    good: list[int] = []
    for part in sorted((out / "parts").iterdir()):
        good += parquet().read_table(part, columns=["line"]).column("line").to_pylist()
    found: dict[int, tuple[str, bytes]] = {}
    for file in (out / "quarantine").iterdir():
        for line in file.read_bytes().splitlines():
            row = json.loads(line)
            raw = base64.b64decode(row["raw_base64"]) if "raw_base64" in row else row["raw"].encode()
            found[row["line"]] = row["code"], raw
    codes = Counter([code for code, _ in bad.values()])
    print(f"{rows:,} lines: {len(good):,} read, {len(found):,} of {len(bad):,} bad ones in quarantine: {dict(codes)}")
    is_whole = sorted([*good, *found]) == list(range(1, rows + 1))
    return is_whole and found == bad and counts == dict(codes) and read == len(good)
