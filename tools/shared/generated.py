"""Generated files: which of them are out of date, and writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def outdated(wanted: dict[Path, str], present: Iterable[Path]) -> dict[Path, str | None]:
    """The files whose content differs from what is wanted, with that content; None for files that must go."""
    changed: dict[Path, str | None] = {
        path: text for path, text in wanted.items() if not path.is_file() or path.read_bytes() != text.encode()
    }
    return changed | {path: None for path in present if path not in wanted}


def update(changed: dict[Path, str | None], shown: Callable[[Path], str], *, check: bool) -> int:
    """Write or remove the files, with `check` only name them. Returns 1 if `check` finds any."""
    for path, text in changed.items():
        print(f"{'out of date' if check else 'removed' if text is None else 'written'}: {shown(path)}")
        if not check:
            _write(path, text)
    return int(check and bool(changed))


def _write(path: Path, text: str | None) -> None:
    """Write a file, or remove it, and its folder if that is empty then."""
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return
    path.unlink()
    if not any(path.parent.iterdir()):
        path.parent.rmdir()
