"""The folder of results: what a batch is (`manifest.json`), what is done of it (`units.jsonl`), and its summary."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from io import BufferedRandom
from pathlib import Path
from typing import Any, cast

from outspoken import __version__
from outspoken.grammar import registry

from .errors import BatchError
from .inputs import MANIFEST, InputFile, reason_of
from .options import BatchOptions
from .parts import Output, part_path, replacing
from .summary import Counts, Summary
from .units import Unit

UNITS, SUMMARY, REPORT, LOCK = "units.jsonl", "summary.json", "report.html", ".lock"
#: What tells our manifests, and the version of the layout.
_KIND, _LAYOUT = "outspoken batch", 1
#: What to do about a batch that differs.
_RESTART = "use `--restart` to remove the results and begin again, or choose another folder"


def grammars_hash() -> str:
    """A hash of all grammars that are in use."""
    made = hashlib.sha256()
    folder = registry.grammars_folder()
    for path in sorted(folder.rglob("*.lark")):
        made.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:16]


def make_manifest(options: BatchOptions, files: Sequence[InputFile], output: Output, unit_bytes: int) -> dict[str, Any]:
    """What a batch is: two runs with the same manifest have the same results."""
    return {
        "kind": _KIND,
        "layout": _LAYOUT,
        "outspoken": __version__,
        "grammars": grammars_hash(),
        "output": output,
        "unit_bytes": unit_bytes,
        "fingerprint": options.fingerprint(),
        "options": options.to_json(),
        "inputs": [{"name": file.name, "size": file.size, "mtime": file.mtime} for file in files],
    }


class OutputFolder:
    """The folder of results of one batch. Use it as a context manager: only one process may write to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._units: dict[tuple[int, int], tuple[Unit, Counts]] = {}
        #: how much of each file is read: of plain ones exactly, of others as far as units were cut
        self._bytes: dict[int, int] = {}
        self._journal: BufferedRandom | None = None
        self._lock: int | None = None

    def __enter__(self) -> OutputFolder:
        return self

    def __exit__(self, *error: object) -> None:
        if self._journal is not None:
            self._journal.close()
        if self._lock is not None:
            os.close(self._lock)

    # the beginning

    def known_unit_bytes(self) -> int | None:
        """The size of units of the batch that is here; None if there is none."""
        known = self._known_manifest()
        return None if known is None else cast("int", known.get("unit_bytes"))

    def open(self, manifest: dict[str, Any], *, restart: bool) -> None:
        """Begin a batch, or go on with the one that is here.

        Raises BatchError if the folder holds other things, or a batch that differs, or if another process writes to it.
        """
        try:
            self._check_free()
            self.path.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            earlier = self._known_manifest()
            if restart and earlier is not None:
                self._clear()
                earlier = None
            if earlier is not None:
                _compare(earlier, manifest, self.path)
            for name in ("parts", "quarantine"):
                (self.path / name).mkdir(exist_ok=True)
            self._remove_unfinished()
            if earlier is None:
                self._write(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2))
            self._open_journal(manifest["output"])
        except OSError as error:
            raise BatchError(f"cannot write to `{self.path}`: {reason_of(error)}") from error

    def _remove_unfinished(self) -> None:
        """Remove what workers were writing when they were killed."""
        for name in ("parts", "quarantine"):
            for file in (self.path / name).glob(".*.tmp"):
                file.unlink(missing_ok=True)

    def _check_free(self) -> None:
        """Raise BatchError if the folder is not ours."""
        if self.path.exists() and not self.path.is_dir():
            raise BatchError(f"`{self.path}` is not a folder; choose another name for the results")
        if self.path.is_dir() and not (self.path / MANIFEST).exists():
            others = sorted({one.name for one in self.path.iterdir()} - {LOCK})
            if others:
                raise BatchError(
                    f"the folder `{self.path}` is not empty (`{others[0]}`) and holds no batch; choose another"
                )

    def _take_lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows; there, two processes are not told apart
            return
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BatchError(f"another process writes to `{self.path}`; wait for its end, or choose another") from None

    def _known_manifest(self) -> dict[str, Any] | None:
        path = self.path / MANIFEST
        if not path.exists():
            return None
        try:
            manifest = json.loads(path.read_bytes())
            if manifest["kind"] != _KIND or manifest["layout"] != _LAYOUT:
                raise ValueError("another kind")
        except OSError as error:
            raise BatchError(f"cannot read `{path}`: {reason_of(error)}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise BatchError(
                f"`{path}` is not the manifest of a batch of this version; choose another folder"
            ) from error
        return manifest

    def _clear(self) -> None:
        """Remove the results of the batch that is here, and nothing else. Its manifest goes last."""
        for name in ("parts", "quarantine"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in (UNITS, SUMMARY, REPORT, MANIFEST):
            (self.path / name).unlink(missing_ok=True)

    def _open_journal(self, output: Output) -> None:
        """Read which units are done. What was being written when a run was killed is cut off."""
        path = self.path / UNITS
        path.touch()
        self._journal = path.open("r+b")
        good = self._read_units(self._journal, output)
        self._journal.truncate(good)
        self._journal.seek(good)

    def _read_units(self, lines: Iterable[bytes], output: Output) -> int:
        """Read the units that are done and whose parts are there. Returns the length of the sound lines."""
        good = 0
        for line in lines:
            try:
                data = json.loads(line)
                unit = Unit(data["file"], data["unit"], "lines", **data["end"])
                counts = Counts(**data["counts"])
            except (ValueError, KeyError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            good += len(line)
            if part_path(self.path, data["part"], output).exists():
                self._keep(unit, counts)
        return good

    def _keep(self, unit: Unit, counts: Counts) -> None:
        self._units[unit.key] = replace(unit, data=b""), counts
        read = self._bytes.get(unit.file, 0)
        self._bytes[unit.file] = read + unit.length if unit.length else max(read, unit.offset)

    # units

    def unit_of(self, key: tuple[int, int]) -> Unit | None:
        """A unit, by its file and number, if it is done; else None."""
        known = self._units.get(key)
        return None if known is None else known[0]

    def add(self, unit: Unit, counts: Counts) -> None:
        """Note that a unit is done. Raises OSError."""
        data = {"file": unit.file, "unit": unit.number, "part": unit.name, "end": unit.place, "counts": asdict(counts)}
        assert self._journal is not None
        self._journal.write(json.dumps(data, ensure_ascii=False).encode() + b"\n")
        self._journal.flush()
        self._keep(unit, counts)

    @property
    def bytes_done(self) -> int:
        """How much of the input is done, in bytes."""
        return sum(self._bytes.values())

    def totals(self) -> tuple[int, Counts]:
        """The number of units that are done, and their counts."""
        total = Counts()
        for _, counts in self._units.values():
            total.add(counts)
        return len(self._units), total

    def units(self) -> list[Unit]:
        """The units that are done, without their data."""
        return [unit for unit, _ in self._units.values()]

    def read_units(self) -> None:
        """Read which units are done, and change nothing. Raises OSError."""
        manifest, path = self._known_manifest(), self.path / UNITS
        if manifest is not None and path.exists():
            self._read_units(path.read_bytes().splitlines(keepends=True), manifest["output"])

    def write_summary(self, summary: Summary) -> None:
        """Write the summary, when no worker runs any more. Raises OSError."""
        self._remove_unfinished()
        self._write(SUMMARY, summary.to_json())

    def read_summary(self) -> Summary:
        """The summary of the batch that is here; if it was stopped, of what is done. Raises BatchError for none."""
        manifest = self._known_manifest()
        if manifest is None:
            raise BatchError(f"the folder `{self.path}` holds no batch; name the `--out` of `outspoken batch`")
        path = self.path / SUMMARY
        try:
            if path.exists():
                return Summary.from_json(path.read_text("utf-8"))
            self.read_units()
        except (OSError, ValueError) as error:
            raise BatchError(f"cannot read `{path}`: {error}") from error
        units, total = self.totals()
        return Summary(False, len(manifest["inputs"]), units, total, Counts(), 0.0, 0)

    def _write(self, name: str, text: str) -> None:
        with replacing(self.path / name) as aside, aside.open("wb") as file:
            file.write(text.encode("utf-8", "surrogatepass") + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _compare(known: dict[str, Any], wanted: dict[str, Any], path: Path) -> None:
    """Raise BatchError if the batch in a folder differs from the one that is wanted, and say in what."""
    changes = [*_changed_inputs(known["inputs"], wanted["inputs"])]
    for key, label in (("outspoken", "the version of outspoken"), ("grammars", "the grammars"), ("output", "`output`")):
        if known[key] != wanted[key]:
            changes.append(f"{label} was {known[key]}, now {wanted[key]}")
    if known["fingerprint"] != wanted["fingerprint"]:
        before, now = known["options"], wanted["options"]
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        changes += [f"`{name}` was {_short(before.get(name))}, now {_short(now.get(name))}" for name in names]
    if changes:
        more = f" (and {len(changes) - 3} more)" if len(changes) > 3 else ""
        raise BatchError(f"`{path}` holds another batch: {'; '.join(changes[:3])}{more}; {_RESTART}")


def _changed_inputs(known: Iterable[dict[str, Any]], wanted: Iterable[dict[str, Any]]) -> list[str]:
    before, now = {one["name"]: one for one in known}, {one["name"]: one for one in wanted}
    changes = [f"the input `{name}` is new" for name in now if name not in before]
    changes += [f"the input `{name}` is gone" for name in before if name not in now]
    changes += [f"the input `{name}` has changed" for name in now if name in before and now[name] != before[name]]
    return changes or ([] if list(before) == list(now) else ["the inputs are in another order"])


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_summary(path: Path) -> Summary:
    """The summary of a folder of results, also of a batch that was stopped. Raises BatchError if it holds none."""
    return OutputFolder(path).read_summary()
