"""What the checks compare: the command as a process, and all that it has written."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from outspoken.batch.arrow import parquet


def command(path: Path, out: Path, *more: str) -> list[str]:
    """The command that reads a file in hermes."""
    return [sys.executable, "-m", "outspoken", "batch", str(path), "--out", str(out), "--format", "hermes", *more]


def run_command(path: Path, out: Path, *more: str) -> dict[str, Any]:
    """Run the command to its end, and return its summary."""
    done = subprocess.run([*command(path, out, *more), "--json"], stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"the command ended with code {done.returncode}")
    return json.loads(done.stdout)


def digest(out: Path) -> str:
    """A hash of all rows and of the quarantine, with the names of the parts."""
    made = hashlib.sha256()
    for part in sorted((out / "parts").iterdir()):
        made.update(part.name.encode())
        table = parquet().read_table(part)
        made.update(json.dumps(table.to_pylist(), sort_keys=True).encode())
    for file in sorted((out / "quarantine").iterdir()):
        made.update(file.name.encode() + file.read_bytes())
    return made.hexdigest()
