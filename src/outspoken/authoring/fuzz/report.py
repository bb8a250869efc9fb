"""Violations as diagnostics and as cases of the corpus."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from outspoken.authoring.shared.checkout import Checkout
from outspoken.results.pending_diagnostics import PendingDiagnostic, place_diagnostics

from .invariants import ParseArguments

#: What each kind of finding says; the kinds are those of `invariants.ViolationError`.
TITLES = {
    "raises": "reading this text raises an exception",
    "spans": "a span is in the wrong place",
    "segments": "a segment is not what stands at its span",
    "status": "the status is not the worst of what was read",
    "repairs": "the record of a repair is wrong",
    "json": "the reply changes when it is written as JSON and read back",
    "lost": "a part of the text is in no segment, and no markup",
    "events": "the events do not add up to the reply",
    "chunks": "the text is read differently in pieces",
    "strict": "a sound text is read differently with repair",
    "replay": "the text is not sound after its repairs",
    "beginning": "a prefix of the text has a call that the whole does not have",
    "meaning": "the text is not read as the grammar says",
    "detected": "the text is read differently if its format is detected",
    "growth": "the cost grows faster than the text",
}
_LONGEST = 400


@dataclass(frozen=True)
class Finding:
    """A text that violates an invariant: its kind, how the text is read, and the seed that finds it again."""

    kind: str
    format: str
    seed: int
    args: ParseArguments
    text: str
    message: str
    #: what runs the fuzz on the format
    program: str = ""

    @property
    def name(self) -> str:
        """The name of its case in the corpus."""
        return f"fuzz_{sha256(f'{self.kind} {self.text}'.encode()).hexdigest()[:8]}"

    @property
    def command(self) -> str:
        """The command that finds it again."""
        return f"{self.program or f'python -m tools.fuzz {self.format}'} --seed {self.seed} --runs 1"

    def as_json(self) -> dict[str, Any]:
        """The finding as plain data."""
        found = {"kind": self.kind, "format": self.format, "seed": self.seed, "text": self.text}
        return {"type": "finding", **found, "message": self.message, "command": self.command}

    def __str__(self) -> str:
        """The finding as lines, without a line break at the end."""
        given: Mapping[str, object] = {
            "format": self.args.format,
            **self.args.options,
            "finish_reason": self.args.reason,
        }
        read = ", ".join([f"{key}={value!r}" for key, value in given.items() if value is not None])
        message = self.message if len(self.message) <= _LONGEST else f"{self.message[:_LONGEST]}..."
        note = PendingDiagnostic(
            f"fuzz-{self.kind}",
            TITLES[self.kind],
            (0, len(self.text)),
            "error",
            self.args.format,
            notes=(message, f"the text is {self.text!r}, read with {read}"),
            helps=(f"`{self.command}` finds it again",),
        )
        return place_diagnostics([note], self.text)[0].frame()


def save(checkout: Checkout, finding: Finding) -> list[str]:
    """Write a finding into the corpus, and where it is from into `sources.toml`. Returns the paths of the case."""
    folder = checkout.corpus / finding.format / ("ok" if _is_sound(finding) else "err")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{finding.name}.txt"
    path.write_bytes(finding.text.encode())
    written = [path]
    if finding.args.options:
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in finding.args.options.items()]
        written.append(path.with_suffix(".toml"))
        written[-1].write_text("".join(lines), "utf-8")
    _add_source(checkout, finding)
    return [checkout.shown(path) for path in written]


def _is_sound(finding: Finding) -> bool:
    """Whether the text is read without a diagnostic."""
    try:
        return not finding.args.parse(finding.text).diagnostics
    except Exception:  # that it raises may be what was found
        return False


def _add_source(checkout: Checkout, finding: Finding) -> None:
    """Put a case into `sources.toml`, by its name."""
    path = checkout.corpus / finding.format / "sources.toml"
    text = path.read_text("utf-8") if path.is_file() else ""
    entry = f'[{finding.name}]\norigin = "found by the fuzz: {TITLES[finding.kind]}"'
    sections = [section for section in text.rstrip("\n").split("\n\n") if section]
    if not any(section.startswith(f"[{finding.name}]") for section in sections):
        path.write_text("\n\n".join(sorted([*sections, entry])) + "\n", "utf-8")
